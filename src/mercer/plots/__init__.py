"""Pictures of numbers: a panel is described once as marks, and a writer draws it.

Numbers or a fitted model become a `Panel`; `figure` writes panels as SVG, `draw` puts one on
the axes of matplotlib. The makers whose name ends in ``_of`` read a fitted model.
"""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
