"""Counts, categories and factors: ``python -m benchmarks multivariate [--case PATTERN]``.

Every method of a case runs in a process of its own, so that its memory is its own: the data
are made there, a small table warms the libraries up, and the fit is repeated. Errors are those
of the inertias against float64 LAPACK on the matrix written down.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.runner import FOLDER
from benchmarks.scale import run_cases
from benchmarks.watch import Watch, facts_of

Cell = dict[str, Any]
Table = NDArray[Any]
REPEATS = 3
K = 10


def counts(m: int, n: int, rank: int = 60, seed: int = 0) -> Table:
    """Return whole counts (m, n), two a cell: `rank` factors whose sizes fall as i^-½."""
    rng = np.random.default_rng(seed)
    sizes = 0.5 / np.sqrt(np.arange(1, rank + 1))
    factors = (rng.standard_normal((m, rank)) * sizes) @ rng.standard_normal((rank, n))
    margins = np.outer(rng.gamma(4, size=m), rng.gamma(4, size=n)) / 8
    return rng.poisson(margins * np.logaddexp(0, 1 + factors))


def categories(n: int, variables: int, levels: int, seed: int = 0) -> Any:
    """Return a frame (n, variables) of text: levels that five hidden factors prefer."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((n, 5)) / np.sqrt(np.arange(1, 6))
    made = {}
    for name in range(variables):
        liking = hidden @ rng.standard_normal((5, levels)) + rng.gumbel(size=(n, levels))
        made[f"v{name}"] = np.array([f"level {i}" for i in range(levels)])[liking.argmax(1)]
    return pd.DataFrame(made)


def topics(m: int, n: int, each: int, seed: int = 0) -> Any:
    """Return sparse counts (m, n): texts of `each` words on one of twenty topics."""
    from scipy import sparse

    rng = np.random.default_rng(seed)
    words = rng.gamma(0.3, size=n) * rng.gamma(0.3, size=(20, n)) + 1e-9
    cumulated = np.cumsum(words, axis=1)
    cumulated /= cumulated[:, -1:]
    topic = rng.integers(0, 20, m)
    columns = np.empty((m, each), np.int32)
    for number in range(20):
        here = topic == number
        drawn = np.searchsorted(cumulated[number], rng.random((int(here.sum()), each)))
        columns[here] = np.minimum(drawn, n - 1)
    rows = np.repeat(np.arange(m, dtype=np.int32), each)
    table = sparse.csr_array((np.ones(m * each), (rows, columns.ravel())), shape=(m, n))
    table.sum_duplicates()
    return table


def inertias(table: Table) -> Table:
    """Return the inertias of a table by LAPACK's SVD of the matrix written down."""
    p = table / table.sum()
    r, c = p.sum(axis=1), p.sum(axis=0)
    a = (p - np.outer(r, c)) / np.sqrt(np.outer(r, c))
    values: Table = np.linalg.svd(a, compute_uv=False) ** 2
    return values


def _frame(size: int = 10_000) -> Any:
    import pandas as pd

    return pd.DataFrame(counts(size, size // 10))


def our_ca(size: int = 10_000) -> Cell:
    """Correspondence analysis of a frame by mercer."""
    from mercer import CorrespondenceAnalysis

    return _timed(lambda x: CorrespondenceAnalysis(K).fit(x), _frame(200), _frame(size))


def their_ca(size: int = 10_000) -> Cell:
    """Correspondence analysis of the same frame by prince, with its defaults."""
    import prince

    def fit(x: Any) -> Any:
        return prince.CA(n_components=K, random_state=0).fit(x)

    return _timed(fit, _frame(200), _frame(size))


def our_mca(n: int = 100_000) -> Cell:
    """Multiple correspondence analysis of a frame of text by mercer."""
    from mercer import MultipleCorrespondenceAnalysis

    small, large = categories(200, 20, 5), categories(n, 20, 5)
    return _timed(lambda x: MultipleCorrespondenceAnalysis(K).fit(x), small, large)


def their_mca(n: int = 100_000) -> Cell:
    """Multiple correspondence analysis of the same frame by prince, with its defaults."""
    import prince

    def fit(x: Any) -> Any:
        return prince.MCA(n_components=K, random_state=0).fit(x)

    return _timed(fit, categories(200, 20, 5), categories(n, 20, 5))


def ca_truth(size: int = 10_000) -> Cell:
    """Return the leading inertias by LAPACK."""
    return {"values": inertias(counts(size, size // 10))[:K].tolist()}


def mca_truth(n: int = 100_000) -> Cell:
    """Return the leading inertias of the indicator table by LAPACK."""
    import pandas as pd

    indicator = pd.get_dummies(categories(n, 20, 5)).to_numpy(np.float64)
    return {"values": inertias(indicator)[:K].tolist()}


def _timed(fit: Callable[[Any], Any], small: Any, large: Any) -> Cell:
    """Return the median seconds of some fits, the peak of the first, and the inertias."""
    fit(small)
    seconds, facts = [], {}
    for number in range(REPEATS):
        with Watch() as watch:
            model = fit(large)
        seconds.append(watch.seconds)
        if number == 0:
            facts = {"peak_bytes": watch.peak}
            if hasattr(model, "certificate_"):
                facts = facts_of(model, watch)
    return {**facts, "seconds": median(seconds), "values": list(map(float, model.eigenvalues_))}


PARTS: dict[str, Callable[[], Cell]] = {
    "our-ca": our_ca,
    "their-ca": their_ca,
    "ca-truth": ca_truth,
    "our-mca": our_mca,
    "their-mca": their_mca,
    "mca-truth": mca_truth,
}


def part(name: str) -> Cell:
    """Return what a part of a case measures in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.multivariate", name]
    done = subprocess.run(
        command, cwd=FOLDER.parent, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    found: Cell = json.loads(done.stdout.splitlines()[-1])
    return found


def compared(ours: Cell, theirs: Cell, truth: Cell) -> Cell:
    """Return a cell: five times as fast, a third of the memory, and more digits."""
    exact = np.array(truth["values"])
    errors = [
        float(np.max(np.abs(np.array(found["values"]) / exact - 1))) for found in (ours, theirs)
    ]
    ratio = theirs["seconds"] / ours["seconds"]
    memory = ours["peak_bytes"] / max(theirs["peak_bytes"], 1)
    return {
        **{name: fact for name, fact in ours.items() if name != "values"},
        "error": errors[0],
        "rival": "prince, its defaults",
        "rival_seconds": theirs["seconds"],
        "rival_error": errors[1],
        "rival_bytes": theirs["peak_bytes"],
        "ratio": ratio,
        "memory_share": memory,
        "holds": bool(ratio >= 5 and memory <= 1 / 3 and errors[0] <= errors[1]),
        "target": "5x prince, a third of its memory, a smaller error",
    }


def ca_10000() -> Cell:
    """10,000 x 1,000 counts, k = 10: five times prince, a third of its memory, more digits."""
    return compared(part("our-ca"), part("their-ca"), part("ca-truth"))


def mca_100000() -> Cell:
    """100,000 x 20 categories of five levels, k = 10: the same against prince."""
    return compared(part("our-mca"), part("their-mca"), part("mca-truth"))


def sparse_ca(m: int = 1_000_000, n: int = 10_000, each: int = 10) -> Cell:
    """1,000,000 x 10,000, ten words a row: within twice the sparse products of its passes."""
    from mercer import CorrespondenceAnalysis
    from mercer.operators import Framed

    table = topics(m, n, each)
    widths: list[int] = []
    whole = Framed.gram_matmat

    def counted(self: Any, q: Any) -> Any:
        widths.append(q.shape[1])
        return whole(self, q)

    Framed.gram_matmat = counted  # type: ignore[method-assign]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # words that no text has are left out
        CorrespondenceAnalysis(2, tol=0.1).fit(table[: m // 50])
        widths.clear()
        with Watch() as ours:
            model = CorrespondenceAnalysis(K).fit(table)
    floor = sum(_product(table, width) * widths.count(width) for width in set(widths))
    return {
        **facts_of(model, ours),
        "passes": len(widths),
        "stored_cells": int(table.nnz),
        "floor_seconds": floor,
        "over_floor": ours.seconds / floor,
        "rival": "prince refuses sparse tables; dense it would be 80 GB",
        "holds": bool(ours.seconds <= 2 * floor and model.certificate_.met),
        "target": "twice SciPy's sparse products of its passes, certified",
    }


def _product(table: Any, width: int) -> float:
    """Return the median seconds of SciPy's Aᵀ(AQ) for a block of that many columns."""
    block = np.random.default_rng(0).standard_normal((table.shape[1], width))
    seconds = []
    for _ in range(REPEATS):
        with Watch() as watch:
            table.T @ (table @ block)
        seconds.append(watch.seconds)
    return median(seconds)


def factor_iris() -> Cell:
    """150 x 4 measurements of irises, two factors: five times EM, and as likely."""
    from sklearn.datasets import load_iris
    from sklearn.decomposition import FactorAnalysis as Rival

    from mercer import FactorAnalysis

    X = load_iris().data
    Z, R = (X - X.mean(axis=0)) / X.std(axis=0), np.corrcoef(X.T)

    def deviance(noise: Table) -> float:
        """Return ln|S| + tr(R/S) of the likeliest loadings, no noise below a bound of 0.005."""
        root = np.sqrt(np.maximum(noise, 0.005))
        values = np.maximum(np.linalg.eigvalsh(R / root / root[:, None])[-2:], 1.0)
        return float(np.sum(2 * np.log(root) + root**-2) - np.sum(values - 1 - np.log(values)))

    def theirs() -> Any:
        return Rival(2, tol=1e-7 * len(X), max_iter=10_000, svd_method="lapack").fit(Z)

    def ours() -> Any:
        return FactorAnalysis(2).fit(X)

    cells: list[tuple[float, Any]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # four columns cannot tell two factors
        for fit in (ours, theirs):
            fit()
            seconds = []
            for _ in range(3 * REPEATS):
                with Watch() as watch:
                    model = fit()
                seconds.append(watch.seconds)
            cells.append((median(seconds), model))
    (mine, our), (other, their) = cells
    gain = deviance(their.noise_variance_) - deviance(our.noise_variance_)
    return {
        "seconds": mine,
        "rival": f"scikit-learn's EM, {their.n_iter_} steps",
        "rival_seconds": other,
        "ratio": other / mine,
        "gain": gain,
        "holds": bool(other >= 5 * mine and gain >= -1e-9),
        "target": "5x EM that gains 1e-7 per row in its last step, no less likely",
    }


CASES: dict[str, Callable[[], Cell]] = {
    "ca-10000": ca_10000,
    "mca-100000": mca_100000,
    "sparse-ca-1000000": sparse_ca,
    "factor-iris": factor_iris,
}


def run(out: Path, pattern: str = "*") -> None:
    """Measure every case that matches; cases measured before stay in the file."""
    run_cases(out, pattern, CASES, "benchmarks.multivariate")


if __name__ == "__main__":
    print(json.dumps({**CASES, **PARTS}[sys.argv[1]]()))
