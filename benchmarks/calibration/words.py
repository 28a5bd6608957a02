"""Columns, traits and groups in words: what noise must not get, and what is there."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.calibration.statement import Statement


def beside_listed(seed: int) -> tuple[float, float]:
    """Return of how many axes, of three, a column beside is listed that has nothing to do."""
    import mercer

    rng = np.random.default_rng(seed)
    rows, beside = rng.standard_normal((100, 20)), rng.standard_normal((100, 20))
    sup = {f"s{j}": beside[:, j] for j in range(20)}
    found = mercer.describe_axes(mercer.PCA(3).fit(rows), rows, sup=sup)
    listed = [any(t.name.startswith("s") for t in traits) for traits in found.traits]
    return float(sum(listed)), 3.0


def false_trait(few: int, seed: int) -> bool:
    """Tell whether a group of a few rows drawn by chance has a trait."""
    import mercer

    rows = np.exp(np.random.default_rng(seed).standard_normal((100, 20)))
    found = mercer.describe_groups(["a"] * few + ["b"] * (100 - few), rows)
    return bool(found.traits[0])


def counted(law: str, axes: int, seed: int) -> bool:
    """Tell whether the clusters that are there are found: none, or so many."""
    import mercer

    rng = np.random.default_rng([seed, axes])
    n, groups = 150, int(law) if law.isdigit() else 1
    rows, at = rng.standard_normal((n, axes)), rng.integers(0, groups, n)
    if law == "t5":
        rows = rng.standard_t(5, (n, axes))
    if law == "uniform":
        rows = rng.uniform(size=(n, axes))
    rows[:, 0] += 7 * (at % 2)
    rows[:, 1] += 7 * (at // 2)
    return len(mercer.cluster(mercer.PCA(axes).fit(rows), rows).sizes) == groups


STATEMENTS = (
    Statement(
        "words/axes-beside",
        "a column beside that has nothing to do with the axis is listed",
        "normal, 100 × 20, and 20 columns of noise beside; three axes",
        beside_listed,
        most=0.06,
    ),
    *(
        Statement(
            f"words/groups-of-{few}",
            "the group has a trait",
            f"lognormal, 100 × 20, {few} rows drawn by chance",
            partial(false_trait, few),
            most=0.07,
        )
        for few in (3, 6, 20)
    ),
    *(
        Statement(
            f"words/clusters-{law}-{axes}",
            "no groups" if not law.isdigit() or law == "1" else f"{law} groups",
            f"150 rows on {axes} axes: "
            + (f"{law} round groups, 7 deviations apart" if law in "24" else f"{law} noise"),
            partial(counted, "1" if law == "normal" else law, axes),
            least=0.95 if law in "24" else 0.9,
            runs=200,
        )
        for law in ("normal", "uniform", "t5", "2", "4")
        for axes in (2, 4, 8)
    ),
)
