"""Rows for streams of PCA, and what it means that a stream is the fit of its rows."""

import numpy as np
from tests.claims import agree

SAME = (
    "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_",
    "noise_variance_",
)  # fmt: skip


def rows(n=400, p=5, seed=0, dtype=np.float64):
    rng = np.random.default_rng([seed, n, p])
    X = rng.standard_normal((n, p)) @ rng.standard_normal((p, p)) * np.linspace(3, 1, p)
    return (X + np.linspace(-40, 90, p)).astype(dtype)


def assert_same(one, two, X, tol=1e-9):
    assert one.n_components_ == two.n_components_
    assert one.n_samples_ == two.n_samples_
    assert one.rank_ == two.rank_
    top = two.explained_variance_[0]
    for name in SAME:
        a, b = getattr(one, name), getattr(two, name)
        np.testing.assert_allclose(a, b, rtol=tol, atol=tol * top, err_msg=name)
    agree(one.components_.T @ one.components_, two.components_.T @ two.components_, 1e-7)
    Z = two.transform(X)
    if Z.dtype == np.float32:  # whose last digits are rounding: each is held against its truth
        for model in (one, two):
            within_rounding(model, X)
    else:
        agree(np.abs(one.transform(X)), np.abs(Z), 1e-7 * np.abs(Z).max())
    assert one.certificate_.met == two.certificate_.met
    assert np.all(one.certificate_.lower <= two.certificate_.upper)
    assert np.all(two.certificate_.lower <= one.certificate_.upper)


def within_rounding(model, X):
    """Assert that float32 coordinates are the products of the model's own axes, to rounding.

    Axes, mean, differences, p products and sums each lose half a unit: (p + 3)·2⁻²⁴ of the
    sum of moduli.
    """
    rows, axes = X.astype(np.float64), model.components_.astype(np.float64)
    mean = np.asarray(model.mean_, np.float64)
    exact, moduli = (rows - mean) @ axes.T, (np.abs(rows) + np.abs(mean)) @ np.abs(axes).T
    assert (np.abs(model.transform(X) - exact) <= (X.shape[1] + 3) * 2.0**-24 * moduli).all()
