"""Pictures of numbers: a panel is described once as marks, and a writer draws it.

Numbers or a fitted model become a `Panel`; `figure` writes panels as SVG, `draw` puts one on
the axes of matplotlib. The makers whose name ends in ``_of`` read a fitted model.
"""

from mercer.plots._marks import Arrows, Axes, Band, Bars, Line, Panel, Points, Text, Whiskers
from mercer.plots._palette import group_style
from mercer.plots.charts._biplot import biplot, biplot_coordinates
from mercer.plots.charts._correlation_circle import circle
from mercer.plots.charts._loadings import contributions, heaviest, loadings
from mercer.plots.charts._model_charts import (
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
from mercer.plots.charts._outlier_map import outlier_map
from mercer.plots.charts._point_maps import PointKind, points_map, scores
from mercer.plots.charts._scree import scree, shares
from mercer.plots.drawing._matplotlib import draw
from mercer.plots.drawing._svg import figure

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
