"""What maps of rows share: pieces, given graphs, few points, files, pairs on every path."""

import math

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import make_swiss_roll
from tests.claims import agree, refuses, warned

import mercer
from mercer.errors import AccuracyWarning, BudgetError, DataWarning, InputError
from mercer.estimators.manifold._graph_estimator import GraphEstimator, graph_pairs
from mercer.operators import NormalisedGraph, Searcher, graph, graph_from, whole_graph
from mercer.planning import GraphCost, Problem, foreseen_gap
from mercer.planning._graph_paths import graph_candidates


def rows(n=90, seed=0):
    return np.random.default_rng(seed).random((n, 2))


def apart():
    """Two squares far apart, a pair, and a point."""
    return np.concatenate([rows(60), rows(40) + 100, [[500.0, 0], [500.1, 0], [900.0, 0]]])


def eigenmaps(**options):
    return mercer.LaplacianEigenmaps(**{"radius": 0.4, "neighbours": None, **options})


SIZES = "4 pieces of 60, 40, 2, 1 points; 1 isolated: rows 102"


def test_pieces_are_refused_by_name():
    with pytest.raises(InputError, match=SIZES) as error:
        eigenmaps().fit(apart())
    assert 'components="largest" or "each"' in str(error.value)


def test_the_largest_piece_is_that_of_its_rows_alone():
    x = apart()
    with pytest.warns(DataWarning, match="43 points are not and have NaN") as said:
        model = eigenmaps(components="largest").fit(x)
    assert SIZES in str(said[0].message)
    alone = eigenmaps().fit(x[:60])
    agree(model.embedding_[:60], alone.embedding_, 1e-12)
    assert np.all(np.isnan(model.embedding_[60:]))
    new = rows(20, seed=1)
    agree(model.transform(new), alone.transform(new), 1e-12)
    facts = model.facts_
    assert (facts.left_out, facts.pieces, facts.isolated) == (43, (60, 40, 2, 1), (102,))


def test_each_piece_has_its_own_axes():
    x = apart()
    model = warned("3 of 4 pieces", eigenmaps(components="each").fit, x)
    assert [len(piece.rows) for piece in model.pieces_] == [60, 40, 2]
    second = eigenmaps().fit(x[60:100])
    np.testing.assert_allclose(np.abs(model.embedding_[60:100]), np.abs(second.embedding_))
    assert np.isnan(model.embedding_[100, 1])  # two points have one axis
    assert np.isfinite(model.embedding_[100, 0])
    assert np.all(np.isnan(model.embedding_[102]))
    agree(model.transform(x[:100]), model.embedding_[:100], 1e-10)


def test_a_piece_that_cannot_be_extended_is_named():
    x = np.concatenate([rows(40), rows(6) + 100])  # six rows, each joined to all others
    model = mercer.LaplacianEigenmaps(neighbours=5, components="each").fit(x)
    found = warned("6 rows without all coordinates, 1 pieces", model.transform, x)
    assert np.isnan(found[40:]).all()
    agree(model.transform(x[:40]), model.embedding_[:40], 1e-10)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_rows(n):
    model = mercer.LaplacianEigenmaps(1, weights="heat").fit(rows(n))
    assert model.embedding_.shape == (n, 1)
    assert model.plan_.chosen.name == "lapack"
    with pytest.warns(DataWarning, match=f"{n} points have {n - 1} axes"):
        assert mercer.LaplacianEigenmaps(n).fit(rows(n)).embedding_.shape == (n, n - 1)


def test_given_graphs_are_taken_as_they_are():
    x = rows(200)
    made = mercer.LaplacianEigenmaps(3, neighbours=8).fit(x)
    w = made.graph_.weights
    for form in (w, w.toarray(), scipy.sparse.coo_array(w), w.astype(np.uint8), w.astype(bool)):
        given = mercer.LaplacianEigenmaps(3, metric="precomputed").fit(form)
        agree(given.embedding_, made.embedding_, 1e-12)
    agree(given.transform(w[:9]), made.embedding_[:9], 1e-9)
    assert given.__sklearn_tags__().input_tags.pairwise
    refuses("negative", given.transform, -w[:2].toarray())


@pytest.mark.parametrize(
    ("change", "said"),
    [((3, 5, np.nan), "row 3, column 5"), ((3, 5, 2.0), "symmetric"), ((3, 5, -1), "negative")],
)
def test_bad_graphs_are_refused(change, said):
    w = np.ones((8, 8))
    w[change[0], change[1]] = change[2]
    refuses(said, mercer.LaplacianEigenmaps(metric="precomputed").fit, w)
    refuses("no edge", mercer.LaplacianEigenmaps(metric="precomputed").fit, np.zeros((8, 8)))


def test_complete_graphs_and_extreme_scales():
    x = rows(12)
    model = mercer.LaplacianEigenmaps(2, neighbours=11).fit(x)
    assert model.certificate_.groups == ((0, 1, 2),)
    assert "cannot be told apart" in str(model.certificate_)
    assert model.extension_error_ is None
    refuses("eigenvalue 0 cannot be extended", model.transform, x)
    x = rows()
    with pytest.warns(DataWarning, match="all edges weigh the same"):
        mercer.LaplacianEigenmaps(neighbours=None, weights="heat", scale=1e10).fit(x)
    with (
        pytest.warns(DataWarning, match="without weight"),
        pytest.raises(InputError, match="90 pieces"),
    ):
        mercer.LaplacianEigenmaps(weights="heat", scale=1e-4).fit(x)


def test_what_is_out_of_reach_is_said():
    model = mercer.LaplacianEigenmaps(weights="heat").fit(rows())
    refuses("row 1 weighs nothing", model.transform, [[0.5, 0.5], [1e3, 0.0]])
    with pytest.warns(AccuracyWarning, match="not certified"):
        mercer.LaplacianEigenmaps(tol=1e-18).fit(rows())
    with pytest.raises(BudgetError, match="not begun"):
        mercer.LaplacianEigenmaps(memory="1 kB").fit(rows())


def test_the_paths_agree(monkeypatch):
    x = np.random.default_rng(0).random((900, 2)) * [4, 1]
    found = {}
    for path in ("lapack", "filter", "inverse"):
        monkeypatch.setattr(GraphEstimator, "_allowed", lambda _, path=path: (path,))
        model = mercer.LaplacianEigenmaps(3).fit(x)
        assert model.plan_.chosen.name == path
        found[path] = model.embedding_
    agree(found["filter"], found["lapack"], 1e-6)
    agree(found["inverse"], found["lapack"], 1e-6)


@pytest.mark.parametrize("symmetric", ["union", "mutual", "mean"])
@pytest.mark.parametrize("weights", ["binary", "heat", "self-tuning"])
@pytest.mark.parametrize("loops", [True, False])
def test_the_kernel_of_new_rows_is_that_of_the_graph(symmetric, weights, loops):
    x = np.random.default_rng(0).standard_normal((150, 2))
    near = {"neighbours": 25 if symmetric == "mutual" else 9, "symmetric": symmetric}
    for options in (near, {"neighbours": None, "radius": 1.5}):
        options |= {"weights": weights, "self_loops": loops, "tol": 1e-9}
        assert mercer.LaplacianEigenmaps(2, **options).fit(x).extension_error_ < 1e-8


def test_facts_of_a_star_and_a_point():
    star = np.zeros((7, 7))
    star[0, 1:6] = star[1:6, 0] = 2
    model = mercer.LaplacianEigenmaps(1, metric="precomputed", components="largest")
    with pytest.warns(DataWarning, match="1 points are not"):
        found = model.fit(star).facts_
    assert (found.points, found.edges, found.pieces, found.piece_count) == (7, 5, (6, 1), 2)
    assert (found.isolated, found.isolated_count, found.left_out) == ((6,), 1, 1)
    assert (found.fewest, found.typical, found.most) == (0, 1, 5)
    assert (found.least_degree, found.largest_degree) == (0, 10)
    assert found.duplicates is found.scale is None


def test_facts_of_rows():
    x = np.random.default_rng(0).standard_normal((30, 2))
    x[3] = x[4]
    found = mercer.LaplacianEigenmaps(1, neighbours=5).fit(x).facts_
    assert (found.duplicates, found.fewest) == (2, 5)
    assert found.least_degree == found.fewest + 1  # the loop
    whole = (
        mercer.LaplacianEigenmaps(1, neighbours=None, weights="heat", scale=2.0).fit(x).facts_
    )
    assert (whole.edges, whole.most, whole.scale) == (435, 29, 2.0)


def path_of(name, op, k, front):
    nnz = op.s.nnz if scipy.sparse.issparse(op.s) else None
    rows = op.shape[0] if nnz is not None or name == "lapack" else 4000  # of few LAPACK's alone
    problem = Problem(rows, rows, k, 8, 10**10, nnz, graph=GraphCost(front))
    return next(p for p in graph_candidates(problem) if p.name == name)


def solved(name, weights, k, tol=1e-6):
    op = NormalisedGraph(weights)
    front = 30.0
    return op, graph_pairs(
        op, path_of(name, op, k, front), k, tol, foreseen_gap(op.shape[0], front), 0
    )


def reference(op, k):
    s = op.s.toarray() if scipy.sparse.issparse(op.s) else op.s
    lam, u = np.linalg.eigh(s - 3 * np.outer(op.direction, op.direction))
    return lam[::-1], u[:, ::-1][:, :k]


def graphs():
    random = np.random.default_rng(0)
    yield "roll", graph(make_swiss_roll(700, random_state=0)[0], 9).weights
    yield "cube", graph(random.random((700, 5)), 9, self_loops=False).weights
    yield "whole", whole_graph(Searcher(random.standard_normal((700, 3)))).weights


CASES = [
    (kind, path)
    for kind in ("roll", "cube", "whole")
    for path in ("lapack", "filter", "inverse")[: 2 if kind == "whole" else 3]
]


@pytest.mark.parametrize(("kind", "path"), CASES)
def test_pairs_and_intervals(kind, path):
    op, found = solved(path, dict(graphs())[kind], 4)
    lam, u = reference(op, 4)
    certificate = found.certificate
    assert certificate.met
    agree(found.values, lam[:4], 1e-10)
    assert np.all(certificate.lower <= lam[:4] + 1e-15)
    assert np.all(certificate.upper >= lam[:4] - 1e-15)
    assert certificate.next_upper >= lam[4] - 1e-15
    s = op.s @ found.right
    residual = np.linalg.norm(s - found.right * found.values, axis=0)
    assert np.all(residual <= certificate.residual)
    assert np.max(residual) <= 1e-3 * (1 - lam[0])
    assert np.linalg.norm(found.right - u @ (u.T @ found.right)) < 1e-5
    agree(found.right.T @ op.direction, 0, 1e-13)


@pytest.mark.parametrize("path", ["inverse", "filter"])
def test_a_long_path_has_its_analytic_values(path):
    n = 3000 if path == "inverse" else 900
    chain = scipy.sparse.diags_array([np.ones(n - 1)] * 2, offsets=[1, -1], format="csr")
    op, found = solved(path, chain, 3)
    exact = np.cos(np.pi * np.arange(1, 4) / (n - 1))
    assert found.certificate.met
    np.testing.assert_allclose(1 - found.values, 1 - exact, rtol=1e-6)
    fiedler = found.right[:, 0] / np.sqrt(op.degrees)
    assert abs(np.sum(np.sign(np.diff(fiedler)))) == n - 1  # monotone from end to end


@pytest.mark.parametrize("path", ["lapack", "inverse", "filter"])
def test_a_ring_has_pairs_that_cannot_be_told_apart(path):
    n = 800
    ring = scipy.sparse.diags_array(
        [np.ones(1), np.ones(n - 1), np.ones(n - 1), np.ones(1)],
        offsets=[1 - n, -1, 1, n - 1],
        format="csr",
    )
    _, found = solved(path, ring, 3)
    exact = [math.cos(2 * math.pi * j / n) for j in (1, 1, 2)]
    np.testing.assert_allclose(1 - found.values, 1 - np.array(exact), rtol=1e-6)
    assert found.certificate.groups == ((0, 1), (2, 3))


def test_all_axes_of_a_star():
    star = np.zeros((6, 6))
    star[0, 1:] = star[1:, 0] = 1
    _, found = solved("lapack", graph_from(star).weights, 5)
    agree(found.values, [0, 0, 0, 0, -1], 1e-14)
    assert found.certificate.groups == ((0, 1, 2, 3),)
    assert found.certificate.met


ROWS = np.random.default_rng(0).normal(size=(40, 3))
MAPS = [
    mercer.ClassicalMDS(2),
    mercer.Isomap(2, neighbours=20),
    mercer.LaplacianEigenmaps(2, neighbours=20),
    mercer.LocallyLinearEmbedding(2, neighbours=20),
]


@pytest.mark.parametrize("model", MAPS, ids=lambda m: type(m).__name__)
def test_results_are_copies_and_bad_cells_and_sparse_rows_are_named(model):
    Z = model.fit_transform(ROWS)
    np.testing.assert_array_equal(Z, model.embedding_)
    Z[:] = 7
    assert not np.any(model.embedding_ == 7)
    bad = ROWS.copy()
    bad[3, 1] = np.nan
    refuses("row 3, column 1", model.fit, bad)
    sparse = scipy.sparse.csr_array(ROWS)
    if model.__sklearn_tags__().input_tags.sparse:
        assert model.fit(sparse).embedding_.shape == (40, 2)
    else:
        refuses("Sparse rows", model.fit, sparse)


def doubled(n=80):
    """Rows of float32 on a ribbon, a third of the cells zero, every row standing twice."""
    rng = np.random.default_rng(3)
    t = np.sort(rng.uniform(0, 5, n))
    x = np.column_stack([np.cos(t), np.sin(t), np.maximum(t - 2, 0), np.maximum(2 - t, 0)])
    x[:, 2:] += 0.05 * rng.random((n, 2)) * (x[:, 2:] > 0)
    return np.concatenate([x, x]).astype(np.float32)


FORMS = [
    lambda x: x,
    scipy.sparse.csr_array,
    lambda x: scipy.sparse.csr_matrix(x.astype(np.float64)),
]
LISTED = {"neighbours": 11}  # itself left out, its double and five pairs: no ties at the end


@pytest.mark.parametrize(
    "model",
    [
        *(mercer.LaplacianEigenmaps(weights=w, **LISTED) for w in ("binary", "heat")),
        mercer.LaplacianEigenmaps(weights="self-tuning", symmetric="mean", **LISTED),
        mercer.LaplacianEigenmaps(symmetric="mutual", self_loops=False, neighbours=15),
        mercer.LaplacianEigenmaps(metric="manhattan", **LISTED),
        mercer.LaplacianEigenmaps(radius=0.5),
        mercer.LaplacianEigenmaps(neighbours=None, weights="heat", self_loops=False),
        mercer.DiffusionMaps(),
        mercer.DiffusionMaps(neighbours=15),
        mercer.Isomap(**LISTED),
        mercer.Isomap(landmarks=40, **LISTED),
    ],
    ids=lambda model: str(model).replace("\n", " "),
)
def test_equal_rows_are_neighbours_in_every_form(model):
    """Stored zero distances stay edges: float32 or float64, dense or sparse, the same map."""
    x = doubled()
    exact = clone(model).fit(x.astype(np.float64))
    for form in FORMS:
        found = clone(model).fit(form(x))
        np.testing.assert_allclose(found.eigenvalues_, exact.eigenvalues_, rtol=1e-9)
        assert found.facts_.edges == exact.facts_.edges
        assert found.facts_.duplicates == exact.facts_.duplicates
        w = found.graph_.lengths if isinstance(model, mercer.Isomap) else found.graph_.weights
        pairs = scipy.sparse.coo_array(w).coords
        ends = set(zip(*(each.tolist() for each in pairs), strict=True))
        assert {(i, i + 80) for i in range(80)} <= ends


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_given_distances_of_zero_are_edges(dtype):
    x = doubled().astype(np.float64)
    d = np.linalg.norm(x[:, None] - x[None], axis=2)
    of_rows = mercer.Isomap(**LISTED).fit(x)
    given = mercer.Isomap(metric="precomputed", **LISTED).fit(d.astype(dtype))
    np.testing.assert_allclose(given.eigenvalues_, of_rows.eigenvalues_, rtol=1e-5)
    assert given.facts_.edges == of_rows.facts_.edges
    with pytest.raises(InputError, match="dense matrix"):
        mercer.Isomap(metric="precomputed").fit(scipy.sparse.csr_array(d))


@pytest.mark.parametrize("factor", [1e-315, 1e-200, 1e200, 1e303, 1e306])
@pytest.mark.parametrize("kind", [mercer.LaplacianEigenmaps, mercer.DiffusionMaps])
def test_given_weights_have_no_unit(kind, factor):
    x = rows(60)
    w = np.exp(-8 * np.linalg.norm(x[:, None] - x[None], axis=2) ** 2)
    plain = kind(2, metric="precomputed").fit(w)
    for form in (np.asarray, scipy.sparse.csr_array):
        model = kind(2, metric="precomputed")
        if factor > 1e305:
            with pytest.raises(InputError, match="too large to be added up"):
                model.fit(form(w * factor))
            continue
        model.fit(form(w * factor))
        np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-8)
        unit = factor**-0.5 if kind is mercer.LaplacianEigenmaps else 1.0
        agree(model.embedding_ / unit, plain.embedding_, 1e-6)
        assert model.extension_error_ < 1e-6
        assert np.isfinite(scipy.sparse.csr_array(model.kernel_).data).all()


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("power", [-1000, -300, 300, 1000])
def test_sparse_rows_have_no_unit(metric, power):
    x = scipy.sparse.csr_array(doubled().astype(np.float64))
    scaled = x.copy()
    scaled.data = np.ldexp(x.data, power)
    model = mercer.LaplacianEigenmaps(2, metric=metric, neighbours=19)
    for form in (lambda found: found, lambda found: found.toarray()):
        one, other = (clone(model).fit(form(found)) for found in (x, scaled))
        np.testing.assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-9)
        unit = 0 if metric == "cosine" else -power
        np.testing.assert_allclose(np.ldexp(other.facts_.scale, unit), one.facts_.scale)
    refuses("neighbours cannot be told", clone(model).set_params(metric="chebyshev").fit, x)


@pytest.mark.parametrize(
    "kind",
    [mercer.LaplacianEigenmaps, mercer.DiffusionMaps, mercer.Isomap, mercer.ClassicalMDS],
)
def test_a_matrix_of_pairs_given_as_rows_is_told(kind):
    w = mercer.LaplacianEigenmaps().fit(rows(40)).graph_.weights
    for form in (w, w.toarray()):
        said = warned("look like a matrix of pairs", kind(2).fit, form, kind=DataWarning)
        assert said is not None
