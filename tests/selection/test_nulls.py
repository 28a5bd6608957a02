import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.selection import (
    Variances,
    gaussian_null,
    noise_quantiles,
    permutation_null,
    sign_flip,
)
from mercer.selection._parallel_nulls import _largest, _noise

from .noise_families import family


def centred(X):
    return X - X.mean(axis=0)


def known(X):
    n, p = X.shape
    return Variances.of(np.linalg.eigvalsh(np.cov(X.T))[::-1], rows=n, columns=p)


@pytest.mark.parametrize("shape", [(300, 8), (9, 20)])
def test_drawn_spectra_are_those_of_drawn_tables(shape):
    n, p = shape
    roots = np.linspace(0.5, 2, p)
    rng = np.random.default_rng(0)
    drawn = np.mean([_noise(rng, n, roots)[: min(n - 1, p)] for _ in range(300)], axis=0)
    tables = (centred(rng.standard_normal(shape) * roots) for _ in range(300))
    direct = np.mean([np.linalg.svd(X)[1][: min(n - 1, p)] ** 2 for X in tables], axis=0)
    assert_allclose(drawn, direct, rtol=0.05)


def test_largest_singular_value_with_its_vectors():
    X = np.random.default_rng(0).standard_normal((80, 50))
    value, left, right = _largest(X, np.random.default_rng(1))
    exact = np.linalg.svd(X)[1][0]
    assert exact * 0.999 <= value <= exact * (1 + 1e-12)
    assert_allclose(left @ X @ right, value)
    small = np.array([[3.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    assert_allclose(_largest(small, np.random.default_rng(1))[0], 3.0)


def test_all_find_strong_components_in_noise_of_unequal_columns():
    X = centred(family("columns", 0, 150, 60))
    assert gaussian_null(known(X), X.var(axis=0, ddof=1)) == 5
    assert permutation_null(X) == 5
    assert sign_flip(X) in (5, 6)  # each is one test in twenty


def test_sign_flips_with_deflation_see_behind_a_large_component():
    X = centred(family("shadow", 0, 150, 60))
    assert permutation_null(X) == 1
    assert gaussian_null(known(X), X.var(axis=0, ddof=1)) == 1
    assert sign_flip(X) == 5


def test_noise_has_no_component():
    rng = np.random.default_rng(4)
    counts = np.zeros(3)
    for seed in range(20):
        X = centred(rng.standard_normal((60, 15)))
        counts[0] += gaussian_null(known(X), X.var(axis=0, ddof=1), seed=seed) > 0
        counts[1] += permutation_null(X, seed=seed) > 0
        counts[2] += sign_flip(X, seed=seed) > 0
    assert np.all(counts <= 5)


def test_truncated_spectrum_and_nothing_at_all():
    X = centred(family("columns", 0, 150, 60))
    whole = known(X)
    part = Variances(whole.values[:3], whole.total, 150, 60)
    assert gaussian_null(part, X.var(axis=0, ddof=1)) is None
    assert sign_flip(np.zeros((5, 4))) == permutation_null(np.zeros((5, 4))) == 0
    assert sign_flip(X, most=2) == 2


@pytest.mark.parametrize(("n", "p"), [(200, 10), (12, 30)])
def test_the_band_of_noise_holds_nine_tenths_of_drawn_tables(n, p):
    rng = np.random.default_rng(5)
    columns = rng.uniform(0.5, 4.0, p)
    low, high = noise_quantiles(n, columns, draws=200)
    rank = min(n - 1, p)
    assert low.shape == high.shape == (rank,)
    tables = rng.standard_normal((200, n, p)) * np.sqrt(columns)
    tables -= tables.mean(axis=1, keepdims=True)
    values = np.linalg.svd(tables, compute_uv=False)[:, :rank] ** 2 / (n - 1)
    inside = np.mean((values >= low) & (values <= high), axis=0)
    assert np.all(np.abs(inside - 0.9) < 0.11)
    assert np.mean(inside) == pytest.approx(0.9, abs=0.04)
