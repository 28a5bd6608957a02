"""Weights have no scale: c times as heavy rows have the same coordinates, by every method.

Weights are repeat counts, and variances divide by Σw - 1: where coordinates are counted in
deviations they change by √((Σw - d)/Σw), d being what the variance takes off, and by no more.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from kernel_fits import FORCED as KERNEL_FORCED
from kernel_fits import blobs
from weighted import CSR, KERNEL, KERNEL32, LINEAR, WIDE, gapped, quiet

import mercer
from mercer import PCA, KernelPCA
from mercer.kernels import RBF, Sigmoid
from mercer.methods import METHODS

N, GROUPS = 60, 3
SCALES = (3.0, 0.7, 1e5)
WEIGHTS = {
    "counts": np.random.default_rng(1).integers(0, 4, N).astype(float),
    "wild": 10.0 ** np.random.default_rng(2).uniform(-4, 3, N),
    "shares": np.random.default_rng(3).random(N) + 0.1,
}
# Names of ways whose rows a kernel sees in deviations: no factor takes that out. Kernels that
# are settled by a median see repeated rows at distance zero.
NONLINEAR = ("median", "gamma", "laplacian", "standardised")


def fresh(n, p):
    return gapped(n, p, 2) + 3


def ways():
    """Yield (name, X, new rows, way, d) of all ways to fit rows with weights."""
    for name, way in LINEAR.items():
        if "krylov" not in name:
            deviations = int("standardised" in name or name == "whitened")
            yield f"linear {name}", gapped(N, 6, 1) + 3, fresh(9, 6), way, deviations
    for name, way in WIDE.items():
        if "krylov" not in name:
            yield f"wide {name}", gapped(N, 90, 1) + 3, fresh(9, 90), way, "stand" in name
    for name, way in {**KERNEL, **KERNEL32}.items():
        if not any(word in name for word in NONLINEAR):
            linear = int(name == "linear")
            yield f"kernel {name}", blobs(N, 5, seed=1), blobs(9, 5, seed=2), way, linear


ALL = {name: given for name, *given in ways()}


def assert_free(found, weights, off, tol, scales=SCALES):
    """Hold coordinates of c·w against those of w; `found` maps weights to (n, k)."""
    first = None
    for c in (1.0, *scales):
        total = c * weights.sum()
        if total <= off + 1:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            z = np.asarray(found(c * weights), np.float64)
        products = z @ z.T * total / (total - off)
        first = products if first is None else first
        apart = np.nanmax(np.abs(products - first)) / np.nanmax(np.abs(first))
        assert apart <= tol, (c, apart)


def assert_way_is_free(name, weights, folder, scales):
    rows, new, way, off = ALL[name]
    narrow = "float32" in name or name.removeprefix("kernel ") in KERNEL32

    def found(w):
        where = folder / str(w.sum())
        where.mkdir()
        return quiet(quiet(way, rows, w, where).transform, new)

    assert_free(found, weights, off, 1e-4 if narrow else 1e-7, scales)


@pytest.mark.parametrize("name", ALL)
def test_rows(name, tmp_path):
    assert_way_is_free(name, WEIGHTS["wild"], tmp_path, (3.0,))


@pytest.mark.slow
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", ALL)
def test_rows_with_all_weights(name, weights, tmp_path):
    assert_way_is_free(name, WEIGHTS[weights], tmp_path, SCALES)


GIVEN = {
    "rbf": (RBF(1.5).block(blobs(N, 5, seed=1)), "raise"),
    **{
        policy: (Sigmoid(0.05, -1.0).block(blobs(N, 5, seed=1)), policy)
        for policy in ("clip", "flip", "shift")
    },
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", GIVEN)
def test_given_matrices(name, weights, dtype):
    matrix, policy = GIVEN[name]
    matrix, w = matrix.astype(dtype), WEIGHTS[weights]
    alive, tol = w > 0, 1e-8 if dtype is np.float64 else 1e-4

    def model(w):
        return KernelPCA(3, kernel="precomputed", indefinite=policy).fit(
            matrix, sample_weight=w
        )

    assert_free(lambda w: model(w).transform(matrix[:9]), w, 0, tol)
    assert_free(lambda w: model(w).fit_transform(matrix, sample_weight=w)[alive], w, 0, tol)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["lapack", "stored", "tiles"])
def test_large_matrices(path):
    """So many rows that a given matrix is looked at by its products, and a sample of it."""
    rows = blobs(3100, 4, seed=5)
    matrix, w = RBF(2.0).block(rows), 10.0 ** np.random.default_rng(6).uniform(-3, 2, 3100)
    kind = KERNEL_FORCED[path]
    for given, kernel in ((matrix, "precomputed"), (rows, RBF(2.0))):
        assert_free(
            lambda w, given=given, kernel=kernel: (
                kind(3, kernel=kernel, tol=1e-10)
                .fit(given, sample_weight=w)
                .transform(given[:50])
            ),
            w,
            0,
            1e-6,
        )


def _labelled(name, **options):
    y = np.arange(N) % GROUPS
    rows = blobs(N, 4, seed=7) + 2.0 * np.eye(GROUPS, 4)[y]
    kind = getattr(mercer, name)
    return lambda w: kind(2, **options).fit(rows, y, sample_weight=w).transform(rows[:20])


def _frame(seed=8):
    rng = np.random.default_rng(seed)
    numbers = rng.standard_normal((N, 3)) @ rng.standard_normal((3, 3)) + 2
    frame = pd.DataFrame(numbers, columns=["a", "b", "c"])
    for name, count in (("u", 3), ("v", 4), ("t", 2)):
        frame[name] = [f"{name}{i}" for i in (rng.integers(0, count, N))]
    return frame


def _counts():
    return np.random.default_rng(9).integers(0, 9, (N, 7)) + 1


def _by(kind, table, **options):
    return lambda w: kind(2, **options).fit(table, sample_weight=w).transform(table[:20])


# Of every other method that takes weights: coordinates of w, and what its variances take off.
OTHERS = {
    "ProbabilisticPCA": (_by(mercer.ProbabilisticPCA, gapped(N, 6, 1)), 0),
    "FactorAnalysis": (_by(mercer.FactorAnalysis, gapped(N, 6, 1)), 1),
    # Rows that are left out of a second round are those that so many would not have.
    "RobustPCA": (_by(mercer.RobustPCA, gapped(N, 6, 1), method="spherical"), 0),
    "CorrespondenceAnalysis": (_by(mercer.CorrespondenceAnalysis, _counts()), 0),
    "MultipleCorrespondenceAnalysis": (
        _by(mercer.MultipleCorrespondenceAnalysis, _frame()[["u", "v", "t"]]),
        0,
    ),
    "FAMD": (_by(mercer.FAMD, _frame()), 0),
    "MFA": (
        lambda w: (
            mercer.MFA({"one": ["a", "b", "c"], "two": ["u", "v", "t"]}, 2)
            .fit(_frame(), sample_weight=w)
            .transform(_frame())
        ),
        0,
    ),
    "TopicVectors": (_by(mercer.TopicVectors, _counts()), 0),
    "LinearDiscriminantAnalysis": (_labelled("LinearDiscriminantAnalysis"), GROUPS),
    "KernelDiscriminantAnalysis": (
        _labelled("KernelDiscriminantAnalysis", kernel=RBF(2.0)),
        GROUPS,
    ),
    "RandomFeatures": (
        lambda w: (
            mercer.RandomFeatures(64, kernel=RBF(2.0))
            .fit(blobs(N, 5), sample_weight=w)
            .transform(blobs(9, 5))
        ),
        0,
    ),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", OTHERS)
def test_other_methods(name, weights):
    found, off = OTHERS[name]
    assert_free(found, WEIGHTS[weights], off, 1e-5)


def test_no_method_with_weights_is_left_out():
    takes = {m.name for m in METHODS.values() if "weights" in m.also}
    assert takes == {*OTHERS, "PCA", "KernelPCA", "BayesianPCA"}


def test_more_of_the_same_rows_tell_more_against_a_prior():
    """Weights of Bayesian PCA are counts: times three they are three times the rows."""
    rows, w = gapped(N, 6, 1), np.random.default_rng(2).integers(1, 4, N)
    one = mercer.BayesianPCA(2).fit(rows, sample_weight=3 * w)
    other = mercer.BayesianPCA(2).fit(np.tile(rows, (3, 1)), sample_weight=np.tile(w, 3))
    near = np.abs(np.abs(one.transform(rows)) - np.abs(other.transform(rows)))
    assert near.max() <= 1e-6 * np.abs(one.transform(rows)).max()


def test_sparse_and_dense_rows_agree():
    rows, w = gapped(N, 6, 1) + 3, WEIGHTS["wild"]
    dense, sparse = (
        PCA(3).fit(kind(rows), sample_weight=c * w).transform(rows)
        for kind, c in ((np.asarray, 1.0), (CSR, 1e4))
    )
    np.testing.assert_allclose(dense @ dense.T, sparse @ sparse.T, rtol=0, atol=1e-8)
