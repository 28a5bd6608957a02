"""Colours that stay apart for colour-blind readers, each paired with a shape."""

from mercer.plots._marks import Shape

PAPER = "#ffffff"
INK = "#222222"
MUTED = "#666666"
PALE = "#8f8f8f"  # marks that count less, still 3 : 1 against the paper
GRID = "#e6e6e6"
SOFT = "#bbbbbb"
CHANCE = "#d55e00"  # what chance alone would do, and limits

# What the greys become on a dark ground.
NIGHT = {
    INK: "#eeeeee",
    MUTED: "#b0b0b0",
    PALE: "#9a9a9a",
    GRID: "#333333",
    SOFT: "#666666",
    "#332288": "#9f8fe0",
    "#882255": "#d070a0",
    "#444444": "#c4c4c4",
}

# Contrast with the paper is at least 3 : 1. The order matters: two groups of the same shape
# (every fourth) stay apart under the three common colour deficiencies, which no set of twelve
# colours does by itself.
_COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#332288", "#882255",
    "#a67c00", "#117733", "#8c8c2a", "#4b97cc", "#444444", "#aa4499",
)  # fmt: skip
_SHAPES: tuple[Shape, ...] = ("circle", "square", "triangle", "diamond")

MANY = len(_COLOURS)


def group_style(index: int) -> tuple[str, Shape]:
    """Return colour and shape of group ``index``, both from fixed cycles."""
    return _COLOURS[index % MANY], _SHAPES[index % len(_SHAPES)]
