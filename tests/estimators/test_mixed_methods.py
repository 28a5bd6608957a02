"""What FAMD and MFA share: columns, paths, and how axes are read."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from forced import bound_to
from mixed_tables import by_hand, mixed_frame, with_gaps
from tests.claims import agree, refuses

import mercer
from mercer import FAMD, MFA
from mercer.errors import AccuracyWarning, InputError
from mercer.estimators.mixed import _mixed_filling, _mixed_frame
from mercer.estimators.mixed._mixed_axes import Filling, fuzzy
from mercer.estimators.mixed._mixed_filling import filling_rank, noise
from mercer.estimators.mixed._mixed_frame import framed, table_of_cells
from mercer.estimators.mixed._mixed_table import (
    mixed,
    positions,
)


@pytest.mark.parametrize("kind", [FAMD, MFA])
def test_columns_are_those_of_the_fit_and_files_are_refused(kind, tmp_path):
    given = mixed_frame(40)
    model = kind().fit(given)
    refuses("feature", model.transform, given[given.columns[:-1]])
    refuses("feature names", model.transform, given[given.columns[::-1]])
    refuses("Reshape", model.transform, given.to_numpy(object)[0])
    assert model.feature_names_in_.tolist() == list(given.columns)
    assert model.n_features_in_ == given.shape[1]
    refuses(r"[Ss]parse", kind().fit, scipy.sparse.eye_array(4).tocsr())
    refuses("rows in memory", kind().fit, tmp_path / "table.csv")


def test_names_numbers_and_the_plan_of_columns():
    given = mixed_frame(40)
    numbered = given.set_axis(range(given.shape[1]), axis=1)
    found = FAMD().fit(numbered)
    np.testing.assert_allclose(found.eigenvalues_, FAMD().fit(given).eigenvalues_)
    assert found.variables_[0] == "0"
    given = mixed_frame()
    assert mercer.plan(FAMD(2), given).problem.cols == 4 + 10
    assert FAMD(2).fit(given).plan_.problem.rows == 120
    model = FAMD(2).fit(mixed_frame())
    assert model.column_names_[:5] == ["a", "b", "c", "d", "size=l"]
    assert model.variables_ == list(mixed_frame().columns)
    assert [c.tolist() for c in model.categories_][1] == ["glad", "sad"]
    assert model.row_names_ is None
    named = mixed_frame().set_index(mixed_frame().index.map(lambda i: f"r{i}"))
    assert FAMD(2).fit(named).row_names_[3] == "r3"


def test_supplementary_columns_change_nothing_and_agree_with_active_ones():
    given = mixed_frame()
    model = FAMD(3).fit(given)
    found = model.supplementary(given)
    agree(found.correlations, model.correlations_, 1e-10)
    agree(found.v_tests, model.v_tests_, 1e-8)
    assert list(found.levels) == model.column_names_[4:]
    refuses("3 rows, 120 at fit", model.supplementary, given.iloc[:3])
    noise = pd.DataFrame(
        {"flat": np.ones(120), "gap": np.where(np.arange(120) < 3, np.nan, 1.0)}
    )
    model.supplementary(noise)


@pytest.mark.parametrize("path", ["svd", "gram", "krylov"])
def test_every_path_finds_the_same_axes(path):
    given = mixed_frame(300).assign(id=np.repeat([f"g{i}" for i in range(60)], 5))
    expected = FAMD(2).fit(given)
    model = bound_to(FAMD, path)(2, tol=1e-9).fit(given)
    assert model.plan_.chosen.name == path
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-7)
    agree(model.row_coordinates_, expected.row_coordinates_, 1e-3)
    assert np.all(model.certificate_.lower <= expected.eigenvalues_ * (1 + 1e-9))


GROUPS = {"one": ["a", "b", "mood"], "two": ["c", "d"], "three": ["size", "place"]}


@pytest.fixture(
    scope="module",
    params=[FAMD(3), MFA(GROUPS, 3), MFA(GROUPS, 3, standardize=False)],
    ids=["famd", "mfa", "mfa-centred"],
)
def model(request):
    return request.param.fit(mixed_frame())


def test_shares_sum_to_one_and_coordinates_have_their_variance(model):
    for name in ("row", "column", "variable"):
        np.testing.assert_allclose(getattr(model, f"{name}_contributions_").sum(axis=0), 1)
    np.testing.assert_allclose(model.row_inertias_.sum(), model.total_inertia_)
    np.testing.assert_allclose(model.column_inertias_.sum(), model.total_inertia_)
    assert model.row_cos2_.sum(axis=1).max() < 1 + 1e-12
    assert model.column_cos2_.sum(axis=1).max() < 1 + 1e-12
    agree(model.row_masses_ @ model.row_coordinates_, 0, 1e-12)
    products = (model.row_masses_[:, None] * model.row_standard_).T @ model.row_standard_
    agree(products, np.eye(3), 1e-10)


def test_links_are_squared_correlations_of_the_columns(model):
    given, rows = mixed_frame(), model.row_coordinates_
    numbers = list("abcd")
    expected = np.corrcoef(np.column_stack([given[numbers], rows]).T)[:4, 4:]
    agree(model.correlations_, expected, 1e-10)
    links = dict(zip(model.variables_, model.squared_correlations_, strict=True))
    for name, line in zip(numbers, expected, strict=True):
        agree(links[name], line**2, 1e-10)
    for name in ("size", "mood", "place"):
        means = given.groupby(name)[[]].mean()
        parts = [rows[(given[name] == level).to_numpy()] for level in means.index]
        between = sum(len(p) * p.mean(axis=0) ** 2 for p in parts) / 120
        agree(links[name], between / rows.var(axis=0), 1e-10)


def test_levels_are_means_of_their_rows(model):
    given, rows = mixed_frame(), model.row_coordinates_
    p = 4
    for label, mean, test in zip(
        model.column_names_[p:], model.level_means_, model.v_tests_, strict=True
    ):
        name, _, level = label.partition("=")
        own = (given[name] == level).to_numpy()
        agree(mean, rows[own].mean(axis=0), 1e-10)
        m = own.sum()
        error = np.sqrt(rows.var(axis=0) * (120 - m) / (119 * m))
        agree(test, rows[own].mean(axis=0) / error, 1e-9)


def test_all_axes_show_all_of_every_row():
    model = FAMD(None).fit(mixed_frame())
    np.testing.assert_allclose(model.row_cos2_.sum(axis=1), 1)
    np.testing.assert_allclose(model.column_cos2_.sum(axis=1), 1)
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1)
    distances = np.sum(by_hand(mixed_frame()) ** 2, axis=1)
    np.testing.assert_allclose(model.row_inertias_, distances, rtol=1e-9)


FRAME = pd.DataFrame(
    {
        "x": [1.5, 2.5, np.nan],
        "who": ["a", None, "b"],
        "n": [1, 2, 3],
        "yes": [True, False, True],
    }
)


@pytest.mark.parametrize(
    "given",
    [
        FRAME,
        pl.from_pandas(FRAME),
        pa.Table.from_pandas(FRAME),
        FRAME.astype(object).to_numpy(),
    ],
    ids=["pandas", "polars", "pyarrow", "objects"],
)
def test_columns_are_read_as_what_they_are(given):
    table = mixed(given)
    assert table.kinds.tolist() == [False, True, False, True]
    np.testing.assert_array_equal(table.numbers, [[1.5, 1], [2.5, 2], [np.nan, 3]])
    assert [column.values.tolist() for column in table.columns] == [["a", "b"], [False, True]]
    assert table.columns[0].codes.tolist() == [0, -1, 1]
    expected = np.zeros((3, 4), bool)
    expected[2, 0] = expected[1, 1] = True
    np.testing.assert_array_equal(table.gaps(), expected)


def test_arrays_codes_and_masked_cells():
    X = np.arange(6.0).reshape(3, 2)
    assert np.shares_memory(mixed(X).numbers, X)
    assert mixed(FRAME, ["n"]).kinds.tolist() == [False, True, True, True]
    table = mixed(np.array([[1.0, 2.0], [1.0, 3.0]]), [1])
    assert table.columns[0].values.tolist() == [2, 3]
    refuses("'z'; X has 'x', 'who'", mixed, FRAME, ["z"])
    X = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
    assert mixed(X).gaps().tolist() == [[False, True], [False, False]]


def test_what_was_a_number_must_be_one_again():
    kinds = mixed(FRAME).kinds
    with pytest.raises(InputError, match=r"str 'oops' at row 1, column 0 \('x'\)"):
        mixed(FRAME.assign(x=["1", "oops", "2"]).replace({"x": {"1": 1.0}}), kinds=kinds)
    again = mixed(FRAME.assign(x=[None, None, None]), kinds=kinds)
    assert np.isnan(again.numbers[:, 0]).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (FRAME.assign(t=pd.Timestamp("2020-01-01")), r"dates or times in column 4 \('t'\)"),
        (np.array([["2020-01-01"]], "M8[D]"), "dates or times in column 0"),
        (scipy.sparse.eye_array(3).tocsr(), "[Ss]parse"),
        (pl.from_pandas(FRAME).lazy(), "collect"),
        (FRAME["x"], "1D|series|dim"),
        (pd.concat([FRAME, FRAME], axis=1), "unique"),
        (FRAME.iloc[:0], "0 sample"),
        ({"a": 1}, "table"),
    ],
    ids=["time", "dates", "sparse", "lazy", "series", "twins", "empty", "dict"],
)
def test_what_is_no_table_is_refused(given, said):
    refuses(said, mixed, given, kind=(InputError, TypeError))


def test_columns_by_name_or_position_and_cells_by_place():
    given = np.array([[1, "a"], [2, dt.timedelta(1)]], dtype=object)
    refuses("row 1, column 1", mixed, given)
    assert positions(["b", 0], ["a", "b"], "groups") == {0, 1}
    assert positions("b", ["a", "b"], "groups") == {1}
    assert positions([1], ["1", "0"], "groups") == {0}  # a name comes first
    for bad in (2, -1, "c", True):
        refuses("`groups`", positions, [bad], ["a", "b"], "groups")


@pytest.fixture(scope="module")
def fitted():
    return FAMD(2, missing="fill").fit(with_gaps(mixed_frame())[0])


def analysed(frame, table):
    """Return y (n, p + J), NaN where a cell is missing."""
    codes, p = frame.codes(table), len(frame.spread)
    y = np.zeros((table.shape[0], frame.width))
    y[:, :p] = frame.standard(table.numbers)
    for q, (a, b) in enumerate(zip(frame.starts[:-1], frame.starts[1:], strict=True)):
        share = frame.shares[a - p : b - p]
        y[:, a:b] = ((codes[:, q, None] == np.arange(b - a)) - share) / np.sqrt(share)
        y[codes[:, q] < 0, a:b] = np.nan
    return y


def test_rows_with_gaps_are_placed_by_regression_on_what_is_there(fitted):
    table = mixed(with_gaps(mixed_frame())[0])
    axes, filling = fitted._axes, fitted._axes.filling
    V, W, s2 = filling.axes, filling.loadings, filling.noise
    y = analysed(axes.frame, table)
    found, squares = axes.placed(table)
    for row in range(30):
        seen = ~np.isnan(y[row])
        inner = np.linalg.solve(s2 * np.eye(2) + W[seen].T @ W[seen], W[seen].T @ y[row, seen])
        filled = np.where(seen, y[row], W @ inner)
        agree(found[row], filled @ V, 1e-10)
        agree(squares[row], filled @ filled, 1e-9)


def test_the_regression_is_the_fixed_point_of_the_iteration(fitted):
    """Replacing gaps by V diag((λ - s²)/λ) Vᵀŷ until nothing moves leads to the same cells."""
    filling = fitted._axes.filling
    y = analysed(fitted._axes.frame, mixed(with_gaps(mixed_frame())[0]))
    row = y[np.isnan(y).any(axis=1)][0]
    gaps = np.isnan(row)
    filled = np.where(gaps, 0.0, row)
    shrunk = filling.axes * (1 - filling.noise / filling.values)
    for _ in range(2000):
        filled[gaps] = (shrunk @ (filling.axes.T @ filled))[gaps]
    holes = np.zeros((1, len(fitted.variables_)), bool)
    holes[0, filling.owner[gaps]] = True
    observed = np.where(gaps, 0.0, row) @ filling.axes
    inner = filling.inner(observed[None], holes)[0]
    agree((filling.loadings @ inner)[gaps], filled[gaps], 1e-9)


def test_expected_shares_of_a_category_sum_to_one_and_none_without_axes(fitted):
    table = mixed(with_gaps(mixed_frame())[0])
    axes = fitted._axes
    expected = fuzzy(axes.filling, axes.frame, axes.observed(table), table.gaps())
    for column in np.flatnonzero(axes.frame.kinds):
        agree(expected[int(column)].sum(axis=1), 1, 1e-9)
    filling = Filling(np.zeros((3, 0)), np.zeros(0), 0.0, np.arange(3))
    assert filling.inner(np.zeros((2, 0)), np.ones((2, 3), bool)).shape == (2, 0)


def uniform(n):
    return np.full(n, 1 / n)


@pytest.mark.parametrize("sparse", [False, True])
def test_gaps_stand_at_their_means(monkeypatch, sparse):
    monkeypatch.setattr(_mixed_frame, "stored_cells", lambda *_: 1 if sparse else None)
    given = pd.DataFrame(
        {"x": [1.0, None, 3.0], "u": ["a", "b", None], "v": [None, "p", "q"], "w": list("rst")}
    )
    table = mixed(given)
    frame = framed(table, uniform(3))
    made = table_of_cells(frame, table, frame.codes(table))
    made = made.toarray() if sparse else made
    half = [0.5, 0.5]
    expected = [
        [-1, 1, 0, *half, 1, 0, 0],
        [0, 0, 1, 1, 0, 0, 1, 0],
        [1, *half, 0, 1, 0, 0, 1],
    ]
    np.testing.assert_allclose(made, expected)
    assert frame.labels[:3] == ["x", "u=a", "u=b"]
    assert frame.owner.tolist() == [0, 1, 1, 2, 2, 3, 3, 3]


def long_way(T, numbers, rank, free, steps=1000):
    """Regularised iterative FAMD of a table with NaN by plain substitution, as published.

    The first `numbers` columns are numbers, the others indicators; `free` columns can vary.
    """
    gaps, levels = np.isnan(T), np.arange(T.shape[1]) >= numbers
    filled = np.where(gaps, np.nanmean(T, axis=0), T)
    n = len(T)
    for _ in range(steps):
        mean = filled.mean(axis=0)
        scale = np.where(levels, np.sqrt(np.abs(mean)), filled.std(axis=0))
        u, s, vt = np.linalg.svd((filled - mean) / scale / np.sqrt(n), full_matrices=False)
        left = np.sum(s[rank:] ** 2)
        cells = (n - 1) * free - (n - 1) * rank - free * rank + rank**2
        s2 = min(n * free / min(free, n - 1) * left / cells, s[rank] ** 2)
        shrunk = (s[:rank] ** 2 - s2) / s[:rank]
        fit = np.sqrt(n) * (u[:, :rank] * shrunk) @ vt[:rank]
        filled = np.where(gaps, fit * scale + mean, T)
    return filled


def test_cells_are_filled_as_published_by_weights_that_are_repeats(rng):
    X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 6)) + 0.2 * rng.normal(size=(60, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    found = FAMD(2, missing="fill").fit(X).impute(X)
    agree(found, long_way(X, 6, 2, 6), 1e-5)
    holed, _ = with_gaps(mixed_frame(60))
    w = np.arange(60) % 3
    weighted = FAMD(2, missing="fill").fit(holed, sample_weight=w)
    repeated = holed.iloc[np.repeat(np.arange(60), w)]
    again = FAMD(2, missing="fill").fit(repeated)
    np.testing.assert_allclose(weighted.eigenvalues_, again.eigenvalues_, rtol=1e-6)
    agree(weighted.transform(holed), again.transform(holed), 1e-5)


def test_categories_are_filled_as_the_published_iteration_does():
    holed = with_gaps(mixed_frame(80))[0][["a", "d", "size", "mood"]].dropna(how="all")
    indicator = pd.get_dummies(holed[["size", "mood"]]).to_numpy(float)
    indicator[holed["size"].isna(), :3] = np.nan
    indicator[holed["mood"].isna(), 3:] = np.nan
    expected = long_way(np.column_stack([holed[["a", "d"]], indicator]), 2, 2, 2 + 2 + 1)
    found = FAMD(2, missing="fill").fit(holed).impute(holed)
    np.testing.assert_allclose(found[["a", "d"]], expected[:, :2], atol=1e-5)
    sizes = np.array(["l", "m", "s"])[np.argmax(expected[:, 2:5], axis=1)]
    assert found["size"].tolist() == sizes.tolist()
    moods = np.array(["glad", "sad"])[np.argmax(expected[:, 5:], axis=1)]
    assert found["mood"].tolist() == moods.tolist()


@pytest.mark.parametrize("missing", [0.05, 0.3])
def test_sparse_and_dense_tables_are_filled_alike(monkeypatch, missing):
    holed, _ = with_gaps(mixed_frame(), missing)
    found = []
    for stored in (None, 1):
        monkeypatch.setattr(_mixed_frame, "stored_cells", lambda *_, s=stored: s)
        model = FAMD(2, missing="fill").fit(holed)
        found.append((model.eigenvalues_, model.row_coordinates_, model.n_iter_))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-7)
    agree(found[0][1], found[1][1], 1e-6)
    assert 1 < found[0][2] < 500


def test_noise_ranks_and_steps_that_do_not_settle(monkeypatch, rng):
    monkeypatch.setattr(_mixed_filling, "_STEPS", 1)
    with pytest.warns(AccuracyWarning, match="still moved after 1 steps"):
        FAMD(2, missing="fill").fit(with_gaps(mixed_frame())[0])
    X = rng.normal(size=(5000, 6))
    values = np.linalg.svd(X - X.mean(0), compute_uv=False) ** 2 / 5000
    assert noise(values, values.sum(), 2, 5000, 6) == pytest.approx(1, abs=0.05)
    assert noise(values[:2], values.sum(), 2, 5000, 6) == pytest.approx(1, abs=0.05)
    assert noise(values, values.sum(), 6, 5000, 6) == 0.0
    assert filling_rank(5, 100, 4) == 3
    assert filling_rank(5, 4, 10) == 2
    assert filling_rank(2, 2, 1) == 0
