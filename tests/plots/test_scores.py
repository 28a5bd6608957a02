import numpy as np
import pytest

from mercer.errors import InputError
from mercer.plots import Line, PointKind, Points, Text, figure, outlier_map, points_map, scores
from mercer.plots.charts._clouds import clouds, ellipse

Z = np.array([[0.0, 1.0, 5.0], [2.0, 3.0, 6.0], [4.0, 5.0, 7.0], [6.0, 7.0, 8.0]])


def points_of(panel):
    return [m for m in panel.marks if isinstance(m, Points)]


def test_the_map_has_equal_units_and_the_rows_in_place():
    panel = scores(Z)
    assert panel.axes.equal
    (cloud,) = points_of(panel)
    assert (cloud.x, cloud.y) == (tuple(Z[:, 0]), tuple(Z[:, 1]))
    assert cloud.titles[0] == "row 0"
    panel = scores(Z, names=list("abcd"), axes=(2, 0), ratio=[0.5, 0.3, 0.125])
    (cloud,) = points_of(panel)
    assert (cloud.x, cloud.y, cloud.titles) == (tuple(Z[:, 2]), tuple(Z[:, 0]), tuple("abcd"))
    assert (panel.axes.x_label, panel.axes.y_label) == ("PC3 (12.5 %)", "PC1 (50.0 %)")
    panel = scores(np.zeros((50_001, 2)))
    assert len(points_of(panel)[0].x) == 16_667
    assert "16,667 of 50,001 rows" in panel.axes.note
    assert "<svg" in figure([scores(Z[:, :1], axes=(0, 0))])


def test_groups_differ_in_colour_and_shape():
    panel = scores(Z, labels=["a", "b", "a", "b"])
    first, second = points_of(panel)
    assert first.x == (0.0, 4.0)
    assert first.colour != second.colour
    assert first.shape != second.shape
    middles = {m.words: (m.x, m.y) for m in panel.marks if isinstance(m, Text)}
    assert middles == {"a": (2.0, 3.0), "b": (4.0, 5.0)}
    panel = scores(Z, labels=["setosa", "b", "setosa", "b"])
    assert not [m for m in panel.marks if isinstance(m, Text)]
    assert [words for words, *_ in panel.axes.legend] == ["b", "setosa"]
    assert [style[1:] for style in panel.axes.legend] == [
        (cloud.colour, cloud.shape) for cloud in points_of(panel)
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"Z": Z[:, 0]}, "shape"),
        ({"Z": Z[:, :1]}, "components that exist"),
        ({"Z": Z, "axes": (0, -1)}, "components that exist"),
        ({"Z": np.where(Z == 3, np.nan, Z)}, "row 1"),
        ({"Z": Z, "names": ["a"]}, "1 names for 4 rows"),
        ({"Z": Z, "labels": ["a"]}, "one label per row"),
        ({"Z": np.zeros((13, 2)), "labels": np.arange(13)}, "13 different labels"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        scores(**arguments)


def test_ellipses_are_drawn_on_request_and_explained():
    rng = np.random.default_rng(0)
    panel = scores(rng.normal(size=(40, 2)), ["one", "two"] * 20, ellipse=0.9)
    lines = [m for m in panel.marks if isinstance(m, Line)]
    outlines, means = [m for m in lines if not m.dashed], [m for m in lines if m.dashed]
    assert [m.title for m in means] == [
        f"{name}: its mean, with 90 % confidence" for name in ("one", "two")
    ]
    assert [m.colour for m in outlines] == [m.colour for m in points_of(panel)]
    assert "ellipses hold 90 % of a normal cloud, dashed their mean" in panel.axes.note
    assert outlines[0].title.startswith("one: 90 %")


S = np.array([[4.0, 1.5], [1.5, 1.0]])


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_it_holds_the_share_of_a_normal_cloud(level):
    rng = np.random.default_rng(0)
    cloud = rng.multivariate_normal([5.0, -2.0], S, size=40_000)
    x, y = ellipse(*cloud.T, level)
    mean, C = cloud.mean(axis=0), np.cov(cloud.T)
    edge = np.stack([x, y], axis=1) - mean
    distance = np.einsum("ij,jk,ik->i", edge, np.linalg.inv(C), edge)
    assert np.ptp(distance) < 1e-9  # every corner lies at one distance
    rows = cloud - mean
    inside = np.einsum("ij,jk,ik->i", rows, np.linalg.inv(C), rows) < distance[0]
    assert np.mean(inside) == pytest.approx(level, abs=0.01)
    assert (x[0], y[0]) == pytest.approx((x[-1], y[-1]))


@pytest.mark.parametrize(
    "points", [np.zeros((1, 2)), np.eye(2), np.outer(np.arange(9.0), [1, 2]), np.zeros((9, 2))]
)
def test_points_on_a_line_have_none(points):
    assert ellipse(*points.T) is None


@pytest.mark.parametrize("level", [0.0, 1.0, -1, 2])
def test_a_level_is_a_share(level):
    with pytest.raises(InputError, match="between 0 and 1"):
        ellipse([0.0, 1.0, 0.0], [0.0, 0.0, 1.0], level)


def test_of_the_mean_it_holds_the_mean_as_often_as_it_says():
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(600):
        x, y = rng.multivariate_normal([0, 0], [[4, 1], [1, 1]], 8).T
        found = np.array(ellipse(x, y, 0.9, of_mean=True))
        inside += _holds(found, 0.0, 0.0)
    assert abs(inside / 600 - 0.9) < 0.04


def _holds(outline, x, y):
    """Tell whether a point lies in a closed convex line, by the signs of its turns."""
    dx, dy = np.diff(outline[0]), np.diff(outline[1])
    turns = dx * (y - outline[1][:-1]) - dy * (x - outline[0][:-1])
    return bool(np.all(turns > 0) or np.all(turns < 0))


# Maps of named points: what is drawn where, what is labelled, what is refused.


RNG = np.random.default_rng(0)


def labels(panel):
    return [mark.words for mark in panel.marks if isinstance(mark, Text)]


def test_every_point_is_drawn_in_the_style_of_its_kind():
    a, b = RNG.normal(size=(5, 2)), RNG.normal(size=(3, 2))
    kinds = [PointKind("rows", a, list("abcde")), PointKind("columns", b, list("xyz"))]
    panel = points_map(kinds, "Map", "right", "up")
    marks = [mark for mark in panel.marks if isinstance(mark, Points)]
    for mark, points in zip(marks, (a, b), strict=True):
        assert np.allclose(np.array([mark.x, mark.y]).T, points)
    assert marks[0].colour != marks[1].colour
    assert marks[0].shape != marks[1].shape
    assert [entry[0] for entry in panel.axes.legend] == ["rows", "columns"]
    assert panel.axes.equal


def test_the_heaviest_of_each_kind_are_labelled_first():
    far = np.arange(200.0).reshape(100, 2) * 10
    weight = np.arange(100.0)
    kinds = [
        PointKind("a", far, [f"a{i}" for i in range(100)], weight),
        PointKind("b", far + 5000, [f"b{i}" for i in range(100)], -weight),
    ]
    said = labels(points_map(kinds, "Map", "x", "y", labelled=4))
    assert set(said) <= {"a99", "a98", "b0", "b1"}
    assert len(said) >= 2


def test_kinds_of_points_have_labels_outlines_and_spans():
    kinds = [
        PointKind("named", RNG.normal(size=(3, 2)), list("abc")),
        PointKind("mute", RNG.normal(size=(3, 2)), list("xyz"), labelled=False),
    ]
    panel = points_map(kinds, "Map", "x", "y")
    assert set(labels(panel)) <= set("abc")
    assert panel.marks[1].titles == ("x", "y", "z")
    kinds = [PointKind("a", np.zeros((1, 2)), ["a"]), PointKind("b", np.ones((1, 2)), ["b"])]
    panel = points_map(kinds, "Map", "x", "y", outlines=[([0, 1], [0, 1], 1)])
    line = next(mark for mark in panel.marks if isinstance(mark, Line))
    assert line.colour == panel.marks[1].colour
    panel = points_map([PointKind("a", [[0.2, 0.9]], ["a"])], "M", "x", "y", span=(0, 1))
    assert panel.axes.x_range == panel.axes.y_range == (0, 1)
    assert labels(panel) == ["a"]
    kind = PointKind("<b>", [[0.0, 0.0], [1.0, 1.0]], ["</svg><script>", "&"])
    text = figure([points_map([kind], "T", "x", "y")])
    assert "<script" not in text


@pytest.mark.parametrize("points", [np.zeros((2, 3)), np.zeros((3, 2)), np.zeros(4)])
def test_points_without_two_coordinates_or_a_name_are_refused(points):
    with pytest.raises(InputError, match="two coordinates and a name"):
        points_map([PointKind("a", points, ["a", "b"])], "M", "x", "y")


T2 = np.array([1.0, 9.0, 1.0, 20.0])
Q = np.array([1.0, 1.0, 8.0, 50.0])


def test_rows_are_told_apart_by_the_limits_they_exceed():
    panel = outlier_map(T2, Q, 5.0, 4.0, ["a", "b", "c", "d"], level=0.99)
    points_of = [m for m in panel.marks if isinstance(m, Points)]
    assert [(m.x, m.y) for m in points_of] == [
        ((1.0,), (1.0,)),
        ((9.0,), (1.0,)),
        ((1.0,), (8.0,)),
        ((20.0,), (50.0,)),
    ]
    assert len({(m.colour, m.shape) for m in points_of}) == 4
    assert [words for words, *_ in panel.axes.legend] == ["T² above", "Q above", "both above"]
    assert panel.axes.note.startswith("3 of 4 rows above a limit")


def test_limits_and_flagged_rows_are_named():
    panel = outlier_map(T2, Q, 5.0, 4.0, ["a", "b", "c", "d"])
    words = {m.words for m in panel.marks if isinstance(m, Text)}
    assert words >= {"b", "c", "d"}
    assert "a" not in words
    panel = outlier_map(T2, Q, 5.0, 4.0, level=0.975)
    upright, level = (m for m in panel.marks if isinstance(m, Line))
    assert upright.x == (5.0, 5.0)
    assert level.y == (4.0, 4.0)
    assert [m.words for m in panel.marks if isinstance(m, Text)].count("97.5 %") == 2
    panel = outlier_map([5.0], [4.0], 5.0, 4.0)
    assert panel.axes.note.startswith("0 of 1")
    assert panel.axes.legend == ()
    assert "<svg" in figure([outlier_map([1.0, 2.0], [0.0, 0.0], 1.5, 0.0)])
    assert "<svg" in figure([outlier_map([0.0], [0.0], 0.0, 0.0)])


def test_of_many_rows_all_above_a_limit_are_drawn():
    rng = np.random.default_rng(0)
    far, away = rng.chisquare(2, 60_000), rng.chisquare(2, 60_000)
    panel = outlier_map(far, away, 12.0, 12.0)
    drawn = sum(len(m.x) for m in panel.marks if isinstance(m, Points))
    flagged = int(np.sum((far > 12) | (away > 12)))
    inside = next(m for m in panel.marks if isinstance(m, Points))
    assert drawn - len(inside.x) == flagged
    assert len(inside.x) <= 5_000
    assert f"{drawn:,} of 60,000 drawn" in panel.axes.note
    worst = int(np.argmax(np.maximum(far, away)))
    assert f"row {worst}" in {m.words for m in panel.marks if isinstance(m, Text)}


@pytest.mark.parametrize(
    ("far", "away", "limits"),
    [
        (T2, Q[:2], (1.0, 1.0)),
        (T2, Q * np.nan, (1.0, 1.0)),
        (T2, Q, (np.nan, 1.0)),
        (T2, Q, (1.0, -1.0)),
    ],
)
def test_what_does_not_fit_is_refused(far, away, limits):
    with pytest.raises(InputError):
        outlier_map(far, away, *limits)


NORMAL = np.random.default_rng(0).normal(size=(60, 2))


def test_ellipses_are_of_all_rows_and_of_three_at_least():
    rng = np.random.default_rng(1)
    many = rng.normal(size=(45_000, 2)) * [3.0, 1.0]
    found = clouds(many, None, None, (0, 1), 0.95)
    assert found.thinned == "15,000 of 45,000 rows drawn"
    (outline,) = (m for m in found.marks if isinstance(m, Line))
    assert max(outline.x) == pytest.approx(3 * np.sqrt(-2 * np.log(0.05)), rel=0.02)
    found = clouds(NORMAL, ["a"] * 58 + ["b"] * 2, None, (0, 1), 0.95)
    assert len([m for m in found.marks if isinstance(m, Points)]) == 2
    lines = [m for m in found.marks if isinstance(m, Line)]
    assert [line.dashed for line in lines] == [False, True]  # of the rows, and of their mean
