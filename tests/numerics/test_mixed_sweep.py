"""Random tables of numbers and categories, hard ones among them, against LAPACK by hand."""

import warnings

import numpy as np
import pandas as pd
import pytest
from forced import PATHS, bound_to

from mercer import FAMD, MFA, DataWarning

SEEDS = [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 150))]


def drawn(seed):
    """Return a table, weights or None, and groups of its columns."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 80))
    columns = {}
    for j in range(rng.integers(0, 6)):
        scale, offset = 10.0 ** rng.integers(-8, 9), 10.0 ** rng.integers(0, 6)
        columns[f"n{j}"] = scale * (rng.normal(size=n) + offset * rng.integers(0, 2))
    for q in range(rng.integers(1, 5)):
        levels = [f"l{i}" for i in range(rng.integers(2, 9))]
        shares = rng.dirichlet(0.5 * np.ones(len(levels)))
        columns[f"c{q}"] = rng.choice(levels, n, p=shares)
    if rng.random() < 0.2:
        columns["flat"] = np.full(n, 0.1)
    if rng.random() < 0.2:
        columns["twin"] = columns["c0"]
    names = rng.permutation(list(columns))
    frame = pd.DataFrame({name: columns[name] for name in names})
    weights = rng.integers(0, 4, n).astype(float) if rng.random() < 0.5 else None
    if weights is not None:
        weights[:3] = 2.0
    return frame, weights, [list(part) for part in np.array_split(names, 2) if len(part)]


def analysed(frame, weights):
    """Return A and the given column of each of its columns, the long way."""
    w = np.ones(len(frame)) if weights is None else weights
    r = w / w.sum()
    made, owner = [], []
    for name in frame:
        cells = frame[name].to_numpy()
        if cells.dtype.kind == "f":
            seen = cells[r > 0]
            x = cells - r @ cells
            x = x - r @ x
            flat = seen.min() == seen.max()
            made.append(np.zeros(len(x)) if flat else x / np.sqrt(r @ x**2))
            owner.append(name)
            continue
        for level in np.unique(cells[r > 0]):
            one = (cells == level).astype(float)
            made.append((one - r @ one) / np.sqrt(r @ one))
            owner.append(name)
    return np.sqrt(r)[:, None] * np.column_stack(made), np.array(owner)


def kept(model):
    """Return as many axes as are certainly apart from the next."""
    values = model.eigenvalues_
    return [i for i in range(len(values) - 1) if values[i] - values[i + 1] > 1e-3]


@pytest.mark.parametrize("seed", SEEDS)
def test_axes_are_those_of_the_table_written_down(seed):
    frame, weights, groups = drawn(seed)
    a, owner = analysed(frame, weights)
    varies = {name for name in frame if np.sum(a[:, owner == name] ** 2) > 1e-9}
    if not varies:
        return
    path = PATHS[seed % 4]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model = bound_to(FAMD, "svd", path)(4).fit(frame, sample_weight=weights)
        expected = np.linalg.svd(a, compute_uv=False)[: model.n_components_] ** 2
        np.testing.assert_allclose(model.eigenvalues_, expected, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(model.total_inertia_, np.sum(a**2), rtol=1e-8)
        check_rows(model, a, frame)
        groups = [g for g in groups if varies & set(g)]
        used = [name for g in groups for name in g]
        check_groups(MFA(groups, 3).fit(frame[used], sample_weight=weights), a, owner, groups)


def check_rows(model, a, frame):
    """Rows: the products of A with its axes, whatever their order of equal eigenvalues."""
    r = model.row_masses_
    gram = np.sqrt(r)[:, None] * model.row_coordinates_
    for i in kept(model):
        some = gram[:, : i + 1]
        u, s, _ = np.linalg.svd(a)
        best = u[:, : i + 1] * s[: i + 1]
        np.testing.assert_allclose(some @ some.T, best @ best.T, rtol=0, atol=1e-7)
    np.testing.assert_allclose(
        model.transform(frame), model.row_coordinates_, rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(model.row_inertias_, np.sum(a**2, axis=1), rtol=0, atol=1e-8)
    assert np.all(model.squared_correlations_ <= 1 + 1e-9)


def check_groups(model, a, owner, groups):
    parts = [a[:, np.isin(owner, g)] for g in groups]
    parts = [part / np.linalg.svd(part, compute_uv=False)[0] for part in parts]
    s = np.linalg.svd(np.hstack(parts), compute_uv=False)
    np.testing.assert_allclose(model.eigenvalues_, s[: model.n_components_] ** 2, rtol=1e-8)
    lg = [[np.sum((one.T @ other) ** 2) for other in parts] for one in parts]
    np.testing.assert_allclose(model.lg_, lg, rtol=1e-7, atol=1e-12)
    assert 1 - 1e-9 <= model.eigenvalues_[0] <= len(groups) + 1e-9
    assert model.group_coordinates_.max() <= 1 + 1e-9
