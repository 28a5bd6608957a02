"""Maximum variance unfolding, whole and on landmarks."""

import dataclasses
import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import make_s_curve, make_swiss_roll
from sklearn.manifold import trustworthiness

import mercer
from mercer import MaximumVarianceUnfolding
from mercer.errors import AccuracyWarning, DataWarning, InputError
from mercer.estimators.manifold._unfolding_facts import Flatness, flatness, warn_of
from mercer.estimators.manifold._unfolding_fit import (
    UnfoldingTask,
    bars_of,
    edges_of,
    extended,
    factor_of,
    laid,
    landmark_edges,
    places_of,
    snapped,
    units_of,
)
from mercer.operators import graph, neighbours


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


def test_s_curve_is_laid_flat(curve, model):
    rows, t = curve
    assert corr(model.embedding_[:, 0], t) > 0.999
    assert corr(model.embedding_[:, 1], rows[:, 1]) > 0.98
    assert model.gap_ < 1e-3
    assert model.flatness_.flat
    assert model.flatness_.gain > 2
    assert model.explained_variance_ratio_.sum() > 0.99


def test_certificate_states_the_gap(model):
    made = model.certificate_
    assert made.relative_gap == model.gap_
    assert made.variance == pytest.approx(np.trace(model.kernel_), rel=1e-6)
    assert made.closed
    assert "from the largest" in str(made)
    assert made.distance_error < 1e-3
    assert made.points == 160


def test_a_notebook_shows_the_gap(model):
    shown = model._repr_html_()
    assert "from the largest" in shown
    assert "Path interior" in shown


def test_neighbours_keep_their_distances_in_the_kernel(curve, model):
    rows, _ = curve
    i, j = model.edges_.T
    far = np.linalg.norm(rows[i] - rows[j], axis=1)
    own = np.linalg.norm(model.factor_[i] - model.factor_[j], axis=1)
    np.testing.assert_allclose(own / far, 1, atol=1.01 * model.certificate_.distance_error)


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


def test_kernel_pca_on_the_kernel_is_the_same(model):
    kernel = model.kernel_
    same = mercer.KernelPCA(2, kernel="precomputed").fit(kernel)
    size = np.abs(model.embedding_).max()
    found = np.abs(same.transform(kernel))
    np.testing.assert_allclose(found, np.abs(model.embedding_), rtol=0, atol=1e-9 * size)
    # KernelPCA divides by n - 1.
    np.testing.assert_allclose(model.eigenvalues_, same.explained_variance_ * 159, rtol=1e-9)


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
    np.testing.assert_allclose(
        other.embedding_ / scale, plain.embedding_, rtol=0, atol=1e-4 * size
    )
    assert other.gap_ < 1e-3


def test_rows_that_stand_twice_count_twice(curve):
    rows, _ = curve
    twice = np.vstack([rows, rows[:50], rows[:50] + 1e-12])
    found = MaximumVarianceUnfolding().fit(twice)
    z = found.embedding_
    np.testing.assert_array_equal(z[:50], z[160:210])
    np.testing.assert_array_equal(z[:50], z[210:])
    np.testing.assert_allclose(z.mean(axis=0), 0, rtol=0, atol=1e-9 * np.abs(z).max())
    np.testing.assert_allclose(found.transform(twice), z, rtol=0, atol=1e-9 * np.abs(z).max())
    assert found.certificate_.variance == pytest.approx(np.trace(found.kernel_), rel=1e-6)
    assert found.certificate_.points == 160


def test_all_pairs_kept_is_classical_scaling():
    rows = np.random.default_rng(0).standard_normal((15, 3))
    found = MaximumVarianceUnfolding(3, neighbours=14, slack=0).fit(rows)
    x = rows - rows.mean(axis=0)
    np.testing.assert_allclose(found.kernel_, x @ x.T, rtol=0, atol=1e-4)
    assert found.flatness_.gain == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("far", [10.0, 1e3])
def test_one_row_far_away_does_no_harm(curve, far):
    rows, _ = curve
    found = MaximumVarianceUnfolding(4).fit(np.vstack([rows, [[far, 0.0, 0.0]]]))
    assert found.gap_ < 1e-3
    assert found.certificate_.distance_error < 2e-3


def test_distances_too_unequal_for_the_arithmetic_are_refused():
    rows = np.random.default_rng(0).standard_cauchy((100, 2)) ** 3
    with pytest.raises(InputError, match="too unequal"):
        MaximumVarianceUnfolding(neighbours=8).fit(rows)


def test_two_rows():
    found = MaximumVarianceUnfolding(1, neighbours=1, slack=0).fit([[0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_allclose(np.abs(found.embedding_), 2.5, rtol=1e-3)


def test_too_thin_a_roll_is_said_and_the_short_cut_named():
    rows, t = make_swiss_roll(240, random_state=0)
    with pytest.warns(DataWarning, match="do not lie flat on 2 axes"):
        found = MaximumVarianceUnfolding().fit(rows)
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
    np.testing.assert_allclose(found.embedding_.mean(axis=0), 0, rtol=0, atol=1e-9)
    assert found.plan_.chosen.name == "landmarks"


def test_pieces_are_named(curve):
    rows, _ = curve
    apart = np.vstack([rows, rows[:40] + 50])
    with pytest.raises(InputError, match=r"(?s)falls into pieces.*160, 40 points"):
        MaximumVarianceUnfolding().fit(apart)
    with pytest.warns(DataWarning, match="40 rows are placed by it"):
        found = MaximumVarianceUnfolding(components="place").fit(apart)
    assert np.isfinite(found.embedding_).all()
    np.testing.assert_allclose(found.transform(apart), found.embedding_, rtol=0, atol=1e-9)
    alone = MaximumVarianceUnfolding().fit(rows)
    np.testing.assert_allclose(found.embedding_[:160], alone.embedding_, rtol=0, atol=1e-6)
    with pytest.warns(DataWarning, match="40 rows have NaN"):
        found = MaximumVarianceUnfolding(components="largest").fit(apart)
    np.testing.assert_array_equal(np.isnan(found.embedding_).all(axis=1), np.arange(200) >= 160)
    np.testing.assert_allclose(found.embedding_[:160], alone.embedding_, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.ones((9, 2)), "all rows stand in one place"),
        (np.array([[0.0, 1.0], [np.nan, 1.0], [2.0, 2.0]]), "row 1"),
    ],
)
def test_what_cannot_be_unfolded_is_refused(rows, words):
    with pytest.raises(InputError, match=words):
        MaximumVarianceUnfolding(1, neighbours=1).fit(rows)


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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        found = MaximumVarianceUnfolding().fit(rows)
    assert found.flatness_.flat == (corr(found.embedding_[:, 0], along(t)) > 0.99)


WANTED = UnfoldingTask(
    components=2,
    neighbours=5,
    landmarks=None,
    slack=1e-6,
    reg=1e-3,
    pieces="raise",
    tol=1e-4,
    seconds=None,
    seed=0,
)


@pytest.fixture(scope="module")
def sheet():
    rng = np.random.default_rng(4)
    t, u = np.divmod(np.arange(84), 6)
    t, u = t / 5 + rng.uniform(0, 0.1, 84), u / 5 + rng.uniform(0, 0.1, 84)
    return np.column_stack([np.cos(t), u, np.sin(t)]), t


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_units_are_powers_of_two(scale):
    rows = np.array([[1.0, 2.0], [4.0, 2.0], [2.0, -3.0]]) * scale
    found, exponent = units_of(rows)
    assert 0.25 <= np.abs(found).max() <= 2
    np.testing.assert_array_equal(
        np.ldexp(np.diff(found, axis=0), exponent), np.diff(rows, axis=0)
    )


def test_kernel_of_all_rows_has_the_eigenvalues_of_the_spectrum(sheet):
    rows, _ = sheet
    repeated = np.vstack([rows, rows[:20]])
    found = laid(*units_of(repeated), WANTED)
    values = np.linalg.eigvalsh(found.factor @ found.factor.T)[::-1]
    np.testing.assert_allclose(found.spectrum.values, values[:2], rtol=1e-9)
    np.testing.assert_allclose(found.factor.mean(axis=0), 0, rtol=0, atol=1e-9)
    cross = found.factor.T @ found.factor
    np.testing.assert_allclose(cross, np.diag(np.diag(cross)), rtol=0, atol=1e-8 * values[0])
    assert found.certificate.variance == pytest.approx(values.sum(), rel=1e-6)
    assert found.spectrum.total == pytest.approx(values.sum(), rel=1e-9)


def test_units_of_the_data(sheet):
    rows, t = sheet
    plain = laid(*units_of(rows), WANTED)
    large = laid(*units_of(rows * 1000), WANTED)
    assert large.certificate.bound == pytest.approx(1e6 * plain.certificate.bound, rel=1e-3)
    np.testing.assert_allclose(np.ptp(plain.factor[:, 0]), np.ptp(t), rtol=0.05)


def test_more_axes_than_there_are_are_zero():
    line = np.array([[0.0], [1.0], [2.5]])
    found = laid(*units_of(line), dataclasses.replace(WANTED, neighbours=2))
    assert found.factor.shape[1] >= 2
    np.testing.assert_allclose(found.spectrum.values[1], 0, rtol=0, atol=1e-2)


def hairpin(cut):
    """A path of 40 points with edges to the next and the next but one, and one across."""
    x = np.arange(40.0)
    pairs = [(i, j) for i in range(40) for j in (i + 1, i + 2) if j < 40] + cut
    i, j = np.array(pairs).T
    long = np.where(np.abs(i - j) < 3, np.abs(i - j) * 1.0, 1.5)
    lengths = scipy.sparse.coo_matrix((long, (i, j)), shape=(40, 40)).tocsr()
    return x, (i, j, long), lengths + lengths.T


def test_flat_points_are_flat():
    x, edges, lengths = hairpin([])
    factor = np.column_stack([x - x.mean(), np.zeros(40)])
    seen = flatness(factor, np.ones(40), 1, float(np.sum(factor**2)) / 4, edges, lengths)
    assert seen == Flatness(left=0.0, axes=1, gain=4.0, shortened=0.0)
    assert seen.flat
    warn_of(seen, 1)


def test_the_edge_with_the_longest_way_round_is_named():
    x, edges, lengths = hairpin([(3, 35)])
    factor = np.column_stack([x - x.mean(), 3 * np.sin(x)])
    before = lengths.copy()
    seen = flatness(factor, np.ones(40), 1, 1.0, edges, lengths)
    assert seen.bridge == (3, 35)
    assert seen.detour == pytest.approx(32 / 1.5)
    assert seen.axes == 2
    assert seen.left == pytest.approx(np.sum(factor[:, 1] ** 2) / np.sum(factor**2))
    assert (lengths != before).nnz == 0
    with pytest.warns(DataWarning, match=r"(?s)do not lie flat on 1 axes.*rows 3 and 35"):
        warn_of(seen, 1)


def test_edges_drawn_short_are_counted():
    x, edges, lengths = hairpin([])
    factor = np.column_stack([x - x.mean(), np.zeros(40)])
    factor[:20, 0] = 0.5 * factor[:20, 0] - 0.25  # edges between the halves stay long
    seen = flatness(factor, np.ones(40), 1, 1.0, edges, lengths)
    i, j, _ = edges
    assert seen.shortened == pytest.approx(np.mean((i < 20) & (j < 20)), abs=0.04)


def test_points_count_as_often_as_rows_stand_there():
    x, edges, lengths = hairpin([])
    factor = np.column_stack([x - x.mean(), np.where(x == 3, 4.0, 0.0)])
    counts = np.where(x == 3, 10, 1)
    seen = flatness(factor, counts, 1, 1.0, edges, lengths)
    repeated = np.repeat(factor, counts, axis=0)
    assert seen.left == pytest.approx(np.sum(repeated[:, 1] ** 2) / np.sum(repeated**2))
    assert seen.gain == pytest.approx(np.sum(repeated**2))


def test_doubles_and_near_doubles_are_one_place():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((30, 3))
    many = np.vstack([rows, rows[[4, 4, 4]], rows[:6] + 1e-10, rows[:6] - 1e-10])
    found = places_of(many)
    assert len(found.rows) == 30
    assert found.counts.sum() == len(many)
    np.testing.assert_array_equal(found.counts[found.place[:4]], 3)
    assert found.counts[found.place[4]] == 6
    np.testing.assert_allclose(many[found.rows][found.place], many, atol=1e-9)
    assert np.all(np.diff(found.rows) > 0)


def test_different_rows_stay_as_they_are():
    rows = np.random.default_rng(1).standard_normal((20, 2))
    found = places_of(rows)
    np.testing.assert_array_equal(found.rows, np.arange(20))
    np.testing.assert_array_equal(found.place, np.arange(20))


def test_one_place_is_refused():
    with pytest.raises(InputError, match="one place"):
        places_of(np.ones((5, 2)))


def test_edges_once_with_their_lengths():
    rows = np.random.default_rng(2).standard_normal((25, 3))
    i, j, lengths = edges_of(graph(rows, 4, self_loops=False))
    assert np.all(i < j)
    assert len({*zip(i.tolist(), j.tolist(), strict=True)}) == len(i)
    np.testing.assert_allclose(lengths, np.linalg.norm(rows[i] - rows[j], axis=1), rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-170, 1.0, 1e160])
def test_bars_have_squares_of_mean_one_at_any_scale(scale):
    ends = (np.array([0, 1]), np.array([1, 2]))
    bars, unit = bars_of(ends, np.array([1.0, 3.0]) * scale, np.array([1, 2, 3]), 1e-6)
    assert bars.squares.mean() == pytest.approx(1)
    np.testing.assert_allclose(np.sqrt(bars.squares) * unit, np.array([1.0, 3.0]) * scale)
    assert bars.masses.mean() == pytest.approx(1)


def test_factor_of_a_kernel():
    x = np.random.default_rng(3).standard_normal((12, 4))
    factor = factor_of(x @ x.T)
    assert factor.shape == (12, 4)
    np.testing.assert_allclose(factor @ factor.T, x @ x.T, rtol=0, atol=1e-12)


def test_rows_at_a_place_are_snapped_to_it():
    far = np.array([[1e-12, 1.0], [1e-3, 1.0], [0.0, 0.0]])
    np.testing.assert_array_equal(snapped(far)[:, 0], [0.0, 1e-3, 0.0])
    np.testing.assert_array_equal(snapped(far[:, :1]), far[:, :1])


def test_edges_do_not_reach_across_a_fold():
    x = np.linspace(0, 10, 400)
    rows = np.vstack(
        [np.column_stack([x, np.zeros(400)]), np.column_stack([x[::-1], np.full(400, 0.2)])]
    )  # two lines 0.2 apart that join at one end only
    made = graph(rows, 4, self_loops=False)
    if made.pieces.count > 1:  # they join where x = 10
        rows = np.vstack([rows, np.column_stack([np.full(9, 10.0), np.linspace(0, 0.2, 9)])])
        made = graph(np.unique(rows, axis=0), 4, self_loops=False)
    rows = np.unique(rows, axis=0)
    places, (i, j), near = landmark_edges(made, 40, 2, 0)
    apart = np.abs(rows[places[i], 1] - rows[places[j], 1])
    inner = np.minimum(rows[places[i], 0], rows[places[j], 0]) < 9
    assert not np.any((apart > 0.1) & inner)
    assert near.shape == (len(rows),)
    np.testing.assert_array_equal(near[places], np.arange(40))


def test_affine_coordinates_are_carried_to_all_rows():
    rng = np.random.default_rng(0)
    rows = rng.uniform(size=(300, 2))
    values = rows @ rng.standard_normal((2, 3)) + 5
    near = neighbours(rows, 6).indices
    places = np.arange(0, 300, 10)
    found = extended(rows, near, places, values[places], 1e-6)
    np.testing.assert_array_equal(found[places], values[places])
    np.testing.assert_allclose(found, values, rtol=0, atol=1e-2)


def test_all_rows_landmarks_need_no_solve():
    rows = np.random.default_rng(1).standard_normal((12, 2))
    values = np.arange(24.0).reshape(12, 2)
    found = extended(rows, neighbours(rows, 4).indices, np.arange(12), values, 1e-3)
    np.testing.assert_array_equal(found, values)
