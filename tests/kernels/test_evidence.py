import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import InputError
from mercer.kernels import (
    RBF,
    Flag,
    Function,
    Isotropic,
    Linear,
    NegativeDistance,
    Precomputed,
    Sigmoid,
    evidence,
)


def test_a_negative_direction_is_a_proof(rng):
    X = rng.standard_normal((40, 3))
    found = evidence(Sigmoid(1.0, -1.0), X)
    K = Sigmoid(1.0, -1.0)(X)
    H = np.eye(40) - 1 / 40
    values = np.linalg.eigvalsh(H @ K @ H)
    assert found.smallest_centred == pytest.approx(values[0])
    assert found.smallest == pytest.approx(np.linalg.eigvalsh(K)[0])
    negative = -values[values < 0].sum() / np.abs(values).sum()
    assert found.negative_share == pytest.approx(negative, abs=1e-12)
    assert found.not_pd
    assert found.not_cpd
    assert "a proof" in found.words
    assert not found.contradicts  # it was never said to be positive


def test_a_sample_without_one_is_no_proof(rng):
    found = evidence("rbf", rng.standard_normal((40, 3)))
    assert not found.not_pd
    assert "no proof" in str(found)
    assert found.negative_share == 0


def test_conditional_kernels(rng):
    found = evidence(NegativeDistance(), rng.standard_normal((40, 3)))
    assert found.flag is Flag.CPD
    assert found.not_pd
    assert not found.not_cpd
    assert "kernel PCA of these rows is sound" in found.words
    assert not found.contradicts


class Boast(Isotropic):
    claim = Flag.PD

    def of_distance(self, d):
        return (-(d**4)).exp()


def test_a_wrong_flag_is_contradicted():
    found = evidence(Boast(1.0), np.linspace(-2, 2, 40)[:, None])
    assert found.contradicts
    assert "although it is flagged pd" in found.words


@given(st.integers(0, 2**16), st.integers(2, 20), st.sampled_from([np.float32, np.float64]))
def test_rounding_is_no_evidence(seed, n, dtype):
    X = np.random.default_rng(seed).standard_normal((n, 2)).astype(dtype)
    X[n // 2 :] = X[: n - n // 2]  # singular on purpose
    for kernel in (RBF(3.0), Linear(), NegativeDistance(2.0), RBF(3.0) + 1e6):
        assert not evidence(kernel, 5 + X).contradicts


def test_precomputed_matrices():
    assert evidence(Precomputed(), np.diag([1.0, 2.0, -1.0])).not_pd
    assert not evidence("precomputed", np.eye(4)).not_pd
    big = np.broadcast_to(1.0, (4500, 4500))
    assert evidence(Precomputed(), big).rows == 1500


def test_large_samples_are_thinned(rng):
    assert evidence(Linear(), rng.standard_normal((5000, 2))).rows <= 2000


def test_matrices_that_are_not_finite_are_refused():
    with pytest.raises(InputError, match="missing or infinite"):
        evidence(Function(lambda x, y: np.full((len(x), len(y)), np.nan)), np.ones((3, 1)))
