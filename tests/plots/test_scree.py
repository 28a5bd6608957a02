import numpy as np
import pytest

from mercer.errors import InputError
from mercer.plots import Band, Bars, Line, Text, Whiskers, figure, scree

values = np.array([6.0, 3.0, 1.0])


def panel(values=values, spread=0.5, **parts):
    given = {
        "lower": values - spread,
        "upper": values + spread,
        "ratio": values / 10,
        **parts,
    }
    return scree(values, **given)


def test_bars_are_shares_of_the_total_and_whiskers_the_certified_interval():
    marks = panel().marks
    bars = next(m for m in marks if isinstance(m, Bars))
    assert bars.length == pytest.approx((60, 30, 10))
    whiskers = next(m for m in marks if isinstance(m, Whiskers))
    assert np.allclose([whiskers.lower, whiskers.upper], [(55, 25, 5), (65, 35, 15)])


def test_dashed_lines_stand_where_half_and_nine_tenths_are_reached():
    words = [m.words for m in panel().marks if isinstance(m, Text)]
    assert words == ["50 % with 1", "90 % with 2"]


def test_one_count_that_reaches_both_shares_is_drawn_once():
    lam = np.array([95.0, 3.0, 2.0])
    words = [m.words for m in scree(lam, lam, lam, lam / 100).marks if isinstance(m, Text)]
    assert words == ["90 % with 1"]


def test_a_share_that_is_not_reached_is_not_drawn():
    marks = scree(values[:1], values[:1], values[:1], [0.6]).marks
    assert not [m for m in marks if isinstance(m, Text)]


def test_long_spectra_are_cut_and_say_so():
    lam = np.arange(100, 0, -1.0)
    drawn = scree(lam, lam, lam, lam / lam.sum())
    assert len(next(m for m in drawn.marks if isinstance(m, Bars)).at) == 30
    assert "30 of 100" in drawn.axes.note


def test_a_zero_spectrum_draws():
    zero = np.zeros(2)
    assert "<svg" in figure([scree(zero, zero, zero, zero)])


@pytest.mark.parametrize(
    "parts", [{"ratio": [0.6, 0.3]}, {"lower": [np.nan] * 3}, {"upper": np.ones((3, 1))}]
)
def test_arrays_that_do_not_fit_are_refused(parts):
    with pytest.raises(InputError):
        panel(**parts)


def test_a_band_of_noise_is_in_the_unit_of_the_bars():
    drawn = panel(null=[[4.0, 2.0], [5.0, 2.5]], null_words="noise")
    band = next(m for m in drawn.marks if isinstance(m, Band))
    assert band.x == (1.0, 2.0)
    assert np.allclose([band.lower, band.upper], [[40, 20], [50, 25]])
    assert [words for words, *_ in drawn.axes.legend] == ["noise"]


def test_an_edge_of_noise_is_a_line_across_and_a_quantile_a_broken_one():
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


def test_none_and_all_are_answers():
    (rest,) = (m for m in panel(k=0).marks if isinstance(m, Bars))
    assert len(rest.at) == 3
    assert [words for words, *_ in panel(k=0).axes.legend] == ["none stands out"]
    assert [words for words, *_ in panel(k=3).axes.legend] == ["k = 3"]
    assert [words for words, *_ in panel(k=9).axes.legend] == ["k = 9"]


@pytest.mark.parametrize("null", [np.ones((3, 2)), [np.nan], np.ones((2, 2, 2))])
def test_noise_of_another_shape_is_refused(null):
    with pytest.raises(InputError, match="band of two"):
        panel(null=null)
