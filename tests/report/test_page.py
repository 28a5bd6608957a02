"""The writer: nothing in the data becomes code, and nothing is fetched."""

import base64
import hashlib
import html.parser
import json
import re
import zlib

import numpy as np
import pytest
from tests.report.payloads import PAYLOADS

from mercer.plots import Axes, Panel, Points, Text
from mercer.report._html_report import exact, html_of, inert_json, png, shown
from mercer.report._page_parts import (  # fmt: skip
    Code,
    Findings,
    Frames,
    Images,
    MapView,
    Page,
    Picture,
    Section,
    Steps,
    Table,
)
from mercer.report.facts._row_cloud import RowCloud, category_colour


class Reader(html.parser.HTMLParser):
    """Counts scripts and collects attributes and text as a browser's parser sees them."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.attributes, self.tags, self.text = [], [], [], ""
        self._inside = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        if tag == "script":
            self.scripts.append([dict(attrs), ""])
            self._inside = self.scripts[-1]

    def handle_endtag(self, tag):
        if tag == "script":
            self._inside = None

    def handle_data(self, data):
        if self._inside is not None:
            self._inside[1] += data
        else:
            self.text += data


class Odd:
    """A finding made of one text."""

    def __init__(self, text):
        self.code = self.what = self.got = self.fix = text


def page_full_of(text):
    """Return a page that has `text` in every place that data can reach."""
    cloud = RowCloud(
        (text, "b"), (text, "b"), np.arange(8.0).reshape(4, 2) ** 2,
        (category_colour(text, [text, "x", "y", text]),), np.arange(4), [text] * 4,
    )  # fmt: skip
    axes = Axes(
        text, x_label=text, y_label=text, note=text, legend=((text, "#000000", "circle"),)
    )
    panel = Panel(
        axes,
        (
            Points((0.0, 1.0), (0.0, 1.0), "#000000", titles=(text, text)),
            Text(0.5, 0.5, text, "#000000"),
        ),
    )
    pixels = np.zeros((2, 4), np.uint8)
    parts = (
        MapView("rows", (0, 1), groups=True, arrows=True, words=text),
        Table(text, (text, "n"), ((text, 1.0), ("b", None)), note=text),
        Picture(panel, text),
        Images(text, 2, 2, pixels, (text, text), note=text),
        Frames(text, (panel, panel), (text, text), note=text),
        Steps(text, 2, 2, pixels, (text, text), note=text),
        Findings((Odd(text),)),
        Code(text, text),
    )
    arrows = {"names": [text], "ends": [[1.0], [2.0]]}
    return Page(text, (text,), (text,), (Section("s", text, (text,), parts),), cloud, arrows)


@pytest.fixture(scope="module")
def harmless():
    return Reader(html_of(page_full_of("plain words")))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_becomes_code(payload, harmless):
    read = Reader(html_of(page_full_of(payload)))
    assert len(read.scripts) == len(harmless.scripts)
    assert sorted(read.tags) == sorted(harmless.tags)
    assert not [name for name in read.attributes if name.startswith("on")]
    code = [text for attributes, text in read.scripts if "type" not in attributes]
    assert code == [text for attributes, text in harmless.scripts if "type" not in attributes]
    about = next(text for attributes, text in read.scripts if attributes.get("id") == "about")
    clean = payload.replace("\0", "\ufffd")
    assert json.loads(about)["cloud"]["components"][0]["name"].replace("\0", "\ufffd") == clean


def test_the_policy_allows_this_script_and_this_style_only():
    text = html_of(page_full_of("x"))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    policy = html.unescape(policy)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)[1]
    for name, body in (("style-src", style), ("script-src", script)):
        mark = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{name} 'sha256-{mark}'" in policy


def test_nothing_leads_outside():
    text = html_of(page_full_of("x"))
    found = set(re.findall(r"https?://[^\"' )<]*", text))
    assert found <= {"http://www.w3.org/2000/svg"}
    assert "style=" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


def test_json_is_inert_and_whole():
    value = {"a": "</script><!--\u2028&", "b": [1, None]}
    text = inert_json(value)
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == value
    with pytest.raises(ValueError, match="JSON"):
        inert_json(float("nan"))


def test_a_picture_holds_its_pixels():
    pixels = np.arange(6, dtype=np.uint8) * 40
    raw = base64.b64decode(png(pixels, 3, 2).partition(",")[2])
    size = int.from_bytes(raw[33:37], "big")
    body = zlib.decompress(raw[41 : 41 + size])
    assert body == b"\0" + pixels[:3].tobytes() + b"\0" + pixels[3:].tobytes()


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (None, "–"),
        (True, "yes"),
        (12345, "12,345"),
        (0.123456, "0.1235"),
        (1e-9, "1e-09"),
        ("a", "a"),
    ],
)
def test_cells_as_people_read_them(cell, words):
    assert shown(cell) == words


def test_cells_for_files_keep_all_digits():
    assert float(exact(1 / 3)) == 1 / 3
    assert exact(None) == ""
