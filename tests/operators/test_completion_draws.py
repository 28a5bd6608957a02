import numpy as np
import pytest
import scipy.sparse

from mercer.operators import Centring, Completion, drawn, projected


def _model(p=6, k=2, *, noise=0.3, exponent=0, factor=None, seed=0):
    rng = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(rng.standard_normal((p, k)))
    origin = np.ldexp(rng.standard_normal(p), exponent)
    centring = Centring(origin, rng.standard_normal(p), exponent, factor)
    return Completion(centring, axes, np.linspace(4, 2, k), noise)


def _conditional(model, row):
    """Return mean and covariance of the missing cells from the dense covariance matrix."""
    w = model.loadings
    s = w @ w.T + model.noise * np.eye(len(w))
    f = np.ones(len(w)) if model.centring.factor is None else model.centring.factor
    unit = 2.0**model.centring.exponent
    s = s / np.outer(f, f) * unit**2
    m = np.isnan(row)
    o = ~m
    gain = s[np.ix_(m, o)] @ np.linalg.inv(s[np.ix_(o, o)])
    mean = model.mean[m] + gain @ (row[o] - model.mean[o])
    return mean, s[np.ix_(m, m)] - gain @ s[np.ix_(o, m)]


MODELS = {
    "plain": {},
    "unit": {"exponent": 40},
    "scaled": {"factor": np.array([0.5, 2.0, 1.0, 3.0, 0.1, 1.0])},
    "means": {"k": 0},
}
GAPS = [[0], [1, 4], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5]]


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("gaps", GAPS, ids=len)
def test_draws_have_the_conditional_mean_and_covariance(kind, gaps):
    model = _model(**MODELS[kind])
    unit = 2.0**model.centring.exponent
    row = model.mean + unit * np.linspace(-1, 1, 6)
    row[gaps] = np.nan
    mean, covariance = _conditional(model, row)
    rows = np.tile(row, (40_000, 1))
    found = drawn(model, rows, np.random.default_rng(1))
    seen = ~np.isnan(row)
    np.testing.assert_array_equal(found[:, seen], rows[:, seen])
    cells = found[:, gaps]
    spread = np.sqrt(np.diagonal(covariance))
    error = (cells.mean(axis=0) - mean) / spread
    assert np.max(np.abs(error)) < 4 / np.sqrt(40_000)
    shown = np.cov(cells.T).reshape(len(gaps), len(gaps)) / np.outer(spread, spread)
    # Standard error of a covariance of 40,000 draws: at most √2/200.
    assert np.max(np.abs(shown - covariance / np.outer(spread, spread))) < 0.03


@pytest.mark.parametrize("kind", MODELS)
def test_variances_are_those_of_the_dense_covariance(kind):
    model = _model(**MODELS[kind])
    unit = 2.0**model.centring.exponent
    rng = np.random.default_rng(2)
    axes = rng.standard_normal((6, 3))
    rows = model.mean + unit * rng.standard_normal((50, 6))
    rows[rng.random(rows.shape) < 0.4] = np.nan
    rows[0] = np.nan
    rows[1] = model.mean
    scores, variances = projected(model, rows, axes)
    f = np.ones(6) if model.centring.factor is None else model.centring.factor
    for row, score, variance in zip(rows, scores, variances, strict=True):
        m = np.isnan(row)
        full, expected = row.copy(), np.zeros(3)
        if m.any():
            full[m], covariance = _conditional(model, row)
            a = (axes * f[:, None] / unit)[m]
            expected = np.einsum("jq,jl,lq->q", a, covariance, a)
        np.testing.assert_allclose(variance, expected, rtol=1e-9)
        analysed = (full - model.mean) / unit * f
        np.testing.assert_allclose(score, analysed @ axes, rtol=1e-8, atol=1e-10)
    assert not variances[1].any()


def test_draws_keep_the_type_and_the_pattern():
    model = _model()
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((30, 6)).astype(np.float32)
    rows[rng.random(rows.shape) < 0.3] = np.nan
    before = rows.copy()
    found = drawn(model, rows, np.random.default_rng(4))
    np.testing.assert_array_equal(rows, before)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    thin = np.where(rng.random(rows.shape) < 0.5, 0, rows)
    sparse = scipy.sparse.csr_matrix(thin)
    dense = drawn(model, thin, np.random.default_rng(5))
    same = drawn(model, sparse, np.random.default_rng(5))
    np.testing.assert_array_equal(same.toarray(), dense)
    assert np.isnan(sparse.data).any()
    whole = np.arange(12).reshape(2, 6)
    assert drawn(model, whole, rng) is whole
