"""Pictures of numbers: a panel is described once as marks, and a writer draws it."""

from mercer.plots._loadings import heaviest, loadings
from mercer.plots._marks import Axes, Bars, Line, Panel, Points, Text
from mercer.plots._palette import group_style
from mercer.plots._scores import scores
from mercer.plots._scree import scree
from mercer.plots._svg import figure

__all__ = [
    "Axes",
    "Bars",
    "Line",
    "Panel",
    "Points",
    "Text",
    "figure",
    "group_style",
    "heaviest",
    "loadings",
    "scores",
    "scree",
]
