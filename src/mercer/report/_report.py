"""Report: a page that can be saved, and shown in a notebook."""

import html
import os
from functools import cached_property
from pathlib import Path
from typing import final

from mercer.errors import InputError
from mercer.report._page import html_of
from mercer.report._parts import Page


@final
class Report:
    """One self-contained HTML page; it needs no server and no network.

    Parameters
    ----------
    page : Page
        What it shows.
    """

    def __init__(self, page: Page) -> None:
        self.page = page

    @cached_property
    def html(self) -> str:
        """The page as text."""
        return html_of(self.page)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page, whole or not at all, and return where it is."""
        from mercer.store import replacing, write_all

        target = Path(path)
        if target.suffix.lower() not in (".html", ".htm"):
            raise InputError(
                "a report is an HTML file",
                got=target.name,
                fix="give it a name that ends in .html",
            )
        if not target.resolve().parent.is_dir():
            raise InputError(
                "the folder to write to does not exist",
                got=str(target.parent),
                fix="make it first",
            )
        with replacing(target.resolve()) as descriptor:
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
