import numpy as np
from discriminant_data import classes

from mercer.estimators.groups._canonical_axes import (
    between,
    canonical,
    constant_within,
    structure_of,
    whitened,
    wilks_of,
)
from mercer.operators import GroupedRows
from mercer.sources import scan


def found_of(X, y, priors=None):
    groups = int(y.max()) + 1
    rows = GroupedRows(scan(X), y, groups)
    moments = rows.moments()
    white = whitened(rows, moments, "svd", None, constant_within(rows, moments))
    shares = np.bincount(y) / len(y) if priors is None else priors
    return between(moments, white, shares)


def test_eigenvalues_and_their_intervals():
    X, y = classes(100, 4, 3, 1)
    found = found_of(X, y)
    spectrum = canonical(found, 1e-6)
    w, b = 0, 0
    for g in range(3):
        rows = X[y == g]
        w = w + np.cov(rows.T) * (len(rows) - 1) / 97
        apart = rows.mean(axis=0) - X.mean(axis=0)
        b = b + len(rows) / 2 * np.outer(apart, apart)
    wanted = np.sort(np.linalg.eigvals(np.linalg.solve(w, b)).real)[::-1][:2]
    np.testing.assert_allclose(spectrum.values, wanted, rtol=1e-10)
    certificate = spectrum.certificate
    assert np.all(certificate.lower < spectrum.values)
    assert np.all(spectrum.values < certificate.upper)
    assert certificate.reached < 1e-10


def test_tests_do_not_depend_on_priors():
    X, y = classes(60, 3, 3, 2)
    one, other = found_of(X, y), found_of(X, y, np.array([0.7, 0.2, 0.1]))
    np.testing.assert_allclose(wilks_of(one).f, wilks_of(other).f, rtol=1e-12)
    assert not np.allclose(canonical(one, 1e-6).values, canonical(other, 1e-6).values)


def test_structure_of_a_zero_axis_is_zero():
    X, y = classes(60, 3, 3, 3)
    found = found_of(X, y)
    total, within = structure_of(found, np.zeros((3, 1)), np.zeros((3, 1)))
    assert not total.any()
    assert not within.any()
