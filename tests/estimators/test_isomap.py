import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import cdist
from sheets import SETS, affine_error, apart, correlations, digits, roll, s_curve, turned
from sklearn import manifold
from tests.claims import agree, hold, hushed, refuses, warned

import mercer
from mercer import ClassicalMDS, Isomap, KernelPCA
from mercer.errors import BudgetError, DataWarning, InputError
from mercer.estimators.manifold import isomap
from mercer.estimators.manifold.isomap import at_random, farthest, residual_variances, tiles_of
from mercer.operators import geodesics, graph


@pytest.mark.parametrize("name", SETS)
def test_it_agrees_with_scikit_learn(name):
    rows = SETS[name]
    model = Isomap(3).fit(rows)
    theirs = manifold.Isomap(n_neighbors=10, n_components=3).fit(rows)
    z = theirs.embedding_
    assert apart(model.embedding_, z) < 1e-6
    agree(model.embedding_, turned(z, model.embedding_), 1e-6 * np.abs(z).max())
    new = rows[:40] + 0.01 * np.random.default_rng(0).standard_normal(rows[:40].shape)
    agree(
        model.transform(new),
        turned(theirs.transform(new), model.transform(new)),
        1e-6 * np.abs(z).max(),
    )
    assert model.certificate_.met


@pytest.mark.parametrize("landmarks", [None, 60])
@pytest.mark.parametrize("name", SETS)
def test_training_rows_are_where_the_fit_put_them(name, landmarks):
    rows = SETS[name]
    model = Isomap(2, landmarks=landmarks).fit(rows)
    scale = np.abs(model.embedding_).max()
    agree(model.transform(rows), model.embedding_, 1e-8 * scale)
    agree(model.embedding_.mean(axis=0), 0, 1e-9 * scale)
    np.testing.assert_allclose(model.embedding_.var(axis=0, ddof=1), model.explained_variance_)
    assert "Isomap, fitted" in model._repr_html_()  # and no kernel is made for it


@pytest.mark.parametrize("name", SETS)
def test_it_is_kernel_pca_of_a_kernel_that_the_data_make(name):
    model = Isomap(2).fit(SETS[name])
    pca = KernelPCA(2, kernel="precomputed", indefinite="clip")
    hushed(pca.fit, model.kernel_, kind=DataWarning)  # geodesics are indefinite
    np.testing.assert_allclose(pca.eigenvalues_, model.eigenvalues_, rtol=1e-10)
    z = pca.transform(model.kernel_)
    agree(model.embedding_, turned(z, model.embedding_), 1e-8 * np.abs(z).max())
    assert pca.negative_share_ == pytest.approx(model.negative_share_, rel=1e-8)
    H = np.eye(len(z)) - 1 / len(z)
    exact = np.linalg.eigvalsh(H @ model.kernel_ @ H)[::-1][:2]
    c = model.certificate_
    hold(c, exact)


def test_a_large_matrix_is_iterated_on(monkeypatch):
    rows = roll(1100)[0]
    monkeypatch.setattr(isomap, "_WHOLE", 1100)
    whole = Isomap(2, tol=1e-12).fit(rows)
    assert whole.plan_.chosen.name == "lapack"
    monkeypatch.undo()
    model = Isomap(2, tol=1e-12).fit(rows)
    assert model.plan_.chosen.name == "stored"
    assert model.certificate_.met
    assert apart(model.embedding_, whole.embedding_) < 1e-5
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-10)
    some = slice(0, 1100, 50)
    agree(model.transform(rows[some]), model.embedding_[some], 1e-8 * 50)


def test_a_roll_is_unrolled_and_residual_variance_shows_it():
    rows, sheet = roll(700)
    model = Isomap(3).fit(rows)
    assert affine_error(model.embedding_[:, :2], sheet) < 0.1
    assert correlations(model.embedding_[:, :2], sheet - sheet.mean(axis=0)).min() > 0.99
    one, two, three = model.residual_variance_
    assert one > 0.01 > 0.005 > two
    assert three > 0.3 * two  # no third dimension
    z = np.random.default_rng(0).standard_normal((120, 3))
    found = residual_variances(GEODESICS, np.arange(120), z)
    for k in (1, 2, 3):
        r = np.corrcoef(GEODESICS.ravel(), cdist(z[:, :k], z[:, :k]).ravel())[0, 1]
        assert found[k - 1] == pytest.approx(1 - r**2, rel=1e-10)
    flat = residual_variances(GEODESICS, np.arange(120), np.zeros((120, 1)))
    np.testing.assert_array_equal(flat, 1.0)


class TestGraphsWithKnownAnswers:
    def test_points_on_a_line_keep_their_places(self):
        t = np.cumsum(np.random.default_rng(0).uniform(0.5, 1, 30))
        model = Isomap(1, neighbours=2).fit(np.column_stack([t, 2 * t]))
        wanted = (t - t.mean()) * 5**0.5
        agree(model.embedding_[:, 0], np.sign(model.embedding_[-1, 0]) * wanted, 1e-9)
        assert model.negative_share_ < 1e-12

    def test_the_leaves_of_a_star_are_alike(self):
        rows = np.concatenate([np.zeros((1, 9)), 2 * np.eye(9)])
        model = Isomap(2, neighbours=1).fit(rows)
        assert model.facts_.most == 9
        assert model.certificate_.groups == ((0, 1, 2),)
        # Leaves are 4 apart, over the middle: λ = 4²/2.
        np.testing.assert_allclose(model.eigenvalues_, 8.0, rtol=1e-10)

    def test_doubles_stand_in_one_place(self):
        rows = np.concatenate([SETS["s"][:200], SETS["s"][:20]])
        model = Isomap(2).fit(rows)
        assert model.facts_.duplicates == 40
        agree(model.embedding_[:20], model.embedding_[200:], 1e-8)
        agree(model.transform(rows), model.embedding_, 1e-8)


class TestPieces:
    rows = np.concatenate([SETS["s"][:150], SETS["s"][:100] + 50])

    def test_they_are_named(self):
        with pytest.raises(InputError, match="pieces") as caught:
            Isomap(2).fit(self.rows)
        assert "2 pieces of 150, 100" in caught.value.got

    def test_rows_outside_the_largest_have_no_place(self):
        model = warned("100 rows have NaN", Isomap(2, components="largest").fit, self.rows)
        alone = Isomap(2).fit(self.rows[:150])
        agree(model.embedding_[:150], alone.embedding_, 1e-9)
        assert np.isnan(model.embedding_[150:]).all()
        assert model.facts_.pieces == (150, 100)

    @pytest.mark.parametrize("landmarks", [None, 40])
    def test_the_largest_is_embedded_and_places_the_others(self, landmarks):
        with pytest.warns(DataWarning, match="100 rows"):
            model = Isomap(2, components="place", landmarks=landmarks).fit(self.rows)
        alone = Isomap(2, landmarks=landmarks).fit(self.rows[:150])
        agree(model.embedding_[:150], alone.embedding_, 1e-9)
        agree(model.embedding_[150:], alone.transform(self.rows[150:]), 1e-9)
        agree(model.transform(self.rows), model.embedding_, 1e-8)
        assert model.facts_.left_out == 100
        assert model.embedding_.shape == (250, 2)
        if landmarks:
            assert model.landmark_indices_.max() < 150


class TestLandmarks:
    def test_few_stand_for_all(self):
        for rows in (roll(1000)[0], digits(600)):
            exact = Isomap(2).fit(rows)
            few = Isomap(2, landmarks=150).fit(rows)
            assert correlations(few.embedding_, exact.embedding_).min() > 0.998
            np.testing.assert_allclose(few.eigenvalues_, exact.eigenvalues_, rtol=0.03)

    def test_all_points_as_landmarks_are_all_pairs(self):
        rows = SETS["roll"][:400]
        few, exact = (Isomap(2, neighbours=8, landmarks=m).fit(rows) for m in (400, None))
        np.testing.assert_allclose(few.eigenvalues_, exact.eigenvalues_, rtol=1e-10)
        assert apart(few.embedding_, exact.embedding_) < 1e-9
        assert few.negative_share_ > 0

    def test_paths_start_from_them_only(self, monkeypatch):
        asked, geodesics = [], isomap.geodesics

        def counted(graph, sources):
            asked.append(len(sources))
            return geodesics(graph, sources)

        monkeypatch.setattr(isomap, "geodesics", counted)
        model = Isomap(2, landmarks=50).fit(SETS["roll"])
        model.transform(SETS["roll"][:30])
        assert sum(asked) == 50 == len(model.landmark_indices_)
        assert model.plan_.chosen.name == "landmarks"
        assert model.kernel_.shape == (50, 50)

    def test_auto_takes_them_from_some_rows_on(self, monkeypatch):
        model = Isomap(2, landmarks="auto")
        assert mercer.plan(model, SETS["roll"]).chosen.name == "lapack"
        many = np.zeros((20_000, 3))
        chosen = mercer.plan(model, many).chosen
        assert (chosen.name, "500 landmarks" in chosen.note) == ("landmarks", True)
        assert chosen.bytes < 0.1 * 8 * 20_000**2

    def test_the_draw_is_seeded(self):
        one, two = (Isomap(2, landmarks=30, sampler="random").fit(SETS["s"]) for _ in range(2))
        np.testing.assert_array_equal(one.embedding_, two.embedding_)
        other = Isomap(2, landmarks=30, sampler="random", random_state=5).fit(SETS["s"])
        assert not np.array_equal(one.landmark_indices_, other.landmark_indices_)


@pytest.mark.parametrize("landmarks", [None, 80])
def test_rows_held_out_land_as_in_a_joint_fit(landmarks):
    rows = s_curve(600, seed=3)[0]
    train, new = rows[:450], rows[450:]
    joint = Isomap(2, landmarks=landmarks).fit_transform(rows)
    model = Isomap(2, landmarks=landmarks).fit(train)
    apartly = np.concatenate([model.embedding_, model.transform(new)])
    score = [manifold.trustworthiness(rows, z, n_neighbors=10) for z in (joint, apartly)]
    assert score[1] > score[0] - 0.02
    assert score[0] > 0.98


@pytest.mark.parametrize("landmarks", [None, 60])
def test_far_from_the_origin(landmarks):
    rows = SETS["roll"][:300]
    moved = (rows + 1e8) - 1e8  # what float64 keeps of them
    near = Isomap(2, landmarks=landmarks).fit(moved)
    far = Isomap(2, landmarks=landmarks).fit(rows + 1e8)
    agree(far.embedding_, near.embedding_, 1e-6)
    agree(far.transform(rows + 1e8), far.embedding_, 1e-8)


def test_sparse_and_float32_rows_and_another_metric():
    rows = digits(150) * np.random.default_rng(0).uniform(0.9, 1.1, (150, 64))  # no ties
    dense, sparse = Isomap(2).fit(rows), Isomap(2).fit(scipy.sparse.csr_array(rows))
    agree(sparse.embedding_, turned(dense.embedding_, sparse.embedding_), 1e-6)
    narrow = Isomap(2).fit(rows.astype(np.float32))
    assert narrow.embedding_.dtype == np.float32 == narrow.transform(rows[:3]).dtype
    rows = np.random.default_rng(0).standard_normal((60, 3))
    model = Isomap(2, neighbours=59, metric="cityblock").fit(rows)
    mds = ClassicalMDS(2, metric="cityblock").fit(rows)
    np.testing.assert_allclose(model.eigenvalues_, mds.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(model.kernel_, -0.5 * cdist(rows, rows, "cityblock") ** 2)


@pytest.mark.parametrize(
    ("model", "rows", "what"),
    [
        (Isomap(), SETS["roll"][:1], "one row"),
        (Isomap(), SETS["roll"][:10], "only 9 others"),
        (Isomap(12, neighbours=3), SETS["roll"][:10], "between 1 and n_samples"),
        (Isomap(8, landmarks=5), SETS["roll"], "fewer landmarks"),
        (Isomap(neighbours=2), np.ones((9, 2)), "one place"),
        (Isomap(neighbours=0), SETS["roll"], "neighbours"),
        (Isomap(landmarks=1), SETS["roll"], "landmarks"),
        (Isomap(components="hope"), SETS["roll"], "components"),
        (Isomap(), np.where(np.eye(30) > 0, np.nan, 1.0), "NaN"),
    ],
    ids=range(9),
)
def test_refusals(model, rows, what):
    refuses(what, model.fit, rows, kind=ValueError)
    assert not hasattr(model, "embedding_")


def test_what_does_not_fit_is_refused_or_comes_in_blocks():
    refuses("memory", Isomap(memory="10MB").fit, np.zeros((3000, 2)), kind=BudgetError)
    assert Isomap(landmarks=50, memory="60MB").fit(SETS["roll"]).n_samples_ == 500
    assert tiles_of(10**6, 20_000).rows * 20_000 <= 4_000_000
    assert len(tiles_of(5, 10**9)) == 5


ROLL = graph(roll(120)[0], 6)
GEODESICS = geodesics(ROLL, np.arange(120))


def test_how_landmarks_are_chosen():
    at, paths = farthest(ROLL, 10, seed=3)
    np.testing.assert_array_equal(paths, GEODESICS[at])
    for i in range(1, 10):
        nearest = GEODESICS[at[:i]].min(axis=0)
        assert nearest[at[i]] == nearest.max()
    assert at[0] == farthest(ROLL, 2, seed=3)[0][0]
    starts = {int(farthest(ROLL, 1, seed=seed)[0][0]) for seed in range(5)}
    assert len(starts) > 1
    rows = np.repeat(np.arange(4.0)[:, None], 3, axis=0)
    at, paths = farthest(graph(rows, 4), 12, seed=0)
    assert sorted(rows[at, 0]) == [0, 1, 2, 3]
    assert paths.shape == (4, 12)
    at, paths = at_random(ROLL, 20, seed=1)
    np.testing.assert_array_equal(at, at_random(ROLL, 20, seed=1)[0])
    assert len(np.unique(at)) == 20
    assert not np.array_equal(at, at_random(ROLL, 20, seed=2)[0])
    np.testing.assert_array_equal(paths, dijkstra(ROLL.lengths, indices=at))
