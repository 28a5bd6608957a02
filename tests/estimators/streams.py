"""Rows in blocks, and what it means that two fits are the same or one is untouched."""

import itertools

import numpy as np
import pandas as pd
from kernel_fits import eigenvalues

SAME = (
    "eigenvalues_", "explained_variance_", "explained_variance_ratio_", "captured_share_",
    "effective_rank_", "residual_trace_", "n_samples_", "n_components_", "rank_", "landmarks_",
)  # fmt: skip


def rows(n=180, seed=0, dtype=np.float64):
    rng = np.random.default_rng([seed, n])
    centres = 4 * rng.standard_normal((4, 3))
    return (centres[rng.integers(0, 4, n)] + rng.standard_normal((n, 3))).astype(dtype)


def counts(n=180):
    found = np.random.default_rng(7).integers(0, 4, n).astype(float)
    found[:2] = 1
    return found


def blocks(X, sizes=(40, 1, 70, 2)):
    edges = [0, *np.cumsum(sizes), len(X)]
    return [X[a:b] for a, b in itertools.pairwise(edges) if a < b]


def streamed(model, parts, weights=None):
    """Return the model after all parts."""
    for i, part in enumerate(parts):
        model.partial_fit(part, sample_weight=None if weights is None else weights[i])
    return model


def assert_same(one, two, X, rtol=1e-9):
    # What landmarks leave may be rounding alone, which is relative to the whole: 1e-12 beside
    # eigenvalues of 3,000 is less than four units of float64.
    rounding = max(1e-12, 1e-14 * float(np.sum(two.eigenvalues_)))
    for name in SAME:
        np.testing.assert_allclose(
            getattr(one, name), getattr(two, name), rtol=rtol, atol=rounding, err_msg=name
        )
    Z = two.transform(X)
    np.testing.assert_allclose(one.transform(X), Z, rtol=0, atol=rtol * np.abs(Z).max())
    np.testing.assert_allclose(
        one.certificate_.upper, two.certificate_.upper, rtol=rtol, atol=rounding
    )


def untouched(model, old):
    """Tell whether every attribute is the object that it was."""
    found = vars(model)
    return found.keys() == old.keys() and all(found[name] is old[name] for name in old)


def truth(kernel, X, weights=None):
    """Return the eigenvalues of the centred kernel matrix, descending."""
    return eigenvalues(kernel.block(np.asarray(X, np.float64)), weights)


def named(n=20):
    """Return rows as a frame."""
    return pd.DataFrame(rows(n), columns=list("abc"))
