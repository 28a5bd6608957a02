"""Frozen numbers about a fit."""

from mercer.diagnostics._axis_reading import (
    contributions,
    correlations,
    cos2,
    loadings,
    q,
    q_contributions,
    sampling_error,
    t2,
    t2_contributions,
)
from mercer.diagnostics._drawn_ellipse import outline
from mercer.diagnostics._group_tests import (
    barycentres,
    correlation_ratios,
    correlations_tested,
    false_shares,
    group_tests,
    p_of,
    read_levels,
    shares_tests,
    spread_of,
    v_tests,
)
from mercer.diagnostics._held_out import HeldOut, held_out
from mercer.diagnostics._kernel_measures import effective_rank, linear_alignment
from mercer.diagnostics._neighbour_ranks import neighbour_ranks
from mercer.diagnostics._outlier_laws import q_limit, q_limit_new, t2_limit, t2_limit_new
from mercer.diagnostics._outliers import Limits, Outliers, fitted_limits, in_limits, outliers
from mercer.diagnostics._rotation import Rotation, orthomax, promax
from mercer.diagnostics._wilks import WilksTests, wilks_tests
from mercer.diagnostics.health_checks._findings import CODES, Finding
from mercer.diagnostics.health_checks._health import health

__all__ = [
    "CODES",
    "Finding",
    "HeldOut",
    "Limits",
    "Outliers",
    "Rotation",
    "WilksTests",
    "barycentres",
    "contributions",
    "correlation_ratios",
    "correlations",
    "correlations_tested",
    "cos2",
    "effective_rank",
    "false_shares",
    "fitted_limits",
    "group_tests",
    "health",
    "held_out",
    "in_limits",
    "linear_alignment",
    "loadings",
    "neighbour_ranks",
    "orthomax",
    "outliers",
    "outline",
    "p_of",
    "promax",
    "q",
    "q_contributions",
    "q_limit",
    "q_limit_new",
    "read_levels",
    "sampling_error",
    "shares_tests",
    "spread_of",
    "t2",
    "t2_contributions",
    "t2_limit",
    "t2_limit_new",
    "v_tests",
    "wilks_tests",
]
