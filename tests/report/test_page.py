"""The writer: nothing in the data becomes code, and nothing is fetched."""

import base64
import hashlib
import html.parser
import json
import re
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.report.payloads import PAYLOADS

import mercer
from mercer.plots import Axes, Panel, Points, Text
from mercer.report import Levels, report
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
from mercer.report._page_words import (
    axes_named,
    axis_in_words,
    count,
    listed,
    number,
    percent,
    short,
)
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
    one_colour,
    packed,
    quantised,
    unpacked,
)


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


def test_the_page_is_inert():
    text = html_of(page_full_of("x"))
    found = set(re.findall(r"https?://[^\"' )<]*", text))
    assert found <= {"http://www.w3.org/2000/svg"}
    assert "style=" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    value = {"a": "</script><!--\u2028&", "b": [1, None]}
    text = inert_json(value)
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == value
    with pytest.raises(ValueError, match="JSON"):
        inert_json(float("nan"))


def test_pictures_and_cells_keep_what_they_hold():
    pixels = np.arange(6, dtype=np.uint8) * 40
    raw = base64.b64decode(png(pixels, 3, 2).partition(",")[2])
    size = int.from_bytes(raw[33:37], "big")
    body = zlib.decompress(raw[41 : 41 + size])
    assert body == b"\0" + pixels[:3].tobytes() + b"\0" + pixels[3:].tobytes()
    assert float(exact(1 / 3)) == 1 / 3
    assert exact(None) == ""
    table = Table("t", ("a", "b", "c", "d"), (("x", 1, None, "1.0"), ("y", None, 2.5, "2")))
    assert table.numeric == (False, True, True, False)
    assert Table("empty", ("a", "b"), ()).numeric == (False, False)


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


# Numbers, lists and axes in words.


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.5, "50.0 %"),
        (1.0, "100.0 %"),
        (0.99999, "over 99.9 %"),
        (1e-5, "0.001 %"),
        (0, "0 %"),
    ],
)
def test_shares(share, words):
    assert percent(share) == words


def test_lists_and_counts():
    assert listed([]) == ""
    assert listed(["a", "b"]) == "a and b"
    assert listed(list("abcdef"), most=3) == "a, b, c and 3 more"
    assert [count(i, "row") for i in (0, 1, 2)] == ["no rows", "1 row", "2 rows"]
    assert number(1234567.0) == "1.235e+06"
    assert listed(list("abcd"), most=3) == "a, b, c and d"
    assert listed(list("abcde"), most=3) == "a, b, c and 2 more"
    assert [axes_named(2, last) for last in (2, 3, 5)] == ["PC2", "PC2 and PC3", "PC2 to PC5"]
    assert short("rbf(lengthscale=34.33656942677879)") == "rbf(lengthscale=34.34)"
    assert short("poly(degree=3, coef=1.5)") == "poly(degree=3, coef=1.5)"


NAMES = tuple("abcdefgh")


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0, 0.1, 0, 0, 0, 0, 0, 0], "is mostly a"),
        ([0, 0, -1.0, 0.1, 0, 0, 0, 0], "is mostly c"),
        ([0.7, 0.7, 0, 0, 0, 0, 0, 0], "grows with a and b"),
        ([-0.7, -0.6, 0, 0, 0, 0, 0, 0], "falls with a and b"),
        ([0.7, -0.6, 0.1, 0, 0, 0, 0, 0], "sets a against b"),
        ([0.3, -0.7, 0.6, 0, 0, 0, 0, 0], "sets c against b"),
        ([0.4] * 6 + [0.1, 0.1], "grows with most columns: a, b, c, d and 2 more"),
    ],
)
def test_an_axis_in_words(weights, words):
    assert axis_in_words(np.array(weights), NAMES) == words


def test_columns_in_order_are_named_by_runs():
    weights = np.array([0.6, *([0.29] * 7)])
    assert axis_in_words(weights, NAMES) == "weighs a most"
    weights = np.array([0.5, 0.5, 0.5, 0.0, 0.0, -0.5, -0.5, 0.0])
    assert axis_in_words(weights, NAMES, in_order=True) == "sets a to c against f to g"
    weights = np.array([0.5, -0.4, 0.3, -0.5, 0.1, 0.0, 0.4, 0.2])
    there = axis_in_words(weights, NAMES).removeprefix("sets ").split(" against ")
    back = axis_in_words(-weights, NAMES).removeprefix("sets ").split(" against ")
    assert there == back[::-1]


# Parts are plain values: nothing can be changed, numbers are told from text.
# The rows on the map: coordinates, colours, and how they are packed.


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


def test_colours_of_levels_and_numbers():
    labels = [f"level {i:02d}" for i in range(30) for _ in range(i + 1)]
    colour = category_colour("c", labels)
    assert len(colour.levels) == 12
    assert colour.levels[-1] == "19 others"
    assert "level 29" in colour.levels
    counts = np.bincount(colour.at, minlength=12)
    assert counts[11] == sum(range(1, 20))
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
    for at, numbers in ((few, None), (np.arange(5), [0, 1, 2, 3, 4])):
        rows = RowCloud.of(((), (), np.empty((len(at), 0))), [], at, None).rows
        assert rows is None if numbers is None else rows.tolist() == numbers
    q, low, high = quantised(np.full((4, 1), -3.0))
    assert np.all(low + q * (high - low) / 65535 == -3.0)
    assert np.all(high > low)
    rng = np.random.default_rng(0)
    q, _, _ = quantised(rng.normal(size=(100_000, 2)))
    code = np.sort(morton(q[:, 0], q[:, 1]))
    plain = packed(q.reshape(-1))
    assert len(packed(np.diff(code, prepend=np.uint32(0)))) < 0.55 * len(plain)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@given(data=st.data())
def test_what_was_packed_comes_back(dtype, data):
    values = data.draw(arrays(dtype, st.integers(0, 200)))
    assert np.array_equal(unpacked(packed(values), dtype), values)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_rounding_is_half_a_level_at_most(scale, offset):
    Z = (np.random.default_rng(0).normal(size=(500, 3)) + offset) * scale
    q, low, high = quantised(Z)
    back = low + q * ((high - low) / 65535)
    assert np.all(np.abs(back - Z) <= (high - low) / 131070 * (1 + 1e-9) + 1e-9 * np.abs(Z))
    assert q.min() == 0
    assert q.max() == 65535


RNG = np.random.default_rng(5)


TEXT = np.array(["b", "a", "c", "a", "b", "a"])


CODED = Levels(np.array([1, 0, 2, 0, 1, 0]), np.array(["a", "b", "c", "never"]))


def test_codes_say_what_the_texts_say():
    for mine, theirs in zip(levels_of(CODED), levels_of(TEXT), strict=True):
        assert mine.tolist() == theirs.tolist()
    levels, at, counts = levels_of(CODED[np.array([1, 3, 2])])
    assert (levels.tolist(), at.tolist(), counts.tolist()) == (["a", "c"], [0, 0, 1], [2, 1])
    one, other = category_colour("g", CODED), category_colour("g", TEXT)
    assert one.levels == other.levels
    assert one.at.tolist() == other.at.tolist()
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
