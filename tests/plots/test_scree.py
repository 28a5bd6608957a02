import itertools

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.plots import (
    Band,
    Bars,
    Line,
    Points,
    Text,
    Whiskers,
    figure,
    group_style,
    scree,
    shares,
)
from mercer.plots._palette import CHANCE, INK, MANY, MUTED, NIGHT, PALE, PAPER

values = np.array([6.0, 3.0, 1.0])


def panel(values=values, spread=0.5, **parts):
    given = {"lower": values - spread, "upper": values + spread, "ratio": values / 10, **parts}
    return scree(values, **given)


def test_bars_are_shares_of_the_total_and_whiskers_the_certified_interval():
    marks = panel().marks
    bars = next(m for m in marks if isinstance(m, Bars))
    assert bars.length == pytest.approx((60, 30, 10))
    whiskers = next(m for m in marks if isinstance(m, Whiskers))
    assert np.allclose([whiskers.lower, whiskers.upper], [(55, 25, 5), (65, 35, 15)])


@pytest.mark.parametrize("power", [-1060, 1010])
def test_bars_are_the_same_in_every_unit(power):
    tiny, null = np.ldexp(values, power), np.ldexp([2.0, 1.0], power)
    spread = np.ldexp(0.5, power)
    assert (
        panel(tiny, spread, ratio=values / 10, null=null).marks[1:]
        == (panel(null=np.array([2.0, 1.0])).marks[1:])
    )


def test_dashed_lines_stand_where_shares_are_reached():
    words = [m.words for m in panel().marks if isinstance(m, Text)]
    assert words == ["50 % with 1", "90 % with 2"]
    lam = np.array([95.0, 3.0, 2.0])
    words = [m.words for m in scree(lam, lam, lam, lam / 100).marks if isinstance(m, Text)]
    assert words == ["90 % with 1"]
    marks = scree(values[:1], values[:1], values[:1], [0.6]).marks
    assert not [m for m in marks if isinstance(m, Text)]


def test_long_spectra_are_cut_and_say_so():
    lam = np.arange(100, 0, -1.0)
    drawn = scree(lam, lam, lam, lam / lam.sum())
    assert len(next(m for m in drawn.marks if isinstance(m, Bars)).at) == 30
    assert "30 of 100" in drawn.axes.note
    zero = np.zeros(2)
    assert "<svg" in figure([scree(zero, zero, zero, zero)])


@pytest.mark.parametrize(
    "parts", [{"ratio": [0.6, 0.3]}, {"lower": [np.nan] * 3}, {"upper": np.ones((3, 1))}]
)
def test_arrays_that_do_not_fit_are_refused(parts):
    with pytest.raises(InputError):
        panel(**parts)


def test_noise_is_a_band_or_a_line():
    drawn = panel(null=[[4.0, 2.0], [5.0, 2.5]], null_words="noise")
    band = next(m for m in drawn.marks if isinstance(m, Band))
    assert band.x == (1.0, 2.0)
    assert np.allclose([band.lower, band.upper], [[40, 20], [50, 25]])
    assert [words for words, *_ in drawn.axes.legend] == ["noise"]
    edge = next(m for m in panel(null=2.0).marks if isinstance(m, Line) and m.y[0] == 20)
    assert edge.dashed
    assert np.ptp(edge.x) > 3
    marks = panel(null=[3.0, 2.0]).marks
    assert any(isinstance(m, Line) and np.allclose(m.y, [30, 20]) for m in marks)


def test_a_chosen_number_splits_the_bars_and_says_so():
    drawn = panel(k=2)
    kept, rest = (m for m in drawn.marks if isinstance(m, Bars))
    assert (kept.at, rest.at) == ((1.0, 2.0), (3.0,))
    assert kept.colour != rest.colour
    assert [words for words, *_ in drawn.axes.legend] == ["k = 2", "the rest"]
    assert not [m for m in drawn.marks if isinstance(m, Text)]
    (rest,) = (m for m in panel(k=0).marks if isinstance(m, Bars))
    assert len(rest.at) == 3
    assert [words for words, *_ in panel(k=0).axes.legend] == ["none stands out"]
    assert [words for words, *_ in panel(k=3).axes.legend] == ["k = 3"]
    assert [words for words, *_ in panel(k=9).axes.legend] == ["k = 9"]


@pytest.mark.parametrize("null", [np.ones((3, 2)), [np.nan], np.ones((2, 2, 2))])
def test_noise_of_another_shape_is_refused(null):
    with pytest.raises(InputError, match="band of two"):
        panel(null=null)


def test_the_curve_is_the_running_sum():
    drawn = shares([0.6, 0.3, 0.1])
    curve = next(m for m in drawn.marks if isinstance(m, Points))
    assert curve.x == (0.0, 1.0, 2.0, 3.0)
    assert curve.y == pytest.approx((0, 60, 90, 100))
    words = [m.words for m in shares([0.6, 0.3, 0.1]).marks if isinstance(m, Text)]
    assert words == ["50 % with 1", "90 % with 2", "95 % with 3"]
    words = [m.words for m in shares([0.4, 0.15]).marks if isinstance(m, Text)]
    assert words == ["50 % with 2"]
    assert "2 components hold 55.0 %" in shares([0.4, 0.15]).axes.note
    drawn = shares(np.full(500, 1 / 500))
    assert "the first 200 of 500" in drawn.axes.note
    assert max(next(m for m in drawn.marks if isinstance(m, Line)).x) <= 200


@pytest.mark.parametrize("ratio", [[1.0], [0.0], np.full(64, 1 / 64)])
def test_one_many_and_none_draw(ratio):
    assert "<svg" in figure([shares(ratio)])


@pytest.mark.parametrize("ratio", [[0.9, 0.9], [-0.1, 0.5], [], [np.nan]])
def test_what_are_no_shares_is_refused(ratio):
    with pytest.raises(InputError):
        shares(ratio)


# Linear-RGB maps of the three dichromacies (Viénot, Brettel and Mollon 1999 for the first two;
# a blue-blind projection of the same kind for the third).
DICHROMACY = {
    "protan": ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0)),
    "deutan": ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0)),
    "tritan": ((1.0, 0.14461, -0.14461), (0.0, 0.85924, 0.14076), (0.0, 0.85924, 0.14076)),
}


def linear(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def luminance(colour):
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def seen(colour, rows):
    rgb = linear(colour)
    return [max(0.0, sum(a * b for a, b in zip(row, rgb, strict=True))) ** 0.42 for row in rows]


def test_marks_stand_out_from_the_paper():
    assert len({group_style(i)[0] for i in range(MANY)}) == MANY
    assert group_style(MANY) == group_style(0)
    for i in range(MANY):
        contrast = (luminance(PAPER) + 0.05) / (luminance(group_style(i)[0]) + 0.05)
        assert contrast > 3.0


def test_colour_or_shape_tells_two_groups_apart_for_every_reader():
    for kind, rows in DICHROMACY.items():
        for i, j in itertools.combinations(range(MANY), 2):
            (a, shape_a), (b, shape_b) = group_style(i), group_style(j)
            distance = sum(
                (u - v) ** 2 for u, v in zip(seen(a, rows), seen(b, rows), strict=True)
            )
            assert shape_a != shape_b or distance**0.5 > 0.2, (kind, i, j)


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_words_and_marks_stand_out_by_day_and_night():
    assert contrast(INK, PAPER) > 7.0
    assert contrast(MUTED, PAPER) > 4.5
    assert contrast(PALE, PAPER) > 3.0
    assert contrast(CHANCE, PAPER) > 3.0
    for colour in (INK, MUTED, PALE, CHANCE, *(group_style(i)[0] for i in range(MANY))):
        assert contrast(NIGHT.get(colour, colour), "#111111") > 3.0, colour


def test_what_chance_does_is_told_from_what_was_found_by_every_reader():
    for rows in DICHROMACY.values():
        for other in (group_style(0)[0], PALE):
            pairs = zip(seen(CHANCE, rows), seen(other, rows), strict=True)
            assert sum((u - v) ** 2 for u, v in pairs) ** 0.5 > 0.1
