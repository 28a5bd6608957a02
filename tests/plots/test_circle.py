import numpy as np
import pytest

from mercer.errors import InputError
from mercer.plots import Arrows, Line, Points, Text, circle, figure

R = np.array([[0.9, 0.1, 0.0], [0.1, -0.8, 0.5], [0.3, 0.3, 0.9]])


def marks(panel, kind):
    return [m for m in panel.marks if isinstance(m, kind)]


def test_arrows_are_the_well_represented_columns_and_points_the_others():
    panel = circle(R, list("abc"))
    (arrows,) = marks(panel, Arrows)
    assert list(zip(arrows.x, arrows.y, strict=True)) == [(0.9, 0.1), (0.1, -0.8)]
    (rest,) = marks(panel, Points)
    assert (rest.x, rest.y) == ((0.3,), (0.3,))
    assert "2 of 3 columns with 50 %" in panel.axes.note
    assert [m.words for m in marks(panel, Text)] == ["a", "b"]


def test_other_axes_and_another_threshold():
    panel = circle(R, list("abc"), (1, 2), least=0.0, ratio=[0.5, 0.25, 0.125])
    (arrows,) = marks(panel, Arrows)
    assert set(zip(arrows.x, arrows.y, strict=True)) == {(0.1, 0.0), (-0.8, 0.5), (0.3, 0.9)}
    assert (panel.axes.x_label, panel.axes.y_label) == ("PC2 (25.0 %)", "PC3 (12.5 %)")
    assert "all 3 columns" in panel.axes.note


def test_the_circle_has_radius_one_and_equal_units():
    panel = circle(R, list("abc"))
    ring = next(m for m in marks(panel, Line) if len(m.x) > 100 and not m.dashed)
    assert np.allclose(np.hypot(ring.x, ring.y), 1)
    inner = next(m for m in marks(panel, Line) if len(m.x) > 100 and m.dashed)
    assert np.allclose(np.hypot(inner.x, inner.y), np.sqrt(0.5))
    assert panel.axes.equal


def test_none_well_represented_says_so_and_draws():
    panel = circle(0.1 * R, list("abc"))
    assert "none of 3 columns" in panel.axes.note
    assert "<svg" in figure([panel])
    assert "<svg" in figure([circle(np.zeros((2, 2)), list("ab"), least=0.0)])


def test_of_many_columns_forty_have_arrows_and_few_labels_lie_apart():
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
