"""Pictures and tables of `maps.py`."""

from typing import Any

import numpy as np

from mercer.plots import Axes, Line, Panel, Points, Text, figure, group_style

DRAWN = 300  # points a map
SIZE = (238.0, 262.0)
WIDEST = 1040.0
INK = "#222222"
# From one end of a sheet to the other, dark to light.
ALONG = (
    "#0d0887", "#4b03a1", "#7d03a8", "#a82296", "#cb4679", "#e56b5d", "#f89441", "#fdb42f",
)  # fmt: skip


def sheet_of(rows: Any, drawn: list[tuple[dict[str, Any], np.ndarray, np.ndarray]]) -> str:
    """Return the maps of one set side by side as SVG, the rows themselves first."""
    panels = [_rows_panel(rows)]
    for found, Z, kept in drawn:
        axes = Axes(found["method"], note=_note(found), equal=True, x_ticks=(), y_ticks=())
        panels.append(Panel(axes, _clouds(rows, Z, kept), *SIZE))
    note = "equal units; axes have no name and no direction"
    return figure(panels, title=f"{rows.title}, {len(rows.X)} rows", note=note, widest=WIDEST)


def _note(found: dict[str, Any]) -> str:
    """Return the numbers that matter most, in a line."""
    kept = f"trust {found['trust']:.2f}"
    if found["said"] and found["said"][0].startswith("refused"):
        return "refused: two pieces. One is drawn"
    if "length" in found:
        return f"length {found['length']:.2f}, sheet {found['sheet']:.2f}, {kept}"
    if "ring" in found:
        return f"ring {found['ring']:.2f}, {kept}"
    return f"same group {found['same']:.2f}, {kept}"


def _rows_panel(rows: Any) -> Panel:
    """Draw the rows themselves, or the names of the groups where they have many columns."""
    kept = np.arange(len(rows.X))
    if rows.seen is not None:
        note = "colour: length along the sheet" if rows.group is None else "not touching"
        axes = Axes("The rows", note=note, equal=True, x_ticks=(), y_ticks=())
        return Panel(axes, _clouds(rows, rows.seen, kept), *SIZE)
    axes = Axes(
        "The groups",
        note=f"{rows.X.shape[1]} columns",
        x_ticks=(),
        y_ticks=(),
        x_range=(0.0, 2.0),
        y_range=(-5.0, 0.5),
    )
    marks: list[Any] = []
    for g, group in enumerate(np.unique(rows.group)):
        x, y = 0.3 + (g // 5), -1.0 * (g % 5)
        marks.append(Points((x,), (y,), *group_style(g), radius=4.0))
        marks.append(Text(x + 0.15, y, f"{group}", INK, anchor="start"))
    return Panel(axes, tuple(marks), *SIZE)


def _clouds(rows: Any, Z: np.ndarray, kept: np.ndarray) -> tuple[Points, ...]:
    """Return at most 300 points, coloured by the length along the sheet or by group."""
    some = np.arange(0, len(kept), -(-len(kept) // DRAWN))
    if rows.group is not None:
        parts, member = np.unique(rows.group, return_inverse=True)
        styles = [group_style(g) for g in range(len(parts))]
    else:
        ranks = np.argsort(np.argsort(rows.sheet[:, 0]))
        member = ranks * len(ALONG) // len(ranks)
        styles = [(colour, "square") for colour in ALONG]
    member = member[kept]
    out = []
    for g, (colour, shape) in enumerate(styles):
        inside = some[member[some] == g]
        x, y = (tuple(map(float, Z[inside, axis])) for axis in (0, 1))
        out.append(Points(x, y, colour, shape, radius=2.0))
    return tuple(cloud for cloud in out if cloud.x)


def curves(numbers: dict[str, list[dict[str, Any]]]) -> str:
    """Return the sweeps over neighbours, lengthscales and rows as SVG."""
    panels = [
        _curves(
            "Neighbours", "neighbours of a row", numbers["neighbours"], "neighbours",
            ("Isomap", "LLE, ltsa", "Eigenmaps"),
        ),
        _curves(
            "Lengthscale", "lengthscale of the kernel", numbers["scale"],
            "scale", ("KernelPCA, 2 axes", "best of 10 axes", "DiffusionMaps"),
        ),
        _curves(
            "Rows", "rows, 6 neighbours", numbers["thin"], "rows",
            ("Isomap", "LLE, ltsa", "Unfolding"),
        ),
    ]  # fmt: skip
    note = "largest correlation of an axis with the length along the roll"
    return figure(panels, title="Swiss roll: when the length is lost", note=note, widest=WIDEST)


def _curves(
    title: str, label: str, found: list[dict[str, Any]], key: str, names: tuple[str, ...]
) -> Panel:
    """Draw columns of a sweep; its values stand at even steps."""
    legend = tuple((name, *group_style(i)) for i, name in enumerate(names))
    marks: list[Any] = []
    for i, name in enumerate(names):
        pairs = [(at, one[name]) for at, one in enumerate(found)]
        x, y = zip(*[(float(a), b) for a, b in pairs if not isinstance(b, str)], strict=True)
        colour, shape = group_style(i)
        marks += [Line(x, y, colour), Points(x, y, colour, shape, radius=3.0)]
    axes = Axes(
        title,
        x_label=label,
        legend=legend,
        x_ticks=tuple((float(at), f"{one[key]:g}") for at, one in enumerate(found)),
        y_range=(0.0, 1.03),
    )
    return Panel(axes, tuple(marks), 325.0, 300.0)


def tables(numbers: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Return the tables as Markdown, one string each."""
    maps = numbers["maps"]
    out = []
    for name in dict.fromkeys(found["set"] for found in maps):
        of_set = [found for found in maps if found["set"] == name]
        known = [c for c in ("length", "sheet", "bent", "ring", "same") if c in of_set[0]]
        head = ["method", *known, "trust", "continuity", "s", "what it says"]
        body = [_row_of(found, known) for found in of_set]
        out.append(_table(head, body))
    for name in ("neighbours", "scale", "thin"):
        found = numbers[name]
        head = [key for key in found[0] if key != "said"]
        said = any(one["said"] for one in found if "said" in one)
        body = [
            [f"{one[key]:g}" if key == head[0] else _number(one[key]) for key in head]
            + (["; ".join(one["said"])] if said else [])
            for one in found
        ]
        out.append(_table([*head, "what it says"] if said else head, body))
    return out


def _row_of(found: dict[str, Any], known: list[str]) -> list[str]:
    """Return the cells of one map; a share that the model says twice is said once."""
    cells = [_number(found.get(key, "")) for key in (*known, "trust", "continuity")]
    said = [one.split(": ")[0] if "lie flat" in one else one for one in found["said"]]
    seconds = f"{found['seconds']:.1f}"
    return [found["method"], *cells, seconds, "; ".join([*said, found["own"]])]


def _number(value: Any) -> str:
    """Return three places, or two digits of a small number; counts as they are."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.3f}" if value >= 0.001 or value == 0 else f"{value:.1g}"


def _table(head: list[str], body: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *body]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
