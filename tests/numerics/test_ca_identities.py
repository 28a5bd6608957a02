"""The identities that define correspondence analysis, on every path and against LAPACK."""

import numpy as np
import pytest
import scipy.sparse
from count_tables import PATHS, bound_to, suits, with_factors, written_out

from mercer import CorrespondenceAnalysis, LaplacianEigenmaps
from mercer.errors import DataWarning

SHAPES = [(60, 30), (30, 60), (200, 25), (25, 200)]
WAYS = [(shape, path) for shape in SHAPES for path in PATHS if suits(path, *shape, 3)]


def apart(found, wanted, masses):
    """Return the sine between two spaces of points in the metric of the masses."""
    root = np.sqrt(masses)[:, None]
    q, _ = np.linalg.qr(root * found)
    p, _ = np.linalg.qr(root * wanted)
    return float(np.linalg.norm(p - q @ (q.T @ p), 2))


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(("shape", "path"), WAYS, ids=str)
def test_every_path_agrees_with_lapack(shape, path, sparse):
    table = with_factors(*shape, 3, seed=1)
    values, rows, columns, r, c = written_out(table)
    given = scipy.sparse.csr_array(table) if sparse else table
    model = bound_to(path)(3).fit(given)
    assert model.plan_.chosen.name == path
    loose = 1e-5 if path == "krylov" else 1e-9
    np.testing.assert_allclose(model.eigenvalues_, values[:3], rtol=loose)
    certificate = model.certificate_
    assert np.all((certificate.lower <= values[:3]) & (values[:3] <= certificate.upper))
    assert apart(model.row_coordinates_, rows[:, :3], r) < np.sqrt(loose)
    assert apart(model.column_standard_, columns[:, :3], c) < np.sqrt(loose)
    np.testing.assert_allclose(model.row_masses_, r, rtol=1e-13)
    assert model.total_inertia_ == pytest.approx(values.sum(), rel=1e-12)


def everything(seed=0, shape=(18, 9)):
    table = with_factors(*shape, 3, seed)
    return table, CorrespondenceAnalysis(None).fit(table)


def test_chi_square_is_the_total_times_the_inertia():
    import scipy.stats

    table, model = everything()
    test = scipy.stats.chi2_contingency(table, correction=False)
    found = model.independence_
    assert found.chi2 == pytest.approx(test.statistic, rel=1e-12)
    assert found.chi2 == pytest.approx(table.sum() * model.eigenvalues_.sum(), rel=1e-12)
    assert found.dof == test.dof
    assert found.p_value == pytest.approx(test.pvalue, rel=1e-9)
    assert found.expected_below_5 == np.mean(test.expected_freq < 5)
    cramer = scipy.stats.contingency.association(table, method="cramer")
    assert found.cramer_v == pytest.approx(cramer, rel=1e-12)


def test_transition_formulas():
    """A row lies at the average of the standard columns by its profile, and the reverse.

    Distances of rows are those of chi square, and all axes give the table back.
    """
    table, model = everything()
    points, standard = model.row_coordinates_, model.column_standard_
    profiles = table / table.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(points, profiles @ standard, rtol=0, atol=1e-13)
    turned = table.T / table.sum(axis=0)[:, None] @ model.row_standard_
    np.testing.assert_allclose(model.column_coordinates_, turned, rtol=0, atol=1e-12)
    for i, j in ((0, 1), (3, 11)):
        apart = (profiles[i] - profiles[j]) ** 2 / model.column_masses_
        assert np.sum((points[i] - points[j]) ** 2) == pytest.approx(apart.sum(), rel=1e-11)
    back = np.outer(model.row_masses_, model.column_masses_) * (1 + points @ standard.T)
    np.testing.assert_allclose(table.sum() * back, table, rtol=0, atol=1e-10)


def test_it_is_the_laplacian_eigenmap_of_the_graph_of_cells():
    """Rows and columns are points, cells are edges: λ = 1 - σ, and D^-½u are the points."""
    table, model = everything()
    m, n = table.shape
    weights = np.zeros((m + n, m + n))
    weights[:m, m:], weights[m:, :m] = table, table.T
    degree = weights.sum(axis=1)
    laplacian = np.eye(m + n) - weights / np.sqrt(np.outer(degree, degree))
    values, vectors = np.linalg.eigh(laplacian)
    k = model.rank_
    np.testing.assert_allclose(
        values[1 : k + 1], 1 - np.sqrt(model.eigenvalues_), rtol=0, atol=1e-12
    )
    points = (vectors / np.sqrt(degree)[:, None])[:, 1 : k + 1]
    ours = np.concatenate([model.row_standard_, model.column_standard_])
    for axis in range(3):
        scale = (ours[:, axis] @ points[:, axis]) / (points[:, axis] @ points[:, axis])
        np.testing.assert_allclose(scale * points[:, axis], ours[:, axis], rtol=0, atol=1e-9)

    edges = scipy.sparse.csr_array(weights.astype(float))
    found = LaplacianEigenmaps(3, metric="precomputed").fit(edges)
    np.testing.assert_allclose(
        found.laplacian_eigenvalues_, 1 - np.sqrt(model.eigenvalues_[:3]), rtol=0, atol=1e-10
    )
    ratio = found.embedding_ / ours[:, :3]
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[:1], ratio.shape), rtol=1e-6)


def test_moments_of_the_points():
    """Centred and of variance λ or 1 by mass; shares sum to one, cosines to one over all."""
    _, model = everything()
    for side, masses in (("row", model.row_masses_), ("column", model.column_masses_)):
        points, standard = (getattr(model, f"{side}_{n}_") for n in ("coordinates", "standard"))
        np.testing.assert_allclose(masses @ points, 0, rtol=0, atol=1e-13)
        inner = points.T @ (masses[:, None] * points)
        np.testing.assert_allclose(inner, np.diag(model.eigenvalues_), rtol=0, atol=1e-13)
        inner = standard.T @ (masses[:, None] * standard)
        np.testing.assert_allclose(inner, np.eye(model.n_components_), rtol=0, atol=1e-9)
        shares = getattr(model, f"{side}_contributions_")
        np.testing.assert_allclose(shares.sum(axis=0), 1, rtol=1e-10)
        np.testing.assert_allclose(getattr(model, f"{side}_quality_"), 1, rtol=1e-10)
        inertias = getattr(model, f"{side}_inertias_")
        assert inertias.sum() == pytest.approx(model.total_inertia_, rel=1e-12)


def same(first, second, rows=slice(None), columns=slice(None), rtol=1e-9):
    np.testing.assert_allclose(second.eigenvalues_, first.eigenvalues_, rtol=rtol)
    for found, wanted in (
        (second.column_standard_[columns], first.column_standard_),
        (second.row_coordinates_[rows], first.row_coordinates_),
    ):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-8)


def test_order_scale_and_type_of_the_table_do_not_matter(rng):
    table, model = with_factors(40, 12, 3, 5), CorrespondenceAnalysis(3)
    first = model.fit(table)
    rows, columns = rng.permutation(40), rng.permutation(12)
    turned = CorrespondenceAnalysis(3).fit(table[np.ix_(rows, columns)])
    same(first, turned, np.argsort(rows), np.argsort(columns))
    for other in (7.0 * table, 1e-200 * table, 1e250 * table, table.astype(np.float32)):
        same(first, CorrespondenceAnalysis(3).fit(other))
    same(first, CorrespondenceAnalysis(3).fit(np.asfortranarray(table)))
    same(first, CorrespondenceAnalysis(3).fit(scipy.sparse.coo_array(table)))


def test_the_transpose_changes_sides():
    table = with_factors(40, 12, 3, 5)
    first = CorrespondenceAnalysis(3).fit(table)
    second = CorrespondenceAnalysis(3).fit(table.T)
    np.testing.assert_allclose(second.eigenvalues_, first.eigenvalues_, rtol=1e-10)
    for ours, theirs in (
        (first.row_coordinates_, second.column_coordinates_),
        (first.column_coordinates_, second.row_coordinates_),
    ):
        signs = np.sign((ours * theirs).sum(axis=0))
        np.testing.assert_allclose(theirs * signs, ours, rtol=0, atol=1e-9)


def test_rows_of_one_profile_may_be_merged():
    """Distributional equivalence: two rows of one profile are one row with their sum."""
    table = with_factors(30, 10, 3, 6).astype(float)
    apart = np.concatenate([table[:-1], table[-1:] * 0.25, table[-1:] * 0.75])
    first = CorrespondenceAnalysis(3).fit(table)
    second = CorrespondenceAnalysis(3).fit(apart)
    same(first, second, slice(0, 30))
    np.testing.assert_allclose(
        second.row_coordinates_[-1], second.row_coordinates_[-2], rtol=0, atol=1e-12
    )
    assert second.total_inertia_ == pytest.approx(first.total_inertia_, rel=1e-12)


@pytest.mark.parametrize("path", ["svd", "gram", "krylov"])
def test_weights_are_rows_that_stand_often(path):
    table = with_factors(80, 24, 3, 7)
    times = np.arange(80) % 4
    kind = bound_to(path)
    first = kind(2).fit(np.repeat(table, times, axis=0))
    second = kind(2).fit(table, sample_weight=times)
    np.testing.assert_allclose(second.eigenvalues_, first.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(
        second.transform(table), first.transform(table), rtol=0, atol=1e-4
    )
    assert second.independence_.chi2 == pytest.approx(first.independence_.chi2, rel=1e-11)
    assert len(second.row_masses_) == np.sum(times > 0)


@pytest.mark.parametrize("seen", [1e-4, 1e-6, 1e-7])
@pytest.mark.parametrize("path", ["svd", "gram", "krylov"])
def test_a_little_association_keeps_its_digits(path, seen, rng):
    """Counts of order 1e12: inertias far below rounding of P itself are still right."""
    r, c = rng.uniform(0.5, 2, 60), rng.uniform(0.5, 2, 30)
    factors = rng.standard_normal((60, 2)) @ (rng.standard_normal((2, 30)) * [[1.0], [0.5]])
    table = np.rint(1e14 * np.outer(r, c) * (1 + seen * np.tanh(factors)))
    values = written_out(table)[0]
    model = bound_to(path)(2).fit(table)
    np.testing.assert_allclose(model.eigenvalues_, values[:2], rtol=2e-6)
    certificate = model.certificate_
    assert np.all((certificate.lower <= values[:2]) & (values[:2] <= certificate.upper))


@pytest.mark.parametrize("path", PATHS)
def test_a_table_of_rank_one_has_no_axes(path, rng):
    """Whatever rounding leaves lies below the zero level, and coordinates are zero."""
    shape = (70, 90) if path == "dual" else (90, 70)
    for table in (np.ones(shape), np.outer(*(rng.dirichlet(np.ones(n)) for n in shape))):
        with pytest.warns(DataWarning, match="there are no axes"):
            model = bound_to(path)(3).fit(table)
        assert np.all(model.eigenvalues_ <= model.certificate_.zero_level + 1e-30)
        assert not model.row_coordinates_.any()
        assert model.certificate_.met


def test_a_stored_matrix_gives_digits_for_nothing(rng):
    """A tolerance of a tenth is met by far; the certificate still speaks of a tenth."""
    table = rng.poisson(2.0, (900, 700))
    model = bound_to("gram")(4, tol=0.1).fit(table)
    assert type(model.plan_.chosen.solver).__name__ == "Stored"
    assert (model.certificate_.tol, model.certificate_.met) == (0.1, True)
    np.testing.assert_allclose(model.eigenvalues_, written_out(table)[0][:4], rtol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array, np.asfortranarray])
@pytest.mark.parametrize("weighted", [False, True])
def test_masses_and_inertias_of_every_point(kind, weighted, rng):
    table = with_factors(50, 20, 2, 3, level=1.0)
    table[7], table[:, 4] = 0, 0
    weights = rng.integers(0, 4, 50).astype(float) if weighted else None
    with pytest.warns(DataWarning, match="no counts"):
        model = CorrespondenceAnalysis(None).fit(kind(table), sample_weight=weights)
    counted = table if weights is None else table * weights[:, None]
    counted = counted[counted.sum(axis=1) > 0][:, counted.sum(axis=0) > 0]
    P = counted / counted.sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    parts = (P - np.outer(r, c)) ** 2 / np.outer(r, c)
    np.testing.assert_allclose(model.row_masses_, r, rtol=1e-14)
    np.testing.assert_allclose(model.column_masses_, c, rtol=1e-14)
    np.testing.assert_allclose(model.row_inertias_, parts.sum(axis=1), rtol=0, atol=1e-15)
    np.testing.assert_allclose(model.column_inertias_, parts.sum(axis=0), rtol=0, atol=1e-15)
    assert model.total_inertia_ == pytest.approx(parts.sum(), rel=1e-13)


def test_projection_keeps_its_digits(rng):
    """Profiles that are all alike but for 1e-9 still have places."""
    _, model = everything()
    rows = 1e3 * (model.column_masses_ + 1e-9 * rng.standard_normal((4, 9)))
    found = model.transform(rows)
    wide = rows.astype(np.longdouble)
    profiles = wide / wide.sum(axis=1, keepdims=True)
    exact = (profiles - model.column_masses_) @ model.column_standard_
    # A share is rounded to float64, relatively: nothing else is lost.
    lost = np.finfo(float).eps * (model.column_masses_ @ np.abs(model.column_standard_))
    assert np.all(np.abs(found - exact) <= lost)
