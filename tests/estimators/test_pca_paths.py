"""Every path finds components that are known exactly, and says truly how well it did."""

import numpy as np
import pytest
import scipy.sparse


def sine(a, b):
    """Return the largest sine between the row spaces of a and b."""
    return float(np.linalg.norm(b - (b @ a.T) @ a, 2))


def assert_certified(model, centred, truth, axes):
    """Intervals, residuals and sines hold, measured in extended precision."""
    c, k = model.certificate_, len(truth)
    assert np.all((c.lower <= truth) & (truth <= c.upper))
    covariance = centred.T.astype(np.longdouble) @ centred / (len(centred) - 1)
    v = model.components_.T.astype(np.longdouble)
    residual = np.sqrt(np.sum((covariance @ v - v * model.explained_variance_) ** 2, axis=0))
    assert np.all(residual <= c.residual)
    true = axes[:k].T.astype(np.longdouble)
    true = true / np.sqrt(np.sum(true**2, axis=0))
    sines = np.sqrt(np.sum((v - true * np.sum(true * v, axis=0)) ** 2, axis=0))
    assert np.all(sines <= c.sine)


@pytest.mark.parametrize("sparse", [False, True])
def test_every_path_finds_the_exact_components_and_certifies_them(form, exact_data, sparse):
    kind, shape = form
    rows, mean, s, axes = exact_data(shape)
    k = 5 if "krylov" in kind.__name__ else min(shape[0] - 1, shape[1])
    model = kind(k, random_state=1).fit(scipy.sparse.csr_array(rows) if sparse else rows)
    loose = 1e-6 if "krylov" in kind.__name__ else 1e-8
    np.testing.assert_allclose(model.mean_, mean, rtol=1e-14)
    np.testing.assert_allclose(
        model.singular_values_, s[:k], rtol=1e-6 if loose == 1e-6 else 1e-9
    )
    truth = s[:k].astype(np.longdouble) ** 2 / (shape[0] - 1)
    np.testing.assert_allclose(model.explained_variance_, truth.astype(float), rtol=loose)
    shares = s[:k] ** 2 / np.sum(s**2)
    np.testing.assert_allclose(model.explained_variance_ratio_, shares, rtol=loose)
    cosines = np.abs(np.sum(model.components_ * axes[:k], axis=1))
    assert np.all(cosines > 1 - (1e-6 if loose == 1e-6 else 1e-10))
    assert model.plan_.chosen.name in kind.__name__
    assert model.rank_ == k
    c = model.certificate_
    assert (c.met, c.tol, c.groups) == (True, 1e-6, ())
    assert_certified(model, rows - mean, truth, axes)


def test_graded_spectra_are_certified_or_warned_of(form, exact_data):
    kind, shape = form
    values = 2.0 ** -np.arange(0, 24, 2.0)  # variances over seven decades
    x, mean, s, axes = exact_data(shape, values)
    model = kind(6).fit(x - mean)
    truth = s[:6].astype(np.longdouble) ** 2 / (shape[0] - 1)
    assert_certified(model, x - mean, truth, axes)


def test_equal_axes_are_named_on_every_path(form, exact_data):
    kind, shape = form
    x, _, _, axes = exact_data(shape, [9.0, 5.0, 5.0, 5.0, 2.0, 1.0])
    assert kind(5).fit(x).certificate_.groups == ((1, 2, 3),)
    assert kind(2).fit(x).certificate_.groups == ((1, 2),)
    assert sine(axes[:4], kind(4).fit(x).components_) < 1e-3
