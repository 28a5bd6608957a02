"""A real browser, without a network, that fails a test for every error and every request."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from mercer.report._html_report import html_of
from mercer.report._page_parts import MapView, Page, Section
from mercer.report.facts._row_cloud import RowCloud, category_colour, number_colour, one_colour

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def pytest_addoption(parser):
    """Take the folder that pictures of the pages are kept in."""
    parser.addoption("--screens", metavar="DIR", help="keep pictures of the pages here")


@pytest.fixture(scope="session")
def screens(request, tmp_path_factory):
    """Return the folder for pictures of pages."""
    given = request.config.getoption("--screens")
    folder = Path(given) if given else tmp_path_factory.mktemp("screens")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def demo_pages(tmp_path_factory):
    """Return the pages of the demo data sets, and one of a kernel, by name."""
    from sklearn.datasets import make_circles

    from mercer import KernelPCA
    from mercer.cli._datasets import DATASETS, FILES
    from mercer.cli.app import commands
    from mercer.report import report

    folder = tmp_path_factory.mktemp("demo")
    pages = {}
    for name in (*DATASETS, *FILES):
        done = CliRunner().invoke(commands, ["demo", name, "-o", str(folder)])
        assert done.exit_code == 0, done.output
        pages[name] = (folder / f"{name}.html").read_text(encoding="utf-8")
    X, ring = make_circles(200, factor=0.3, noise=0.05, random_state=0)
    model = KernelPCA(3, kernel="rbf").fit(X)
    pages["kernel"] = report(model, X, colours={"ring": ring.astype(str)}).html
    return pages


@pytest.fixture(scope="session")
def chromium():
    """One browser for all tests."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    if not CHROMIUM:
        assert not os.environ.get("CI"), "install chromium: the pages must be looked at"
        pytest.skip("needs chromium")
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium, tmp_path):
    """Open HTML from a file, offline; afterwards no error, request or dialog may have been."""
    seen = []
    contexts = []

    def open_(html, *, width=1240, height=900, dark=False, script=True):
        path = tmp_path / f"page{len(contexts)}.html"
        path.write_text(html, encoding="utf-8")
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            offline=True,
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
            accept_downloads=True,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: seen.append(f"error: {error}"))
        page.on("console", lambda said: said.type == "error" and seen.append(said.text))
        page.on(
            "request",
            lambda asked: (
                asked.url.startswith(("file:", "data:", "blob:")) or seen.append(asked.url)
            ),
        )
        page.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
        page.goto(path.as_uri())
        if script:
            page.wait_for_selector("body[data-ready]", timeout=60_000)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert seen == []


@pytest.fixture(scope="session")
def cloud():
    """Three groups of rows on three components, and two columns to colour by."""
    rng = np.random.default_rng(0)
    at = rng.integers(0, 3, 3000)
    Z = rng.normal(size=(3, 3))[at] * 6 + rng.normal(size=(3000, 3)) * [3.0, 1.0, 0.5]
    groups = category_colour("group", [f"group {g}" for g in at])
    colours = (groups, number_colour("size", Z[:, 2]), one_colour(3000))
    names = ("PC1", "PC2", "PC3")
    titles = tuple(f"{name} (10.0 %)" for name in names)
    row_names = [f"name {i}" for i in range(3000)]
    return RowCloud(names, titles, Z, colours, np.arange(3000), row_names), at


@pytest.fixture
def map_page(opened, cloud):
    """Open a page with one map of the cloud."""

    def open_(**options):
        arrows = {"names": ["a", "b"], "ends": [[1.0, 0.2], [0.1, -1.0], [0.5, 0.5]]}
        views = (MapView("rows", (0, 1), groups=True, arrows=True),)
        page = Page(
            "A page", ("3,000 rows",), ("A verdict.",), (Section("map", "Map", (), views),),
            cloud[0], arrows,
        )  # fmt: skip
        return opened(html_of(page), **options)

    return open_
