"""Maximum variance unfolding, whole and on landmarks."""

import numpy as np
import pytest
from sklearn.datasets import make_s_curve, make_swiss_roll
from sklearn.manifold import trustworthiness
from tests.claims import agree, hushed, refuses, warned

import mercer
from mercer import MaximumVarianceUnfolding
from mercer.errors import AccuracyWarning, DataWarning


def along(t):
    """Return the length of the spiral of a swiss roll up to t."""
    return 0.5 * (t * np.sqrt(1 + t**2) + np.arcsinh(t))


def corr(a, b):
    return abs(np.corrcoef(a, b)[0, 1])


@pytest.fixture(scope="module")
def curve():
    return make_s_curve(160, random_state=2)


@pytest.fixture(scope="module")
def model(curve):
    return MaximumVarianceUnfolding().fit(curve[0])


def test_an_s_curve_is_laid_flat_and_the_gap_is_stated(curve, model):
    rows, t = curve
    assert corr(model.embedding_[:, 0], t) > 0.999
    assert corr(model.embedding_[:, 1], rows[:, 1]) > 0.98
    assert model.gap_ < 1e-3
    assert model.flatness_.flat
    assert model.flatness_.gain > 2
    assert model.explained_variance_ratio_.sum() > 0.99
    made = model.certificate_
    assert made.relative_gap == model.gap_
    assert made.variance == pytest.approx(np.trace(model.kernel_), rel=1e-6)
    assert made.closed
    assert "from the largest" in str(made)
    assert made.distance_error < 1e-3
    assert made.points == 160
    shown = model._repr_html_()
    assert "from the largest" in shown
    assert "Path interior" in shown


def test_neighbours_keep_their_distances_and_kernel_pca_is_the_same(curve, model):
    rows, _ = curve
    i, j = model.edges_.T
    far = np.linalg.norm(rows[i] - rows[j], axis=1)
    own = np.linalg.norm(model.factor_[i] - model.factor_[j], axis=1)
    np.testing.assert_allclose(own / far, 1, atol=1.01 * model.certificate_.distance_error)
    kernel = model.kernel_
    same = mercer.KernelPCA(2, kernel="precomputed").fit(kernel)
    size = np.abs(model.embedding_).max()
    found = np.abs(same.transform(kernel))
    agree(found, np.abs(model.embedding_), 1e-9 * size)
    # KernelPCA divides by n - 1.
    np.testing.assert_allclose(model.eigenvalues_, same.explained_variance_ * 159, rtol=1e-9)


def test_the_dual_proves_the_bound(curve, model):
    """By hand: L(y) - I has no negative eigenvalue off the constant vector."""
    rows, _ = curve
    i, j = model.edges_.T
    y, n = model.tensions_, len(rows)
    laplacian = np.zeros((n, n))
    np.add.at(laplacian, (i, j), -y)
    np.add.at(laplacian, (j, i), -y)
    laplacian -= np.diag(laplacian.sum(axis=1))
    values = np.linalg.eigvalsh(laplacian)
    assert values[1] > 1 - 1e-6
    squares = np.sum((rows[i] - rows[j]) ** 2, axis=1)
    assert model.certificate_.bound == pytest.approx(y @ squares, rel=1e-5)
    assert model.certificate_.bound > np.sum((rows - rows.mean(axis=0)) ** 2)


def test_training_rows_keep_their_place_and_new_ones_land_beside_them(curve, model):
    rows, _ = curve
    np.testing.assert_array_equal(model.transform(rows), model.embedding_)
    np.testing.assert_array_equal(model.fit_transform(rows), model.embedding_)
    more, t = make_s_curve(400, random_state=9)
    # Rows beyond the edge of the training rows are carried on by their neighbours.
    placed = model.transform(more)
    assert corr(placed[:, 0], t) > 0.998
    joint = MaximumVarianceUnfolding().fit(np.vstack([rows, more[:60]])).embedding_[160:]
    ours = trustworthiness(more[:60], placed[:60], n_neighbors=8)
    assert ours > trustworthiness(more[:60], joint, n_neighbors=8) - 0.02


@pytest.mark.parametrize(
    ("scale", "offset"), [(1e-8, 0.0), (1e8, 0.0), (1e-150, 0.0), (1e140, 0.0), (1.0, 1e8)]
)
def test_scale_and_offset(scale, offset):
    rows, _ = make_s_curve(80, random_state=0)
    rows = np.round(rows, 6)
    plain = MaximumVarianceUnfolding(neighbours=7).fit(rows)
    other = MaximumVarianceUnfolding(neighbours=7).fit(rows * scale + offset)
    size = np.abs(plain.embedding_).max()
    agree(other.embedding_ / scale, plain.embedding_, 1e-4 * size)
    assert other.gap_ < 1e-3


def test_rows_that_stand_twice_count_twice(curve):
    rows, _ = curve
    twice = np.vstack([rows, rows[:50], rows[:50] + 1e-12])
    found = MaximumVarianceUnfolding().fit(twice)
    z = found.embedding_
    np.testing.assert_array_equal(z[:50], z[160:210])
    np.testing.assert_array_equal(z[:50], z[210:])
    agree(z.mean(axis=0), 0, 1e-9 * np.abs(z).max())
    agree(found.transform(twice), z, 1e-9 * np.abs(z).max())
    assert found.certificate_.variance == pytest.approx(np.trace(found.kernel_), rel=1e-6)
    assert found.certificate_.points == 160


def test_all_pairs_kept_is_classical_scaling_and_more_axes_are_zero():
    rows = np.random.default_rng(0).standard_normal((15, 3))
    found = MaximumVarianceUnfolding(3, neighbours=14, slack=0).fit(rows)
    x = rows - rows.mean(axis=0)
    agree(found.kernel_, x @ x.T, 1e-4)
    assert found.flatness_.gain == pytest.approx(1, abs=1e-4)
    found = MaximumVarianceUnfolding(2, neighbours=2).fit([[0.0], [1.0], [2.5]])
    assert found.embedding_.shape == (3, 2)
    agree(found.eigenvalues_[1], 0, 1e-2)


@pytest.mark.parametrize("far", [10.0, 1e3])
def test_one_row_far_away_does_no_harm(curve, far):
    rows, _ = curve
    found = MaximumVarianceUnfolding(4).fit(np.vstack([rows, [[far, 0.0, 0.0]]]))
    assert found.gap_ < 1e-3
    assert found.certificate_.distance_error < 2e-3


def test_two_rows_and_distances_too_unequal():
    rows = np.random.default_rng(0).standard_cauchy((100, 2)) ** 3
    refuses("too unequal", MaximumVarianceUnfolding(neighbours=8).fit, rows)
    found = MaximumVarianceUnfolding(1, neighbours=1, slack=0).fit([[0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_allclose(np.abs(found.embedding_), 2.5, rtol=1e-3)


def test_too_thin_a_roll_is_said_and_the_short_cut_named():
    rows, t = make_swiss_roll(240, random_state=0)
    found = warned("do not lie flat on 2 axes", MaximumVarianceUnfolding().fit, rows)
    assert corr(found.embedding_[:, 0], along(t)) < 0.9
    seen = found.flatness_
    assert not seen.flat
    assert seen.axes > 2
    assert seen.bridge is not None
    assert f"rows {seen.bridge[0]} and {seen.bridge[1]} are joined" in str(seen)
    assert found.gap_ < 1e-3  # the programme is solved: it is the graph that is wrong


def test_landmarks_unfold_thousands():
    rows, t = make_swiss_roll(2000, random_state=1)
    found = MaximumVarianceUnfolding(landmarks=200).fit(rows)
    assert corr(found.embedding_[:, 0], along(t)) > 0.999
    assert len(found.landmark_indices_) == 200
    assert found.certificate_.points == 200
    assert found.gap_ < 1e-3
    assert found.flatness_.flat
    np.testing.assert_array_equal(found.transform(rows[:50]), found.embedding_[:50])
    agree(found.embedding_.mean(axis=0), 0, 1e-9)
    assert found.plan_.chosen.name == "landmarks"


def test_pieces_are_named(curve):
    rows, _ = curve
    apart = np.vstack([rows, rows[:40] + 50])
    refuses(r"(?s)falls into pieces.*160, 40 points", MaximumVarianceUnfolding().fit, apart)
    with pytest.warns(DataWarning, match="40 rows are placed by it"):
        found = MaximumVarianceUnfolding(components="place").fit(apart)
    assert np.isfinite(found.embedding_).all()
    agree(found.transform(apart), found.embedding_, 1e-9)
    alone = MaximumVarianceUnfolding().fit(rows)
    agree(found.embedding_[:160], alone.embedding_, 1e-6)
    with pytest.warns(DataWarning, match="40 rows have NaN"):
        found = MaximumVarianceUnfolding(components="largest").fit(apart)
    np.testing.assert_array_equal(np.isnan(found.embedding_).all(axis=1), np.arange(200) >= 160)
    agree(found.embedding_[:160], alone.embedding_, 1e-6)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.ones((9, 2)), "all rows stand in one place"),
        (np.array([[0.0, 1.0], [np.nan, 1.0], [2.0, 2.0]]), "row 1"),
    ],
)
def test_what_cannot_be_unfolded_is_refused(rows, words):
    refuses(words, MaximumVarianceUnfolding(1, neighbours=1).fit, rows)


@pytest.mark.filterwarnings("ignore:the rows do not lie flat")
def test_a_gap_that_stays_open_is_said(curve):
    with pytest.warns(AccuracyWarning, match="from the best one"):
        MaximumVarianceUnfolding(tol=1e-13, time=1e-9, landmarks=None).fit(curve[0][:60])


@pytest.mark.slow
@pytest.mark.parametrize("make", [make_s_curve, make_swiss_roll])
def test_a_thousand_points(make):
    rows, t = make(1000, random_state=0)
    found = MaximumVarianceUnfolding().fit(rows)
    place = t if make is make_s_curve else along(t)
    assert corr(found.embedding_[:, 0], place) > 0.9999
    assert corr(found.embedding_[:, 0], t) > 0.99
    assert found.gap_ < 1e-3
    assert found.flatness_.flat


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [200, 300, 400, 500])
def test_flat_is_said_where_and_only_where_the_roll_came_out(n, seed):
    rows, t = make_swiss_roll(n, random_state=seed)
    found = hushed(MaximumVarianceUnfolding().fit, rows, kind=DataWarning)
    assert found.flatness_.flat == (corr(found.embedding_[:, 0], along(t)) > 0.99)
