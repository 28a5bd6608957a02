import numpy as np
import pytest

from mercer.errors import InputError
from mercer.plots import (
    Arrows,
    Bars,
    Line,
    Points,
    Text,
    Whiskers,
    biplot,
    biplot_coordinates,
    circle,
    contributions,
    figure,
    heaviest,
    loadings,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4)) * [1, 5, 2, 1]
X = X - X.mean(axis=0)
U, s, Vt = np.linalg.svd(X, full_matrices=False)
Z, lam = U * s, s**2 / 49
NAMES = ["a", "b", "c", "d"]


@pytest.mark.parametrize("scaling", ["form", "covariance", "symmetric"])
def test_products_of_rows_and_columns_rebuild_the_data(scaling):
    G, H = biplot_coordinates(Z, Vt, lam, scaling)
    assert np.allclose(G @ H.T, X)


def test_each_scaling_keeps_what_it_says():
    G, H = biplot_coordinates(Z, Vt, lam, "form")
    assert np.allclose(G @ G.T, X @ X.T)
    assert np.allclose(H.T @ H, np.eye(4))
    G, H = biplot_coordinates(Z, Vt, lam, "covariance")
    assert np.allclose(H @ H.T, np.cov(X.T))
    assert np.allclose(G.T @ G / 49, np.eye(4))
    assert np.allclose(np.linalg.norm(H, axis=1), X.std(axis=0, ddof=1))
    G, H = biplot_coordinates(Z, Vt, lam, "symmetric")
    assert np.allclose(G.T @ G / 49, H.T @ H)
    G, H = biplot_coordinates(np.zeros((3, 2)), np.eye(2), [0.0, 1.0], "covariance")
    assert np.isfinite(G).all()
    assert np.isfinite(H).all()


@pytest.mark.parametrize("scaling", ["form", "covariance", "symmetric"])
def test_the_panel_states_its_scaling_and_its_factor(scaling):
    panel = biplot(Z, Vt, lam, NAMES, scaling=scaling)
    assert scaling in panel.axes.title
    G, H = biplot_coordinates(Z, Vt, lam, scaling)
    (cloud,) = (m for m in panel.marks if isinstance(m, Points))
    assert np.allclose([cloud.x, cloud.y], G[:, :2].T)
    (arrows,) = (m for m in panel.marks if isinstance(m, Arrows))
    order = np.argsort(-np.linalg.norm(H[:, :2], axis=1))
    factor = float(panel.axes.note.partition("×")[2].partition(";")[0] or 1)
    assert np.allclose([arrows.x, arrows.y], factor * H[order, :2].T)
    assert panel.axes.equal


def test_arrows_reach_no_farther_than_the_rows():
    for scale in (1e-6, 1.0, 1e6):
        panel = biplot(Z, Vt, scale * lam, NAMES, scaling="covariance")
        (cloud,) = (m for m in panel.marks if isinstance(m, Points))
        (arrows,) = (m for m in panel.marks if isinstance(m, Arrows))
        reach = max(map(abs, (*arrows.x, *arrows.y)))
        far = max(map(abs, (*cloud.x, *cloud.y)))
        assert 0.2 * far < reach <= far * (1 + 1e-9)
    panel = biplot(Z, Vt, lam, NAMES, most=2)
    (arrows,) = (m for m in panel.marks if isinstance(m, Arrows))
    assert len(arrows.x) == 2
    assert "the 2 longest of 4 arrows" in panel.axes.note
    assert "<svg" in figure([biplot(0 * Z, Vt, lam, NAMES)])
    assert "<svg" in figure([biplot(Z, 0 * Vt, lam, NAMES)])
    assert "<svg" in figure([biplot(Z[:, :1], Vt[:1], lam[:1], NAMES, (0, 0))])


@pytest.mark.parametrize(
    "arguments",
    [
        {"scaling": "row"},
        {"names": ["a"]},
        {"Z": Z[:, :2]},
        {"variances": lam[:2]},
        {"axes": (0, 4)},
        {"labels": ["a"]},
    ],
)
def test_what_does_not_fit_is_refused(arguments):
    given = {"Z": Z, "components": Vt, "variances": lam, "names": NAMES} | arguments
    with pytest.raises(InputError):
        biplot(**given)


R = np.array([[0.9, 0.1, 0.0], [0.1, -0.8, 0.5], [0.3, 0.3, 0.9]])


def marks(panel, kind):
    return [m for m in panel.marks if isinstance(m, kind)]


def test_well_represented_columns_have_arrows():
    panel = circle(R, list("abc"))
    (arrows,) = marks(panel, Arrows)
    assert list(zip(arrows.x, arrows.y, strict=True)) == [(0.9, 0.1), (0.1, -0.8)]
    (rest,) = marks(panel, Points)
    assert (rest.x, rest.y) == ((0.3,), (0.3,))
    assert "2 of 3 columns with 50 %" in panel.axes.note
    assert [m.words for m in marks(panel, Text)] == ["a", "b"]
    panel = circle(R, list("abc"), (1, 2), least=0.0, ratio=[0.5, 0.25, 0.125])
    (arrows,) = marks(panel, Arrows)
    assert set(zip(arrows.x, arrows.y, strict=True)) == {(0.1, 0.0), (-0.8, 0.5), (0.3, 0.9)}
    assert (panel.axes.x_label, panel.axes.y_label) == ("PC2 (25.0 %)", "PC3 (12.5 %)")
    assert "all 3 columns" in panel.axes.note
    panel = circle(0.1 * R, list("abc"))
    assert "none of 3 columns" in panel.axes.note
    assert "<svg" in figure([panel])
    assert "<svg" in figure([circle(np.zeros((2, 2)), list("ab"), least=0.0)])


def test_the_circle_has_radius_one_and_few_labels():
    panel = circle(R, list("abc"))
    ring = next(m for m in marks(panel, Line) if len(m.x) > 100 and not m.dashed)
    assert np.allclose(np.hypot(ring.x, ring.y), 1)
    inner = next(m for m in marks(panel, Line) if len(m.x) > 100 and m.dashed)
    assert np.allclose(np.hypot(inner.x, inner.y), np.sqrt(0.5))
    assert panel.axes.equal
    turns = np.linspace(0, 1.0, 200)
    panel = circle(
        np.stack([np.cos(turns), np.sin(turns)], axis=1), [f"c{i}" for i in range(200)]
    )
    assert len(marks(panel, Arrows)[0].x) == 40
    assert 10 < len(marks(panel, Text)) <= 40


@pytest.mark.parametrize(
    ("correlations", "names", "axes"),
    [
        (R, ["a"], (0, 1)),
        (R, list("abc"), (0, 3)),
        (R * np.nan, list("abc"), (0, 1)),
        (2 * R, list("abc"), (0, 1)),
        (R[0], list("abc"), (0, 1)),
    ],
)
def test_what_are_no_correlations_is_refused(correlations, names, axes):
    with pytest.raises(InputError):
        circle(correlations, names, axes)


def bars(panel):
    return next(m for m in panel.marks if isinstance(m, Bars))


def test_parts_are_per_cent_of_the_whole_largest_first():
    panel = contributions([1.0, 3.0, 6.0], list("abc"))
    assert bars(panel).length == pytest.approx((60, 30, 10))
    assert [label for _, label in panel.axes.y_ticks] == ["c", "b", "a"]
    assert "together 100.0 %" in panel.axes.note
    panel = contributions([-1.0, 5.0], list("ab"))
    assert bars(panel).length == pytest.approx((125, -25))
    panel = contributions(np.arange(1.0, 41.0), [f"n{i}" for i in range(40)], most=5)
    assert len(bars(panel).at) == 5
    assert panel.axes.note.startswith("the 5 largest of 40, together")
    panel = contributions([0.0, 0.0], list("ab"))
    assert "nothing to share" in panel.axes.note
    assert "<svg" in figure([panel])


def test_equal_parts_and_intervals_stand_where_they_say():
    panel = contributions([1.0, 3.0], list("ab"), expected=0.5)
    line = next(m for m in panel.marks if isinstance(m, Line) and m.dashed)
    assert line.x == (50.0, 50.0)
    assert any(isinstance(m, Text) and "50 %" in m.words for m in panel.marks)
    panel = contributions([1.0, 3.0], list("ab"), lower=[0.5, 2.5], upper=[1.5, 3.5])
    whiskers = next(m for m in panel.marks if isinstance(m, Whiskers))
    assert np.allclose([whiskers.lower, whiskers.upper], [[62.5, 12.5], [87.5, 37.5]])
    assert whiskers.horizontal


@pytest.mark.parametrize(
    "arguments",
    [
        {"parts": [1.0], "names": ["a", "b"]},
        {"parts": [np.nan], "names": ["a"]},
        {"parts": [1.0], "names": ["a"], "lower": [1.0, 2.0], "upper": [1.0, 2.0]},
    ],
)
def test_what_does_not_fit_is_refused_contributions(arguments):
    with pytest.raises(InputError):
        contributions(**arguments)


V = np.array([[0.0, 0.6, -0.8], [1.0, 0.0, 0.0], [0.0, 0.8, 0.6]])


def test_heaviest_and_drawn_with_their_sign():
    assert heaviest([0.5, -0.5, 0.0, 0.7], 4) == [3, 0, 1]
    assert heaviest([0.5, -0.6], 1) == [1]
    panel = loadings(V, ["a", "b", "c"])
    first, second = (m for m in panel.marks if isinstance(m, Bars))
    assert (first.length, second.length) == ((-0.8, 0.6), (1.0,))
    assert [label for _, label in panel.axes.y_ticks] == ["c", "b", "a"]
    assert [m.words for m in panel.marks if isinstance(m, Text)] == ["PC1", "PC2"]


def test_the_panel_of_loadings_holds_its_bars():
    panel = loadings(np.eye(20)[:1] + 0.1, [f"f{i}" for i in range(20)])
    low, high = panel.axes.y_range
    places = [place for place, _ in panel.axes.y_ticks]
    assert len(places) == 8
    assert low < min(places) - 0.4
    assert max(places) + 0.4 < high
    assert "<svg" in figure([loadings(np.zeros((1, 3)), ["a", "b", "c"])])
    panel = loadings(V, ["a", "b", "c"], axes=(2, 7, -1))
    assert [m.words for m in panel.marks if isinstance(m, Text)] == ["PC3"]


@pytest.mark.parametrize(
    ("components", "names"), [(V, ["a"]), (V[0], ["a"] * 3), (V * np.nan, list("abc"))]
)
def test_what_does_not_fit_is_refused_loadings(components, names):
    with pytest.raises(InputError):
        loadings(components, names)


def test_intervals_of_another_shape_or_upside_down_are_refused():
    for ends in ({"lower": V}, {"lower": V[:1], "upper": V[:1]}, {"lower": V + 1, "upper": V}):
        with pytest.raises(InputError, match="lower and an upper end"):
            loadings(V, ["a", "b", "c"], **ends)
    nan = np.full_like(V, np.nan)
    with pytest.raises(InputError, match="lower and an upper end"):
        loadings(V, ["a", "b", "c"], lower=nan, upper=nan)
