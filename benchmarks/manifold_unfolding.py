"""Maximum variance unfolding: ``python -m benchmarks manifold-unfolding``.

Each case runs in a process of its own. Rows are scikit-learn's S-curve and swiss roll; the
first axis is correlated with the parameter t that made the rows and with the length along the
sheet, which for the roll is another function of t (its correlation with t is 0.9918 at best).
There is no rival: no Python package has the method.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scale import Cell, run_cases
from benchmarks.watch import Watch, facts_of


def s_curve() -> Cell:
    """1,000 points of an S-curve: correlation 0.99 in 5 minutes."""
    return unfolded("s_curve", 1000)


def swiss_roll() -> Cell:
    """1,000 points of a swiss roll: correlation 0.99 in 5 minutes."""
    return unfolded("swiss_roll", 1000)


def landmarks() -> Cell:
    """20,000 points of a swiss roll by landmarks."""
    return unfolded("swiss_roll", 20_000)


def thin_roll() -> Cell:
    """300 points of a swiss roll, too thin for the method, which must say so."""
    cell = unfolded("swiss_roll", 300)
    return cell | {"holds": not cell["flat"], "target": "says that the rows do not lie flat"}


def unfolded(name: str, n: int) -> Cell:
    """Return what an unfolding took, what it recovered and what it proves."""
    from sklearn import datasets

    from mercer import MaximumVarianceUnfolding

    rows, t = getattr(datasets, f"make_{name}")(n, random_state=0)
    along = t if name == "s_curve" else 0.5 * (t * np.sqrt(1 + t**2) + np.arcsinh(t))
    MaximumVarianceUnfolding().fit(datasets.make_s_curve(100, random_state=2)[0])  # libraries
    began = time.process_time()
    with Watch() as ours, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MaximumVarianceUnfolding().fit(rows)
    spent = time.process_time() - began  # as the machine may be busy
    first = model.embedding_[:, 0]
    found = [float(abs(np.corrcoef(first, place)[0, 1])) for place in (t, along)]
    made: Any = model.certificate_
    return {
        **facts_of(model, ours),
        "processor_seconds": spent,
        "correlation": found[0],
        "correlation_along": found[1],
        "relative_gap": made.relative_gap,
        "gap": made.duality_gap,
        "variance": made.variance,
        "bound": made.bound,
        "distance_error": made.distance_error,
        "points": made.points,
        "left": model.flatness_.left,
        "flat": model.flatness_.flat,
        "load": os.getloadavg()[0],
        "holds": bool(min(found) >= 0.99 and made.closed and ours.seconds < 300),
        "target": "correlation 0.99, gap stated, 5 minutes",
    }


CASES: dict[str, Callable[[], Cell]] = {
    "s-curve-1000": s_curve,
    "swiss-roll-1000": swiss_roll,
    "swiss-roll-300": thin_roll,
    "swiss-roll-20000": landmarks,
}


def run(out: Path, pattern: str = "*") -> None:
    """Measure every case that matches; cases measured before stay in the file."""
    run_cases(out, pattern, CASES, "benchmarks.manifold_unfolding")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(CASES[sys.argv[1]]()) + os.linesep)
