import numpy as np
import pytest

from mercer.errors import InputError
from mercer.plots import Bars, Text, figure, heaviest, loadings

V = np.array([[0.0, 0.6, -0.8], [1.0, 0.0, 0.0], [0.0, 0.8, 0.6]])


def test_heaviest_orders_by_modulus_keeps_ties_in_order_and_leaves_zeros_out():
    assert heaviest([0.5, -0.5, 0.0, 0.7], 4) == [3, 0, 1]
    assert heaviest([0.5, -0.6], 1) == [1]


def test_the_first_two_components_are_drawn_heaviest_first_with_their_sign():
    panel = loadings(V, ["a", "b", "c"])
    first, second = (m for m in panel.marks if isinstance(m, Bars))
    assert (first.length, second.length) == ((-0.8, 0.6), (1.0,))
    assert [label for _, label in panel.axes.y_ticks] == ["c", "b", "a"]
    assert [m.words for m in panel.marks if isinstance(m, Text)] == ["PC1", "PC2"]


def test_every_bar_lies_inside_the_panel():
    panel = loadings(np.eye(20)[:1] + 0.1, [f"f{i}" for i in range(20)])
    low, high = panel.axes.y_range
    places = [place for place, _ in panel.axes.y_ticks]
    assert len(places) == 8
    assert low < min(places) - 0.4
    assert max(places) + 0.4 < high


def test_a_single_zero_component_draws():
    assert "<svg" in figure([loadings(np.zeros((1, 3)), ["a", "b", "c"])])


@pytest.mark.parametrize(
    ("components", "names"), [(V, ["a"]), (V[0], ["a"] * 3), (V * np.nan, list("abc"))]
)
def test_what_does_not_fit_is_refused(components, names):
    with pytest.raises(InputError):
        loadings(components, names)


def test_intervals_of_another_shape_or_upside_down_are_refused():
    for ends in ({"lower": V}, {"lower": V[:1], "upper": V[:1]}, {"lower": V + 1, "upper": V}):
        with pytest.raises(InputError, match="lower and an upper end"):
            loadings(V, ["a", "b", "c"], **ends)
    nan = np.full_like(V, np.nan)
    with pytest.raises(InputError, match="lower and an upper end"):
        loadings(V, ["a", "b", "c"], lower=nan, upper=nan)


def test_vectors_that_do_not_exist_are_left_out():
    panel = loadings(V, ["a", "b", "c"], axes=(2, 7, -1))
    assert [m.words for m in panel.marks if isinstance(m, Text)] == ["PC3"]
