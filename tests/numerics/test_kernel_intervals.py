"""No interval of a kernel fit misses the eigenvalue of the rows as they were given.

Small fits by the thousand against entries and eigenvalues in extended precision: tight
clusters, where ‖x-y‖² is a cancellation, and columns that standardising makes new numbers of.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse
from exact_kernels import EXACT, WIDE, clusters, columns, counts, standardised, truth
from kernel_fits import FORCED

from mercer import KernelPCA
from mercer.arrays import EPS, entry_rounding, prepare, tile
from mercer.errors import AccuracyWarning, DataWarning, InputError
from mercer.kernels import RBF

WAYS = ("auto", "stored", "tiles", "landmarks", "stream")


def fitted(way, k, rows, weights, **parameters):
    """Return a model by one of the ways; remarks do not stop it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        warnings.simplefilter("ignore", DataWarning)
        if way == "stream":
            model = KernelPCA(k, landmarks=len(rows), **parameters)
            half = len(rows) // 2
            for part in (slice(None, half), slice(half, None)):
                few = None if weights is None else weights[part]
                model.partial_fit(rows[part], sample_weight=few)
            assert model.rank_ >= 0
            return model
        if way == "landmarks":
            model = KernelPCA(k, landmarks=len(rows), **parameters)
        else:
            model = FORCED[way](k, **parameters)
        return model.fit(rows, sample_weight=weights)


def check(made, name, way, rng):
    """Fit one table of a kind, and hold every interval and every claim against the truth."""
    kernel, formula = EXACT[name]
    if made == "clusters":
        rows, options = clusters(rng), {}
        exact = rows.astype(WIDE)
        weights = counts(len(rows), rng)
    else:
        rows = columns(rng).astype(np.float32 if rng.random() < 0.7 else np.float64)
        weights = counts(len(rows), rng)
        root = rng.uniform(0.5, 2, rows.shape[1]) if rng.random() < 0.3 else None
        options = {"standardize": True, "feature_weight": root}
        exact = standardised(rows, weights, root)
    iterated = way in ("stored", "tiles")
    k = max(1, min(3, len(rows) // 8 if iterated else len(rows) - 1))
    try:
        model = fitted(way, k, rows, weights, kernel=kernel, **options)
    except InputError as error:
        if "constant up to rounding" in error.what or "no path" in error.what:
            return None
        raise
    values, slack = truth(formula(exact), weights)
    sure, given = model.certificate_, model.eigenvalues_
    place = (made, name, way)
    for i in range(k):
        assert sure.lower[i] <= values[i] + slack, (*place, i, float(values[i]), sure)
        assert sure.upper[i] >= values[i] - slack, (*place, i, float(values[i]), sure)
        if sure.converged[i] and given[i] > sure.zero_level:
            assert abs(given[i] - values[i]) <= sure.tol * values[i] + slack, (*place, i)
    return float(np.max(sure.upper - sure.lower) / values[0])


def sweep(made, way, seeds):
    names = [*EXACT]
    widths = [
        check(made, names[i % len(names)], way, np.random.default_rng([23, i])) for i in seeds
    ]
    return [width for width in widths if width is not None]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("made", ["clusters", "columns"])
def test_no_interval_misses(made, way):
    widths = sweep(made, way, range(68))
    assert np.median(widths) <= (1e-9 if way in ("auto", "landmarks", "stream") else 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("made", ["clusters", "columns"])
def test_no_interval_misses_in_thousands(made, way):
    sweep(made, way, range(100, 1100))


@pytest.mark.parametrize("name", EXACT)
def test_entries_are_within_their_bound(name):
    """What a tile is off by, entry by entry; far more than that is never charged."""
    kernel, formula = EXACT[name]
    program, charged = kernel.program(), []
    for seed in range(12):
        rows = clusters(np.random.default_rng([24, seed]))
        side = prepare(program, rows)
        every, bound = slice(0, side.n), entry_rounding(program, side)
        exact = formula(rows.astype(WIDE))
        ends = np.sqrt(np.abs(np.diag(exact)))
        allowed = bound.flat + bound.own * np.abs(exact) + bound.ends * np.outer(ends, ends)
        wrong = np.abs(tile(program, side, side, every, every) - exact)
        assert np.all(wrong <= allowed + 64 * float(np.finfo(WIDE).eps) * np.abs(exact)), seed
        assert bound.low - allowed.max() <= exact.min() <= exact.max()
        assert exact.max() <= bound.high + allowed.max()
        charged.append(float(np.max(allowed) / np.max(np.abs(exact))))
    assert np.median(charged) <= 2e5 * EPS


def test_entries_that_are_nearly_zero_cost_nothing():
    """A short lengthscale: what each row owes the others is e^-t times the error of t."""
    rows = 3.0 * np.arange(400.0)[:, None] % 40
    short, long = (
        entry_rounding(kernel.program(), prepare(kernel.program(), rows))
        for kernel in (RBF(0.9), RBF(40.0))
    )
    assert short.flat <= 8 * EPS
    assert long.own <= 1e3 * EPS


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("dtype", "unit"), [("float32", 0), ("float64", 0), ("float64", -1060)]
)
def test_a_given_matrix_is_exact_in_the_type_it_came_in(form, dtype, unit, rng):
    for weights in (None, np.ones(40), 2.0 ** rng.integers(-20, 20, 40)):
        x = rng.standard_normal((40, 3)) * [3, 2, 1]
        k = np.exp(-((x[:, None] - x[None]) ** 2).sum(axis=2) / 8)
        k = np.ldexp(k, unit).astype(dtype)
        exact, slack = truth(k.astype(WIDE), weights)
        found = fitted("auto", 3, form(k), weights, kernel="precomputed").certificate_
        assert np.all(found.lower.astype(WIDE) - slack <= exact[:3])
        assert np.all(found.upper.astype(WIDE) + slack >= exact[:3])
