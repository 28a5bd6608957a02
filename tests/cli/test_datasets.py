import numpy as np
import pytest

from mercer.cli._datasets import DATASETS, FILES, GROUPS, load
from mercer.errors import InputError


@pytest.mark.parametrize("name", DATASETS)
def test_every_data_set_is_whole(name):
    data = load(name)
    n, p = data.X.shape
    assert data.about.startswith(str(n))
    assert len(data.labels) == n
    assert len(data.features) == p
    assert np.isfinite(data.X).all()


def test_columns_are_standardised_exactly_where_their_spreads_differ():
    for name in DATASETS:
        data = load(name)
        spread = data.X.std(axis=0)
        spread = spread[spread > 0]
        assert data.standardize == (spread.max() > 100 * np.median(spread))


def test_an_unknown_name_gets_the_nearest_one():
    with pytest.raises(InputError, match="did you mean 'digits'"):
        load("digit")
    with pytest.raises(InputError, match="iris, wine"):
        load("zzz")


def test_every_data_set_says_what_its_groups_are():
    assert set(GROUPS) == {*DATASETS, *FILES}
