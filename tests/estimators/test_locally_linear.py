import numpy as np
import pytest
import scipy.sparse
from sheets import affine_error, apart, digits, roll, s_curve, turned
from sklearn import manifold
from tests.claims import hushed, refuses, warned

import mercer
from mercer import KernelPCA, LocallyLinearEmbedding
from mercer.errors import BudgetError, DataWarning, InputError
from mercer.estimators.manifold._local_matrices import METHODS, strangers

SETS = {"roll": roll(400, seed=1)[0], "s": s_curve(400, seed=1)[0], "digits": digits(300)}
EACH = pytest.mark.parametrize("method", METHODS)


def theirs(rows, method, k, d=2):
    found = manifold.LocallyLinearEmbedding(
        n_neighbors=k, n_components=d, method=method, eigen_solver="dense"
    )
    return found.fit(rows)


# The peer's "hessian" is that of the paper at 1 + d(d+3)/2 neighbours only; on digits its
# "modified" has more weights than the paper allows for two axes, and tangents of few
# neighbours leave rows tied to nothing.
@pytest.mark.parametrize(
    ("name", "method", "k", "d"),
    [
        *((name, method, 12, 2) for name in ("roll", "s") for method in ("standard", "ltsa")),
        *((name, "modified", 12, 2) for name in ("roll", "s")),
        *((name, "hessian", 6, 2) for name in ("roll", "s")),
        ("digits", "standard", 12, 2),
        ("digits", "ltsa", 40, 2),
        ("digits", "modified", 12, 1),
    ],
)
def test_it_agrees_with_scikit_learn(name, method, k, d):
    rows = SETS[name]
    model = LocallyLinearEmbedding(d, neighbours=k, method=method).fit(rows)
    tied = method in ("standard", "modified")
    assert tied or len(strangers(model.graph_.neighbours.indices)) == 0
    peer = theirs(rows, method, k, d)
    assert apart(model.embedding_, peer.embedding_) < 1e-6
    assert model.certificate_.met
    scaled = turned(peer.embedding_, model.embedding_) * len(rows) ** 0.5
    np.testing.assert_allclose(model.embedding_, scaled, rtol=0, atol=1e-4)
    new = rows[:30] + 1e-3 * np.random.default_rng(0).standard_normal(rows[:30].shape)
    moved = turned(peer.transform(new), model.transform(new)) * len(rows) ** 0.5
    np.testing.assert_allclose(model.transform(new), moved, rtol=0, atol=1e-3)


@EACH
def test_the_iteration_finds_what_lapack_finds(method):
    rows = SETS["roll"]

    def along(name):
        class Along(LocallyLinearEmbedding):
            def _settle_plan(self, made):
                paths = [made.chosen, *(path for path, _ in made.rejected)]
                path = next(path for path in paths if path.name == name)
                return mercer.planning.Plan(made.problem, path, ())

        return Along(2, neighbours=12, method=method).fit(rows)

    model, whole = along("inverse"), along("lapack")
    assert (model.plan_.chosen.name, whole.plan_.chosen.name) == ("inverse", "lapack")
    assert apart(model.embedding_, whole.embedding_) < 1e-7
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-4)


@EACH
def test_the_certificate_holds_eigenvalues_of_its_own_matrix(method):
    model = LocallyLinearEmbedding(3, neighbours=14, method=method).fit(SETS["s"])
    values = np.linalg.eigvalsh(model.matrix_.toarray())
    c = model.certificate_
    slack = 1e-14 * values[-1]  # LAPACK's own
    assert np.all(c.lower - slack <= values[1:4])
    assert np.all(values[1:4] <= c.upper + slack)
    assert np.all(np.diff(model.eigenvalues_) >= 0)
    z = model.embedding_ / 20
    lost = np.linalg.norm(model.matrix_ @ z - z * model.eigenvalues_, axis=0)
    assert np.all(lost <= c.residual)


@EACH
def test_columns_are_orthogonal_and_those_of_kernel_pca_of_the_inverse(method):
    model = LocallyLinearEmbedding(2, neighbours=12, method=method).fit(SETS["roll"])
    z = model.embedding_
    np.testing.assert_allclose(z.T @ z, 400 * np.eye(2), rtol=0, atol=1e-8)
    np.testing.assert_allclose(z.sum(axis=0), 0, rtol=0, atol=1e-8)
    K = model.kernel_.dense()
    K = 0.5 * (K + K.T)  # with rounding below zero
    z = hushed(KernelPCA(2, kernel="precomputed").fit, K, kind=DataWarning).transform(K)
    assert apart(model.embedding_, z) < 1e-5
    factors = np.linalg.norm(z, axis=0) / 400**0.5
    np.testing.assert_allclose(z / factors, turned(model.embedding_, z), rtol=0, atol=1e-4)


@pytest.mark.parametrize("method", ["hessian", "ltsa", "modified"])
def test_a_flat_sheet_is_found_exactly(method):
    rng = np.random.default_rng(0)
    sheet = rng.random((300, 2))
    rows = sheet @ np.linalg.qr(rng.standard_normal((5, 5)))[0][:2] + 3
    model = LocallyLinearEmbedding(2, neighbours=10, method=method, reg=1e-10).fit(rows)
    assert affine_error(model.embedding_, sheet) < 1e-6
    assert model.certificate_.met
    assert np.all(model.eigenvalues_ <= model.certificate_.zero_level)


@pytest.mark.parametrize(
    ("method", "most"), [("hessian", 0.05), ("ltsa", 0.05), ("modified", 0.1)]
)
def test_a_roll_is_unrolled(method, most):
    rows, sheet = roll(900)
    model = LocallyLinearEmbedding(2, neighbours=12, method=method).fit(rows)
    assert affine_error(model.embedding_, sheet) < most


@EACH
def test_training_rows_are_where_the_fit_put_them(method):
    rows = SETS["s"]
    model = LocallyLinearEmbedding(2, neighbours=12, method=method).fit(rows)
    np.testing.assert_array_equal(model.transform(rows), model.embedding_)
    # Beside a row the weights are those of new rows, drawn to the others by the penalty.
    moved = model.transform(rows + 1e-9)
    assert 0 < np.median(np.abs(moved - model.embedding_)) < 0.005


@EACH
def test_rows_held_out_land_as_in_a_joint_fit(method):
    rows = s_curve(600, seed=3)[0]
    model = LocallyLinearEmbedding(2, neighbours=12, method=method).fit(rows[:450])
    joint = LocallyLinearEmbedding(2, neighbours=12, method=method).fit_transform(rows)
    apartly = np.concatenate([model.embedding_, model.transform(rows[450:])])
    score = [manifold.trustworthiness(rows, z, n_neighbors=10) for z in (joint, apartly)]
    assert score[1] > score[0] - 0.02


@EACH
def test_far_from_the_origin(method):
    rows = (SETS["s"] * 64).round() / 64 + np.random.default_rng(0).integers(
        0, 64, (400, 3)
    ) / 512
    near = LocallyLinearEmbedding(2, neighbours=14, method=method).fit(rows)
    far = LocallyLinearEmbedding(2, neighbours=14, method=method).fit(rows + 1e8)
    np.testing.assert_array_equal((rows + 1e8) - 1e8, rows)  # nothing was rounded away
    assert apart(near.embedding_, far.embedding_) < 1e-6
    np.testing.assert_array_equal(far.transform(rows + 1e8), far.embedding_)


class TestGraphsWithKnownAnswers:
    @EACH
    def test_places_on_a_curve_come_in_order(self, method):
        t = np.sort(np.random.default_rng(0).uniform(0, 3, 60))
        arc = np.column_stack([np.cos(t), np.sin(t)])
        model = LocallyLinearEmbedding(1, neighbours=5, method=method).fit(arc)
        steps = np.diff(model.embedding_[:, 0])
        assert np.all(steps > 0) or np.all(steps < 0)

    @EACH
    def test_the_complete_graph_and_a_star_are_graphs_too(self, method):
        rng = np.random.default_rng(0)
        rows = rng.standard_normal((12, 3))
        model = LocallyLinearEmbedding(1, neighbours=11, method=method).fit(rows)
        assert model.facts_.fewest == 11
        assert model.certificate_.met
        star = np.concatenate([np.zeros((1, 3)), *(r * np.eye(3) for r in (1.0, -1.1, 1.3))])
        bent = star + 0.01 * rng.standard_normal(star.shape)
        z = LocallyLinearEmbedding(1, neighbours=5, method=method).fit_transform(bent)
        assert np.all(np.isfinite(z))


class TestPieces:
    rows = np.concatenate([SETS["s"][:150], SETS["s"][:100] + 50])

    @EACH
    def test_they_are_named(self, method):
        with pytest.raises(InputError, match="pieces") as caught:
            LocallyLinearEmbedding(2, neighbours=12, method=method).fit(self.rows)
        assert "2 pieces of 150, 100" in caught.value.got

    def test_the_largest_is_embedded_and_places_the_others(self):
        model = warned("100 rows", LocallyLinearEmbedding(2, components="place").fit, self.rows)
        alone = LocallyLinearEmbedding(2).fit(self.rows[:150])
        np.testing.assert_array_equal(model.embedding_[:150], alone.embedding_)
        np.testing.assert_array_equal(model.embedding_[150:], alone.transform(self.rows[150:]))
        np.testing.assert_array_equal(model.transform(self.rows), model.embedding_)


class TestDoubles:
    rows = np.concatenate([SETS["s"], SETS["s"][:15]])

    @EACH
    def test_a_few_do_no_harm(self, method):
        model = LocallyLinearEmbedding(2, neighbours=12, method=method).fit(self.rows)
        assert model.facts_.duplicates == 30
        assert model.certificate_.met
        single = LocallyLinearEmbedding(2, neighbours=12, method=method).fit(SETS["s"])
        assert affine_error(model.embedding_[:400], single.embedding_) < 0.2

    def test_more_than_neighbours_are_a_piece_of_their_own(self):
        rows = np.concatenate([SETS["s"], np.repeat(SETS["s"][:1] + 9, 20, axis=0)])
        with pytest.raises(InputError, match="pieces") as caught:
            LocallyLinearEmbedding(2).fit(rows)
        assert "400, 20" in caught.value.got


@pytest.mark.parametrize(
    ("model", "rows", "what"),
    [
        (LocallyLinearEmbedding(), SETS["s"][:1], "one row"),
        (LocallyLinearEmbedding(), SETS["s"][:10], "only 9 others"),
        (LocallyLinearEmbedding(4), SETS["s"], "fewer dimensions"),
        (LocallyLinearEmbedding(2, neighbours=5, method="hessian"), SETS["s"], "6 neighbours"),
        (LocallyLinearEmbedding(3, neighbours=2, method="modified"), SETS["s"], "3 neighbours"),
        (LocallyLinearEmbedding(2, neighbours=2, method="ltsa"), SETS["s"], "3 neighbours"),
        (LocallyLinearEmbedding(), np.outer(np.arange(30.0), [1, 2, 3]), "2 dimensions"),
        (LocallyLinearEmbedding(), scipy.sparse.eye_array(20, format="csr"), "(?i)sparse"),
        (LocallyLinearEmbedding(method="hope"), SETS["s"], "method"),
        (LocallyLinearEmbedding(reg=0), SETS["s"], "reg"),
    ],
    ids=range(10),
)
def test_refusals(model, rows, what):
    refuses(what, model.fit, rows, kind=ValueError)
    assert not hasattr(model, "embedding_")


def test_factors_that_do_not_fit_are_refused():
    with pytest.raises(BudgetError, match="memory"):
        LocallyLinearEmbedding(memory="1MB").fit(np.zeros((5000, 2)))
