import numpy as np
import pytest
from benchmarks import factors
from benchmarks.factors import NOISE_SD, Factors


def test_loadings_are_orthonormal():
    loadings = Factors(500, 40, 1.0).loadings()
    np.testing.assert_allclose(loadings.T @ loadings, np.eye(40), rtol=0, atol=1e-13)


def test_rank_is_bounded_by_one_hundred_and_by_the_shape():
    assert Factors(5000, 300, 1.0).rank == 100
    assert Factors(5000, 30, 1.0).rank == 30
    assert Factors(20, 300, 1.0).rank == 20


def test_the_sample_spectrum_is_the_stated_one():
    """Eigenvalues are i^-1 + noise^2 up to sampling error sqrt(2/n) per factor."""
    data = Factors(200_000, 20, 1.0)
    x = data.load()
    values = np.linalg.eigvalsh(np.cov(x, rowvar=False))[::-1]
    stated = data.sigma**2 + NOISE_SD**2
    np.testing.assert_allclose(values, stated, rtol=5 * np.sqrt(2 / 200_000))


@pytest.mark.parametrize("offset", [1.0, 100.0])
def test_every_column_has_the_stated_offset(offset):
    x = Factors(50_000, 30, offset).load()
    np.testing.assert_allclose(x.mean(axis=0) / x.std(axis=0), offset, rtol=0.02, atol=0.02)


def test_data_are_a_function_of_the_seed_and_cover_every_block(monkeypatch):
    monkeypatch.setattr(factors, "BLOCK_BYTES", 8 * 30 * 70)
    data = Factors(200, 30, 1.0)
    assert data.block_rows() == 70
    first = data.load()
    assert np.array_equal(first, data.load())
    assert not np.array_equal(first, Factors(200, 30, 1.0, seed=1).load())
    # Blocks must not repeat one another.
    step = data.block_rows()
    assert not np.array_equal(first[:10], first[step : step + 10])


def test_float32_is_the_rounded_float64():
    exact, rounded = Factors(100, 20, 100.0).load(), Factors(100, 20, 100.0, "float32").load()
    assert rounded.dtype == np.float32
    assert np.array_equal(rounded, exact.astype(np.float32))
