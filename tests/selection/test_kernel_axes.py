import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.selection import (
    Variances,
    beyond_shuffled,
    choice_by_matrix,
    choice_by_shuffling,
    gaussian_null,
    kernel_shares,
    noise_quantiles,
    permutation_null,
    sign_flip,
    white_edge,
)
from mercer.selection._parallel_nulls import _largest, _noise

from .noise_families import family


def flat(m=6):
    return np.full(m, 1 / m)


def near(seed, draws=19, m=6):
    """Spectra that differ a little, as those of tables alike do."""
    found = np.random.default_rng(seed).dirichlet(np.full(m, 400.0), draws)
    return -np.sort(-found, axis=1)


def test_shares_are_those_of_the_centred_matrix():
    X = np.random.default_rng(0).standard_normal((12, 4)) + 100
    squares = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    found = kernel_shares(X @ X.T)
    assert_allclose(found[:4], squares / squares.sum(), rtol=1e-9)
    assert np.all(found[4:] < 1e-10)
    K = np.diag([1.0, -1.0, 0.0, 0.0])
    values = np.linalg.eigvalsh(K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean())
    want = np.maximum(values[::-1], 0) / np.abs(values).sum()
    assert_allclose(kernel_shares(K), want, atol=1e-12)


@pytest.mark.parametrize("K", [np.ones((5, 5)), np.zeros((4, 4)), np.full((3, 3), 1e8)])
def test_nothing_varies(K):
    assert not kernel_shares(K).any()
    assert beyond_shuffled(kernel_shares(K), np.zeros((9, len(K)))).k == 0
    assert white_edge(kernel_shares(K)) == 0


def test_the_axes_with_the_largest_excess_are_kept():
    drawn = near(1)
    assert beyond_shuffled(np.array([0.4, 0.3, 0.1, 0.1, 0.05, 0.05]), drawn).k == 2
    drawn = near(2)
    mean = drawn.mean(axis=0)
    seen = np.array([mean[0], mean[1] - 0.005, 0.3, 0, 0, 0])
    seen[3:] = (1 - seen[:3].sum()) / 3
    assert beyond_shuffled(seen, drawn).k == 3
    assert beyond_shuffled(flat(), np.tile(flat(), (9, 1))).k == 0
    assert white_edge(np.array([1.0, 0.0])) == 0
    assert white_edge(np.array([0.5, 0.5, 0.0])) == 0


def test_alike_is_nothing_and_a_matrix_has_the_edge():
    tables = near(3, draws=400)
    alarms = [
        beyond_shuffled(tables[i], np.delete(tables[i - i % 20 : i - i % 20 + 20], i % 20, 0)).k
        for i in range(400)
    ]
    # Of twenty alike one at most stands out from the others.
    assert np.mean(np.array(alarms) > 0) <= 1 / 20
    choice = choice_by_matrix(np.r_[np.ones(29) / 29, 0.0], "all 30 rows")
    assert choice.k == 0
    assert choice.rules[0].name == "white edge"
    smooth = np.r_[4.0 ** -np.arange(12.0), np.full(28, 1e-7), 0.0]
    assert "smooth kernels" in choice_by_matrix(smooth, "x").reason


@pytest.mark.parametrize(("n", "p"), [(60, 3), (60, 59), (60, 200), (150, 20)])
def test_white_noise_is_below_the_edge(n, p):
    tables = (np.random.default_rng([n, p, i]).standard_normal((n, p)) for i in range(40))
    assert np.mean([white_edge(kernel_shares(X @ X.T)) == 0 for X in tables]) >= 0.95


@pytest.mark.parametrize(("n", "p"), [(300, 20), (100, 2000)])
def test_factors_are_above_the_edge(n, p):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((n, 3)) @ rng.standard_normal((3, p)) + rng.standard_normal((n, p))
    assert white_edge(kernel_shares(X @ X.T)) == 3


def test_the_choice_in_words():
    shares = np.array([0.5, 0.3, 0.1, 0.1, 0.0])
    found = beyond_shuffled(shares, near(4, m=5))
    choice = choice_by_shuffling(shares, found, "shuffled columns", "all 5 rows")
    assert choice.reason.startswith(f"{found.k} component")
    assert "of tables with shuffled columns do (kernel parallel analysis, all 5 rows)" in (
        choice.reason
    )
    named = {rule.name: rule for rule in choice.rules}
    assert named["Minka"].k is None
    assert "columns" in named["Minka"].about
    assert named["90% of variance"].k == 3
    none = choice_by_shuffling(shares, beyond_shuffled(flat(5), near(4, m=5)), "x", "y")
    assert none.k == 0
    assert none.reason.startswith("No component beyond noise: the axes hold no more")


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


def test_components_in_unequal_noise_and_behind_a_large_one():
    X = centred(family("columns", 0, 150, 60))
    assert gaussian_null(known(X), X.var(axis=0, ddof=1)) == 5
    assert permutation_null(X) == 5
    assert sign_flip(X) in (5, 6)  # each is one test in twenty
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
