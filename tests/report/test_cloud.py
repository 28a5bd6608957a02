"""The rows on the map: coordinates, colours, and how they are packed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import mercer
from mercer.report import Levels, report
from mercer.report._row_labels import SomeNames, levels_of
from mercer.report.facts._row_cloud import (
    MOST_ROWS,
    SAMPLE,
    RowCloud,
    axes_shown,
    category_colour,
    density_of,
    drawn_rows,
    morton,
    number_colour,
    numbers_shown,
    one_colour,
    packed,
    quantised,
    unpacked,
)


def decoded(cloud):
    """Return coordinates by row, read as the page reads them."""
    about, data = cloud.written()
    k = len(about["components"])
    if k == 1:
        q = [unpacked(data["cloud-0"], np.uint16)]
    else:
        code = np.cumsum(unpacked(data["cloud-plane"], np.uint32), dtype=np.uint32)
        bits = [(code >> np.uint32(i)) & 1 for i in range(32)]
        q = [sum(bits[2 * i + shift] << i for i in range(16)) for shift in (0, 1)]
        q += [unpacked(data[f"cloud-{j}"], np.uint16) for j in range(2, k)]
    rows = unpacked(data["cloud-rows"], np.uint32)
    Z = np.empty((len(rows), k))
    for j, part in enumerate(about["components"]):
        Z[rows, j] = part["low"] + q[j] * (part["high"] - part["low"]) / 65535
    return Z, {
        i: unpacked(data[f"colour-{i}"], np.uint8)[np.argsort(rows)]
        for i in range(len(about["colours"]))
    }


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_page_can_read_coordinates_and_colours(k):
    rng = np.random.default_rng(k)
    Z = rng.normal(size=(300, k)) * 10.0 ** np.arange(k)
    colour = category_colour("c", rng.choice(["a", "b"], 300))
    names = tuple(f"PC{i}" for i in range(k))
    found, colours = decoded(
        RowCloud(names, names, Z, (colour, one_colour(300)), np.arange(300))
    )
    assert np.all(np.abs(found - Z) <= np.ptp(Z, axis=0) / 131070 * 1.001)
    assert np.array_equal(colours[0], colour.at)


def test_of_many_levels_the_commonest_stand_for_themselves():
    labels = [f"level {i:02d}" for i in range(30) for _ in range(i + 1)]
    colour = category_colour("c", labels)
    assert len(colour.levels) == 12
    assert colour.levels[-1] == "19 others"
    assert "level 29" in colour.levels
    counts = np.bincount(colour.at, minlength=12)
    assert counts[11] == sum(range(1, 20))


def test_a_ramp_runs_over_percentiles_and_leaves_missing_values_grey():
    values = np.r_[np.arange(100.0), 1e9, np.nan]
    colour = number_colour("v", values)
    assert colour.high < 200
    assert colour.at[-1] == 255
    assert colour.palette[255] == [150, 150, 150]
    assert np.all(np.diff(colour.at[:100].astype(int)) >= 0)


def test_names_of_many_rows_stay_out_of_the_page():
    few = RowCloud(
        ("a",), ("a",), np.ones((3, 1)), (one_colour(3),), np.arange(3), ["x", "y", "z"]
    )
    assert few.written()[0]["names"] == ["x", "y", "z"]
    names = [str(i) for i in range(20_001)]
    many = RowCloud(
        ("a",), ("a",), np.ones((20_001, 1)), (one_colour(20_001),), np.arange(20_001), names
    )
    assert many.written()[0]["names"] is None


def test_the_density_counts_all_rows():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(50_000, 2))
    low, high = Z.min(axis=0), Z.max(axis=0)
    found = density_of(Z, low, high)
    counts, _, _ = np.histogram2d(
        Z[:, 1], Z[:, 0], bins=512, range=[[low[1], high[1]], [low[0], high[0]]]
    )
    want = np.round(255 * np.log1p(counts) / np.log1p(counts.max()))
    assert np.abs(found - want).max() <= 255 * np.log(2) / np.log1p(counts.max()) + 1
    assert np.mean(found == want) > 0.999


def test_many_rows_are_drawn_evenly_and_with_fewer_axes():
    assert np.array_equal(drawn_rows(7), np.arange(7))
    few = drawn_rows(3 * MOST_ROWS)
    assert len(few) == SAMPLE
    assert (few[0], few[-1]) == (0, 3 * MOST_ROWS - 1)
    assert np.ptp(np.diff(few)) <= 1
    assert [axes_shown(n) for n in (10, 200_000, 10**6)] == [6, 3, 2]
    assert numbers_shown(few) is None
    assert numbers_shown(np.arange(5)).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@given(data=st.data())
def test_what_was_packed_comes_back(dtype, data):
    values = data.draw(arrays(dtype, st.integers(0, 200)))
    assert np.array_equal(unpacked(packed(values), dtype), values)


@given(arrays(np.uint16, (2, 50)))
def test_a_morton_code_holds_both_numbers(pair):
    code = morton(*pair)
    for bits, shift in ((pair[0], 0), (pair[1], 1)):
        found = sum(((code >> np.uint32(2 * i + shift)) & 1) << np.uint32(i) for i in range(16))
        assert np.array_equal(found, bits)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_rounding_is_half_a_level_at_most(scale, offset):
    Z = (np.random.default_rng(0).normal(size=(500, 3)) + offset) * scale
    q, low, high = quantised(Z)
    back = low + q * ((high - low) / 65535)
    assert np.all(np.abs(back - Z) <= (high - low) / 131070 * (1 + 1e-9) + 1e-9 * np.abs(Z))
    assert q.min() == 0
    assert q.max() == 65535


def test_a_column_of_equal_values_keeps_its_value():
    q, low, high = quantised(np.full((4, 1), -3.0))
    assert np.all(low + q * (high - low) / 65535 == -3.0)
    assert np.all(high > low)


def test_neighbours_in_order_make_a_short_text():
    rng = np.random.default_rng(0)
    q, _, _ = quantised(rng.normal(size=(100_000, 2)))
    code = np.sort(morton(q[:, 0], q[:, 1]))
    plain = packed(q.reshape(-1))
    assert len(packed(np.diff(code, prepend=np.uint32(0)))) < 0.55 * len(plain)


RNG = np.random.default_rng(5)


TEXT = np.array(["b", "a", "c", "a", "b", "a"])


CODED = Levels(np.array([1, 0, 2, 0, 1, 0]), np.array(["a", "b", "c", "never"]))


def test_codes_say_what_the_texts_say():
    for mine, theirs in zip(levels_of(CODED), levels_of(TEXT), strict=True):
        assert mine.tolist() == theirs.tolist()


def test_some_of_the_rows_have_only_their_own_levels():
    levels, at, counts = levels_of(CODED[np.array([1, 3, 2])])
    assert (levels.tolist(), at.tolist(), counts.tolist()) == (["a", "c"], [0, 0, 1], [2, 1])


def test_colours_of_codes_are_those_of_texts():
    one, other = category_colour("g", CODED), category_colour("g", TEXT)
    assert one.levels == other.levels
    assert one.at.tolist() == other.at.tolist()


def test_names_of_a_few_rows():
    names = SomeNames({3: "c"}, 10)
    assert (len(names), names[np.int64(3)], names[4]) == (10, "c", None)


@pytest.mark.parametrize("far", [0, 411])
def test_only_rows_that_stand_out_are_asked_for_their_names(far):
    X = RNG.normal(size=(500, 6))
    X[far] += 40
    asked = []

    def names(rows):
        asked.extend(rows.tolist())
        return {row: f"name {row}" for row in rows.tolist()}

    made = report(mercer.PCA(2).fit(X), X, row_names=names)
    assert far in asked
    assert len(asked) <= 21
    assert f"name {far}" in " ".join(made.page.verdict)
