import numpy as np
import pytest

from mercer import PCA
from mercer.operators import RowsAboutOrigin, SpatialSigns, spatial_median
from mercer.sources import in_memory


def made(X, mirrored=False, factor=None):
    rows = RowsAboutOrigin.of(in_memory(X), None, 0.0)
    median = spatial_median(rows, np.ones(len(X)), factor)
    return SpatialSigns(rows, median.centring, mirrored=mirrored), median


def explicit(X, m):
    d = X - m
    r = np.linalg.norm(d, axis=1)
    return np.divide(d, r[:, None], out=np.zeros_like(d), where=r[:, None] > 0)


def test_signs_are_rows_of_length_one_with_mean_zero():
    X = np.random.default_rng(0).normal(size=(300, 4)) * [9, 3, 1, 1]
    signs, median = made(X)
    (u,) = list(signs.blocks(300))
    np.testing.assert_allclose(u, explicit(X, median.centring.mean), rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(u, axis=1), 1)
    assert np.linalg.norm(u.mean(axis=0)) <= 1e-10  # the equation of the spatial median


@pytest.mark.parametrize("rows", [1, 7, 64, 1000])
@pytest.mark.parametrize("mirrored", [False, True])
def test_blocks_of_any_length_from_any_row(rows, mirrored):
    X = np.random.default_rng(1).normal(size=(130, 3))
    signs, _ = made(X, mirrored)
    all_rows = np.concatenate(list(signs.blocks(500)))
    assert all_rows.shape == signs.shape
    again = np.concatenate(list(signs.blocks(rows, 2 * rows)) or [all_rows[:0]])
    np.testing.assert_array_equal(again, all_rows[2 * rows :])


def test_long_tables_are_read_from_the_middle():
    X = np.random.default_rng(2).normal(size=(9000, 60))
    signs, _ = made(X, mirrored=True)
    whole = np.concatenate(list(signs.blocks(5000)))
    np.testing.assert_array_equal(
        np.concatenate(list(signs.blocks(5000, 10000))), whole[10000:]
    )


def test_the_covariance_of_signs_is_their_second_moment():
    X = np.random.default_rng(3).normal(size=(200, 5)) * [5, 4, 3, 1, 1]
    signs, median = made(X)
    fitted = PCA(5)._fitted(signs, None)
    u = explicit(X, median.centring.mean)
    values, vectors = np.linalg.eigh(u.T @ u)
    np.testing.assert_allclose(fitted["singular_values_"] ** 2, values[::-1], rtol=1e-10)
    overlap = np.abs(np.sum(fitted["components_"].T * vectors[:, ::-1], axis=0))
    np.testing.assert_allclose(overlap, 1, rtol=0, atol=1e-9)


def test_mirror_images_where_the_median_stands_on_rows():
    rng = np.random.default_rng(4)
    X = np.r_[np.zeros((70, 3)), np.abs(rng.normal(size=(40, 3))) * [9, 1, 1]]
    signs, median = made(X, mirrored=True)
    assert median.on_rows == 70
    u = explicit(X, np.zeros(3))
    assert np.linalg.norm(u.mean(axis=0)) > 0.2  # a mean that centring would take out
    (both,) = list(signs.blocks(1000))
    np.testing.assert_allclose(both.T @ both, 2 * u.T @ u, rtol=0, atol=1e-12)
    np.testing.assert_allclose(both.mean(axis=0), 0, rtol=0, atol=1e-15)
    fitted = PCA(1)._fitted(signs, None)
    top = np.linalg.eigh(u.T @ u)[1][:, -1]
    assert abs(fitted["components_"][0] @ top) > 1 - 1e-12


def test_what_a_plan_may_know():
    signs, _ = made(np.random.default_rng(5).normal(size=(20, 3)), mirrored=True)
    assert signs.nbytes == 2 * 20 * 3 * 8
    assert signs.fingerprint() == "signs (40, 3)"
