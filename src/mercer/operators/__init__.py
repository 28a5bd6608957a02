"""Matrices known by their products with thin blocks."""

from mercer.operators._base import Dense, Operator, Transposed
from mercer.operators._block_rows import BlockRows, block_length, panel_rows, wrong_weights
from mercer.operators._centred import CentredColumns, CentredRows
from mercer.operators._centred_blocks import CentredBlocks
from mercer.operators._centred_kernel import (
    AsymmetryError,
    CentredKernel,
    share_lost,
    side_dtype,
    take_out,
)
from mercer.operators._centred_sparse import CentredSparse
from mercer.operators._centring import Centring, Moments
from mercer.operators._choose import centred, rows_of
from mercer.operators._column_scales import column_scales
from mercer.operators._compiled_expectation import is_worth_compiling
from mercer.operators._completed_blocks import CompletedBlocks
from mercer.operators._completed_parts import CompletedParts, SumsOfParts
from mercer.operators._completing import (
    Completed,
    Rule,
    complete,
    first_basis,
    first_completion,
)
from mercer.operators._completion import Completion, empty_rows
from mercer.operators._completion_draws import drawn, projected
from mercer.operators._completion_sums import CompletionSums
from mercer.operators._filtered import Filtered
from mercer.operators._framed import Framed
from mercer.operators._geodesics import geodesics
from mercer.operators._graph import (
    SYMMETRIES,
    Graph,
    band_front,
    graph,
    graph_from,
    whole_graph,
)
from mercer.operators._graph_pieces import Pieces, one_piece, pieces_of
from mercer.operators._graph_weights import WEIGHTS, Weighing
from mercer.operators._grouped_rows import GroupedRows, GroupMoments
from mercer.operators._halves import Halves, half_runs, run_length, scatter_by_halves
from mercer.operators._inverse import ShiftInverse
from mercer.operators._kernel_matrix import KernelMatrix, given_kernel_matrix, kernel_matrix
from mercer.operators._kernel_tiles import KernelTiles, kernel_tiles
from mercer.operators._landmark_sums import LandmarkSums
from mercer.operators._landmarks import Landmarks
from mercer.operators._missing_information import missing_information
from mercer.operators._neighbours import SEARCHES, Neighbours, Searcher, neighbours
from mercer.operators._normalised_graph import NormalisedGraph
from mercer.operators._pivots import SAMPLERS, Factor, choose, select
from mercer.operators._placed import Placed
from mercer.operators._rows import DenseRows, Rows
from mercer.operators._running import RunningMoments
from mercer.operators._running_svd import RunningSvd, sketch_rank
from mercer.operators._scaling import (
    LEAST_SPREAD,
    Scaling,
    exact_means,
    is_constant,
    refuse_lost,
)
from mercer.operators._signs import Signs
from mercer.operators._sparse_rows import SparseRows
from mercer.operators._sparse_split import gram_bytes, gram_flops
from mercer.operators._spatial import SpatialMedian, spatial_median
from mercer.operators._spread_rows import CentredParts, SpreadRows
from mercer.operators._survey import Survey
from mercer.operators._survey_parts import PartsSurvey, SurveyOfParts
from mercer.operators._walk import Journal, Sums, fetched, fold

__all__ = [
    "LEAST_SPREAD",
    "SAMPLERS",
    "SEARCHES",
    "SYMMETRIES",
    "WEIGHTS",
    "AsymmetryError",
    "BlockRows",
    "CentredBlocks",
    "CentredColumns",
    "CentredKernel",
    "CentredParts",
    "CentredRows",
    "CentredSparse",
    "Centring",
    "Completed",
    "CompletedBlocks",
    "CompletedParts",
    "Completion",
    "CompletionSums",
    "Dense",
    "DenseRows",
    "Factor",
    "Filtered",
    "Framed",
    "Graph",
    "GroupMoments",
    "GroupedRows",
    "Halves",
    "Journal",
    "KernelMatrix",
    "KernelTiles",
    "LandmarkSums",
    "Landmarks",
    "Moments",
    "Neighbours",
    "NormalisedGraph",
    "Operator",
    "PartsSurvey",
    "Pieces",
    "Placed",
    "Rows",
    "Rule",
    "RunningMoments",
    "RunningSvd",
    "Scaling",
    "Searcher",
    "ShiftInverse",
    "Signs",
    "SparseRows",
    "SpatialMedian",
    "SpreadRows",
    "Sums",
    "SumsOfParts",
    "Survey",
    "SurveyOfParts",
    "Transposed",
    "Weighing",
    "band_front",
    "block_length",
    "centred",
    "choose",
    "column_scales",
    "complete",
    "drawn",
    "empty_rows",
    "exact_means",
    "fetched",
    "first_basis",
    "first_completion",
    "fold",
    "geodesics",
    "given_kernel_matrix",
    "gram_bytes",
    "gram_flops",
    "graph",
    "graph_from",
    "half_runs",
    "is_constant",
    "is_worth_compiling",
    "kernel_matrix",
    "kernel_tiles",
    "missing_information",
    "neighbours",
    "one_piece",
    "panel_rows",
    "pieces_of",
    "projected",
    "refuse_lost",
    "rows_of",
    "run_length",
    "scatter_by_halves",
    "select",
    "share_lost",
    "side_dtype",
    "sketch_rank",
    "spatial_median",
    "take_out",
    "whole_graph",
    "wrong_weights",
]
