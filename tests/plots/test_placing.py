import itertools

import numpy as np
import pytest

from mercer.plots import Axes, Panel
from mercer.plots.drawing._label_placing import placed
from mercer.plots.drawing._panel_frame import LETTER, frame

EMPTY = Panel(Axes("a", x_range=(-1.0, 1.0), y_range=(-1.0, 1.0), equal=True), (), 500.0, 500.0)


def boxes(panel, labels):
    around = frame(panel)
    found = []
    for label in labels:
        x, y = around.x(label.x), around.y(label.y)
        width = LETTER * label.size / 11 * len(label.words)
        left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor] * width
        found.append((left, y - 0.6 * label.size, left + width, y + 0.6 * label.size))
    return found


def overlap(a, b):
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    return wide > 1e-6 and high > 1e-6


@pytest.mark.parametrize("outward", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_labels_never_lie_on_each_other_and_stay_inside(seed, outward):
    rng = np.random.default_rng(seed)
    points = [tuple(p) for p in rng.uniform(-1, 1, size=(60, 2))]
    labels = placed(EMPTY, points, [f"name {i}" for i in range(60)], "red", outward=outward)
    found = boxes(EMPTY, labels)
    assert len(labels) > 30
    assert not any(overlap(a, b) for a, b in itertools.combinations(found, 2))
    around = frame(EMPTY)
    assert min(box[0] for box in found) >= around.x(-1.0) - 2.1
    assert max(box[2] for box in found) <= around.x(1.0) + 8.1


def test_the_first_are_served_first():
    points = [(0.0, 0.0)] * 100
    labels = placed(EMPTY, points, [f"name {i}" for i in range(100)], "red")
    assert labels[0].words == "name 0"
    assert len(labels) < 40


def test_a_label_of_an_arrow_lies_beyond_its_tip():
    tips = [(0.5, 0.0), (-0.5, 0.0), (0.0, 0.5), (0.0, -0.5)]
    right, left, up, down = placed(EMPTY, tips, list("abcd"), "red", outward=True)
    assert (right.anchor, left.anchor, up.anchor) == ("start", "end", "middle")
    assert right.x > 0.5
    assert left.x < -0.5
    assert up.y > 0.5
    assert down.y < -0.5


def test_labels_keep_off_other_points_where_they_can():
    right = [(0.05 + 0.02 * i, 0.0) for i in range(10)]
    (label,) = placed(EMPTY, [(0.0, 0.0)], ["a name"], "red", avoid=right)
    box = boxes(EMPTY, [label])[0]
    around = frame(EMPTY)
    inside = [p for p in right if box[0] < around.x(p[0]) < box[2]]
    assert not [p for p in inside if box[1] < around.y(p[1]) < box[3]]


def test_points_outside_and_empty_words_get_no_label_and_long_ones_are_cut():
    labels = placed(EMPTY, [(5.0, 0.0), (0.0, 0.0), (0.0, 0.0)], ["far", "", "x" * 50], "red")
    assert [label.words for label in labels] == ["x" * 13 + "…" + "x" * 6]
