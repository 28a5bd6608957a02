import numpy as np
import pytest

from .fits import factors, found


def gradient(n=60, p=30, width=0.15):
    """Species that each live on a stretch of one gradient: the horseshoe of ecology."""
    at = np.linspace(0, 1, n)[:, None]
    return np.exp(-(((at - np.linspace(-0.1, 1.1, p)) / width) ** 2))


# -- M101 -----------------------------------------------------------------------------


def test_an_arch_is_named():
    rng = np.random.default_rng(0)
    order = rng.permutation(60)
    finding = found(gradient(width=0.6)[order], 3)["M101"]
    assert "PC2 is a curve of PC1" in finding.what
    t = rng.uniform(-1, 1, 200)
    X = np.c_[2 * t, t**2 * 1.5, rng.standard_normal(200) * 0.05]
    finding = found(X, 2)["M101"]
    assert "R² 0.9" in finding.got or "R² 1.00" in finding.got


def test_an_axis_bent_in_two_others_is_an_arch():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-1, 1, (2, 400))
    X = np.c_[3 * a, 2 * b, 1.5 * a * b, rng.standard_normal(400) * 0.1]
    assert "PC3 is a curve of PC1 and PC2" in found(X, 3)["M101"].what


def test_three_clusters_are_no_arch():
    rng = np.random.default_rng(0)
    corners = np.array([[0, 0, 0], [10, 6, 0], [20, 0, 0]])
    X = corners[np.arange(150) % 3] + rng.standard_normal((150, 3)) * 0.5
    assert "M101" not in found(X, 2)


def test_a_weak_bend_is_no_arch():
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, 300)
    X = np.c_[3 * t, t**2 + rng.standard_normal(300) * 0.3]
    assert "M101" not in found(X, 2)


def test_few_rows_fit_a_curve_by_chance():
    for seed in range(50):
        X = np.random.default_rng(seed).standard_normal((12, 8))
        assert "M101" not in found(X, 5)


# -- M102 -----------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "p"), [(50, 100), (200, 10), (1000, 40)])
def test_random_walks_are_a_series(n, p):
    X = np.cumsum(np.random.default_rng(n).standard_normal((n, p)), axis=0)
    finding = found(X, 3)["M102"]
    assert "along PC1" in finding.got
    shuffled = np.random.default_rng(0).permutation(X)
    assert "M102" not in found(shuffled, 3)


def test_a_table_sorted_by_group_or_value_is_no_series():
    rng = np.random.default_rng(0)
    X = factors(300, 6, rng)
    X = X + np.outer(np.arange(300) // 60, np.ones(6)) * 8
    assert "M102" not in found(X, 2)
    Y = factors(300, 6, rng, (12.0, 4.0))
    Y = Y[np.argsort(Y[:, 0])]
    assert "M102" not in found(Y, 2)


def test_few_rows_show_no_order():
    X = np.cumsum(np.random.default_rng(0).standard_normal((20, 5)), axis=0)
    assert "M102" not in found(X, 2)


# -- M103 -----------------------------------------------------------------------------


def test_one_row_that_makes_an_axis_is_named():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    X[17, 2] = 300
    finding = found(X, 1)["M103"]
    assert "one row makes" in finding.what
    assert "row 17: 99" in finding.got or "row 17: 100%" in finding.got
    named = found(X, 1, row_names=[f"case-{i}" for i in range(200)])["M103"]
    assert "row case-17" in named.got


def test_a_few_rows_that_make_an_axis_are_named():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 5))
    X[[3, 500, 900], 4] = [60, -55, 58]
    finding = found(X, 1)["M103"]
    assert "of 2,000 rows make" in finding.what
    assert all(f"row {i}" in finding.got for i in (3, 500, 900))


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_shares_of_few_rows_are_large_by_chance(n):
    alarms = [
        "M103" in found(np.random.default_rng([n, seed]).standard_normal((n, 6)), 1)
        for seed in range(100)
    ]
    assert np.mean(alarms) <= 0.01


# -- M108 -----------------------------------------------------------------------------


def test_copied_rows_are_counted():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 4))
    X = np.concatenate([X, X[5:15], X[5:6]])
    got = found(X)["M108"].got
    assert "11 of 111 rows" in got
    assert "3 times, first as row 5" in got


def test_answers_on_a_scale_repeat_by_chance():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = np.clip(np.round(factors(2000, 6, rng, (1.5, 1.0)) + 3), 1, 5)
        assert len(np.unique(X, axis=0)) < 1500
        assert "M108" not in found(X)


def test_one_column_and_few_copies_are_silent():
    assert "M108" not in found(np.arange(40.0)[:, None] % 7, 1)
    X = np.random.default_rng(0).standard_normal((300, 3))
    X[4] = X[5]
    assert "M108" not in found(X)
