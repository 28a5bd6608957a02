"""Whole reports: every panel is drawn, every control reached, no text becomes code."""

import numpy as np
import pytest
from tests.report.payloads import PAYLOADS
from tests.report.test_page import page_full_of
from tests.report.test_report import page_of

from mercer.report._html_report import html_of

pytestmark = pytest.mark.browser

PAGES = ["digits", "iris", "wine", "breast_cancer", "penguins", "kernel"]
SIZES = """selector => [...document.querySelectorAll(selector)].map(e => {
  const box = e.getBoundingClientRect(); return [box.width, box.height]; })"""
INKED = """canvas => { const data = canvas.getContext('2d')
  .getImageData(0, 0, canvas.width, canvas.height).data, seen = new Set();
  for (let i = 0; i < data.length; i += 4) seen.add(data[i] + ',' + data[i + 1]);
  return seen.size; }"""
FOCUSABLE = (
    "a[href], button:not([hidden]), select, input, canvas[tabindex], summary, [tabindex='0']"
)


@pytest.mark.parametrize("name", PAGES)
def test_every_panel_is_drawn(opened, demo_pages, name):
    page = opened(demo_pages[name])
    for selector in (
        "figure.panel svg",
        "figure.map canvas",
        ".images img",
        "figure.steps canvas",
    ):
        for wide, high in page.evaluate(SIZES, selector):
            assert min(wide, high) > 50, selector
    assert page.locator("figure.panel svg").count() >= 2
    for canvas in page.locator("figure.map canvas").all():
        assert canvas.evaluate(INKED) > 10
    for picture in page.locator(".images img").all():
        assert picture.evaluate("image => image.complete && image.naturalWidth > 0")
    broken = page.evaluate(
        "() => [...document.querySelectorAll('svg *')].filter(e => "
        "[...e.attributes].some(a => /NaN|Infinity|undefined/.test(a.value))).length"
    )
    assert broken == 0
    for section in page.locator("nav a").all():
        assert page.locator(section.get_attribute("href")).count() == 1


def test_digits_have_pictures_and_a_slider_that_moves(opened, demo_pages):
    page = opened(demo_pages["digits"])
    assert page.locator(".images img").count() >= 8
    slider, canvas = page.locator("figure.steps input"), page.locator("figure.steps canvas")
    seen = set()
    for step in (0, 6, 12):
        slider.fill(str(step))
        seen.add(canvas.evaluate("c => c.toDataURL()"))
    assert len(seen) == 3
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert slider.input_value() == "11"
    assert page.locator("figure.steps output").inner_text().startswith("+2.5")


@pytest.mark.parametrize("name", ["digits", "kernel"])
def test_the_keyboard_reaches_every_control(opened, demo_pages, name):
    page = opened(demo_pages[name])
    page.evaluate(
        "s => [...document.querySelectorAll(s)].filter(e => e.checkVisibility())"
        ".forEach((e, i) => { e.dataset.stop = i; })",
        FOCUSABLE,
    )
    count = page.evaluate("() => document.querySelectorAll('[data-stop]').length")
    radios = page.evaluate(
        "() => [...document.querySelectorAll('input[type=radio][data-stop]')]"
        ".filter(e => !e.checked).map(e => e.dataset.stop)"
    )
    reached = set()
    for _ in range(count + 20):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("() => document.activeElement.dataset.stop ?? null"))
    # Of radio buttons the one that is chosen is a stop; arrow keys reach the others.
    assert {str(i) for i in range(count)} - set(radios) <= reached
    page.locator("input[data-tool=pan]").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("input[data-tool=box]").first.is_checked()
    assert page.evaluate("() => mercer.shared.maps[0].tool") == "box"


@pytest.mark.parametrize("name", PAGES)
def test_colours_axes_and_legend_work(opened, demo_pages, name):
    page = opened(demo_pages[name])
    canvas = page.locator("figure.map canvas").first
    levels = page.locator("#legend button").count()
    assert levels == page.evaluate("() => mercer.cloud.colours[0].levels.length")
    before = canvas.screenshot()
    page.locator("#colour").select_option(label="none")
    page.wait_for_timeout(80)
    assert page.locator("#legend button").count() == 0
    assert canvas.screenshot() != before
    last = page.evaluate("() => mercer.cloud.components.length - 1")
    page.locator("select[data-axis=y]").first.select_option(str(last))
    page.wait_for_timeout(80)
    wanted = page.evaluate("() => mercer.cloud.components.at(-1).title")
    assert wanted in canvas.get_attribute("aria-label")


@pytest.mark.parametrize("name", ["digits", "penguins", "kernel"])
def test_paper_has_the_text_of_every_section(opened, demo_pages, name):
    page = opened(demo_pages[name])
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    hidden = page.evaluate(
        "s => [...document.querySelectorAll(s)]"
        ".filter(e => e.textContent.trim() && !e.checkVisibility()).map(e => e.textContent)",
        "h1, h2, .verdict p, section > p, td, figcaption",
    )
    assert hidden == []
    assert page.locator("nav").is_hidden()
    legend = page.locator("#legend button:visible").count()
    assert page.locator("button:visible").count() == legend
    printed = page.pdf()
    assert printed.count(b"/Type /Page") - printed.count(b"/Type /Pages") >= 2


@pytest.mark.parametrize("start", range(0, len(PAYLOADS), 7))
def test_no_payload_runs(opened, start):
    """Seven payloads a time, each on its page; the fixture fails for a dialog or a request."""
    plain = html_of(page_full_of("plain")).count("<script")
    for payload in PAYLOADS[start : start + 7]:
        html = html_of(page_full_of(payload))
        assert html.count("<script") == plain
        page = opened(html)
        page.locator("input[data-toggle=arrows]").check()
        page.locator("#legend button").first.click()
        page.locator("#legend button").first.click()
        box = page.locator("canvas").first.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.evaluate(
            "() => mercer.shared.select(mercer.shared.maps[0].box(-1e9, -1e9, 1e9, 1e9))"
        )
        assert page.evaluate("() => document.scripts.length") == plain
        title = page.evaluate("() => mercer.cloud.components[0].name")
        assert title == payload
        page.context.close()


def test_a_selection_on_a_real_page_counts_as_numpy_does(opened, demo_pages):
    page = opened(demo_pages["iris"])
    read = "() => mercer.cloud.components.map(c => Array.from(c.q, q => c.low + q * c.unit))"
    Z = np.array(page.evaluate(read)).T[:, :2]
    low, high = np.percentile(Z, [25, 80], axis=0)
    inside = int(np.sum(np.all((low <= Z) & (high >= Z), axis=1)))
    call = "([a, b, c, d]) => mercer.shared.select(mercer.shared.maps[0].box(a, b, c, d))"
    page.evaluate(call, [*low, *high])
    assert page.locator("#selection").inner_text().startswith(f"{inside} of 150 rows selected")


@pytest.mark.parametrize("kind", ["counts", "mca", "mfa", "lda", "fa", "topics"])
def test_pages_of_the_family_are_drawn_whole(opened, kind):
    """One page of each kind with harmful names: no error, no empty panel, every map inked."""
    page = opened(page_of(kind, PAYLOADS)[0])
    for wide, high in page.evaluate(SIZES, "figure.panel svg, figure.map canvas"):
        assert min(wide, high) > 50
    for canvas in page.locator("figure.map canvas").all():
        assert canvas.evaluate(INKED) > 3
    for section in page.locator("nav a").all():
        assert page.locator(section.get_attribute("href")).count() == 1
