import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.selection import Half, bi_cross_validation, choice_seconds
from mercer.selection import _bicross as room

from .noise_families import FAMILIES, SHAPES, TRUE, family


def halves(X, wide=False):
    if wide:
        Y = X - X.mean(axis=0)
        order = np.random.default_rng(9).permutation(X.shape[1])
        parts = [Y[:, order[::2]], Y[:, order[1::2]]]
        return [Half(Z @ Z.T, Z.shape[1]) for Z in parts]
    parts = [Y - Y.mean(axis=0) for Y in (X[::2], X[1::2])]
    return [Half(Z.T @ Z, len(Z)) for Z in parts]


def found(X):
    wide = X.shape[0] < X.shape[1]
    return bi_cross_validation(*halves(X, wide), wide=wide).k


def corner_by_svd(Xi, Xo, A, B, k):
    """Σ(X_iA - X_iB (X_oB)_k⁺ X_oA)² with the pseudo-inverse of a truncated SVD."""
    u, s, vt = np.linalg.svd(Xo[:, B], full_matrices=False)
    inverse = vt[:k].T @ np.diag(1 / s[:k]) @ u[:, :k].T
    return np.sum((Xi[:, A] - Xi[:, B] @ (inverse @ Xo[:, A])) ** 2)


@pytest.mark.parametrize("p", [7, 12])
def test_errors_are_those_of_the_table_itself(p):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((41, 2)) @ rng.standard_normal((2, p)) + rng.standard_normal(
        (41, p)
    )
    parts = [Y - Y.mean(axis=0) for Y in (X[::2], X[1::2])]
    order = np.random.default_rng(5).permutation(p)
    got = room._Splits(halves(X), [order], False).errors()
    A, B = order[: p // 2], order[p // 2 :]
    for k, error in enumerate(got.errors):
        total = size = 0.0
        for i, o in ((0, 1), (1, 0)):
            for a, b in ((A, B), (B, A)):
                total += corner_by_svd(parts[i], parts[o], a, b, k)
                size += np.sum(parts[i][:, a] ** 2)
        assert_allclose(error, total / size, rtol=1e-11)


def test_the_offset_scale_and_unit_do_not_matter():
    X = family("white", 0, 90, 24)
    base = bi_cross_validation(*halves(X))
    scaled = [Half(half.gram * 2.0**-60, half.rows) for half in halves(X)]
    assert_allclose(bi_cross_validation(*scaled).errors, base.errors, rtol=1e-12)
    assert base.errors[0] == 1.0


@pytest.mark.parametrize("X", [np.zeros((6, 4)), np.ones((6, 1)), np.eye(3)[:, :2]])
def test_nothing_to_predict_is_no_component(X):
    assert bi_cross_validation(*halves(X)).k == 0


def test_exact_low_rank_is_found_beyond_the_first_look():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 40)) @ rng.standard_normal((40, 120))
    X += 1e-3 * rng.standard_normal(X.shape)
    assert found(X) == 40


def nothing_found(shape, draws):
    n, p = shape
    tables = (np.random.default_rng([7, n, p, i]).standard_normal(shape) for i in range(draws))
    return np.mean([found(X) == 0 for X in tables])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_noise_has_no_component(shape):
    assert nothing_found(shape, 20) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_noise_has_no_component_in_200_draws(shape):
    assert nothing_found(shape, 200) >= 0.95


def right(name, draws):
    return np.mean([abs(found(family(name, seed)) - TRUE[name]) <= 1 for seed in range(draws)])


@pytest.mark.parametrize("name", FAMILIES)
def test_families_of_noise(name):
    assert right(name, 10) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_families_of_noise_in_100_draws(name):
    assert right(name, 100) >= 0.95


def factors(n, p, k, seed, size=1.5):
    """k factors in noise whose size differs by column from 0.3 to 1.7."""
    rng = np.random.default_rng([seed, n, p])
    noise = rng.standard_normal((n, p)) * rng.uniform(0.3, 1.7, p)
    return rng.standard_normal((n, k)) @ rng.standard_normal((k, p)) * size + noise


@pytest.mark.parametrize(
    ("n", "p", "k"),
    [(45, 30, 3), (300, 30, 3), (3000, 30, 3), (1200, 12, 3), (600, 6, 1), (5000, 6, 2)],
)
def test_unequal_noise_and_many_rows_add_no_components(n, p, k):
    counts = [found(factors(n, p, k, seed)) for seed in range(10)]
    assert np.all(np.abs(np.array(counts) - k) <= 1)
    assert np.median(counts) == k


@pytest.mark.parametrize("n", [300, 5000])
def test_columns_beside_a_component_are_none(n):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 6))
    X[:, :4] = 3 * rng.standard_normal((n, 1)) + X[:, :4]
    # Errors for k = 1, 2, 3 differ in the fourth figure: nothing but chance.
    assert found(X) == 1


def test_copies_of_a_column_are_a_component():
    X = np.random.default_rng(0).standard_normal((200, 10))
    X[:, 5] = X[:, 2]
    assert found(X) == 1


def test_a_wide_table_gives_what_its_transpose_gives():
    X = family("columns", 1)
    assert found(X) == found(X.T) == 5


def test_columns_that_are_nearly_copies_do_not_rule_the_others():
    rng = np.random.default_rng(0)
    X = factors(400, 20, 3, 0)
    row = np.zeros((400, 2))
    row[7] = 5.0  # two columns that vary in one row only, and alike
    assert abs(found(np.c_[X, row]) - 3) <= 1
    near = X[:, :1] + 1e-4 * rng.standard_normal((400, 1))
    assert found(np.c_[X, near]) in (3, 4)


def test_what_choosing_takes_grows_with_the_columns_and_with_rows_in_plenty():
    few, many = choice_seconds(1000, 50), choice_seconds(1000, 400)
    assert 0 < few < many
    assert choice_seconds(10**6, 50) > 10 * few
    assert choice_seconds(50, 10**6) == choice_seconds(10**6, 50)
