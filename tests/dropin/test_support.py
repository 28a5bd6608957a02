import numpy as np
import pytest
import scipy.stats
from tests.claims import refuses, warned

from mercer.dropin import PCA
from mercer.errors import DataWarning


def flat(n=40, p=6, rank=3, offset=0.0, seed=0):
    """Rows of an affine space of dimension `rank`."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, p)) + offset


def test_a_model_has_a_density_where_its_covariance_is_regular():
    X = np.random.default_rng(0).normal(size=(20, 4))
    for k in (None, 2):  # no warning says that it has none
        assert np.isfinite(PCA(k).fit(X).score(X))


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("k", [None, 3, 5])
def test_the_log_likelihood_is_that_of_the_singular_normal_distribution(k, offset):
    X = flat(offset=offset)
    model = PCA(k, svd_solver="full").fit(X)
    ours = warned("rank 3 with 6 features; 0 of 40 rows off", model.score_samples, X)
    normal = scipy.stats.multivariate_normal
    theirs = normal.logpdf(X - offset, X.mean(0) - offset, np.cov(X.T), allow_singular=True)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_off_the_support_have_probability_zero(dtype):
    X = flat().astype(dtype)
    model = PCA().fit(X)
    rows = np.vstack([X[:3], X[:2] + dtype(0.5)])
    scores = warned("2 of 5 rows off the support", model.score_samples, rows)
    assert np.isfinite(scores[:3]).all()
    assert np.isneginf(scores[3:]).all()


def test_fewer_rows_than_features_are_on_their_own_support():
    X = np.random.default_rng(1).normal(size=(5, 50)) + 100
    model = PCA().fit(X)
    with pytest.warns(DataWarning, match="rank 4 with 50 features; 0 of 5 rows off"):
        assert np.isfinite(model.score(X))
    refuses("singular", PCA().fit(flat()).get_precision, kind=ValueError)
