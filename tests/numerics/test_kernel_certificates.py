"""Every certified interval holds the eigenvalue that LAPACK finds of a plainly made matrix."""

import zlib

import numpy as np
import pytest
from kernel_fits import PLAIN, blobs, eigenvalues, fit, matrix

from mercer.kernels import RBF

EPS = np.finfo(np.float64).eps


def smooth(n, rng):
    t = rng.uniform(0, 2 * np.pi, n)
    rows = np.column_stack([np.cos(t), np.sin(t), 0.3 * np.cos(3 * t), 0.1 * t])
    return rows + 0.05 * rng.standard_normal(rows.shape)


def noise(n, rng):
    return rng.standard_normal((n, 40)) / 2


def clustered(n, rng):
    return 3 * rng.standard_normal((5, 4))[rng.integers(0, 5, n)] + 1e-3 * rng.standard_normal(
        (n, 4)
    )


def duplicates(n, rng):
    return rng.standard_normal((max(n // 3, 2), 4))[rng.integers(0, max(n // 3, 2), n)]


DATA = {"smooth": smooth, "noise": noise, "clustered": clustered, "duplicates": duplicates}
SIZES = {"lapack": (30, 120, 400, 900), "stored": (60, 200, 700, 1600, 2500)}
SIZES["primal"] = (30, 200, 1000, 2500)
KERNELS = ["rbf", "laplacian", "matern", "rational", "distance", "log", "sum", "arc-cosine"]


def cases():
    """Name every fit: path, size, data, kernel, precision."""
    for path, sizes in SIZES.items():
        names = ["polynomial"] if path == "primal" else KERNELS
        for n in sizes:
            for data in DATA:
                for name in names:
                    for dtype in ("float64", "float32"):
                        yield path, n, data, name, dtype


EVERY = list(cases())
FEW = [case for case in EVERY if zlib.crc32(repr(case).encode()) % 10 == 0 and case[1] < 600]
FEW += [("stored", 700, data, "rbf", "float32") for data in DATA]


def check(path, n, data, name, dtype):
    seed = zlib.crc32(repr((path, n, data, name)).encode())
    rng = np.random.default_rng(seed)
    X = DATA[data](n, rng).astype(dtype)
    k = (1, 3, 7)[seed % 3]
    model = fit(path, X, k, kernel=PLAIN[name][0])
    assert model.plan_.chosen.name == path
    K = matrix(name, X)
    truth = eigenvalues(K)
    assert_contains(model, truth, n * EPS * max(truth[0], np.abs(K).max()))
    return model


def assert_contains(model, truth, allowed):
    sure = model.certificate_
    k = model.n_components_
    assert len(sure.lower) == len(sure.upper) == k
    low, high = truth[:k] - sure.lower, sure.upper - truth[:k]
    assert low.min() >= -allowed, (low.min() / truth[0], allowed / truth[0])
    assert high.min() >= -allowed, (high.min() / truth[0], allowed / truth[0])
    if sure.met:
        level = max(sure.zero_level, allowed)
        wrong = np.abs(model.eigenvalues_ - np.maximum(truth[:k], 0))
        assert (wrong <= 2.01 * sure.tol * np.maximum(truth[:k], 0) + 2 * level).all()


def test_there_are_enough():
    assert len(EVERY) >= 200
    assert len(FEW) >= len(EVERY) // 20


@pytest.mark.parametrize("case", FEW, ids=lambda case: "-".join(map(str, case)))
def test_intervals(case):
    check(*case)


@pytest.mark.slow
@pytest.mark.parametrize("path", SIZES)
@pytest.mark.parametrize("data", DATA)
def test_all_intervals(path, data):
    for case in EVERY:
        if case[0] == path and case[2] == data:
            check(*case)


@pytest.mark.parametrize("path", ["lapack", "stored"])
def test_default_tolerance_is_met(path):
    for dtype, tol in (("float64", 1e-6), ("float32", 1e-5)):
        model = fit(path, blobs(600, 4, dtype=dtype), 5)
        assert model.certificate_.met
        assert model.certificate_.tol == tol
        assert model.certificate_.reached <= tol


def test_equal_eigenvalues_are_one_group():
    """Corners of a regular simplex: n - 1 equal eigenvalues, no axis is told from another."""
    for path in ("lapack", "stored"):
        model = fit(path, np.eye(40), 3, kernel=RBF(1.0))
        np.testing.assert_allclose(model.eigenvalues_, 1 - np.exp(-1), rtol=1e-9)
        assert model.certificate_.groups == ((0, 1, 2, 3),)
        assert (model.certificate_.sine == 1).all()


def test_sines_hold():
    """residual/gap bounds the angle to LAPACK's axis."""
    X = blobs(500, 3)
    for path, dtype in [("lapack", "float64"), ("stored", "float64"), ("stored", "float32")]:
        rows = X.astype(dtype)
        model = fit(path, rows, 4, kernel=PLAIN["rbf"][0])
        A = matrix("rbf", rows)
        A = A - A.mean(axis=0)
        A = A - A.mean(axis=1, keepdims=True)
        u = np.linalg.eigh((A + A.T) / 2)[1][:, ::-1][:, :4]
        v = model.dual_.astype(float) * np.sqrt(model.eigenvalues_)
        cosine = np.abs(np.sum(u * v, axis=0)) / np.linalg.norm(v, axis=0)
        sine = np.sqrt(np.maximum(0, 1 - cosine**2))
        assert (sine <= model.certificate_.sine + 3e-7).all()
        assert model.certificate_.sine.max() < 1e-2


def test_one_row_that_float32_spoils():
    """A row far away has entries with errors of its own: the measured error must cover it."""
    rng = np.random.default_rng(5)
    for far in (1e2, 1e4, 1e6):
        X = rng.standard_normal((600, 4)).astype(np.float32)
        X[123] *= far
        for name in ("distance", "log"):
            model = fit("stored", X, 4, kernel=PLAIN[name][0])
            K = matrix(name, X)
            assert_contains(model, eigenvalues(K), 600 * EPS * np.abs(K).max())
