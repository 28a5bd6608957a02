"""Which path is taken, what it will cost, and why the others were not. Touches no array."""

from mercer.planning._decision import Plan, plan
from mercer.planning._embedding_paths import landmark_count
from mercer.planning._graph_paths import foreseen_gap
from mercer.planning._kernel_paths import (
    columns_beyond,
    few_walks,
    sampled_rows,
    shuffled_rows,
    start_landmarks,
)
from mercer.planning._machine_cost import Machine
from mercer.planning._principal_paths import Path, PathEndedError, leading_solver, sketch_path
from mercer.planning._problem import GraphCost, KernelCost, Problem, Workers

__all__ = [
    "GraphCost",
    "KernelCost",
    "Machine",
    "Path",
    "PathEndedError",
    "Plan",
    "Problem",
    "Workers",
    "columns_beyond",
    "few_walks",
    "foreseen_gap",
    "landmark_count",
    "leading_solver",
    "plan",
    "sampled_rows",
    "shuffled_rows",
    "sketch_path",
    "start_landmarks",
]
