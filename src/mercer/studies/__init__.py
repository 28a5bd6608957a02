"""Studies: many fits of one table, and what they say together."""

from mercer.studies._bootstrap import Bootstrap, bootstrap
from mercer.studies._cluster import Clusters, cluster
from mercer.studies._describe import Described, Trait, describe_axes, describe_groups
from mercer.studies._how_many import how_many
from mercer.studies._model_health import health
from mercer.studies._rotate import Rotated, rotate
from mercer.studies._separation import Separation, separation
from mercer.studies.drifting._drift import Drift, drift
from mercer.studies.tuning._tune import tune
from mercer.studies.tuning._tuning_result import Candidate, Tuning

__all__ = [
    "Bootstrap",
    "Candidate",
    "Clusters",
    "Described",
    "Drift",
    "Rotated",
    "Separation",
    "Trait",
    "Tuning",
    "bootstrap",
    "cluster",
    "describe_axes",
    "describe_groups",
    "drift",
    "health",
    "how_many",
    "rotate",
    "separation",
    "tune",
]
