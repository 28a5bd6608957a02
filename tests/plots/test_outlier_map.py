import numpy as np
import pytest

from mercer.errors import InputError
from mercer.plots import Line, Points, Text, figure, outlier_map

T2 = np.array([1.0, 9.0, 1.0, 20.0])
Q = np.array([1.0, 1.0, 8.0, 50.0])


def test_rows_are_told_apart_by_the_limits_they_exceed():
    panel = outlier_map(T2, Q, 5.0, 4.0, ["a", "b", "c", "d"], level=0.99)
    clouds = [m for m in panel.marks if isinstance(m, Points)]
    assert [(m.x, m.y) for m in clouds] == [
        ((1.0,), (1.0,)),
        ((9.0,), (1.0,)),
        ((1.0,), (8.0,)),
        ((20.0,), (50.0,)),
    ]
    assert len({(m.colour, m.shape) for m in clouds}) == 4
    assert [words for words, *_ in panel.axes.legend] == ["T² above", "Q above", "both above"]
    assert panel.axes.note.startswith("3 of 4 rows above a limit")


def test_flagged_rows_are_named_and_the_others_not():
    panel = outlier_map(T2, Q, 5.0, 4.0, ["a", "b", "c", "d"])
    words = {m.words for m in panel.marks if isinstance(m, Text)}
    assert words >= {"b", "c", "d"}
    assert "a" not in words


def test_both_limits_are_drawn_with_their_level():
    panel = outlier_map(T2, Q, 5.0, 4.0, level=0.975)
    upright, level = (m for m in panel.marks if isinstance(m, Line))
    assert upright.x == (5.0, 5.0)
    assert level.y == (4.0, 4.0)
    assert [m.words for m in panel.marks if isinstance(m, Text)].count("97.5 %") == 2


def test_a_row_on_the_limit_is_within():
    panel = outlier_map([5.0], [4.0], 5.0, 4.0)
    assert panel.axes.note.startswith("0 of 1")
    assert panel.axes.legend == ()


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


def test_limits_of_zero_and_distances_of_zero_draw():
    assert "<svg" in figure([outlier_map([1.0, 2.0], [0.0, 0.0], 1.5, 0.0)])
    assert "<svg" in figure([outlier_map([0.0], [0.0], 0.0, 0.0)])


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
