"""The HTML writer: a page in, one self-contained file out; no network, no foreign script.

Report: a page that can be saved, and shown in a notebook.
"""

import base64
import hashlib
import html
import json
import os
import struct
import zlib
from collections.abc import Callable
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, final

from mercer.errors import InputError
from mercer.plots import figure
from mercer.report._page_parts import (
    Code,
    Findings,
    Frames,
    Images,
    MapView,
    Page,
    Picture,
    Steps,
    Table,
)
from mercer.report.facts._row_cloud import packed
from mercer.sources import FileIds, path_of, refuse_own_input, refuse_table

_SCRIPTS = ("cloud.js", "raster.js", "drawing.js", "map.js", "page.js")


def html_of(page: Page) -> str:
    """Return the page as HTML. Every text of the data is escaped; see the policy inside.

    Parameters
    ----------
    page : Page
        What to write.
    """
    import sys

    from markupsafe import Markup

    environment = _environment()
    style, script = _file("page.css"), "\n".join(_file(name) for name in _SCRIPTS)
    writer = _Writer(environment)
    about: dict[str, Any] = {"cloud": None, "arrows": page.arrows, "steps": writer.steps}
    if page.cloud is not None:
        about["cloud"], data = page.cloud.written()
        writer.data |= data
    template = environment.get_template("page.html")
    sections = [(section, list(map(writer.drawn, section.parts))) for section in page.sections]
    text = str(
        template.render(
            page=page,
            policy=_policy(style, script),
            version=sys.modules["mercer"].__version__,
            style=Markup(style),
            script=Markup(script),
            sections=sections,
            data=writer.data,
            about=Markup(inert_json(about)),
        )
    )
    # Half a letter, as of a file's name in another encoding, cannot be written.
    return text.encode("utf-8", "replace").decode()


class _Writer:
    """Writes the parts of a page, and gathers the data that scripts read."""

    def __init__(self, environment: Any) -> None:
        self.parts = environment.get_template("parts.html").module
        self.data: dict[str, str] = {}
        self.steps: list[dict[str, Any]] = []
        self.tables = self.maps = 0

    def drawn(self, part: Any) -> Any:
        from markupsafe import Markup

        if isinstance(part, Table):
            self.tables += 1
            return self.parts.table(part, f"table-{self.tables}")
        if isinstance(part, Picture):
            return self.parts.panel(part, Markup(figure([part.panel])))
        if isinstance(part, MapView):
            self.maps += 1
            return self.parts.map(part, self.maps == 1)
        if isinstance(part, Images):
            size = part.width, part.height
            return self.parts.images(part, [png(row, *size) for row in part.pixels])
        if isinstance(part, Steps):
            number = len(self.steps)
            self.steps.append(
                {"width": part.width, "height": part.height, "labels": list(part.labels)}
            )
            self.data[f"steps-{number}"] = packed(part.pixels.reshape(-1))
            return self.parts.steps(part, number)
        if isinstance(part, Frames):
            return self.parts.frames(part, [Markup(figure([panel])) for panel in part.panels])
        if isinstance(part, Findings):
            return self.parts.findings(part)
        assert isinstance(part, Code)
        return self.parts.code(part)


def inert_json(value: Any) -> str:
    """Return JSON that no HTML parser can leave: < > & and line separators are escaped."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def png(pixels: Any, width: int, height: int) -> str:
    """Return a grey picture (height * width,) of uint8 as a data URL."""
    rows = pixels.reshape(height, width)
    raw = b"".join(b"\0" + row.tobytes() for row in rows)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b""))
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()


def _policy(style: str, script: str) -> str:
    """Return the policy: the style, the script and the pictures of this page, no more."""
    marks = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (style, script)
    ]
    return (
        f"default-src 'none'; style-src 'sha256-{marks[0]}'; script-src 'sha256-{marks[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


@cache
def _environment() -> Any:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_file),
        autoescape=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals |= {"shown": shown, "exact": exact}
    return environment


@cache
def _file(name: str) -> str:
    return (files("mercer.report") / "page" / name).read_text(encoding="utf-8")


def shown(cell: Any, head: str = "") -> str:
    """Return a cell as people read it: four figures of a number, nothing for None.

    Shares in per cent have one decimal, or two figures where they are small; correlations two
    decimals, weights and angles three figures.
    """
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        for word, written in _WRITTEN.items():
            if word in head:
                return written(cell)
        if 1e4 <= abs(cell) < 1e15:
            return f"{cell:,.0f}"
        small = cell != 0 and not 1e-3 <= abs(cell) < 1e6
        return f"{cell:.3g}" if small else f"{cell:,.4g}"
    return str(cell)


def _share(value: float) -> str:
    if value == 0 or abs(value) >= 0.1:
        return f"{value:.1f}"
    return f"{value:.2g}" if abs(value) >= 1e-3 else "<0.001"


_WRITTEN: dict[str, Callable[[float], str]] = {
    "%": _share,
    "correlation": lambda r: f"{r:.2f}",
    "weight": lambda w: f"{w:.3g}" if abs(w) >= 1e-3 else f"{w:.1g}",
    "error at most": lambda e: f"{e:.1g}",
    "°": lambda angle: f"{angle:.1f}",
}


def exact(cell: Any) -> str:
    """Return a cell for a file: all digits of a number."""
    return "" if cell is None else repr(cell) if isinstance(cell, float) else str(cell)


def refuse_page(target: Path, got: str = "") -> None:
    """Refuse a page that cannot be written there; `got` is what was given."""
    path_of(target)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(
            "a report is an HTML file",
            got=got or target.name,
            fix="give it a name that ends in .html",
        )
    if not target.resolve().parent.is_dir():
        raise InputError(
            "the folder to write to does not exist",
            got=got or str(target.parent),
            fix="make it first",
        )
    refuse_table(target)


@final
class Report:
    """One self-contained HTML page; it needs no server and no network.

    Parameters
    ----------
    page : Page
        What it shows.
    files : set of device and inode
        The files of which it tells: the page never takes the place of one.
    """

    def __init__(self, page: Page, files: FileIds = frozenset()) -> None:
        self.page, self._files = page, files

    @cached_property
    def html(self) -> str:
        """The page as text."""
        return html_of(self.page)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page, whole or not at all, and return where it is."""
        from mercer.store import naming, replacing, write_all

        target = path_of(path)
        refuse_own_input(target, self._files)
        refuse_page(target)
        with naming(target), replacing(target.resolve()) as descriptor:
            write_all(descriptor, self.html.encode())
        return target

    def _repr_html_(self) -> str:
        """Return the page inside a frame, for notebooks."""
        inside = html.escape(self.html, quote=True)
        return (
            f'<iframe srcdoc="{inside}" width="100%" height="800" frameborder="0" '
            'sandbox="allow-scripts allow-downloads"></iframe>'
        )

    def __repr__(self) -> str:
        """Return a line."""
        return f"<Report {self.page.title!r}, {len(self.html) / 1e6:.2f} MB>"
