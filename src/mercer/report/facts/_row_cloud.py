"""Cloud: the rows of a map, as few bytes as a page can bear.

Numbers become short text: whole numbers of 16 or 32 bits, deflated, in base64. The page
unpacks them with the browser's own tools (`page/cloud.js` is the other half).
"""

import base64
import dataclasses
import zlib
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.plots import group_style
from mercer.report._row_labels import MISSING, colours_of, levels_of

MOST_ROWS = 1_200_000  # that are drawn; of more a sample is
SAMPLE = 1_000_000
_ROW_NUMBERS = 400_000  # rows whose numbers go into the page
_GRID = 512  # places of the density, each way
_NAMED = 20_000  # rows whose names go into the page
_LONG = 100  # letters of a name
_RAMP_LOW, _RAMP_MIDDLE, _RAMP_HIGH = (68, 1, 84), (33, 145, 140), (253, 231, 37)


@final
@dataclasses.dataclass(frozen=True)
class Colour:
    """A column that the map is coloured by.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"one", "category", "number"}
        One colour for all, one for each level, or a ramp.
    at : uint8 array of shape (n,)
        Place of each row in the palette.
    palette : list of [r, g, b]
        The colours.
    levels : list of str or None
        Names of the levels.
    low, high : float
        Ends of a ramp.
    """

    name: str
    kind: str
    at: Array
    palette: list[list[int]]
    levels: list[str] | None = None
    low: float = 0.0
    high: float = 0.0


@final
@dataclasses.dataclass(frozen=True)
class RowCloud:
    """Coordinates and colours of rows.

    Attributes
    ----------
    names : tuple of str
        Names of the components.
    titles : tuple of str
        The same with their shares: axis labels.
    Z : array of shape (n, k)
        Coordinates of the rows that are drawn.
    colours : tuple of Colour
        Of these rows.
    rows : array of shape (n,) or None
        Their numbers in the data; None keeps them out of the page.
    row_names : sequence of str or None
        Names of all rows by number, for few.
    density : uint8 array of shape (g, g) or None
        How many of all rows lie at each place of the first two components, by the logarithm,
        between the least and the largest coordinates of the rows drawn; upwards by row.
    """

    names: tuple[str, ...]
    titles: tuple[str, ...]
    Z: Array
    colours: tuple[Colour, ...]
    rows: Array | None = None
    row_names: Sequence[str | None] | None = None
    density: Array | None = None

    @classmethod
    def of(
        cls,
        places: tuple[Sequence[str], Sequence[str], Array],
        colours: Sequence[Colour],
        at: Array,
        row_names: Sequence[str | None] | None,
        density: Array | None = None,
    ) -> "RowCloud":
        """Return rows by their places: names, titles and coordinates; `at` are their numbers.

        One colour for all comes last, and numbers are left out where they are too many.
        """
        names, titles, Z = places
        tints = (*colours, one_colour(len(at)))
        numbers = at if len(at) <= _ROW_NUMBERS else None
        return cls(tuple(names), tuple(titles), Z, tints, numbers, row_names, density)

    @property
    def grouped(self) -> bool:
        """Whether rows can be coloured by groups."""
        return any(colour.kind == "category" for colour in self.colours)

    def written(self) -> tuple[dict[str, Any], dict[str, str]]:
        """Return what the page knows of the cloud, and its packed arrays by name."""
        if self.Z.shape[1] == 0:
            raise InputError(
                "there is no axis on which rows could be drawn",
                got=f"{len(self.Z):,} rows, a model without axes",
                fix="check that the rows differ, or ask for a number of components",
            )
        q, low, high = quantised(np.asarray(self.Z, np.float64))
        n, k = q.shape
        data: dict[str, str] = {}
        if k == 1:
            order = np.argsort(q[:, 0], kind="stable")
            data["cloud-0"] = packed(q[order, 0])
        else:
            code = morton(q[:, 0], q[:, 1])
            order = np.argsort(code, kind="stable")
            data["cloud-plane"] = packed(np.diff(code[order], prepend=np.uint32(0)))
            data |= {f"cloud-{j}": packed(q[order, j]) for j in range(2, k)}
        data |= {f"colour-{i}": packed(c.at[order]) for i, c in enumerate(self.colours)}
        if self.rows is not None:
            data["cloud-rows"] = packed(np.asarray(self.rows, np.uint32)[order])
        if self.density is not None:
            data["density"] = packed(self.density.reshape(-1))
        names = self.row_names if self.row_names is not None else ()
        about = {
            "n": n,
            "components": [
                {"name": name, "title": title, "low": float(a), "high": float(b)}
                for name, title, a, b in zip(self.names, self.titles, low, high, strict=True)
            ],
            "colours": [_described(colour) for colour in self.colours],
            "rows": self.rows is not None,
            "density": 0 if self.density is None else len(self.density),
            "names": _names(names) if 0 < len(names) <= _NAMED else None,
        }
        return about, data


def _names(names: Sequence[Any]) -> list[str]:
    """Return names for hovering, cut where they are long; a row without one has its number."""
    said = [f"row {i}" if name in (None, "") else str(name) for i, name in enumerate(names, 1)]
    return [name if len(name) <= _LONG else f"{name[:_LONG]}…" for name in said]


def density_of(Z: Array, low: Array, high: Array) -> Array:
    """Return log counts (512, 512) of rows by place, from 0 to 255; see `RowCloud`.

    Parameters
    ----------
    Z : array of shape (n, 2)
        Coordinates of all rows.
    low, high : array of shape (2,)
        The ends of the grid.
    """
    span = np.where(high > low, high - low, 1.0)
    place = np.clip(((Z - low) / span * _GRID).astype(np.int64), 0, _GRID - 1)
    counts = np.bincount(place[:, 1] * _GRID + place[:, 0], minlength=_GRID * _GRID)
    logs = np.log1p(counts)
    return (
        np.round(255 * logs / max(float(logs.max()), 1e-300))
        .astype(np.uint8)
        .reshape(_GRID, _GRID)
    )


def drawn_rows(n: int) -> Array:
    """Return the numbers of the rows that are drawn: all, or evenly spaced ones of many."""
    return np.arange(n) if n <= MOST_ROWS else np.linspace(0, n - 1, SAMPLE).astype(np.int64)


def axes_shown(n: int) -> int:
    """Return how many axes of n rows a page can bear."""
    return 6 if n <= 100_000 else 3 if n <= _ROW_NUMBERS else 2


def one_colour(n: int) -> Colour:
    """Return the colour of rows without groups."""
    return Colour("none", "one", np.zeros(n, np.uint8), [_rgb(group_style(0)[0])])


def asked_colours(given: Any, n: int, at: Any = slice(None)) -> list[Colour]:
    """Return the colours by the columns that were asked for, of the rows `at` of n."""
    return [column_colour(name, cells[at]) for name, cells in colours_of(given, n).items()]


def column_colour(name: str, values: Any) -> Colour:
    """Return the colours of a column: a ramp for more than twelve numbers, else levels."""
    if values.dtype.kind not in "fiu":
        return category_colour(name, values)
    there = np.unique(values[np.isfinite(values)])
    if len(there) > 12:
        return number_colour(name, values)
    texts = [f"{v:.12g}" if np.isfinite(v) else MISSING for v in values.tolist()]
    order = [f"{v:.12g}" for v in there.tolist()]
    return category_colour(name, texts, order)


def category_colour(name: str, labels: Any, order: Sequence[str] | None = None) -> Colour:
    """Return the colours of text: the eleven commonest levels and the others together.

    Levels stand in alphabetical order, or in that of `order`.
    """
    values, at, counts = levels_of(labels)
    if order is not None:
        place = {level: i for i, level in enumerate(order)}
        rank = np.argsort([place.get(str(v), len(place)) for v in values], kind="stable")
        values, counts, at = values[rank], counts[rank], np.argsort(rank)[at]
    if len(values) > 12:
        common = np.sort(np.argsort(-counts, kind="stable")[:11])
        seat = np.full(len(values), 11, np.uint8)
        seat[common] = np.arange(11)
        levels = [*map(str, values[common]), f"{len(values) - 11} others"]
        at = seat[at].astype(at.dtype)
    else:
        levels = [str(value) for value in values]
    palette = [_rgb(group_style(i)[0]) for i in range(len(levels))]
    return Colour(name, "category", np.asarray(at, np.uint8), palette, levels)


def number_colour(name: str, values: Array) -> Colour:
    """Return a ramp over the 1st to the 99th percentile; missing values are grey."""
    values = np.asarray(values, np.float64)
    there = np.isfinite(values)
    ends = np.percentile(values[there], [1, 99]) if there.any() else np.array([0.0, 1.0])
    low, high = float(ends[0]), float(ends[1])
    high = high if high > low else low + max(abs(low), 1.0)
    share = np.clip((np.where(there, values, low) - low) / (high - low), 0, 1)
    at = np.where(there, np.round(share * 254), 255).astype(np.uint8)
    palette = [_ramp(i / 254) for i in range(255)] + [[150, 150, 150]]
    return Colour(name, "number", at, palette, None, low, high)


def _described(colour: Colour) -> dict[str, Any]:
    plain = {"name": colour.name, "kind": colour.kind, "palette": colour.palette}
    return plain | {"levels": colour.levels, "low": colour.low, "high": colour.high}


def _rgb(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def _ramp(share: float) -> list[int]:
    """Return a colour between violet, teal and yellow, which grows lighter all the way."""
    first, last = (_RAMP_LOW, _RAMP_MIDDLE) if share < 0.5 else (_RAMP_MIDDLE, _RAMP_HIGH)
    part = 2 * share - (share >= 0.5)
    return [round(a + part * (b - a)) for a, b in zip(first, last, strict=True)]


_LEVELS = 65535


def packed(values: Array) -> str:
    """Return unsigned integers (n,) of 1, 2 or 4 bytes as text: low bytes first, deflated.

    Bytes of one rank stand together, because the high ones change little.
    """
    low_first = values.astype(values.dtype.newbyteorder("<"), copy=False)
    shuffled = low_first.view(np.uint8).reshape(len(values), values.itemsize).T
    return base64.b64encode(zlib.compress(np.ascontiguousarray(shuffled).tobytes(), 6)).decode()


def unpacked(text: str, dtype: type[np.unsignedinteger]) -> Array:
    """Return the integers of `packed`."""
    raw = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8)
    width = np.dtype(dtype).itemsize
    rows = np.ascontiguousarray(raw.reshape(width, -1).T)
    return rows.view(np.dtype(dtype).newbyteorder("<")).ravel()


def quantised(values: Array) -> tuple[Array, Array, Array]:
    """Return whole numbers q in 0…65535 with values ≈ low + q·(high - low)/65535.

    Parameters
    ----------
    values : array of shape (n, k)
        Coordinates, finite.

    Returns
    -------
    q : uint16 array of shape (n, k)
        The error is at most (high - low)/131070, a hundredth of a pixel on a wide screen.
    low, high : array of shape (k,)
        The ends of each column; high > low also where all values are equal.
    """
    low, high = values.min(axis=0), values.max(axis=0)
    high = np.where(high > low, high, low + np.maximum(np.abs(low), 1.0))
    q = np.round((values - low) / (high - low) * _LEVELS)
    return q.astype(np.uint16), low, high


def morton(x: Array, y: Array) -> Array:
    """Return codes of 32 bits whose even bits are x and whose odd bits are y.

    Points that follow each other in this order lie near each other: differences are small.
    """
    return _spread(x) | (_spread(y) << np.uint32(1))


def _spread(values: Array) -> Array:
    """Put a zero before every bit of 16."""
    bits = values.astype(np.uint32)
    for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        bits = (bits | (bits << np.uint32(shift))) & np.uint32(mask)
    return bits
