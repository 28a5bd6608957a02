"""The names of `mercer.planning`, and where they live."""

from mercer.planning._decision import Plan as Plan
from mercer.planning._decision import plan as plan
from mercer.planning._embedding_paths import landmark_count as landmark_count
from mercer.planning._graph_paths import foreseen_gap as foreseen_gap
from mercer.planning._graph_paths import joined_bytes as joined_bytes
from mercer.planning._kernel_paths import certifying_rows as certifying_rows
from mercer.planning._kernel_paths import columns_beyond as columns_beyond
from mercer.planning._kernel_paths import explicit_bytes as explicit_bytes
from mercer.planning._kernel_paths import few_walks as few_walks
from mercer.planning._kernel_paths import sampled_rows as sampled_rows
from mercer.planning._kernel_paths import shuffled_rows as shuffled_rows
from mercer.planning._kernel_paths import start_landmarks as start_landmarks
from mercer.planning._principal_paths import Path as Path
from mercer.planning._principal_paths import PathEndedError as PathEndedError
from mercer.planning._principal_paths import leading_solver as leading_solver
from mercer.planning._principal_paths import sketch_path as sketch_path
from mercer.planning._problem import LIBRARIES as LIBRARIES
from mercer.planning._problem import GraphCost as GraphCost
from mercer.planning._problem import KernelCost as KernelCost
from mercer.planning._problem import Machine as Machine
from mercer.planning._problem import Problem as Problem
from mercer.planning._problem import Workers as Workers
