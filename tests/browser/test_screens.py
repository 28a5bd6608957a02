"""Pictures of real pages, light, dark, small and on paper: `--screens DIR` keeps them."""

import pytest

pytestmark = pytest.mark.browser

SCREENS = {
    "light": {"width": 1240},
    "dark": {"width": 1240, "dark": True},
    "phone": {"width": 360, "height": 740},
}


@pytest.mark.parametrize("name", ["penguins", "digits"])
@pytest.mark.parametrize("kind", SCREENS)
def test_a_page_is_drawn(opened, demo_pages, screens, name, kind):
    page = opened(demo_pages[name], **SCREENS[kind])
    path = screens / f"{name}-{kind}.png"
    page.screenshot(path=path, full_page=True)
    assert path.stat().st_size > 50_000
    wide = page.evaluate("() => document.documentElement.scrollWidth")
    assert wide <= SCREENS[kind]["width"]


@pytest.mark.parametrize("name", ["penguins", "digits"])
def test_a_page_is_printed(opened, demo_pages, screens, name):
    page = opened(demo_pages[name])
    printed = page.pdf(path=screens / f"{name}-paper.pdf", format="A4")
    assert printed.startswith(b"%PDF")
    assert len(printed) > 100_000
