import numpy as np
import pytest
import scipy.sparse

from mercer.errors import InputError
from mercer.operators import Centring, RowsAboutOrigin
from mercer.sources import ArrayBlocks, in_memory


def placed(X, counts=None, block_bytes=1e6, blocks=False):
    source = in_memory(X)
    return RowsAboutOrigin.of(ArrayBlocks(source) if blocks else source, counts, block_bytes)


def whole(rows):
    out = np.full(rows.shape, np.nan)
    for part, y in rows.blocks():
        assert y.dtype == np.float64
        out[part] = y
    return out


@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize(
    "form", [np.asarray, np.asfortranarray, np.float32, np.int64, scipy.sparse.csr_array]
)
def test_rows_about_the_origin(form, blocks):
    X = np.round(np.random.default_rng(0).normal(size=(50, 4)) * 9 + 40)
    rows = placed(form(X), block_bytes=300, blocks=blocks)
    np.testing.assert_array_equal(whole(rows) + rows.origin, X)
    np.testing.assert_allclose(rows.origin, np.median(X, axis=0), rtol=0, atol=1e-4)


def test_long_tables_come_in_tiles_and_are_not_written_to():
    X = np.random.default_rng(0).normal(size=(9001, 40))
    kept = X.copy()
    rows = placed(X)
    parts = []
    for part, y in rows.blocks():
        parts.append(part)
        y[:] = 0
    assert len(parts) > 1
    assert parts[0].start == 0
    assert parts[-1].stop == 9001
    np.testing.assert_array_equal(X, kept)


@pytest.mark.parametrize("far", [1e6, 1e200, 1e308])
def test_a_far_row_costs_the_others_no_digits(far):
    X = np.random.default_rng(0).normal(size=(40, 3))
    X[7] = [far, -far, far]
    y = whole(placed(X))
    near = np.arange(40) != 7
    np.testing.assert_allclose((y - y[0])[near], (X - X[0])[near], atol=2e-15)
    assert np.isfinite(np.sum(y**2))
    assert np.all(np.abs(y[7]) >= min(far, 1e100) * 0.99)


@pytest.mark.parametrize("unit", [2.0**-500, 1.0, 2.0**500])
def test_units_keep_squares_in_range(unit):
    X = np.random.default_rng(0).normal(size=(40, 3))
    rows = placed(X * unit)
    y = whole(rows)
    assert 1e-3 < np.median(np.abs(y)) < 1e3
    np.testing.assert_allclose(np.ldexp(y, rows.exponent) / unit, X - rows.origin / unit)


def test_rows_that_count_nothing_do_not_place_the_origin():
    X = np.r_[np.zeros((30, 2)), np.arange(22.0).reshape(11, 2)]
    counts = np.r_[np.zeros(30), np.ones(11)]
    np.testing.assert_array_equal(placed(X, counts).origin, [10, 11])


def test_distances_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 5)) + 7
    rows = placed(X, block_bytes=500, blocks=True)
    factor = rng.uniform(0.5, 2, 5)
    centring = Centring(rows.origin, rng.normal(size=5), 0, factor)
    V = np.linalg.qr(rng.normal(size=(5, 2)))[0]
    middle, deviation = np.array([0.3, -0.2]), np.array([2.0, 0.5])
    d = (X - centring.mean) * factor
    score, orthogonal = rows.distances(centring, V, deviation, middle)
    np.testing.assert_allclose(
        score, np.linalg.norm((d @ V - middle) / deviation, axis=1), rtol=1e-12
    )
    np.testing.assert_allclose(orthogonal, np.linalg.norm(d - d @ V @ V.T, axis=1), rtol=1e-12)
    np.testing.assert_allclose(rows.coordinates(centring, V), d @ V, rtol=0, atol=1e-12)


def test_a_row_close_to_the_axes_has_all_its_digits():
    X = np.array([[1e6, 0.0], [-1e6, 0.0], [3e6, 1e-6], [0.0, 0.0]])
    rows = placed(X)
    centring = Centring(np.zeros(2), np.zeros(2))
    rows = RowsAboutOrigin(rows.source, np.zeros(2))
    _, orthogonal = rows.distances(centring, np.eye(2)[:, :1], np.ones(1))
    np.testing.assert_allclose(orthogonal, [0, 0, 1e-6, 0], rtol=1e-12)  # squares lose it


def test_rounding_covers_what_storage_rounds():
    rng = np.random.default_rng(2)
    line = rng.normal(size=(200, 1)) * [1.0, 2.0, -1.0]
    for offset, dtype in [(0, float), (1e8, float), (1e4, np.float32)]:
        X = (line + offset).astype(dtype)
        rows = placed(X)
        centring = Centring(rows.origin, -rows.origin + offset)
        axis = np.array([[1.0], [2.0], [-1.0]]) / np.sqrt(6)
        _, orthogonal = rows.distances(centring, axis, np.ones(1))
        assert np.max(orthogonal) <= rows.rounding(centring, 3.0)
        assert rows.rounding(centring, 3.0) < 1e-2


def test_weights_of_another_length_are_refused():
    with pytest.raises(InputError, match=r"3 weights, 4 rows"):
        placed(np.eye(4), np.ones(3), blocks=True)
