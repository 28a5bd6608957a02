"""The user's array is read, never written to."""

import hashlib
import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from forced import FORCED, existing, gapped, holed

from mercer import PCA
from mercer.errors import AccuracyWarning

RNG = np.random.default_rng(0)
TABLES = {
    "tall": gapped(60, 30, 1) + 5,
    "wide": gapped(30, 60, 1) + 5,
    "tiny": gapped(60, 30, 1) * 1e-120,
    "huge": gapped(60, 30, 1) * 1e130,
    "whole": RNG.integers(0, 9, (60, 30)),
    "small type": RNG.integers(0, 9, (60, 30)).astype(np.uint8),
    "float32": (gapped(60, 30, 1) + 100).astype(np.float32),
    "Fortran": np.asfortranarray(gapped(60, 30, 1)),
    "strided": gapped(120, 60, 1)[::2, ::2],
}
SPARSE = {
    "csr": holed(gapped(60, 30, 2) + 100, 0.1, 3),
    "csr32": holed((gapped(60, 30, 2) + 100).astype(np.float32), 0.1, 3),
    "tiny csr": holed(gapped(60, 30, 2), 0.5, 3) * 1e-120,
    "wide csr": holed(gapped(30, 60, 2) + 100, 0.1, 3),
    "csc": scipy.sparse.csc_array(holed(gapped(60, 30, 2), 0.5, 3)),
    "whole csr": scipy.sparse.csr_array(RNG.integers(0, 3, (60, 30))),
}


def print_of(*arrays):
    """Return a digest of the bytes of arrays."""
    return [hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest() for a in arrays]


def use(model, X, **fit_arguments):
    """Call everything a fitted model can do with X."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        model.fit(X, **fit_arguments)
        Z = model.transform(X)
        before = print_of(Z)
        model.inverse_transform(Z)
        assert print_of(Z) == before
        model.score_samples(X)
        model.fit_transform(X)


OPTIONS = [{}, {"standardize": True}, {"whiten": True}, {"whiten": "zca"}]


def each_case(tables):
    """Each table on each of its paths with each option: a third, by turns, the rest slow."""
    shapes = {name: X.shape for name, X in tables.items()}
    cases = itertools.product(existing(shapes, 3), range(len(OPTIONS)))
    return pytest.mark.parametrize(
        ("name", "path", "options"),
        [
            pytest.param(*fit, OPTIONS[i], marks=[pytest.mark.slow] if number % 3 else [])
            for number, (fit, i) in enumerate(cases)
        ],
        ids=str,
    )


@each_case(TABLES)
def test_dense(name, path, options):
    X = TABLES[name].copy(order="K")
    weights = RNG.integers(0, 3, len(X)) + 0.5
    features = RNG.random(X.shape[1]) + 0.5
    before = print_of(X, weights, features)
    use(FORCED[path](3, feature_weight=features, **options), X, sample_weight=weights)
    use(FORCED[path](3, **options), X)
    assert print_of(X, weights, features) == before
    X.flags.writeable = False  # and a write would have been an error
    use(FORCED[path](3, **options), X)


@each_case(SPARSE)
def test_sparse(name, path, options):
    X = SPARSE[name].copy()
    before = print_of(X.data, X.indices, X.indptr)
    use(FORCED[path](3, **options), X, sample_weight=np.arange(1.0, X.shape[0] + 1))
    use(FORCED[path](3, **options), X)
    assert print_of(X.data, X.indices, X.indptr) == before


def test_frames_and_moments():
    frame = pd.DataFrame(gapped(60, 5, 1), columns=list("abcde"))
    copy = frame.copy(deep=True)
    use(PCA(3, standardize=True), frame)
    pd.testing.assert_frame_equal(frame, copy)
    covariance, mean = np.cov(gapped(60, 5, 1), rowvar=False), np.arange(5.0)
    before = print_of(covariance, mean)
    PCA.from_covariance(covariance, mean, 60, standardize=True)
    assert print_of(covariance, mean) == before


def test_results_do_not_alias_the_input_or_each_other():
    X = gapped(60, 5, 1)
    model = PCA(3).fit(X)
    for name in ("components_", "explained_variance_", "mean_", "singular_values_"):
        assert not np.shares_memory(getattr(model, name), X)
    Z = model.transform(X)
    before = model.transform(X)
    Z[...] = 0
    np.testing.assert_array_equal(model.transform(X), before)
