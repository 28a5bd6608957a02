"""Matrices known by their products with thin blocks."""

from mercer.operators._centring import Centring, Moments
from mercer.operators._dense_or_sparse import centred, rows_of
from mercer.operators._operator import Dense, Operator, Transposed
from mercer.operators._scaling import (
    LEAST_SPREAD,
    Scaling,
    exact_means,
    is_constant,
    refuse_lost,
)
from mercer.operators._weighted_table import Framed
from mercer.operators.completion._compiled_expectation import is_worth_compiling
from mercer.operators.completion._completed_rows import (
    CompletedBlocks,
    CompletedParts,
    CompletionSumsOfParts,
)
from mercer.operators.completion._completion_model import (
    Completion,
    drawn,
    empty_rows,
    projected,
)
from mercer.operators.completion._completion_sums import CompletionSums
from mercer.operators.completion._expectation_maximisation import (
    Completed,
    CompletionRule,
    complete,
    first_basis,
    first_completion,
    missing_information,
)
from mercer.operators.completion._gap_survey import PartsSurvey, Survey, SurveyOfParts
from mercer.operators.graphs._edge_weights import WEIGHTS, Weighing
from mercer.operators.graphs._graph import (
    SYMMETRIES,
    Graph,
    Pieces,
    band_front,
    geodesics,
    graph,
    graph_from,
    one_piece,
    pieces_of,
    whole_graph,
)
from mercer.operators.graphs._neighbours import SEARCHES, Neighbours, Searcher, neighbours
from mercer.operators.graphs._normalised_graph import Filtered, NormalisedGraph
from mercer.operators.kernel_matrices._centred_kernel import (
    AsymmetryError,
    CentredKernel,
    share_lost,
    side_dtype,
    take_out,
)
from mercer.operators.kernel_matrices._kernel_matrix import (
    KernelMatrix,
    given_kernel_matrix,
    kernel_matrix,
)
from mercer.operators.kernel_matrices._kernel_tiles import KernelTiles, kernel_tiles
from mercer.operators.kernel_matrices._landmark_samplers import SAMPLERS, Factor, choose, select
from mercer.operators.kernel_matrices._landmark_sums import LandmarkSums
from mercer.operators.kernel_matrices._landmarks import Landmarks
from mercer.operators.robust._column_scales import column_scales
from mercer.operators.robust._rows_about_origin import RowsAboutOrigin
from mercer.operators.robust._spatial_median import SpatialMedian, spatial_median
from mercer.operators.robust._spatial_signs import SpatialSigns
from mercer.operators.rows._block_rows import BlockRows, block_length, panel_rows, wrong_weights
from mercer.operators.rows._centred_blocks import CentredBlocks
from mercer.operators.rows._centred_rows import CentredColumns, CentredRows
from mercer.operators.rows._centred_sparse import CentredSparse
from mercer.operators.rows._dense_rows import DenseRows, Rows
from mercer.operators.rows._distributed_rows import CentredParts, SpreadRows
from mercer.operators.rows._grouped_rows import GroupedRows, GroupMoments
from mercer.operators.rows._row_halves import Halves, half_runs, run_length, scatter_by_halves
from mercer.operators.rows._running_moments import RunningMoments
from mercer.operators.rows._running_svd import RunningSvd, sketch_rank
from mercer.operators.rows._source_walk import Journal, Sums, fetched, fold
from mercer.operators.rows._sparse_rows import SparseRows
from mercer.operators.sparse._dense_columns import gram_bytes, gram_flops
from mercer.operators.sparse._shift_inverse import ShiftInverse

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
    "CompletionRule",
    "CompletionSums",
    "CompletionSumsOfParts",
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
    "Rows",
    "RowsAboutOrigin",
    "RunningMoments",
    "RunningSvd",
    "Scaling",
    "Searcher",
    "ShiftInverse",
    "SparseRows",
    "SpatialMedian",
    "SpatialSigns",
    "SpreadRows",
    "Sums",
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
