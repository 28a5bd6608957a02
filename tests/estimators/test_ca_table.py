"""Tables of counts: names of rows, what misleads, and what independence would show."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from tests.claims import refuses, warned

import mercer
from mercer import CorrespondenceAnalysis
from mercer.errors import DataWarning, InputError, NotSupportedError
from mercer.estimators.counts._count_facts import (
    arch_of,
    pieces_of,
    totals_of,
)
from mercer.estimators.counts._independence import (
    affordable,
    chosen,
    independence,
    null_band,
    warn_of_none,
)

TABLE = np.array([[3, 0, 1], [0, 2, 5]])


def names_of(given):
    """Return what rows are called by a fit of them."""
    return CorrespondenceAnalysis(1).fit(given).row_names_


def test_sums_of_cells_that_stand_twice_and_of_large_numbers():
    twice = scipy.sparse.csr_array(
        (np.array([1.0, 2, 4]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2)
    )
    kept = twice.data.copy()
    found = warned("2 blocks", CorrespondenceAnalysis(1).fit, twice)
    np.testing.assert_allclose(found.row_masses_, [3 / 7, 4 / 7])
    np.testing.assert_array_equal(twice.data, kept)  # the user's own matrix is as it was
    table = TABLE * 10**18
    for given in (table, scipy.sparse.csr_array(table)):
        assert CorrespondenceAnalysis(1).fit(given).total_ == pytest.approx(1.1e19)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("cell", [-5, np.nan, np.inf, -np.inf])
def test_a_bad_cell_is_named_by_its_place(sparse, cell):
    frame = pd.DataFrame(TABLE.astype(float), columns=list("xyz"), index=["a", "b"])
    frame.iloc[1, 2] = cell
    with pytest.raises(InputError) as error:
        CorrespondenceAnalysis(1).fit(scipy.sparse.csr_array(frame) if sparse else frame)
    row, column = ("row 1 ('b')", "column 2 ('z')") if cell == -5 else ("row 1", "column 2")
    assert ("row 1, column 2" if sparse else f"{row}, {column}") in error.value.got


def test_names_of_rows():
    frame = pd.DataFrame(TABLE, columns=list("xyz"))
    assert names_of(frame) is None
    assert names_of(TABLE) is None
    assert names_of(TABLE.tolist()) is None
    assert names_of(frame.set_axis(["b", "b"])) == ["b", "b"]
    assert names_of(frame.set_axis([3, 7])) == ["3", "7"]
    double = frame.set_axis(pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))
    assert names_of(double) == ["a 1", "a 2"]
    text = frame.assign(w=["é", "<b>"])[["w", "x", "y", "z"]]
    for given in (
        text,
        pl.from_pandas(text),
        pa.Table.from_pandas(text, preserve_index=False),
        pl.from_pandas(text).with_columns(pl.col("w").cast(pl.Categorical)),
    ):
        assert names_of(given) == ["é", "<b>"]
    numbered = pd.DataFrame(TABLE)  # names of columns are numbers
    assert names_of(numbered) is None
    assert names_of(pd.DataFrame([["a", 1, 2], ["b", 3, 4]])) == ["a", "b"]


@pytest.mark.parametrize("kind", ["str", "category"])
def test_rows_left_out_of_a_frame_take_no_names_away(kind):
    frame = pd.DataFrame({"site": list("uvwx"), "a": [3, 1, 2, 5], "b": [4, 4, 1, 1]})
    frame["site"] = frame["site"].astype(kind)
    # Its index is 0, 2, 3.
    assert names_of(frame[frame["a"] != 1]) == ["u", "w", "x"]
    numbered = frame[["a", "b"]].iloc[[0, 2]]
    assert names_of(numbered) == ["0", "2"]
    refuses("'site'", names_of, frame.set_index(pd.Index(list("klmn"))))


def test_arches_are_found_among_points_enough(rng):
    x = np.linspace(-1, 1, 40)
    masses = np.full(40, 1 / 40)
    bent = np.column_stack([x, x**2 - np.mean(x**2) + 0.02 * rng.standard_normal(40)])
    assert arch_of(bent, masses) > 0.95
    assert arch_of(1e-150 * bent, masses) > 0.95
    assert arch_of(rng.standard_normal((40, 2)), masses) < 0.5
    assert arch_of(np.column_stack([x, x**3 - 0.6 * x]), masses) < 0.3
    points = rng.standard_normal((5, 2))
    assert arch_of(points, np.ones(5)) is None
    assert arch_of(points[:, :1], np.ones(5)) is None
    assert arch_of(np.zeros((9, 2)), np.ones(9)) is None
    assert arch_of(np.column_stack([np.arange(9.0), np.zeros(9)]), np.ones(9)) is None


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_pieces_are_counted_by_rows_and_columns(kind):
    table = np.zeros((7, 6))
    table[:3, :2], table[3:6, 2:5] = 1, 2  # the last row and column are empty
    assert pieces_of(kind(table), 1.0) == ((3, 3), (3, 2))
    table[0, 4] = 1e-9
    assert pieces_of(kind(table), 1.0) == ()
    assert pieces_of(kind(table), 0.5) == ()  # not looked at


def test_stored_zeros_join_nothing():
    csr = scipy.sparse.csr_array(np.eye(3) + 1)
    csr.data[csr.data == 1] = 0
    assert len(pieces_of(csr, 1.0)) == 3


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("sides", [(True, True), (True, False), (False, True), (False, False)])
def test_totals_inside_a_table_are_found(rng, kind, sides):
    table = rng.poisson(4, size=(6, 7)) / 10
    if sides[0]:
        table = np.vstack([table, table.sum(axis=0)])
    if sides[1]:
        table = np.column_stack([table, table.sum(axis=1)])
    assert totals_of(kind(table), table.sum(axis=1), table.sum(axis=0)) == sides


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_totals_that_twice_are_beyond_the_type_are_found(rng, kind, dtype):
    table = rng.integers(8, 16, (6, 7))
    table = np.vstack([table, table.sum(axis=0)]).astype(dtype)  # 2 * 100 is 200 or -56
    assert 2 * int(table[-1].max()) > np.iinfo("int8").max
    wide = table.astype(float)
    assert totals_of(kind(table), wide.sum(axis=1), wide.sum(axis=0)) == (True, False)


def test_totals_of_a_crosstab_are_said_and_none_by_chance(rng):
    table = np.outer([1, 2, 3], [4, 5, 6, 7])
    assert totals_of(table, table.sum(axis=1), table.sum(axis=0)) == (False, False)
    a, b = rng.choice(list("uvw"), 200), rng.choice(list("xyz"), 200)
    with pytest.warns(DataWarning, match="its own totals"):
        mercer.CorrespondenceAnalysis(1).fit(pd.crosstab(a, b, margins=True))
    mercer.CorrespondenceAnalysis(1).fit(pd.crosstab(a, b))


R, C = np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.3, 0.2, 0.1])


def test_the_band_holds_inertias_of_independent_tables():
    """Of 400 tables nine in ten of the first inertias lie within, and χ² has its mean."""
    rng = np.random.default_rng(3)
    band = null_band(R, C, 500, draws=400, seed=0)
    assert band.shape == (2, 2)
    assert np.all(band[0] < band[1])
    first, whole = [], []
    for _ in range(400):
        table = rng.multinomial(500, np.outer(R, C).ravel()).reshape(3, 4)
        E = np.outer(table.sum(axis=1), table.sum(axis=0)) / 500
        values = np.linalg.svd((table - E) / np.sqrt(E), compute_uv=False) ** 2 / 500
        first.append(values[0])
        whole.append(500 * values.sum())
    inside = np.mean((first > band[0, 0]) & (first < band[1, 0]))
    assert 0.85 < inside < 0.95
    assert np.mean(whole) == pytest.approx(6, abs=0.5)


def test_bands_behind_axes_and_of_very_many_counts():
    # The last of min(m, n) - 1 axes alone has the law of χ² with |m - n| + 1 degrees.
    from scipy.stats import chi2

    band = null_band(R, C, 2000, draws=2000, seed=1)
    np.testing.assert_allclose(2000 * band[1, 1], chi2.ppf(0.95, 2), rtol=0.25)
    even = null_band(R, np.array([0.5, 0.3, 0.2]), 2000, draws=2000, seed=1)
    np.testing.assert_allclose(2000 * even[1, 1], chi2.ppf(0.95, 1), rtol=0.25)
    # So many counts are normal: the band shrinks as 1/g and keeps its shape.
    few = null_band(R, C, 1e6, draws=400, seed=0) * 1e6
    many = null_band(R, C, 1e17, draws=400, seed=0) * 1e17
    np.testing.assert_allclose(many[1], few[1], rtol=0.2)
    assert not null_band(R, C, np.inf, draws=20, seed=0).any()


def test_bands_of_few_counts_of_shares_and_of_large_tables():
    band = null_band(R, C, 3, draws=60, seed=0)
    assert np.isfinite(band).all()
    assert band[1, 0] <= 1 + 1e-12
    refuses("multiply shares by the number of cases", null_band, R, C, 1.0, draws=20, seed=0)
    assert affordable(4, 4) == 199
    assert affordable(4, 4, 50) == 50
    assert 19 <= affordable(5000, 300) < 199
    refuses("1,000,000 x 10,000", affordable, 1_000_000, 10_000, kind=NotSupportedError)


def test_axes_are_counted_from_the_first_and_tested_at_the_ends_of_the_range():
    band = np.array([[0.1, 0.1, 0.1], [0.3, 0.2, 0.1]])
    choice = chosen(np.array([0.5, 0.1, 0.3]), band, 99, (4, 5))
    assert choice.k == 1
    assert "99 tables of 4 x 5" in choice.reason
    assert chosen(np.array([0.5, 0.4, 0.3]), band, 99, (4, 5)).k == 3
    warn_of_none(choice)
    warned("no axis is kept", warn_of_none, chosen(np.array([0.2]), band, 99, (4, 5)))
    found = independence(R, C, 0.5, 1.0, 2000)  # 2^2000 counts
    assert (found.chi2, found.p_value, found.expected_below_5) == (np.inf, 0.0, 0.0)
    found = independence(R, C, 0.0, 1.0, 2000)
    assert (found.chi2, found.p_value, found.cramer_v) == (0.0, 1.0, 0.0)
    assert independence(R, C, 0.5, 1.0, -2000).expected_below_5 == 1.0
