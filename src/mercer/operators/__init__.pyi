"""The names of `mercer.operators`, and where they live."""

from mercer.operators._centring import Centring as Centring
from mercer.operators._centring import Moments as Moments
from mercer.operators._dense_or_sparse import centred as centred
from mercer.operators._dense_or_sparse import rows_of as rows_of
from mercer.operators._operator import Dense as Dense
from mercer.operators._operator import Operator as Operator
from mercer.operators._operator import Transposed as Transposed
from mercer.operators._scaling import LEAST_SPREAD as LEAST_SPREAD
from mercer.operators._scaling import ColumnsApartError as ColumnsApartError
from mercer.operators._scaling import Scaling as Scaling
from mercer.operators._scaling import exact_means as exact_means
from mercer.operators._scaling import in_levels as in_levels
from mercer.operators._scaling import is_constant as is_constant
from mercer.operators._scaling import levelled as levelled
from mercer.operators._scaling import refuse_lost as refuse_lost
from mercer.operators._weighted_table import Framed as Framed
from mercer.operators.completion._compiled_expectation import (
    is_worth_compiling as is_worth_compiling,
)
from mercer.operators.completion._completed_rows import CompletedBlocks as CompletedBlocks
from mercer.operators.completion._completed_rows import CompletedParts as CompletedParts
from mercer.operators.completion._completed_rows import (
    CompletionSumsOfParts as CompletionSumsOfParts,
)
from mercer.operators.completion._completion_model import Completion as Completion
from mercer.operators.completion._completion_model import drawn as drawn
from mercer.operators.completion._completion_model import empty_rows as empty_rows
from mercer.operators.completion._completion_model import projected as projected
from mercer.operators.completion._completion_sums import CompletionSums as CompletionSums
from mercer.operators.completion._expectation_maximisation import Completed as Completed
from mercer.operators.completion._expectation_maximisation import (
    CompletionRule as CompletionRule,
)
from mercer.operators.completion._expectation_maximisation import complete as complete
from mercer.operators.completion._expectation_maximisation import first_basis as first_basis
from mercer.operators.completion._expectation_maximisation import (
    first_completion as first_completion,
)
from mercer.operators.completion._expectation_maximisation import (
    missing_information as missing_information,
)
from mercer.operators.completion._expectation_maximisation import sums_width as sums_width
from mercer.operators.completion._gap_survey import PartsSurvey as PartsSurvey
from mercer.operators.completion._gap_survey import Survey as Survey
from mercer.operators.completion._gap_survey import SurveyOfParts as SurveyOfParts
from mercer.operators.graphs._edge_weights import WEIGHTS as WEIGHTS
from mercer.operators.graphs._edge_weights import Weighing as Weighing
from mercer.operators.graphs._graph import SYMMETRIES as SYMMETRIES
from mercer.operators.graphs._graph import Graph as Graph
from mercer.operators.graphs._graph import Pieces as Pieces
from mercer.operators.graphs._graph import band_front as band_front
from mercer.operators.graphs._graph import graph as graph
from mercer.operators.graphs._graph import graph_from as graph_from
from mercer.operators.graphs._graph import one_piece as one_piece
from mercer.operators.graphs._graph import pieces_of as pieces_of
from mercer.operators.graphs._graph import whole_graph as whole_graph
from mercer.operators.graphs._neighbours import SEARCHES as SEARCHES
from mercer.operators.graphs._neighbours import Neighbours as Neighbours
from mercer.operators.graphs._neighbours import Searcher as Searcher
from mercer.operators.graphs._neighbours import neighbours as neighbours
from mercer.operators.graphs._normalised_graph import Filtered as Filtered
from mercer.operators.graphs._normalised_graph import NormalisedGraph as NormalisedGraph
from mercer.operators.graphs._shortest_paths import geodesics as geodesics
from mercer.operators.kernel_matrices._centred_kernel import AsymmetryError as AsymmetryError
from mercer.operators.kernel_matrices._centred_kernel import CentredKernel as CentredKernel
from mercer.operators.kernel_matrices._centred_kernel import share_lost as share_lost
from mercer.operators.kernel_matrices._centred_kernel import side_dtype as side_dtype
from mercer.operators.kernel_matrices._centred_kernel import take_out as take_out
from mercer.operators.kernel_matrices._kernel_matrix import KernelMatrix as KernelMatrix
from mercer.operators.kernel_matrices._kernel_matrix import (
    given_kernel_matrix as given_kernel_matrix,
)
from mercer.operators.kernel_matrices._kernel_matrix import kernel_matrix as kernel_matrix
from mercer.operators.kernel_matrices._kernel_tiles import KernelTiles as KernelTiles
from mercer.operators.kernel_matrices._kernel_tiles import kernel_tiles as kernel_tiles
from mercer.operators.kernel_matrices._landmark_samplers import SAMPLERS as SAMPLERS
from mercer.operators.kernel_matrices._landmark_samplers import Factor as Factor
from mercer.operators.kernel_matrices._landmark_samplers import choose as choose
from mercer.operators.kernel_matrices._landmark_samplers import select as select
from mercer.operators.kernel_matrices._landmark_sums import LandmarkSums as LandmarkSums
from mercer.operators.kernel_matrices._landmarks import Landmarks as Landmarks
from mercer.operators.kernel_matrices._residual_sample import ResidualSample as ResidualSample
from mercer.operators.kernel_matrices._residual_sample import SampledResidual as SampledResidual
from mercer.operators.robust._column_scales import column_scales as column_scales
from mercer.operators.robust._rows_about_origin import RowsAboutOrigin as RowsAboutOrigin
from mercer.operators.robust._spatial_median import SpatialMedian as SpatialMedian
from mercer.operators.robust._spatial_median import spatial_median as spatial_median
from mercer.operators.robust._spatial_signs import SpatialSigns as SpatialSigns
from mercer.operators.rows._block_rows import BlockRows as BlockRows
from mercer.operators.rows._block_rows import block_length as block_length
from mercer.operators.rows._block_rows import panel_rows as panel_rows
from mercer.operators.rows._block_rows import wrong_weights as wrong_weights
from mercer.operators.rows._centred_blocks import CentredBlocks as CentredBlocks
from mercer.operators.rows._centred_rows import CentredColumns as CentredColumns
from mercer.operators.rows._centred_rows import CentredRows as CentredRows
from mercer.operators.rows._centred_sparse import CentredSparse as CentredSparse
from mercer.operators.rows._dense_rows import DenseRows as DenseRows
from mercer.operators.rows._dense_rows import Rows as Rows
from mercer.operators.rows._distributed_rows import CentredParts as CentredParts
from mercer.operators.rows._distributed_rows import SpreadRows as SpreadRows
from mercer.operators.rows._grouped_rows import GroupedRows as GroupedRows
from mercer.operators.rows._grouped_rows import GroupMoments as GroupMoments
from mercer.operators.rows._row_halves import Halves as Halves
from mercer.operators.rows._row_halves import half_runs as half_runs
from mercer.operators.rows._row_halves import run_length as run_length
from mercer.operators.rows._row_halves import scatter_by_halves as scatter_by_halves
from mercer.operators.rows._running_moments import RunningMoments as RunningMoments
from mercer.operators.rows._running_svd import RunningSvd as RunningSvd
from mercer.operators.rows._running_svd import sketch_rank as sketch_rank
from mercer.operators.rows._source_walk import Journal as Journal
from mercer.operators.rows._source_walk import Sums as Sums
from mercer.operators.rows._source_walk import fetched as fetched
from mercer.operators.rows._source_walk import fold as fold
from mercer.operators.rows._sparse_rows import SparseRows as SparseRows
from mercer.operators.sparse._dense_columns import gram_bytes as gram_bytes
from mercer.operators.sparse._dense_columns import gram_flops as gram_flops
from mercer.operators.sparse._dense_columns import sparse_loading as sparse_loading
from mercer.operators.sparse._shift_inverse import ShiftInverse as ShiftInverse
