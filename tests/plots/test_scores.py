import numpy as np
import pytest

from mercer.errors import InputError
from mercer.plots import Line, Points, Text, figure, scores

Z = np.array([[0.0, 1.0, 5.0], [2.0, 3.0, 6.0], [4.0, 5.0, 7.0], [6.0, 7.0, 8.0]])


def clouds(panel):
    return [m for m in panel.marks if isinstance(m, Points)]


def test_the_map_has_equal_units_and_the_rows_in_place():
    panel = scores(Z)
    assert panel.axes.equal
    (cloud,) = clouds(panel)
    assert (cloud.x, cloud.y) == (tuple(Z[:, 0]), tuple(Z[:, 1]))
    assert cloud.titles[0] == "row 0"


def test_other_axes_and_names_are_used():
    panel = scores(Z, names=list("abcd"), axes=(2, 0), ratio=[0.5, 0.3, 0.125])
    (cloud,) = clouds(panel)
    assert (cloud.x, cloud.y, cloud.titles) == (tuple(Z[:, 2]), tuple(Z[:, 0]), tuple("abcd"))
    assert (panel.axes.x_label, panel.axes.y_label) == ("PC3 (12.5 %)", "PC1 (50.0 %)")


def test_groups_differ_in_colour_and_shape_and_stand_at_their_median():
    panel = scores(Z, labels=["a", "b", "a", "b"])
    first, second = clouds(panel)
    assert first.x == (0.0, 4.0)
    assert first.colour != second.colour
    assert first.shape != second.shape
    middles = {m.words: (m.x, m.y) for m in panel.marks if isinstance(m, Text)}
    assert middles == {"a": (2.0, 3.0), "b": (4.0, 5.0)}


def test_long_names_of_groups_go_into_a_legend():
    panel = scores(Z, labels=["setosa", "b", "setosa", "b"])
    assert not [m for m in panel.marks if isinstance(m, Text)]
    assert [words for words, *_ in panel.axes.legend] == ["b", "setosa"]
    assert [style[1:] for style in panel.axes.legend] == [
        (cloud.colour, cloud.shape) for cloud in clouds(panel)
    ]


def test_large_maps_draw_every_mth_row_and_say_so():
    panel = scores(np.zeros((50_001, 2)))
    assert len(clouds(panel)[0].x) == 16_667
    assert "16,667 of 50,001 rows" in panel.axes.note


def test_one_component_still_draws():
    assert "<svg" in figure([scores(Z[:, :1], axes=(0, 0))])


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
    assert [m.colour for m in outlines] == [m.colour for m in clouds(panel)]
    assert "ellipses hold 90 % of a normal cloud, dashed their mean" in panel.axes.note
    assert outlines[0].title.startswith("one: 90 %")
