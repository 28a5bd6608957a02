"""Studies: many fits of one table, and what they say together."""

from mercer.studies._bootstrap import Bootstrap, bootstrap
from mercer.studies._drift import Drift, drift
from mercer.studies._health import health
from mercer.studies._how_many import how_many
from mercer.studies._separation import Separation, separation
from mercer.studies._tune import tune
from mercer.studies._tuning import Candidate, Tuning

__all__ = [
    "Bootstrap",
    "Candidate",
    "Drift",
    "Separation",
    "Tuning",
    "bootstrap",
    "drift",
    "health",
    "how_many",
    "separation",
    "tune",
]
