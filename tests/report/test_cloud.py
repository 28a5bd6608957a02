import numpy as np
import pytest

from mercer.report.facts._row_cloud import (
    MOST_ROWS,
    SAMPLE,
    RowCloud,
    axes_shown,
    category_colour,
    density_of,
    drawn_rows,
    number_colour,
    numbers_shown,
    one_colour,
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
