"""What a person sees: print, small screens, the dark, no scripts, sliders, saved tables."""

import csv
from pathlib import Path

import numpy as np
import pytest

from mercer.plots import Axes, Line, Panel
from mercer.report._html_report import html_of
from mercer.report._page_parts import Code, Frames, Images, MapView, Page, Section, Steps, Table

pytestmark = pytest.mark.browser

GREYS = ".getContext('2d').getImageData(0, 0, {}, 2).data).filter((_, i) => i % 4 === 0)"

TABLE = Table(
    "Numbers", ("name", "value"), (("a", 1 / 3), ("b", 2.0), ("=1+1", None)), note="A note."
)


def page_of(*parts, cloud=None):
    return Page(
        "A title",
        ("few rows",),
        ("A verdict.",),
        (Section("s", "A section", ("Words.",), parts),),
        cloud,
    )


def test_without_scripts_everything_but_the_map_is_there(opened, cloud):
    html = html_of(
        page_of(MapView("m", (0, 1)), TABLE, Code("Again", "mercer fit x.csv"), cloud=cloud[0])
    )
    page = opened(html, script=False)
    assert page.get_by_text("need JavaScript").is_visible()
    for words in ("A title", "A verdict.", "Words.", "0.3333", "A note.", "mercer fit x.csv"):
        assert page.get_by_text(words).first.is_visible()


def test_a_table_is_saved_with_all_digits_and_no_formula(opened):
    page = opened(html_of(page_of(TABLE)))
    with page.expect_download() as started:
        page.get_by_role("button", name="Save as CSV").click()
    text = Path(started.value.path()).read_text(encoding="utf-8")
    rows = list(csv.reader(text.splitlines()))
    assert rows == [["name", "value"], ["a", str(1 / 3)], ["b", "2.0"], ["'=1+1", ""]]


def test_a_slider_steps_through_pictures(opened):
    pixels = (np.arange(4)[:, None] * 60 + np.arange(6)).astype(np.uint8)
    page = opened(html_of(page_of(Steps("Along", 3, 2, pixels, ("a", "b", "c", "d")))))
    read = "() => Array.from(document.querySelector('figure.steps canvas')" + GREYS.format(3)
    for step in range(4):
        page.locator("figure.steps input").fill(str(step))
        assert page.evaluate(read) == pixels[step].tolist()
        assert page.locator("figure.steps output").inner_text() == "abcd"[step]


def test_pictures_have_their_pixels(opened):
    pixels = np.array([[0, 100, 200, 255]], np.uint8)
    page = opened(html_of(page_of(Images("P", 2, 2, pixels, ("one",)))))
    found = page.evaluate(
        "() => { const c = document.createElement('canvas'); c.width = c.height = 2;"
        "c.getContext('2d').drawImage(document.querySelector('.images img'), 0, 0);"
        f"return Array.from(c{GREYS.format(2)}; }}"
    )
    assert found == pixels[0].tolist()


@pytest.mark.parametrize("width", [360, 768, 1600])
def test_nothing_is_wider_than_the_screen(map_page, width):
    page = map_page(width=width)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_dark_and_light_change_with_a_button(map_page):
    page = map_page(dark=True)
    back = "() => getComputedStyle(document.documentElement).backgroundColor"
    dark = page.evaluate(back)
    page.locator("#theme").click()
    assert page.evaluate(back) != dark
    assert page.evaluate(back) == "rgb(255, 255, 255)"


def test_it_prints_with_its_legend_and_without_controls(map_page):
    page = map_page()
    assert len(page.pdf()) > 10_000
    page.emulate_media(media="print")
    assert not page.locator("fieldset.controls").first.is_visible()
    entry = page.locator("#legend button").first
    assert entry.is_visible()
    adjust = "e => getComputedStyle(e).printColorAdjust"
    assert entry.locator("*").first.evaluate(adjust) == "exact"


def test_every_control_has_a_name(map_page):
    page = map_page()
    unnamed = page.evaluate(
        "() => [...document.querySelectorAll('button, select, input, canvas')].filter(e => "
        "!(e.textContent.trim() || e.ariaLabel || e.closest('label'))).length"
    )
    assert unnamed == 0


def test_long_tables_are_folded_and_opened_for_paper(opened):
    rows = tuple((f"row {i}", float(i)) for i in range(40))
    page = opened(html_of(page_of(Table("Long", ("name", "value"), rows))))
    assert not page.get_by_text("row 39").is_visible()
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert page.get_by_text("row 39").is_visible()
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert not page.get_by_text("row 39").is_visible()
    page.get_by_text("Long: 40 rows").click()
    assert page.get_by_text("row 39").is_visible()


def test_a_slider_shows_one_panel_of_several(opened):
    line = Line((0.0, 1.0), (0.0, 1.0), "red")
    panels = tuple(Panel(Axes(f"panel {i}"), (line,)) for i in range(3))
    frames = Frames("Along", panels, ("left", "middle", "right"))
    page = opened(html_of(page_of(frames)))
    parts = "[...document.querySelectorAll('figure.frames [data-label]')]"
    shown = f"() => {parts}.map(part => !part.hidden)"
    assert page.evaluate(shown) == [False, True, False]
    page.locator("figure.frames input").fill("2")
    assert page.evaluate(shown) == [False, False, True]
    assert page.locator("figure.frames output").inner_text() == "right"
