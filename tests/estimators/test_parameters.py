import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from mercer import PCA
from mercer.errors import InputError
from mercer.estimators.walk._parameters import (
    ParameterError,
    check_fitted,
    check_parameters,
    learned,
    publish,
    seed_of,
)


def test_good_parameters_pass_and_wrong_ones_are_named():
    check_parameters(PCA(3))
    with pytest.raises(ParameterError) as caught:
        check_parameters(PCA("many"))
    assert isinstance(caught.value, InputError)
    assert "n_components" in caught.value.what
    assert "'many'" in caught.value.got
    assert str(caught.value).count("\n") == 2


def test_without_a_model_there_is_none():
    check_fitted(PCA(2).fit(np.eye(5)))
    with pytest.raises(NotFittedError, match="not fitted yet"):
        check_fitted(PCA(2))
    with pytest.raises(NotFittedError, match="the rows seen so far"):
        check_fitted(PCA(2).partial_fit(np.eye(5)[:1]))
    check_fitted(PCA(2).partial_fit(np.eye(5)[:2]))


def test_seeds_are_whole_numbers():
    assert seed_of(7) == seed_of(np.int64(7)) == 7
    assert seed_of(np.random.default_rng(1)) == seed_of(np.random.default_rng(1))
    assert seed_of(np.random.RandomState(1)) == seed_of(np.random.RandomState(1))
    drawn = {seed_of(None) for _ in range(5)}
    assert len(drawn) > 1
    assert all(isinstance(seed, int) and 0 <= seed < 2**31 for seed in drawn)


def test_what_a_fit_has_learned_is_published_at_once():
    model = PCA(2).fit(np.eye(5))
    found = learned(model)
    assert set(vars(model)) == set(found) | set(model.get_params())
    assert not set(found) & set(model.get_params())
    other = PCA(3).fit(np.eye(6))
    other.left_over_, other._kept = 1, 2
    publish(other, found)
    assert other.n_components == 3  # parameters stay
    assert other.components_ is model.components_
    assert not hasattr(other, "left_over_")  # what an earlier fit left goes
    assert other._kept == 2
