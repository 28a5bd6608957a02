"""The names of `mercer.studies`, and where they live."""

from mercer.studies._bootstrap import Bootstrap as Bootstrap
from mercer.studies._bootstrap import bootstrap as bootstrap
from mercer.studies._cluster import Clusters as Clusters
from mercer.studies._cluster import cluster as cluster
from mercer.studies._describe import Described as Described
from mercer.studies._describe import Trait as Trait
from mercer.studies._describe import describe_axes as describe_axes
from mercer.studies._describe import describe_groups as describe_groups
from mercer.studies._how_many import how_many as how_many
from mercer.studies._model_health import health as health
from mercer.studies._rotate import Rotated as Rotated
from mercer.studies._rotate import rotate as rotate
from mercer.studies._separation import Separation as Separation
from mercer.studies._separation import separation as separation
from mercer.studies.drifting._drift import Drift as Drift
from mercer.studies.drifting._drift import drift as drift
from mercer.studies.tuning._tune import tune as tune
from mercer.studies.tuning._tuning_result import Candidate as Candidate
from mercer.studies.tuning._tuning_result import Tuning as Tuning
