"""Colours that stay apart for colour-blind readers, each paired with a shape."""

from mercer.plots._marks import Shape

__all__ = ["GRID", "INK", "MANY", "MUTED", "PAPER", "SOFT", "group_style"]

PAPER = "#ffffff"
INK = "#222222"
MUTED = "#666666"
GRID = "#e6e6e6"
SOFT = "#bbbbbb"

# Dark enough for small marks on white, and apart under the three common colour deficiencies;
# the shapes carry the rest, since no set of twelve colours is safe by itself.
_COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#332288", "#882255",
    "#56a0d3", "#b8860b", "#117733", "#444444", "#aa4499", "#999933",
)  # fmt: skip
_SHAPES: tuple[Shape, ...] = ("circle", "square", "triangle", "diamond")

MANY = len(_COLOURS)


def group_style(index: int) -> tuple[str, Shape]:
    """Return colour and shape of group ``index``, both from fixed cycles."""
    return _COLOURS[index % MANY], _SHAPES[index % len(_SHAPES)]
