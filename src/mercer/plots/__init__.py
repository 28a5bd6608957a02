"""Pictures of numbers: a panel is described once as marks, and a writer draws it.

Numbers or a fitted model become a `Panel`; `figure` writes panels as SVG, `draw` puts one on
the axes of matplotlib. The makers whose name ends in ``_of`` read a fitted model.
"""

from mercer.plots._biplot import biplot, biplot_coordinates
from mercer.plots._circle import circle
from mercer.plots._contributions import contributions
from mercer.plots._loadings import heaviest, loadings
from mercer.plots._marks import Arrows, Axes, Band, Bars, Line, Panel, Points, Text, Whiskers
from mercer.plots._matplotlib import draw
from mercer.plots._of_model import (
    biplot_of,
    circle_of,
    contributions_of,
    loadings_of,
    outlier_map_of,
    scores_of,
    scree_of,
    shares_of,
    spectrum_of,
)
from mercer.plots._outlier_map import outlier_map
from mercer.plots._palette import group_style
from mercer.plots._points_map import PointKind, points_map
from mercer.plots._scores import scores
from mercer.plots._scree import scree
from mercer.plots._shares import shares
from mercer.plots._svg import figure

__all__ = [
    "Arrows",
    "Axes",
    "Band",
    "Bars",
    "Line",
    "Panel",
    "PointKind",
    "Points",
    "Text",
    "Whiskers",
    "biplot",
    "biplot_coordinates",
    "biplot_of",
    "circle",
    "circle_of",
    "contributions",
    "contributions_of",
    "draw",
    "figure",
    "group_style",
    "heaviest",
    "loadings",
    "loadings_of",
    "outlier_map",
    "outlier_map_of",
    "points_map",
    "scores",
    "scores_of",
    "scree",
    "scree_of",
    "shares",
    "shares_of",
    "spectrum_of",
]
