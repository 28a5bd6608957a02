"""The map does what it says: decoded numbers, zoom, pan, hover, box, lasso, legend, colours."""

import csv
import statistics
from pathlib import Path

import numpy as np
import pytest

from mercer.report._html_report import html_of
from mercer.report._page_parts import MapView, Page, Section
from mercer.report.facts._row_cloud import RowCloud, category_colour

pytestmark = pytest.mark.browser

MAP = "mercer.shared.maps[0]"


def coordinates(page):
    """Return the coordinates as the page has decoded them, by row."""
    found = page.evaluate(
        "() => mercer.cloud.components.map(c => Array.from(c.q, q => c.low + q * c.unit))"
    )
    rows = page.evaluate("() => Array.from(mercer.cloud.rows)")
    Z = np.empty((len(rows), len(found)))
    Z[rows] = np.transpose(found)
    return Z


def place_of(page, x, y):
    """Return where values lie on the screen."""
    box = page.locator("canvas").first.bounding_box()
    px, py = page.evaluate(f"([x, y]) => {MAP}.placeOf(x, y).map(v => v / {MAP}.ratio)", [x, y])
    return box["x"] + px, box["y"] + py


def drag(page, start, stop, steps=5):
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*stop, steps=steps)
    page.mouse.up()
    page.wait_for_timeout(100)


def view(page):
    return page.evaluate(f"() => [{MAP}.centre[0], {MAP}.centre[1], {MAP}.scale]")


def test_the_numbers_are_those_that_were_written(map_page, cloud):
    Z = coordinates(map_page())
    width = np.ptp(cloud[0].Z, axis=0)
    assert np.all(np.abs(Z - cloud[0].Z) <= width / 131070 * 1.01)


@pytest.mark.parametrize("radius", [0, 1, 2, 3, 5])
def test_points_widened_together_are_those_stamped_one_by_one(map_page, radius):
    n, width, height = 9000, 41, 30
    rng = np.random.default_rng(radius)
    # A few far points beside a cloud: rows with gaps, rows without points, both margins.
    x = np.where(rng.random(n) < 0.9, rng.normal(30000, 2000, n), rng.uniform(0, 65535, n))
    y = np.where(rng.random(n) < 0.95, rng.normal(30000, 1500, n), rng.uniform(0, 65535, n))
    given = {
        "x": x.astype(int).tolist(),
        "y": y.astype(int).tolist(),
        "at": rng.integers(0, 3, n).tolist(),
        "toX": [-1.0, (width + 2) / 65535],
        "toY": [height + 1.0, -(height + 2) / 65535],
    }
    told = map_page().evaluate(
        """([given, radius, width, height]) => {
          const view = { ...given, x: Uint16Array.from(given.x), y: Uint16Array.from(given.y) };
          const palette = [[1, 2, 255], [0, 7, 3], [255, 255, 255]];
          const paint = { at: Uint8Array.from(given.at), palette, shown: [true, false, true] };
          const together = makeRaster(width, height), single = makeRaster(width, height);
          const stamp = stampOf(radius, width);
          const { most, drawn } = accumulate(together, view, paint, radius, null);
          const put = scatter(single, view, paint, radius, stamp, null);
          const counts = single.cells.filter((_, k) => k % 4 === 0);
          return {
            same: together.cells.every((cell, k) => cell === single.cells[k]),
            widened: together.spare.some(cell => cell > 0),
            drawn, put, most, greatest: Math.max(...counts), stamp: stamp.length,
          };
        }""",
        [given, radius, width, height],
    )
    assert told["same"]
    # Where they were not stamped, the other raster holds the pixels they came from.
    assert told["widened"] == (radius > 0)
    assert told["drawn"] == told["put"] > 1000
    assert told["most"] == told["greatest"]
    assert told["stamp"] == [1, 9, 21, 37, 57, 89][radius]


def test_units_are_equal(map_page):
    page = map_page()
    (x0, y0), (x1, y1) = place_of(page, 0, 0), place_of(page, 1, 1)
    assert x1 - x0 == pytest.approx(y0 - y1, rel=1e-6)


def test_the_wheel_zooms_about_the_pointer(map_page):
    page = map_page()
    x, y = place_of(page, 2.0, 1.0)
    before = view(page)
    page.mouse.move(x, y)
    page.mouse.wheel(0, -300)
    page.wait_for_timeout(150)
    assert view(page)[2] == pytest.approx(before[2] * np.e, rel=1e-3)
    # The pointer stands on a whole pixel, and what lies beside it moves away from it.
    assert place_of(page, 2.0, 1.0) == pytest.approx((x, y), abs=2.0)


def test_dragging_moves_and_double_click_shows_all(map_page):
    page = map_page()
    before, start = view(page), place_of(page, 0.0, 0.0)
    stop = (start[0] + 80, start[1] - 40)
    drag(page, start, stop)
    assert place_of(page, 0.0, 0.0) == pytest.approx(stop, abs=1.0)
    page.mouse.dblclick(*stop)
    page.wait_for_timeout(100)
    assert view(page) == pytest.approx(before)


def test_keys_move_zoom_and_reset(map_page):
    page = map_page()
    before = view(page)
    page.locator("canvas").first.focus()
    page.keyboard.press("ArrowRight")
    assert view(page)[0] > before[0]
    page.keyboard.press("+")
    assert view(page)[2] > before[2]
    page.keyboard.press("0")
    assert view(page) == pytest.approx(before)


@pytest.mark.parametrize("with_shift", [True, False])
def test_a_box_counts_as_numpy_does(map_page, cloud, with_shift):
    page = map_page()
    Z, at = coordinates(page), cloud[1]
    low, high = np.percentile(Z[:, :2], [20, 70], axis=0)
    inside = np.all((Z[:, :2] >= low) & (Z[:, :2] <= high), axis=1)
    if with_shift:
        page.keyboard.down("Shift")
    else:
        page.locator("input[data-tool=box]").check()
    drag(page, place_of(page, *low), place_of(page, *high))
    page.keyboard.up("Shift")
    mask = page.evaluate("() => Array.from(mercer.shared.selected)")
    rows = page.evaluate("() => Array.from(mercer.cloud.rows)")
    found = np.zeros(3000, bool)
    found[np.asarray(rows)[np.asarray(mask, bool)]] = True
    # A pointer lands on a whole pixel: rows within one of the edge may fall either way.
    pixel = 1.5 / view(page)[2] * page.evaluate(f"() => {MAP}.ratio")
    near = np.any((np.abs(Z[:, :2] - low) < pixel) | (np.abs(Z[:, :2] - high) < pixel), axis=1)
    assert np.array_equal(found[~near], inside[~near])
    said = page.locator("#selection").inner_text()
    assert said.startswith(f"{found.sum():,} of 3,000 rows selected: ")
    for g in range(3):
        assert f"group {g} {np.sum(found & (at == g)):,}" in said
    exact = page.evaluate(
        f"([a, b, c, d]) => {MAP}.box(a, b, c, d).reduce((s, v) => s + v, 0)", [*low, *high]
    )
    assert exact == inside.sum()


def test_a_lasso_takes_what_lies_inside(map_page):
    page = map_page()
    Z = coordinates(page)
    centre = np.median(Z[:, :2], axis=0)
    corners = centre + np.array([[-3, -2], [3, -2], [0, 3]])
    page.locator("input[data-tool=lasso]").check()
    places = [place_of(page, *corner) for corner in corners]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in [*places[1:], places[0]]:
        page.mouse.move(*place, steps=8)
    page.mouse.up()
    page.wait_for_timeout(100)
    sides = [
        (b[0] - a[0]) * (Z[:, 1] - a[1]) - (b[1] - a[1]) * (Z[:, 0] - a[0])
        for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)
    ]
    inside = np.all(np.array(sides) > 0, axis=0)
    found = page.evaluate("() => mercer.shared.selected.reduce((s, v) => s + v, 0)")
    assert found == pytest.approx(inside.sum(), rel=0.03)
    page.keyboard.press("Escape")


def test_selected_rows_are_saved(map_page, cloud):
    page = map_page()
    page.keyboard.down("Shift")
    Z = coordinates(page)
    low, high = np.percentile(Z[:, :2], [40, 60], axis=0)
    drag(page, place_of(page, *low), place_of(page, *high))
    page.keyboard.up("Shift")
    with page.expect_download() as started:
        page.locator("#save-rows").click()
    text = Path(started.value.path()).read_text(encoding="utf-8")
    rows = list(csv.reader(text.splitlines()))
    assert rows[0] == ["row", "name", "PC1", "PC2", "PC3"]
    assert len(rows) - 1 == page.evaluate(
        "() => mercer.shared.selected.reduce((s, v) => s + v, 0)"
    )
    for row in rows[1:4]:
        number = int(row[0]) - 1  # counted from 1
        assert row[1] == f"name {number}"
        assert np.allclose([float(v) for v in row[2:]], cloud[0].Z[number], atol=1e-3)


def test_hover_names_the_nearest_row(map_page):
    page = map_page()
    Z = coordinates(page)
    alone = int(np.argmax(Z[:, 0]))
    page.mouse.move(*place_of(page, *Z[alone, :2]))
    page.wait_for_timeout(100)
    tip = page.locator(".tip")
    assert tip.is_visible()
    assert tip.inner_text().startswith(f"name {alone} · ")
    page.mouse.move(5, 5)
    assert tip.is_hidden()


def test_the_legend_hides_a_group_and_brings_it_back(map_page, cloud):
    page = map_page()
    drawn = page.evaluate(f"() => {MAP}.draw().drawn")
    button = page.locator("#legend button").first
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert page.evaluate(f"() => {MAP}.draw().drawn") == drawn - np.sum(cloud[1] == 0)
    button.click()
    assert page.evaluate(f"() => {MAP}.draw().drawn") == drawn


def test_colour_and_axes_can_be_chosen(map_page):
    page = map_page()
    before = page.locator("canvas").first.screenshot()
    page.locator("#colour").select_option("1")
    page.wait_for_timeout(100)
    assert page.locator("#legend .ramp").count() == 1
    coloured = page.locator("canvas").first.screenshot()
    assert coloured != before
    page.locator("select[data-axis=y]").select_option("2")
    page.wait_for_timeout(100)
    assert page.evaluate(f"() => {MAP}.y.name") == "PC3"
    assert page.locator("canvas").first.screenshot() != coloured
    assert "PC3" in page.locator("canvas").first.get_attribute("aria-label")


def test_ellipses_are_those_of_the_groups(map_page, cloud):
    page = map_page()
    page.locator("input[data-toggle=ellipses]").check()
    page.wait_for_timeout(100)
    groups = page.evaluate(f"() => {MAP}.groups.list")
    for g in groups:
        Z = cloud[0].Z[cloud[1] == g["level"], :2]
        assert [g["x"], g["y"]] == pytest.approx(Z.mean(axis=0), abs=1e-2)
        C = np.cov(Z.T)
        assert [g["xx"], g["yy"], g["xy"]] == pytest.approx(
            [C[0, 0], C[1, 1], C[0, 1]], rel=1e-2
        )


def test_arrows_change_the_picture(map_page):
    page = map_page()
    before = page.locator("canvas").first.screenshot()
    page.locator("input[data-toggle=arrows]").check()
    page.wait_for_timeout(100)
    assert page.locator("canvas").first.screenshot() != before


def test_two_maps_share_a_selection(opened, cloud):
    views = (MapView("one", (0, 1)), MapView("two", (1, 2)))
    page = opened(html_of(Page("Two", (), ("v",), (Section("m", "m", (), views),), cloud[0])))
    second = page.locator("canvas").nth(1)
    before = second.screenshot()
    page.evaluate(f"() => mercer.shared.select({MAP}.box(-1, -1, 2, 2))")
    page.wait_for_timeout(150)
    assert second.screenshot() != before


def test_a_million_rows_are_ready_soon_and_drawn_fast(opened):
    rng = np.random.default_rng(0)
    at = rng.integers(0, 10, 1_000_000)
    Z = rng.normal(size=(10, 2))[at] * 3 + rng.normal(size=(1_000_000, 2))
    big = RowCloud(("PC1", "PC2"), ("PC1", "PC2"), Z, (category_colour("g", at.astype(str)),))
    views = (MapView("rows", (0, 1)),)
    html = html_of(Page("Big", (), ("v",), (Section("m", "m", (), views),), big))
    assert len(html.encode()) < 5e6
    page = opened(html)
    frames = [page.evaluate(f"() => {MAP}.draw().ms") for _ in range(9)]
    assert statistics.median(frames) < 200
    assert page.evaluate("() => performance.now()") < 20_000
