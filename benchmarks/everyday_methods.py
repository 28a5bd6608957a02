"""Maps, tables and groups against their peers at three sizes, for `benchmarks.everyday`.

Both sides get the same rows and wishes; what they find (eigenvalues, shares, likelihoods) must
agree before their times are compared.
"""

from __future__ import annotations

import importlib.util
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import timing
from benchmarks.manifold import roll
from benchmarks.rivals import Fit

MAPS, TABLES = (150, 1000, 5000), (150, 2000, 20_000)
LIMIT = 1.1  # times the peer
AGREE = 1e-4  # share by which what both find may differ

Rows = Any
Numbers = Callable[[Any], NDArray[Any]]


@dataclass(frozen=True)
class Pair:
    """A method and its peer.

    Parameters
    ----------
    name : str
        Of the method.
    sizes : tuple of int
        Rows.
    make : callable
        Rows from their number.
    ours, theirs : callable
        Fitted models from rows.
    numbers : pair of callables
        What each of the models has found, to be compared; None where a peer minimises
        something else.
    library : str
        That of the peer.
    """

    name: str
    sizes: tuple[int, ...]
    make: Callable[[int], Rows]
    ours: Callable[[Rows], Any]
    theirs: Callable[[Rows], Any]
    numbers: tuple[Numbers, Numbers] | None
    library: str = "sklearn"


def _numbers(n: int) -> NDArray[Any]:
    rng = np.random.default_rng(n)
    return rng.standard_normal((n, 5)) @ rng.standard_normal((5, 20)) + rng.standard_normal(
        (n, 20)
    )


def _groups(n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    labels = np.arange(n) % 5
    return _numbers(n) + np.random.default_rng(1).standard_normal((5, 20))[labels], labels


def _counts(n: int) -> Any:
    import pandas as pd

    rng = np.random.default_rng(n)
    rates = np.exp(rng.standard_normal((n, 2)) @ rng.standard_normal((2, 30)) / 2 + 1)
    table = pd.DataFrame(rng.poisson(rates) + 1, columns=[f"c{j}" for j in range(30)])
    table.index = [f"r{i}" for i in range(n)]
    return table


def _categories(n: int) -> Any:
    import pandas as pd

    rng = np.random.default_rng(n)
    hidden = rng.standard_normal(n)
    level = {
        f"q{j}": np.digitize(hidden + rng.standard_normal(n), [-1, 0, 1]).astype(str)
        for j in range(6)
    }
    return pd.DataFrame(level)


def _mixed(n: int) -> Any:
    table = _categories(n)
    numbers = _numbers(n)
    for j in range(6):
        table[f"x{j}"] = numbers[:, j]
    return table


def _ours(
    name: str, *given: Any, labelled: bool = False, **named: Any
) -> Callable[[Rows], Any]:
    def fit(rows: Rows) -> Any:
        import mercer

        model = getattr(mercer, name)(*given, **named)
        return model.fit(*rows) if labelled else model.fit(rows)

    return fit


def _theirs(
    home: str, name: str, *given: Any, labelled: bool = False, **named: Any
) -> Callable[[Rows], Any]:
    def fit(rows: Rows) -> Any:
        model = getattr(importlib.import_module(home), name)(*given, **named)
        return model.fit(*rows) if labelled else model.fit(rows)

    return fit


def _scaled(rows: Rows) -> Any:
    """Classical scaling as people write it down: centred squares and an eigensolver."""
    from scipy.sparse.linalg import eigsh
    from scipy.spatial.distance import cdist

    squares = cdist(rows, rows, "sqeuclidean")
    squares -= squares.mean(axis=0)
    squares -= squares.mean(axis=1)[:, None]
    values, _ = eigsh(-0.5 * squares, k=2)
    return values[::-1]


def _own(model: Any) -> NDArray[Any]:
    return np.asarray(model.eigenvalues_)


def _shares(model: Any) -> NDArray[Any]:
    return np.asarray(model.explained_variance_ratio_)


def _graph(model: Any) -> NDArray[Any]:
    return np.asarray(model.kernel_pca_.eigenvalues_)


PAIRS = (
    Pair("Isomap", MAPS, roll, _ours("Isomap", 2, neighbours=10),
         _theirs("sklearn.manifold", "Isomap", n_neighbors=10, n_components=2), (_own, _graph)),
    Pair("ClassicalMDS", MAPS, _numbers, _ours("ClassicalMDS", 2), _scaled, (_own, np.asarray)),
    Pair("LaplacianEigenmaps", MAPS, roll,
         _ours("LaplacianEigenmaps", 2, neighbours=9, symmetric="mean", self_loops=False),
         _theirs("sklearn.manifold", "SpectralEmbedding", 2, affinity="nearest_neighbors",
                 n_neighbors=10, random_state=0), None),
    Pair("LocallyLinearEmbedding", MAPS, roll,
         _ours("LocallyLinearEmbedding", 2, neighbours=10),
         _theirs("sklearn.manifold", "LocallyLinearEmbedding", n_neighbors=10, n_components=2,
                 random_state=0), None),
    Pair("LinearDiscriminant", TABLES, _groups, _ours("LinearDiscriminant", labelled=True),
         _theirs("sklearn.discriminant_analysis", "LinearDiscriminantAnalysis", labelled=True),
         (_shares, _shares)),
    Pair("FactorAnalysis", TABLES, _numbers, _ours("FactorAnalysis", 5),
         _theirs("sklearn.decomposition", "FactorAnalysis", 5, svd_method="lapack"), None),
    Pair("CorrespondenceAnalysis", TABLES, _counts, _ours("CorrespondenceAnalysis", 2),
         _theirs("prince", "CA", n_components=2), (_own, _own), "prince"),
    Pair("MultipleCorrespondence", TABLES, _categories, _ours("MultipleCorrespondence", 2),
         _theirs("prince", "MCA", n_components=2), None, "prince"),
    Pair("FAMD", TABLES, _mixed, _ours("FAMD", 2), _theirs("prince", "FAMD", n_components=2),
         None, "prince"),
)  # fmt: skip


def work() -> list[tuple[str, Callable[[], dict[str, Any]]]]:
    """Return the names of all cells, and what measures each."""
    return [
        (f"{pair.name}-{n}", partial(measure, pair, n)) for pair in PAIRS for n in pair.sizes
    ]


def measure(pair: Pair, n: int) -> dict[str, Any]:
    """Return one cell: seconds of both sides, how far they agree, and the ratio."""
    about = {"case": f"{pair.name}-{n}", "kind": pair.name, "rows": n}
    if importlib.util.find_spec(pair.library) is None:
        skipped = f"skipped, {pair.library} is not installed"
        return {**about, "skipped": skipped, "over_fastest": 0.0, "holds": True, "rivals": {}}
    rows = pair.make(n)
    models: dict[str, Any] = {}

    def kept(name: str, fit: Callable[[Rows], Any]) -> Fit:
        models[name] = fit(rows)
        return Fit(np.zeros(0), np.zeros((0, 0)), {})

    fits = {
        "mercer": partial(kept, "mercer", pair.ours),
        "peer": partial(kept, "peer", pair.theirs),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits["mercer"]()
        timed = timing.interleaved(fits)
    records: dict[str, Any] = {name: {"median": each.median} for name, each in timed.items()}
    failed = {name: each.failed for name, each in timed.items() if each.failed}
    if failed:
        return {
            **about,
            "skipped": str(failed),
            "over_fastest": 0.0,
            "holds": False,
            "rivals": records,
        }
    apart = None
    if pair.numbers is not None:
        mine, other = (f(models[name]) for f, name in zip(pair.numbers, models, strict=True))
        k = min(len(mine), len(other))
        apart = float(np.max(np.abs(mine[:k] / other[:k] - 1), initial=0.0)) if k else math.inf
    ratio = records["mercer"]["median"] / records["peer"]["median"]
    agree = apart is None or apart <= AGREE
    return {
        **about,
        "over_fastest": ratio,
        "apart": apart,
        "limit": LIMIT,
        "holds": ratio <= LIMIT and agree,
        "rivals": records,
    }
