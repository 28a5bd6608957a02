"""No interval of a stream misses, whatever was put in and taken out again.

Columns have sizes of their own, and rows that leave may have been far larger in some of them
than what stays: every column has an error of its own, which standardising makes visible.
"""

import warnings

import numpy as np
import pytest
from jacobi import reference

import mercer
from mercer import PCA
from mercer.errors import AccuracyWarning, DataWarning

WAYS = ("added", "removed", "merged", "merged and removed", "saved")


def table(rng):
    """Return rows with trends, columns of all sizes, some far from the origin."""
    n, p = int(rng.integers(6, 60)), int(rng.integers(2, 7))
    rows = rng.standard_normal((n, p))
    rows += np.linspace(0, 1, n)[:, None] * (rng.random(p) < 0.3) * 10.0 ** rng.integers(0, 3)
    rows *= 10.0 ** rng.integers(-7, 4, p)
    rows += rows.std(axis=0) * 10.0 ** rng.integers(-2, 6, p)
    return rows.astype(np.float32) if rng.random() < 0.2 else rows


def strangers(rows, rng):
    """Return rows that will leave again, larger in some columns by up to 1e4."""
    size = np.std(rows.astype(float), axis=0) * 10.0 ** rng.integers(-1, 5, rows.shape[1])
    away = rng.standard_normal((int(rng.integers(2, 30)), rows.shape[1])) * size
    return (away + rows.mean(axis=0)).astype(rows.dtype)


def streamed(way, rows, weights, standardize, rng, folder):
    """Return a model that holds these rows by one of the ways."""
    k = min(rows.shape[1], len(rows) - 1)
    one, two = (PCA(k, standardize=standardize) for _ in range(2))
    parts = np.array_split(np.arange(len(rows)), 3)
    counts = np.ones(len(rows)) if weights is None else weights
    gone = strangers(rows, rng) if "removed" in way or way == "saved" else None
    if gone is not None:
        one.partial_fit(gone)
    for number, part in enumerate(parts):
        into = two if "merged" in way and number else one
        into.partial_fit(rows[part], sample_weight=counts[part])
    if "merged" in way:
        one.merge(two)
    if way == "saved":  # errors of columns are part of a model
        mercer.save(one, folder / "stream.mercer")
        one = mercer.load(folder / "stream.mercer")
    return one if gone is None else one.remove(gone)


def check(way, standardize, seed, folder):
    rng = np.random.default_rng([31, seed])
    rows = table(rng)
    weights = rng.integers(1, 4, len(rows)).astype(float) if rng.random() < 0.4 else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        warnings.simplefilter("ignore", DataWarning)
        sure = streamed(way, rows, weights, standardize, rng, folder).certificate_
    exact = reference(rows, weights, "std" if standardize else None)
    for i in range(len(sure.lower)):
        low, high = exact.interval(i)
        assert sure.lower[i] <= high, (way, standardize, seed, i)
        assert sure.upper[i] >= low, (way, standardize, seed, i)
    return float(sure.upper[0] - sure.lower[0]) / float(exact.values[0])


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_no_interval_misses(way, standardize, tmp_path):
    widths = [check(way, standardize, seed, tmp_path) for seed in range(20)]
    gone = way not in ("added", "merged")
    assert np.median(widths) <= (1e-6 if gone else 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_no_interval_misses_in_thousands(way, standardize, tmp_path):
    for seed in range(100, 1100):
        check(way, standardize, seed, tmp_path)


def test_a_small_column_has_its_own_error():
    """Rows leave that were large in one column only: the others keep their digits."""
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((50, 4)) * [1.0, 1.0, 1e-6, 1.0]
    gone = rng.standard_normal((20, 4)) * [1.0, 1.0, 1e-3, 1.0]
    model = PCA(4, standardize=True).partial_fit(gone).partial_fit(rows).remove(gone)
    plain = PCA(4, standardize=True).partial_fit(rows)
    truth = [float(v) for v in reference(rows, None, "std").values]
    for found, wide in ((model, 1e-6), (plain, 1e-12)):
        sure = found.certificate_
        assert np.all((sure.lower <= truth) & (truth <= sure.upper))
        assert np.max(sure.upper - sure.lower) <= wide
