"""What a page is made of: words, tables, pictures, maps. No writer in sight."""

import dataclasses
from typing import Any, final

from mercer.plots import Panel


@final
@dataclasses.dataclass(frozen=True)
class Table:
    """A table that can be read without scripts, and saved as CSV with them.

    Attributes
    ----------
    caption : str
        What it shows.
    head : tuple of str
        Names of the columns.
    rows : tuple of tuples
        Cells: text, numbers, or None for none.
    note : str
        Words below.
    chosen : tuple of int
        Rows that stand out.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""
    chosen: tuple[int, ...] = ()

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which columns hold numbers, and are set flush right."""
        return tuple(
            any(isinstance(row[j], int | float) for row in self.rows)
            for j in range(len(self.head))
        )


@final
@dataclasses.dataclass(frozen=True)
class Picture:
    """A panel with words below it."""

    panel: Panel
    words: str = ""


@final
@dataclasses.dataclass(frozen=True)
class MapView:
    """A view of the cloud on two of its components.

    Attributes
    ----------
    key : str
        Its name on the page.
    axes : tuple of int
        The two components, counted from 0; they may be the same.
    groups, arrows : bool
        Whether ellipses of groups, and arrows of variables, can be shown.
    words : str
        Words below.
    """

    key: str
    axes: tuple[int, int]
    groups: bool = False
    arrows: bool = False
    words: str = ""


@final
@dataclasses.dataclass(frozen=True)
class Images:
    """Grey pictures beside each other.

    Attributes
    ----------
    title, note : str
        Words above and below.
    width, height : int
        Pixels.
    pixels : array of uint8, shape (m, height * width)
        The pictures.
    captions : tuple of str
        One for each.
    """

    title: str
    width: int
    height: int
    pixels: Any
    captions: tuple[str, ...]
    note: str = ""


@final
@dataclasses.dataclass(frozen=True)
class Steps:
    """Grey pictures behind a slider; attributes as of `Images`, `labels` one for each step."""

    title: str
    width: int
    height: int
    pixels: Any
    labels: tuple[str, ...]
    note: str = ""


@final
@dataclasses.dataclass(frozen=True)
class Frames:
    """Panels of one frame behind a slider, a label each; `start`, or the middle one, first."""

    title: str
    panels: tuple[Panel, ...]
    labels: tuple[str, ...]
    note: str = ""
    start: int | None = None

    @property
    def first(self) -> int:
        """The panel that is shown without scripts."""
        return len(self.panels) // 2 if self.start is None else self.start


@final
@dataclasses.dataclass(frozen=True)
class Findings:
    """What is odd about the data: each with a code, what it is, the numbers, what to do."""

    findings: tuple[Any, ...]


@final
@dataclasses.dataclass(frozen=True)
class Code:
    """Lines to copy."""

    title: str
    text: str


Part = Table | Picture | MapView | Images | Steps | Frames | Findings | Code


@final
@dataclasses.dataclass(frozen=True)
class Section:
    """A question and its answer: words first, then what shows it."""

    key: str
    title: str
    words: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()


@final
@dataclasses.dataclass(frozen=True)
class Page:
    """A whole page.

    Attributes
    ----------
    title : str
        Its title.
    facts : tuple of str
        Rows, columns, method: a few words each.
    verdict : tuple of str
        Sentences; the first is the shortest answer.
    sections : tuple of Section
        In reading order.
    cloud : Cloud or None
        The rows of the map.
    arrows : dict or None
        ``{"names": [...], "ends": [[...] per component]}``: the variables of a biplot.
    """

    title: str
    facts: tuple[str, ...]
    verdict: tuple[str, ...]
    sections: tuple[Section, ...]
    cloud: Any = None
    arrows: dict[str, Any] | None = None
