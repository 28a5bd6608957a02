"""Tables whose number of components is known: five kinds of noise, with or without signal."""

import numpy as np

SHAPES = ((30, 5), (100, 20), (1000, 50), (400, 200), (60, 200), (20, 100))
FAMILIES = ("white", "columns", "rows and columns", "shadow", "nothing")
TRUE = {"white": 5, "columns": 5, "rows and columns": 5, "shadow": 5, "nothing": 0}


def noise(family, rng, n, p):
    """White; by column from 0.3 to 1.7; by row as well. `nothing` is noise by column."""
    table = rng.standard_normal((n, p))
    if family in ("columns", "rows and columns", "nothing"):
        table *= rng.uniform(0.3, 1.7, p)
    if family == "rows and columns":
        table *= rng.uniform(0.3, 1.7, n)[:, None]
    return table


def family(name, seed, n=400, p=200):
    """Five components of 1.5 to 3 times the norm of the noise; `shadow`: the first 60 times."""
    rng = np.random.default_rng([seed, FAMILIES.index(name)])
    table = noise(name, rng, n, p)
    if name == "nothing":
        return table
    sizes = np.array([3, 2.6, 2.2, 1.8, 1.5]) * np.linalg.norm(table, 2)
    sizes[0] *= 20 if name == "shadow" else 1
    left = np.linalg.qr(rng.standard_normal((n, 5)))[0]
    right = np.linalg.qr(rng.standard_normal((p, 5)))[0]
    return (left * sizes) @ right.T + table
