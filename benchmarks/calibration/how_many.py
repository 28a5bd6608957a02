"""How many components "auto" keeps: of noise none, of structure as many as there are."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration.statement import Statement
from benchmarks.machine import ROOT

Table = NDArray[np.float64]
Law = Callable[[np.random.Generator, int, int], Table]


def normal(rng: np.random.Generator, n: int, p: int) -> Table:
    """Return white normal noise."""
    return rng.standard_normal((n, p))


def unequal(rng: np.random.Generator, n: int, p: int) -> Table:
    """Return normal noise whose variances differ by column, uniform in .1 to 4."""
    return rng.standard_normal((n, p)) * np.sqrt(rng.uniform(0.1, 4.0, p))


def student(rng: np.random.Generator, n: int, p: int) -> Table:
    """Return noise with Student's law of three degrees of freedom."""
    return rng.standard_t(3, (n, p))


def uniform(rng: np.random.Generator, n: int, p: int) -> Table:
    """Return uniform noise."""
    return rng.uniform(-1.0, 1.0, (n, p))


def binary(rng: np.random.Generator, n: int, p: int) -> Table:
    """Return zeros and ones, with shares of ones from .1 to .9 by column."""
    return (rng.random((n, p)) < rng.uniform(0.1, 0.9, p)).astype(np.float64)


LAWS: dict[str, Law] = {
    "white": normal,
    "unequal": unequal,
    "t3": student,
    "uniform": uniform,
    "binary": binary,
}
SHAPES = ((20, 100), (50, 100), (60, 60), (100, 20), (200, 20), (500, 10))
RUNS = 200
TABLES = ("iris", "wine", "breast_cancer", "digits", "diabetes", "penguins")
DRAWN = 50  # subsamples of a real table


def chosen(table: Table) -> Any:
    """Return what "auto" says of a table."""
    from mercer import PCA

    return PCA("auto").fit(table).choice_


def none_of_noise(law: Law, n: int, p: int, seed: int) -> bool:
    """Tell whether no component is found in noise."""
    return bool(chosen(law(np.random.default_rng([seed, n, p]), n, p)).k == 0)


def spikes(seed: int, n: int, p: int, variances: tuple[float, ...], unequal: bool) -> Table:
    """Return orthogonal components of these variances in noise, of size one or .5 to 2."""
    rng = np.random.default_rng([seed, n, p, 7])
    axes = np.linalg.qr(rng.standard_normal((p, len(variances))))[0]
    noise = rng.standard_normal((n, p))
    if unequal:
        noise *= np.sqrt(rng.uniform(0.5, 2.0, p))
    return rng.standard_normal((n, len(variances))) * np.sqrt(variances) @ axes.T + noise


def exactly_two(unequal: bool, seed: int) -> bool:
    """Tell whether two components of variance .95 are found, and no more."""
    return bool(chosen(spikes(seed, 200, 20, (0.95, 0.95), unequal)).k == 2)


def too_many(n: int, p: int, k: int, seed: int) -> bool:
    """Tell whether more than the k factors are found in noise of sd .3 to 1.7."""
    rng = np.random.default_rng([seed, n, p, 11])
    table = rng.standard_normal((n, k)) @ rng.standard_normal((k, p))
    table += rng.standard_normal((n, p)) * rng.uniform(0.3, 1.7, p)
    return bool(chosen(table).k > k)


@lru_cache(maxsize=4096)
def with_row(n: int, p: int, size: float, seed: int) -> tuple[int, bool]:
    """Return how many are found in noise with one row far out, and whether it is named."""
    rng = np.random.default_rng([seed, n, p, 3])
    table, at = rng.standard_normal((n, p)), int(rng.integers(n))
    table[at] = size
    found = chosen(table)
    return int(found.k), at in found.outlying[:1]


def one_row(n: int, p: int, size: float, named: bool, seed: int) -> bool:
    """Tell whether one row far out makes a component of noise, or whether it is named."""
    k, said = with_row(n, p, size, seed)
    return said if named else k > 0


def series(n: int, p: int, seed: int) -> bool:
    """Tell whether rows of an autoregression of .7 have components without a warning."""
    rng = np.random.default_rng([seed, n, p, 5])
    table = rng.standard_normal((n, p))
    for i in range(1, n):
        table[i] = 0.7 * table[i - 1] + np.sqrt(1 - 0.49) * table[i]
    found = chosen(table)
    return bool(found.k > 0 and not found.neighbours)


def subjects(own: float, grouped: bool, seed: int) -> bool:
    """Tell whether ten rows of each of 30 subjects have components that are not warned of."""
    from mercer import how_many

    rng = np.random.default_rng([seed, 300, 12, 9])
    who = np.repeat(np.arange(30), 10)
    table = np.sqrt(own) * rng.standard_normal((30, 12))[who]
    table += np.sqrt(1 - own) * rng.standard_normal((300, 12))
    if grouped:
        order = rng.permutation(300)
        return bool(how_many(table[order], groups=who[order]).k > 0)
    found = chosen(table)
    return bool(found.k > 0 and not found.neighbours)


@lru_cache
def real(name: str) -> tuple[Table, Any]:
    """Return a real table and what "auto" says of it."""
    from sklearn import datasets

    if name == "penguins":
        import polars as pl

        path = ROOT / "src" / "mercer" / "cli" / "data" / "penguins.csv"
        frame = pl.read_csv(path, null_values=["NA", ""])
        names = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
        rows = frame.select([n for n in names if n in frame.columns]).drop_nulls().to_numpy()
    else:
        rows = getattr(datasets, f"load_{name}")().data
    rows = np.asarray(rows[:, rows.std(axis=0) > 0], np.float64)
    return rows, chosen(rows)


def within(name: str, seed: int) -> bool:
    """Tell whether the interval of a real table holds the number of 95 % of its rows."""
    rows, found = real(name)
    rng = np.random.default_rng([seed, 13])
    few = rng.permutation(len(rows))[: int(0.95 * len(rows))]
    low, high = found.interval
    return bool(low <= chosen(rows[few]).k <= high)


def shuffled(name: str, seed: int) -> bool:
    """Tell whether a shuffle of rows and columns leaves the answer as it is."""
    rows, found = real(name)
    rng = np.random.default_rng([seed, 17])
    other = chosen(rows[rng.permutation(len(rows))][:, rng.permutation(rows.shape[1])])
    return bool((other.k, other.interval) == (found.k, found.interval))


def _noise() -> list[Statement]:
    return [
        Statement(
            f"how-many/{name}-{n}x{p}",
            "no component is found",
            f"noise, {name}, {n} × {p}",
            partial(none_of_noise, law, n, p),
            least=0.93,
            runs=RUNS,
        )
        for name, law in LAWS.items()
        for n, p in SHAPES
    ]


def _structure() -> list[Statement]:
    power = [
        Statement(
            f"how-many/two-{'unequal' if unequal else 'white'}",
            "exactly two are found",
            f"two of variance .95, 200 × 20, noise {'.5 to 2' if unequal else '1'}",
            partial(exactly_two, unequal),
            least=0.55 if unequal else 0.75,
            runs=2 * RUNS,
        )
        for unequal in (False, True)
    ]
    many = [
        Statement(
            f"how-many/factors-{n}x{p}-k{k}",
            "more than there are",
            f"{k} factors, {n} × {p}, noise of sd .3 to 1.7",
            partial(too_many, n, p, k),
            most=0.06,
            runs=2 * RUNS,
        )
        for n, p, k in ((1000, 10, 2), (1000, 10, 3), (2000, 8, 2), (2000, 8, 3))
    ]
    return power + many


def _rows() -> list[Statement]:
    out = []
    for n, p in ((200, 20), (1000, 10), (50, 40)):
        for size in (4.0, 10.0, 40.0):
            at = f"how-many/row-{n}x{p}-{size:g}sd"
            design = f"noise, {n} × {p}, one row at {size:g} sd in every column"
            out.append(
                Statement(
                    at,
                    "a component is found",
                    design,
                    partial(one_row, n, p, size, False),
                    most=0.07,
                    runs=RUNS,
                )
            )
            out.append(
                Statement(
                    f"{at}-named",
                    "the row is named",
                    design,
                    partial(one_row, n, p, size, True),
                    least=0.95,
                    runs=RUNS,
                )
            )
    return out


def _dependent() -> list[Statement]:
    out = [
        Statement(
            f"how-many/series-{n}x{p}",
            "components without a warning",
            f"noise, {n} × {p}, rows an autoregression of .7",
            partial(series, n, p),
            most=0.05,
            runs=RUNS,
        )
        for n, p in ((200, 5), (200, 20), (500, 10))
    ]
    for own in (0.2, 0.5, 0.9):
        for grouped in (False, True):
            words = "components are found" if grouped else "components without a warning"
            out.append(
                Statement(
                    f"how-many/subjects-{own:g}{'-groups' if grouped else ''}",
                    words,
                    f"noise, ten rows of each of 30 subjects, {own:g} of the variance theirs"
                    + (", shuffled, groups= given" if grouped else ", in order"),
                    partial(subjects, own, grouped),
                    most=0.05,
                    runs=RUNS,
                )
            )
    return out


def _real() -> list[Statement]:
    return [
        Statement(
            f"how-many/{what}-{name}",
            says,
            f"{name.replace('_', ' ')}, {design}",
            partial(trial, name),
            least=least,
            runs=DRAWN,
        )
        for name in TABLES
        for what, says, design, trial, least in (
            ("interval", "the interval holds the number", "95 % of the rows", within, 0.9),
            ("order", "the answer stays", "rows and columns shuffled", shuffled, 1.0),
        )
    ]


STATEMENTS = (*_noise(), *_structure(), *_rows(), *_dependent(), *_real())
