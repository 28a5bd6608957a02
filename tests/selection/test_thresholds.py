import numpy as np
import pytest
import scipy.integrate
from numpy.testing import assert_allclose

from mercer.selection import Variances, broken_stick, gavish_donoho, kaiser, noise_edge
from mercer.selection._thresholds import edge, hard_threshold, marchenko_pastur_median, stick


def of_table(X):
    n, p = X.shape
    values = np.linalg.eigvalsh(np.cov(X.T))[::-1]
    return Variances.of(values, rows=n, columns=p)


def test_kaiser_counts_what_is_above_the_mean():
    assert kaiser(Variances.of([4.0, 1.1, 0.5, 0.4], rows=20, columns=4)) == 1
    assert kaiser(Variances.of([1.0, 1.0], rows=20, columns=2)) == 0
    assert kaiser(Variances.of([4.0, 3.0], rows=20, columns=4, total=8.0)) is None


def test_stick_is_that_of_vegan():
    # vegan's bstick(prcomp) of 23 axes with a total of 44 [varespec].
    pieces = stick(23) * 44
    assert_allclose(pieces[[0, -1]], [7.1438620, 0.0831758], atol=5e-8)
    assert_allclose(pieces.sum(), 44)


def test_broken_stick_stops_at_the_first_that_fails():
    assert broken_stick(Variances.of([6.0, 1.0, 1.0], rows=20, columns=3)) == 1
    assert broken_stick(Variances.of([1.0, 1.0, 1.0], rows=20, columns=3)) == 0


@pytest.mark.parametrize("ratio", [0.01, 0.25, 0.5, 1.0])
def test_median_of_marchenko_pastur_is_that_of_its_density(ratio):
    a, b = (1 - ratio**0.5) ** 2, (1 + ratio**0.5) ** 2

    def density(x):
        return np.sqrt((b - x) * (x - a)) / (2 * np.pi * ratio * x)

    below = scipy.integrate.quad(density, a, marchenko_pastur_median(ratio), limit=200)[0]
    assert_allclose(below, 0.5, atol=1e-6)


def test_hard_threshold_of_a_square_table_is_that_of_the_paper():
    assert round(hard_threshold(1.0), 3) == 2.858  # Gavish and Donoho (2014)


def test_median_of_marchenko_pastur_is_that_of_large_noise():
    X = np.random.default_rng(0).standard_normal((900, 300))
    values = np.linalg.eigvalsh(X.T @ X / 900)
    assert_allclose(np.median(values), marchenko_pastur_median(1 / 3), rtol=0.02)


@pytest.mark.parametrize("shape", [(300, 60), (60, 300), (100, 100)])
def test_gavish_donoho_finds_signal_in_white_noise(shape):
    rng = np.random.default_rng(1)
    X = rng.standard_normal(shape)
    assert gavish_donoho(of_table(X)) == 0
    X += 3 * rng.standard_normal((shape[0], 2)) @ rng.standard_normal((2, shape[1]))
    known = of_table(X)
    assert gavish_donoho(known) == 2
    half = Variances(known.values[:20], known.total, known.rows, known.columns)
    assert gavish_donoho(half) is None


def test_edge_of_white_noise_is_that_of_marchenko_pastur():
    n, p = 10**9, 10**7
    white = edge(np.full(1000, 2.0), 1000 * n / p + 1)
    scale = (white / 2 - (1 + np.sqrt(p / n)) ** 2) / 100000 ** (-2 / 3)
    # Johnstone (2001): (√n + √p)(1/√n + 1/√p)^(1/3) in units of n.
    ratio = p / n
    assert_allclose(scale / 0.9793, (1 + ratio**0.5) * (1 + ratio**-0.5) ** (1 / 3), rtol=1e-6)


def test_noise_of_unequal_columns_is_above_its_edge_in_one_of_twenty_tables():
    h = np.random.default_rng(1).uniform(0.2, 3, 60)
    rng, over = np.random.default_rng(2), 0
    for _ in range(200):
        X = rng.standard_normal((200, 60)) * np.sqrt(h)
        over += noise_edge(of_table(X), h) > 0
    assert over <= 20


def test_no_variance_has_no_component():
    nothing = Variances.of([0.0, 0.0], rows=5, columns=2)
    assert noise_edge(nothing, np.zeros(2)) == kaiser(nothing) == broken_stick(nothing) == 0
    assert gavish_donoho(nothing) == 0
