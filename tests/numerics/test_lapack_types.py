"""LAPACK's own matrices on every path: its pass mark on the exact ones, certificates on all.

Its tests let an error pass that is below 30 in units of size·eps·‖A‖. The 16 types for singular
values are rows of PCA, the 21 symmetric types are covariances and kernel matrices.
"""

import warnings

import numpy as np
import pytest
from forced import PATHS, fit, suits
from jacobi import WIDE, reference

from mercer import PCA, KernelPCA
from mercer.errors import AccuracyWarning, DataWarning, InputError
from mercer.testing import matrices

PASS = 30
SHAPES = [(20, 12), (12, 20), (16, 16), (3, 2), (2, 3)]
LARGE = [(60, 40), (40, 60), (41, 40), (200, 30), (30, 200)]
DTYPES = pytest.mark.parametrize("dtype", ["float64", "float32"])


def norm(a):
    return float(np.linalg.norm(np.asarray(a, np.float64), 2))


def assert_orthonormal(v, eps, place):
    """Rows of v are orthonormal: ‖I - VVᵀ‖ < 30·p·eps."""
    wide = v.astype(WIDE)
    assert norm(wide @ wide.T - np.eye(len(v))) < PASS * v.shape[1] * eps, place


def assert_intervals(certificate, truth, slack, place):
    assert np.all(certificate.lower <= truth + slack), place
    assert np.all(certificate.upper >= truth - slack), place


def check_rows(X, place):
    """Hold every path of PCA against one matrix."""
    (n, p), eps = X.shape, float(np.finfo(X.dtype).eps)
    truth = reference(X)
    with np.errstate(over="ignore"):
        unit = WIDE(np.abs(X).max()) or WIDE(1)
    rows = (X.astype(WIDE) - truth.mean) / unit
    for path in ("auto", *PATHS):
        k = 3 if path == "krylov" else None
        if path != "auto" and not suits(path, n, p, k or 1):
            continue
        if not np.ptp(X, axis=0).any():
            with pytest.raises(InputError, match="no variance"):
                fit(path, X, k)
            continue
        found, here = fit(path, X, k), (*place, path)
        c = found.certificate_
        bounds = [truth.interval(i) for i in range(len(c.lower))]
        assert all(a <= high for a, (_, high) in zip(c.lower, bounds, strict=True)), here
        assert all(b >= low for b, (low, _) in zip(c.upper, bounds, strict=True)), here
        v = found.components_[: found.rank_]
        assert_orthonormal(v, eps, here)
        if k is not None:  # of an iteration the certificate is asked alone
            continue
        # A = UΣVᵀ of the centred rows; a path that forms squares is held to the square of A.
        z = found.transform(X).astype(WIDE) / unit
        back, size = rows - z @ found.components_.astype(WIDE), n if n > p else p
        if path in ("auto", "svd"):
            assert norm(back) < PASS * size * eps * norm(rows), here
        values = found.explained_variance_.astype(WIDE)[: len(v)] * (n - 1) / unit**2
        square = rows.T @ rows - (v.T.astype(WIDE) * values) @ v.astype(WIDE)
        assert norm(square) < PASS * size * eps * norm(rows) ** 2, here


@DTYPES
@pytest.mark.parametrize("number", matrices.LAPACK_RECTANGULAR_TYPES)
def test_singular_value_types(number, dtype):
    for shape in SHAPES:
        check_rows(matrices.lapack_rectangular(number, shape, 1, dtype), (shape,))


@pytest.mark.slow
@DTYPES
@pytest.mark.parametrize("number", matrices.LAPACK_RECTANGULAR_TYPES)
def test_singular_value_types_at_length(number, dtype):
    for seed, shape in enumerate(LARGE):
        check_rows(matrices.lapack_rectangular(number, shape, seed, dtype), (shape, seed))


def centred(K):
    """Return HKH in extended precision, in a unit of its largest entry, and that unit."""
    wide = K.astype(WIDE)
    unit = np.abs(wide).max() or WIDE(1)
    wide = wide / unit
    wide = wide - wide.mean(axis=0)
    wide = wide - wide.mean(axis=1)[:, None]
    return (wide + wide.T) / 2, unit


def check_kernel_matrix(K, place):
    """Hold kernel PCA against one given matrix, of any sign."""
    n, eps = len(K), float(np.finfo(K.dtype).eps)
    A, unit = centred(K)
    truth = matrices.eigenvalues(A)
    for k in sorted({1, max(1, n // 4), n}):
        model = KernelPCA(k, kernel="precomputed", indefinite="clip")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            warnings.simplefilter("ignore", DataWarning)
            try:
                model.fit(K)
            except InputError as error:
                # No value is above the rounding of K, or its squares leave the range.
                nothing = truth[0] <= 8 * n * eps
                far = n * unit > np.sqrt(np.finfo(K.dtype).max) and "squares" in error.what
                assert nothing or far, (*place, str(error))  # noqa: PT017
                continue
        c, here = model.certificate_, (*place, k)
        lower, upper = c.lower.astype(WIDE) / unit, c.upper.astype(WIDE) / unit
        alive = np.maximum(truth[: len(lower)], 0)  # negative values are clipped
        slack = 4 * n * float(np.finfo(WIDE).eps) * max(1.0, truth[0])
        assert np.all(lower <= alive + slack), here
        assert np.all(upper >= alive - slack), here
        values = model.eigenvalues_.astype(WIDE)
        kept = values > c.zero_level
        u = model.dual_[:, : len(values)][:, kept].astype(WIDE) * np.sqrt(values[kept])
        assert_orthonormal(np.asarray(u.T, np.float64), eps, here)
        image = A @ u - u * (values[kept] / unit)
        assert norm(image) < PASS * n * eps, here  # ‖K‖ of the unit is one, or more


@DTYPES
@pytest.mark.parametrize("number", matrices.LAPACK_TYPES)
def test_symmetric_types_as_kernel_matrices(number, dtype):
    for order in (3, 12, 24):
        check_kernel_matrix(matrices.lapack(number, order, 1, dtype), (order,))


@pytest.mark.slow
@DTYPES
@pytest.mark.parametrize("number", matrices.LAPACK_TYPES)
def test_symmetric_types_as_kernel_matrices_at_length(number, dtype):
    for seed, order in enumerate((40, 90, 150)):
        check_kernel_matrix(matrices.lapack(number, order, seed, dtype), (order, seed))


@DTYPES
@pytest.mark.parametrize("order", [1, 2, 12, 30])
def test_symmetric_types_as_covariances(order, dtype):
    for number, words in matrices.LAPACK_TYPES.items():
        C = matrices.lapack(number, order, 1, dtype)
        truth = matrices.eigenvalues(C)
        eps, wide = float(np.finfo(np.float64).eps), C.astype(WIDE)
        size = np.abs(wide).max()
        try:
            model = PCA.from_covariance(C, np.zeros(order), 10 * order)
        except InputError as error:  # it is no covariance, and that is said
            bad = size == 0 or min(truth[-1], np.diagonal(C).min()) < 0
            assert bad, (number, words, str(error))  # noqa: PT017
            continue
        c, k = model.certificate_, model.n_components_
        slack = 4 * order * float(np.finfo(WIDE).eps) * truth[0]
        assert_intervals(c, np.maximum(truth[:k], 0), slack, (number, words))
        v = model.components_[: model.rank_]
        assert_orthonormal(v, eps, (number, words))
        values = model.explained_variance_.astype(WIDE)[: len(v)] / size
        back = wide / size - (v.T.astype(WIDE) * values) @ v.astype(WIDE)
        assert norm(back) < PASS * order * eps * norm(wide / size), (number, words)
