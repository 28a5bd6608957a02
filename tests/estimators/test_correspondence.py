"""Correspondence analysis of tables in any form, and what is told of its points."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from count_tables import with_factors
from tests.claims import agree, refuses, warned

import mercer
from mercer import CorrespondenceAnalysis
from mercer.errors import BudgetError, DataWarning, InputError, NotSupportedError

NAMES = ["Black", "Brown", "Red", "Blond"]
HAIR = pd.DataFrame(
    [[68, 119, 26, 7], [15, 54, 14, 10], [5, 29, 14, 16], [20, 84, 17, 94]],
    index=["Brown", "Hazel", "Green", "Blue"],
    columns=NAMES,
)
CELLS = HAIR.to_numpy()


def with_last(cell, kind=float):
    """Return the table with another last cell."""
    frame = HAIR.astype(kind)
    frame.iloc[3, 3] = cell
    return frame


def forms():
    beside = HAIR.reset_index(names="eye")
    yield "pandas", HAIR
    yield "text column", beside
    yield "polars", pl.from_pandas(beside)
    yield "pyarrow", pa.Table.from_pandas(beside, preserve_index=False)
    yield "list", CELLS.tolist()
    yield "csr", scipy.sparse.csr_array(CELLS)
    yield "coo", scipy.sparse.coo_matrix(CELLS.astype(np.float32))
    yield "uint8", CELLS.astype(np.uint8)


FORMS = dict(forms())


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_table_is_the_same_table(name):
    given = FORMS[name]
    model = CorrespondenceAnalysis(2).fit(given)
    exact = CorrespondenceAnalysis(2).fit(CELLS)
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-12)
    agree(model.row_coordinates_, exact.row_coordinates_, 1e-12)
    found = model.transform(given)
    agree(found, model.row_coordinates_, 1e-6)
    framed = name in ("pandas", "text column", "polars", "pyarrow")
    assert model.row_names_ == (list(HAIR.index) if framed else None)
    assert model.column_names_ == (NAMES if framed else ["x0", "x1", "x2", "x3"])
    assert (model.n_samples_, model.n_features_in_, model.total_) == (4, 4, 592)


@pytest.mark.parametrize("wanted", [1, 2, 3, 99, None, 0.5, 0.95, 0.9999999])
def test_how_many_axes(wanted):
    model = CorrespondenceAnalysis(wanted).fit(CELLS)
    k = {99: 3, None: 3, 0.5: 1, 0.95: 2, 0.9999999: 3}.get(wanted, wanted)
    assert model.n_components_ == k == len(model.eigenvalues_) == model.rank_
    assert model.transform(CELLS).shape == (4, k)
    names = model.get_feature_names_out()
    assert list(names) == [f"correspondenceanalysis{i}" for i in range(k)]
    assert len(model.certificate_.lower) == k


def test_axes_beyond_independence():
    model = CorrespondenceAnalysis("auto").fit(CELLS)
    assert model.n_components_ == model.choice_.k == 2  # χ² of the third alone: p = 0.2
    band = model.null_band()
    assert band.shape == (2, 3)
    assert np.all(model.eigenvalues_ > band[1, :2])
    rng = np.random.default_rng(8)
    noise = rng.poisson(20.0, (30, 12))
    nothing = warned("no axis beyond independence", CorrespondenceAnalysis("auto").fit, noise)
    assert nothing.transform(noise).shape == (30, 0)
    planted = CorrespondenceAnalysis("auto").fit(with_factors(60, 20, 2, 4, strength=0.15))
    assert planted.n_components_ == 2


def test_a_null_that_would_take_too_long_is_refused():
    many = CorrespondenceAnalysis(1).fit(CELLS)
    many.row_masses_ = np.full(100_000, 1e-5)
    many.column_masses_ = np.full(10_000, 1e-4)
    refuses("100,000 x 10,000", many.null_band, kind=mercer.errors.NotSupportedError)
    sparse = scipy.sparse.eye_array(30_000, format="csr")
    with pytest.raises(mercer.errors.NotSupportedError, match="30,000 x 30,000"):
        CorrespondenceAnalysis("auto").fit(sparse)


def test_no_association_no_axes():
    for table in ([[1, 1], [1, 1]], np.outer(np.arange(1, 8), np.arange(1, 6))):
        model = warned("there are no axes", CorrespondenceAnalysis(2).fit, table)
        assert model.facts_.independent
        assert (model.rank_, model.total_inertia_) == (0, 0.0)
        for name in ("eigenvalues_", "explained_variance_ratio_", "row_coordinates_"):
            assert not getattr(model, name).any()
        everything = [
            getattr(model, n) for n in dir(type(model)) if n.endswith("_") and n[0] != "_"
        ]
        assert all(np.isfinite(found).all() for found in everything)
        assert not model.transform(table).any()
        for scaling in ("symmetric", "symbiplot", "rowgreen", "colgab"):
            assert all(np.isfinite(points).all() for points in model.map(scaling))
        assert model.table("rows")["qlt"] == [0] * len(table)


def test_blocks_and_arches_are_said():
    table = scipy.linalg.block_diag(with_factors(8, 5, 1, 0), with_factors(6, 4, 1, 1))
    for given in (table, scipy.sparse.csr_array(table)):
        model = warned("2 blocks that share no counts", CorrespondenceAnalysis(3).fit, given)
        assert model.eigenvalues_[0] == pytest.approx(1, abs=1e-12)
        assert model.facts_.pieces == ((8, 5), (6, 4))
    many = scipy.linalg.block_diag(*[[[1, 2], [2, 1]]] * 7)
    words = r"7 blocks .*\n.*blocks of 2 x 2, .* and 2 more"
    warned(words, CorrespondenceAnalysis(1).fit, many)
    # Species along one gradient: the second axis is the first one bent.
    sites, species = np.linspace(0, 1, 40), np.linspace(0, 1, 25)
    table = 1000 * np.exp(-((sites[:, None] - species) ** 2) / 0.05)
    model = warned("axis 2 is an arch", CorrespondenceAnalysis(2).fit, table)
    assert model.facts_.arch > 0.8
    assert not model.facts_.whole
    order = np.argsort(model.row_coordinates_[:, 0])
    assert abs(np.corrcoef(order, np.arange(40))[0, 1]) > 0.999


def test_empty_rows_and_columns_are_left_out_by_name():
    table = np.insert(np.insert(CELLS, 2, 0, axis=0), [1, 4], 0, axis=1)
    frame = pd.DataFrame(table, index=list("abcde"), columns=list("uvwxyz"))
    with pytest.warns(DataWarning) as said:
        model = CorrespondenceAnalysis(2).fit(frame)
    words = "\n".join(str(warning.message) for warning in said)
    assert "row 'c'" in words
    assert "column 'v', 'z'" in words
    plain = CorrespondenceAnalysis(2).fit(CELLS)
    agree(model.row_coordinates_, plain.row_coordinates_, 1e-13)
    agree(model.column_standard_, plain.column_standard_, 1e-12)
    assert model.row_names_ == list("abde")
    assert model.column_names_ == list("uwxy")
    assert model.facts_.dropped_rows.tolist() == [2]
    assert model.facts_.dropped_columns.tolist() == [1, 5]
    assert model.independence_ == plain.independence_
    found = warned("row 2 .'c'.: its total is zero", model.transform, frame)
    assert not found[2].any()
    agree(found[[0, 1, 3, 4]], plain.row_coordinates_, 1e-13)
    frame.loc["a", "v"] = 5
    with pytest.warns(DataWarning, match="counts in columns that were empty at fit") as said:
        agree(model.transform(frame[:2])[0], found[0], 1e-13)
    many = np.concatenate([CELLS, np.zeros((4, 8), int)], axis=1)
    warned("8 columns .*\n.*column 4, 5, 6, 7, 8 and 3", CorrespondenceAnalysis(2).fit, many)
    columns = model.supplementary_columns(frame[["w", "x"]])
    agree(columns, model.column_coordinates_[1:3], 1e-12)


@pytest.mark.parametrize("size", [1e300, 1e-300, 2.0**900, 10**16])
def test_the_size_of_counts_does_not_matter(size):
    plain = CorrespondenceAnalysis(2).fit(CELLS)
    table = CELLS * size
    model = CorrespondenceAnalysis(2).fit(table)
    np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-10)
    agree(model.transform(table), plain.row_coordinates_, 1e-12)
    assert model.independence_.chi2 == pytest.approx(plain.independence_.chi2 * size)
    sparse = CorrespondenceAnalysis(2).fit(scipy.sparse.csr_array(table))
    np.testing.assert_allclose(sparse.eigenvalues_, plain.eigenvalues_, rtol=1e-10)


def test_ordinary_tables_and_those_of_very_different_counts():
    table = np.array([[1e300, 2e300, 1.0], [3.0, 1.0, 2.0], [1e-5, 2e-5, 1e300]])
    model = CorrespondenceAnalysis(None).fit(table)
    assert np.isfinite(model.row_coordinates_).all()
    assert np.all(model.eigenvalues_ <= 1)
    table = with_factors(3000, 40, 3, 2)
    model = CorrespondenceAnalysis(2).fit(table)
    held = sum(v.nbytes for v in vars(model).values() if isinstance(v, np.ndarray))
    assert held < 3000 * 8 * 5  # two coordinates, a mass, an inertia
    CorrespondenceAnalysis(2).fit(HAIR).transform(HAIR)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (with_last(-94), "-94.0 at row 3 .'Blue'., column 3 .'Blond'."),
        (with_last(np.nan), "row 3, column 3"),
        (with_last(np.inf), "row 3, column 3"),
        (with_last("many", object), "Blond"),
        (HAIR[["Red"]], "n_features = 1"),
        (HAIR[:1], "n_samples = 1"),
        (0 * HAIR, "total is zero"),
        (np.array([[1, 2], [0, 0]]), "n_samples = 2, 1 of them empty"),
        (np.array([[1, 0], [2, 0], [5, 0]]), "n_features = 2, 1 of them empty"),
        (HAIR.set_axis(["a", "b", "a", "c"], axis=1), "more than one column is called 'a'"),
        (np.ones((2, 2, 2)), "dim"),
        (pl.LazyFrame({"a": [1]}), "collect"),
    ],
    ids=range(12),
)
def test_what_cannot_be_analysed_is_refused_by_place(table, words):
    model = CorrespondenceAnalysis(2)
    refuses(words, model.fit, table)
    assert not hasattr(model, "eigenvalues_")


def test_supplementary_columns_are_columns():
    """A column of the table comes out where it lies; merged columns between their parts."""
    model = CorrespondenceAnalysis(3).fit(HAIR)
    found = model.supplementary_columns(HAIR)
    agree(found, model.column_coordinates_, 1e-12)
    merged = model.supplementary_columns(scipy.sparse.csr_array(CELLS[:, :1] + CELLS[:, 3:]))
    c = model.column_masses_
    between = (c[0] * found[0] + c[3] * found[3]) / (c[0] + c[3])
    agree(merged[0], between, 1e-12)
    weighted = CorrespondenceAnalysis(2).fit(HAIR, sample_weight=[1, 2, 0, 3])
    back = weighted.supplementary_columns(HAIR)
    agree(back, weighted.column_coordinates_, 1e-12)
    named = model.supplementary_columns(pd.DataFrame({"who": list("abcd"), "n": CELLS[:, 1]}))
    agree(named, found[1:2], 1e-12)
    for odd, words in (
        (CELLS[:3], r"a table of shape .3, 4., a fit of 4 rows"),
        (-CELLS, "Negative"),
        (CELLS * [1, 0, 1, 1], "column 1: its total is zero"),
    ):
        refuses(words, model.supplementary_columns, odd)


def test_a_large_sparse_table_is_never_written_down(rng):
    """60,000 x 20,000 would be 9.6 GB: fitted, projected and looked at within 400 MB."""
    m, n, each = 60_000, 20_000, 6
    topic = rng.integers(0, 4, m)
    columns = (rng.integers(0, n // 4, (m, each)) * 4 + topic[:, None]) % n
    away = rng.random((m, each)) < 0.3
    columns[away] = rng.integers(0, n, away.sum())
    rows = np.repeat(np.arange(m), each)
    table = scipy.sparse.csr_array((np.ones(m * each), (rows, columns.ravel())), shape=(m, n))
    model = CorrespondenceAnalysis(3, memory="400MB", tol=1e-3).fit(table)
    assert model.plan_.chosen.name == "krylov"
    assert model.certificate_.met
    means = np.array([model.row_coordinates_[topic == t].mean(axis=0) for t in range(4)])
    apart = np.linalg.norm(means[:, None] - means[None], axis=2)[np.triu_indices(4, 1)]
    assert apart.min() > 0.5  # four topics, four corners
    refuses("residuals", model.residuals, table, kind=BudgetError)
    few = model.transform(table[:5])
    agree(few, model.row_coordinates_[:5], 1e-9)


MODEL = CorrespondenceAnalysis(3).fit(CELLS)
F, G = MODEL.row_coordinates_, MODEL.column_coordinates_
PHI, GAMMA = MODEL.row_standard_, MODEL.column_standard_
R, C = MODEL.row_masses_[:, None], MODEL.column_masses_[:, None]
S = np.sqrt(MODEL.eigenvalues_)


@pytest.mark.parametrize(
    ("scaling", "rows", "columns"),
    [
        ("symmetric", F, G), ("rowprincipal", F, GAMMA), ("colprincipal", PHI, G),
        ("symbiplot", PHI * np.sqrt(S), GAMMA * np.sqrt(S)), ("rowgab", F, C * GAMMA),
        ("colgab", R * PHI, G), ("rowgreen", F, np.sqrt(C) * GAMMA),
        ("colgreen", np.sqrt(R) * PHI, G),
    ],
)  # fmt: skip
def test_the_eight_scalings(scaling, rows, columns):
    found = MODEL.map(scaling)
    np.testing.assert_allclose(found[0], rows, rtol=1e-12)
    np.testing.assert_allclose(found[1], columns, rtol=1e-12)


BIPLOTS = ["rowprincipal", "colprincipal", "symbiplot", "rowgab", "colgab"]


@pytest.mark.parametrize("scaling", [*BIPLOTS, "rowgreen", "colgreen"])
def test_biplots_give_the_table_back(scaling):
    """All but the symmetric map are biplots: inner products are the contingency ratios."""
    rows, columns = MODEL.map(scaling)
    by_mass = {"gab": 1.0, "een": 0.5}.get(scaling[-3:], 0.0)
    rows = rows / (R**by_mass if scaling.startswith("col") else 1.0)
    columns = columns / (C**by_mass if scaling.startswith("row") else 1.0)
    ratio = CELLS / CELLS.sum() / (R * C.T) - 1
    agree(rows @ columns.T, ratio, 1e-12)


def test_what_cannot_be_drawn_or_scaled():
    refuses("symbiplot, rowgab", MODEL.map, "biplot")
    table = np.concatenate([CELLS, [[1, 0, 0, 0]]])
    found = CorrespondenceAnalysis(2).fit(table).ellipses(table, draws=40)
    assert np.isfinite(found.row_covariances).all()
    model = CorrespondenceAnalysis(2).fit(CELLS)
    refuses("16 cells", model.ellipses, CELLS, draws=10**8, kind=NotSupportedError)
    with pytest.raises(InputError, match="shares say nothing"):
        CorrespondenceAnalysis(2).fit(CELLS / 592).ellipses(CELLS / 592)
    refuses("level=1", model.ellipses, CELLS, level=1.0)
    refuses("the rows must be those of the fit", model.ellipses, CELLS[:2])


def test_tables_of_points():
    table = MODEL.table("columns")
    assert list(table)[:7] == ["name", "mass", "qlt", "inr", "k=1", "cor 1", "ctr 1"]
    assert table["name"] == ["x0", "x1", "x2", "x3"]
    assert table["mass"] == [182, 483, 120, 215]
    assert table["ctr 1"] == [222, 51, 10, 717]
    assert table["qlt"] == [1000] * 4
    plain = MODEL.table("rows", per_mille=False)
    assert sum(plain["inr"]) == pytest.approx(1, rel=1e-12)
    np.testing.assert_allclose(plain["k=2"], F[:, 1])
    assert plain["name"] == ["0", "1", "2", "3"]
    refuses("of rows or of columns", MODEL.table, "axes")


def test_a_point_at_the_centre_has_no_direction():
    """The last row is the sum of the others: its profile is the average."""
    table = np.concatenate([CELLS, CELLS.sum(axis=0, keepdims=True)])
    model = CorrespondenceAnalysis(2).fit(table)
    agree(model.row_coordinates_[-1], 0, 1e-14)
    np.testing.assert_array_equal(model.row_cos2_[-1], 0)
    assert model.row_quality_[-1] == 0
    assert np.all(model.row_cos2_ <= 1)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_squares_sum_to_chi_square(kind):
    model = CorrespondenceAnalysis(2).fit(CELLS)
    found = model.residuals(kind(CELLS))
    E = np.outer(CELLS.sum(axis=1), CELLS.sum(axis=0)) / CELLS.sum()
    np.testing.assert_allclose(found.standardised, (CELLS - E) / np.sqrt(E), rtol=1e-12)
    assert np.sum(found.standardised**2) == pytest.approx(model.independence_.chi2)
    r, c = model.row_masses_, model.column_masses_
    root = np.sqrt(np.outer(1 - r, 1 - c))
    np.testing.assert_allclose(found.adjusted, (CELLS - E) / np.sqrt(E) / root, rtol=1e-12)


def test_adjusted_residuals_are_standard_normal_without_association(rng):
    chances = np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.3]).ravel()
    drawn = [rng.multinomial(1000, chances).reshape(3, 3) for _ in range(400)]
    found = [CorrespondenceAnalysis(1).fit(t).residuals(t).adjusted for t in drawn]
    np.testing.assert_allclose(np.std(found, axis=0), 1, atol=0.12)


def test_huge_counts_empty_columns_and_little_memory():
    exact = CorrespondenceAnalysis(2).fit(CELLS).residuals(CELLS).standardised
    huge = CELLS * 2.0**1000
    found = CorrespondenceAnalysis(2).fit(huge).residuals(huge)
    np.testing.assert_allclose(found.standardised, exact * 2.0**500, rtol=1e-12)
    table = np.column_stack([CELLS, np.zeros(4)])
    model = warned("no counts", CorrespondenceAnalysis(2).fit, table, kind=UserWarning)
    found = model.residuals(table)
    assert found.standardised.shape == table.shape
    assert not found.standardised[:, 4].any()
    with pytest.raises(BudgetError, match="4 x 4 cells"):
        CorrespondenceAnalysis(2, memory=10**7).fit(CELLS).set_params(memory=100).residuals(
            CELLS
        )


def by_formula(table, standard):
    """Covariance of a row's place given its total: (Σp_jγγᵀ - ffᵀ)/R, the multinomial's."""
    R = table.sum(axis=1)
    p = table / R[:, None]
    f = p @ standard
    second = np.einsum("ij,jk,jl->ikl", p, standard, standard)
    return (second - f[:, :, None] * f[:, None, :]) / R[:, None, None]


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_draws_have_the_covariance_of_the_law(kind):
    table = 20 * CELLS
    model = CorrespondenceAnalysis(2).fit(table)
    found = model.ellipses(kind(table), draws=2000)
    for ours, exact in (
        (found.row_covariances, by_formula(table, model.column_standard_)),
        (found.column_covariances, by_formula(table.T, model.row_standard_)),
    ):
        size = np.sqrt(np.einsum("ikk->ik", exact))
        unit = size[:, :, None] * size[:, None, :]
        np.testing.assert_allclose(ours / unit, exact / unit, atol=0.12)
    np.testing.assert_array_equal(found.row_centres, model.row_coordinates_)
    assert found.radius == pytest.approx(np.sqrt(-2 * np.log(0.05)))
    again = model.ellipses(kind(table), draws=2000)
    np.testing.assert_array_equal(again.row_covariances, found.row_covariances)


def test_weights_and_empty_rows_are_those_of_the_fit():
    table = np.concatenate([CELLS, np.zeros((1, 4), int), CELLS])
    weights = np.array([2.0] * 4 + [1] + [0] * 4)
    with pytest.warns(UserWarning, match="no counts"):
        model = CorrespondenceAnalysis(2).fit(table, sample_weight=weights)
    plain = CorrespondenceAnalysis(2).fit(2 * CELLS)
    found, wanted = model.ellipses(table, draws=50), plain.ellipses(2 * CELLS, draws=50)
    assert found.row_covariances.shape == (4, 2, 2)
    np.testing.assert_allclose(found.row_covariances, wanted.row_covariances, rtol=1e-8)
