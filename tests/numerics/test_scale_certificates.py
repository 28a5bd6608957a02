"""Certificates of kernel PCA hold the eigenvalues that LAPACK finds, every time."""

import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from kernel_fits import FORCED, PLAIN, blobs, centred, eigenvalues, fit, matrix
from scale_fits import (
    DATA,
    EPS,
    KERNELS,
    LANDMARKS,
    WAYS,
    WHOLE,
    counts,
    fitted,
    reference,
    seed_of,
    table,
)
from scipy.spatial.distance import cdist

from mercer import KernelPCA
from mercer.errors import AccuracyWarning, InputError
from mercer.kernels import RBF, Linear, NegativeDistance, Polynomial

RESULT = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "certificates.json"
SMALL, LARGE = (50, 120, 300, 700), (1500, 2500)


def suits(way, data, name):
    """Tell whether a fit exists: a linear kernel has features, and no tiles."""
    if name == "polynomial" and data == "far":
        return False  # its plain formula has no digits there
    if way == "primal":
        return name in ("linear", "polynomial")
    return name != "linear" or way in (*LANDMARKS, "refined", "landmarks weighted")


def cases():
    """Name every fit: way, size, data, kernel; four ways for each table and kernel."""
    for n in SMALL + LARGE:
        for data in DATA:
            for name in KERNELS:
                ways = [way for way in WAYS if suits(way, data, name)]
                rng = np.random.default_rng(seed_of(n, data, name))
                if n in LARGE and rng.random() > 0.12:
                    continue
                for way in rng.permutation(ways)[:4]:
                    yield str(way), n, data, name


EVERY = list(cases())


def covering():
    """Return small cases in which each way meets each table and each kernel that suits it."""
    left = {pair for case in EVERY for pair in pairs(case)}
    few = []
    for case in sorted((c for c in EVERY if c[1] <= 700), key=lambda c: (c[1], seed_of(*c))):
        if not left.isdisjoint(pairs(case)):
            few.append(case)
            left.difference_update(pairs(case))
    return few


def pairs(case):
    way, _, data, name = case
    return {(way, data), (way, name)}


FEW = covering()


def check(way, n, data, name):
    """Fit, compare with LAPACK, and return what was measured."""
    seed = seed_of(way, n, data, name)
    dtype, weighted = "float32" if way.endswith("32") else "float64", "weighted" in way
    X, s = table(data, n, dtype)
    w = counts(n, data) if weighted else None
    k = (1, 3, 5)[seed % 3]
    start = time.perf_counter()
    model = fitted(way, X, k, KERNELS[name][0](s), w, seed % 7)
    seconds = time.perf_counter() - start
    truth, trace, largest = reference(data, n, name, dtype, weighted)
    allowed = n * EPS * max(truth[0], largest if way in WHOLE else 0)
    sure = model.certificate_
    low, high = truth[:k] - sure.lower, sure.upper - truth[:k]
    assert low.min() >= -allowed, (low.min() / truth[0], EPS * n)
    assert high.min() >= -allowed, (high.min() / truth[0], EPS * n)
    if sure.met:
        wrong = np.abs(model.eigenvalues_ - truth[:k])
        level = 2 * max(sure.zero_level, allowed)
        assert (wrong <= 2.01 * sure.tol * np.maximum(truth[:k], 0) + level).all()
    on_landmarks = hasattr(model, "residual_trace_")
    assert on_landmarks == (way in LANDMARKS or way == "landmarks weighted")
    held = truth[:k].sum()
    if on_landmarks:
        held = assert_variances(model, X, w)
    least, most = model.captured_share_
    assert least - 1e-10 <= held / trace <= most + 1e-10
    wide = (sure.upper - sure.lower) / truth[:k]
    error = (truth[:k] - model.eigenvalues_) / truth[:k]
    seen = error > 1e-10
    ratios = (wide[seen] / error[seen]).tolist() if way.startswith("once") else []
    met = bool(sure.met)
    return {"seconds": seconds, "met": met, "width": float(wide.max()), "ratios": ratios}


def assert_variances(model, X, w):
    """Landmark variances are those of transform(X), up to rounding; return Σν."""
    Z = model.transform(X)
    w = np.ones(len(X)) if w is None else w
    Z = Z - w @ Z / w.sum()
    variance = w @ Z**2 / (w.sum() - 1)
    rounding = 20 * model._landmark_model.error / (w.sum() - 1)
    np.testing.assert_allclose(model.explained_variance_, variance, rtol=1e-9, atol=rounding)
    return variance.sum() * (w.sum() - 1)


@pytest.mark.parametrize("case", FEW, ids=lambda case: "-".join(map(str, case)))
def test_intervals(case):
    check(*case)


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_all_intervals():
    """All fits; what they measured is written down, and one failure fails the whole."""
    found, failed = {}, []
    for case in EVERY:
        try:
            found[case] = check(*case)
        except AssertionError as error:
            failed.append(("-".join(map(str, case)), str(error)))
    ratios = [ratio for cell in found.values() for ratio in cell["ratios"]]
    by_way = {way: [cell for case, cell in found.items() if case[0] == way] for way in WAYS}
    result = {
        "fits": len(EVERY),
        "holding": len(found),
        "failed": failed,
        "sizes": sorted({case[1] for case in EVERY}),
        "one pass: width / true error": {
            "eigenvalues": len(ratios),
            "median": float(np.median(ratios)),
            "75 %": float(np.percentile(ratios, 75)),
            "90 %": float(np.percentile(ratios, 90)),
        },
        "ways": {
            way: {
                "fits": len(cells),
                "met": sum(cell["met"] for cell in cells),
                "median width": float(np.median([cell["width"] for cell in cells])),
                "seconds": round(sum(cell["seconds"] for cell in cells), 1),
            }
            for way, cells in by_way.items()
        },
    }
    part = RESULT.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(result, indent=1) + "\n")
    part.replace(RESULT)
    assert not failed
    assert np.median(ratios) <= 5


def test_one_pass_is_a_few_times_as_wide_as_the_error():
    """The block of one pass starts from many axes of the landmarks, so that little is left."""
    ratios, widths = [], []
    for data in ("swiss roll", "duplicates", "low rank", "outlier", "smooth"):
        for name in ("rbf", "laplacian", "distance", "product"):
            X, s = table(data, 300)
            model = fitted("once", X, 3, KERNELS[name][0](s))
            truth = reference(data, 300, name, "float64", False)[0][:3]
            error = truth - model.eigenvalues_
            seen = error > 1e-10 * truth
            wide = model.certificate_.upper - model.certificate_.lower
            assert (wide[~seen] <= 1e-6 * truth[~seen]).all()
            ratios += (wide[seen] / error[seen]).tolist()
            widths += (wide / truth).tolist()
    assert len(ratios) > 20
    assert np.median(ratios) <= 5
    assert np.median(widths) <= 1e-5  # quotients alone would be 1e-4 wide


def test_more_axes_than_landmarks():
    """What lies past the landmarks is at most what these leave; it is not zero."""
    X = blobs(200, 3)
    with pytest.warns(AccuracyWarning):
        model = KernelPCA(10, kernel=RBF(1.0), landmarks=4).fit(X)
    truth = eigenvalues(np.exp(-cdist(X, X, "sqeuclidean") / 2))[:10]
    assert truth[9] > 1
    assert (model.certificate_.upper >= truth).all()
    assert (model.certificate_.lower <= truth).all()
    assert not model.certificate_.converged[4:].any()
    assert model.transform(X).shape == (200, 10)
    assert not model.transform(X)[:, 4:].any()


@pytest.mark.parametrize("sampler", ["uniform", "kmeans++", "pivoted"])
@pytest.mark.parametrize("near", [1e-3, 1e-5, 3e-6])
def test_landmarks_that_nearly_depend_on_each_other(sampler, near):
    """A tiny pivot in front of large features would multiply their rounding."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = np.array([1.0, 2.0, 3.0, 4.0]) + near * rng.standard_normal((200, 4))
        X[:30] += rng.standard_normal((30, 4))
        truth = eigenvalues((X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T)[:3]
        model = KernelPCA(3, kernel=Linear(), landmarks=sampler, random_state=seed).fit(X)
        sure, allowed = model.certificate_, 200 * EPS * truth[0]
        assert (sure.lower - truth).max() <= allowed
        assert (truth - sure.upper).max() <= allowed
        assert sure.reached < 1e-8


@pytest.mark.parametrize("path", ["tiles", "stored"])
def test_few_rows_that_hold_most_of_a_float32_matrix(path):
    """The error of float32 entries is measured where these are, not only at random."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((400, 3))
        X[rng.choice(400, 1 + 5 * (seed % 2), replace=False)] *= 50 * 100.0 ** (seed // 2)
        X = X.astype(np.float32)
        wide = X.astype(np.float64)
        for kernel, K in (
            (Polynomial(2, 0.2, 1.0), (0.2 * wide @ wide.T + 1) ** 2),
            (Polynomial(3, 0.2, 1.0), (0.2 * wide @ wide.T + 1) ** 3),
            (PLAIN["distance"][0], matrix("distance", X)),
            (PLAIN["log"][0], matrix("log", X)),
        ):
            model = fit(path, X, 2, kernel=kernel)
            truth = eigenvalues(K)[:2]
            allowed = 400 * EPS * np.abs(K).max()
            assert (model.certificate_.lower - truth).max() <= allowed
            assert (truth - model.certificate_.upper).max() <= allowed


@pytest.mark.parametrize("offset", [1e4, 1e6])
def test_a_share_far_from_the_origin(offset):
    """Rounding takes its part of the share as well; where it takes most, that is said."""
    X = blobs(200, 4) + offset
    centred = X - X.mean(axis=0)
    truth = np.linalg.eigvalsh(centred.T @ centred)[::-1]
    model = KernelPCA(2, kernel=Linear(), landmarks=20)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        least, most = model.fit(X).captured_share_
    assert least <= truth[:2].sum() / truth.sum() <= most
    assert most - least < 0.1 or any(w.category is AccuracyWarning for w in said)
    assert offset > 1e4 or not said


@pytest.mark.parametrize("near", [1.0, 1e-1, 1e-2, 1e-3, 1e-5])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_given_landmarks_that_are_too_near_to_each_other(near, degree):
    """A row far from such landmarks takes them with weights that multiply rounding."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((100, 3))
        S = X[0] + near * rng.standard_normal((20, 3))
        try:
            model = fitted("given", X, 3, Polynomial(degree, 0.2, 1.0), marks=S)
        except InputError:  # no digit is left: said so, not certified
            assert near < 1
            continue
        truth = eigenvalues((0.2 * X @ X.T + 1) ** degree)[:3]
        allowed = 100 * EPS * truth[0]
        assert (model.certificate_.lower - truth).max() <= allowed
        assert (truth - model.certificate_.upper).max() <= allowed


@pytest.mark.parametrize("way", [*LANDMARKS, "refined"])
@pytest.mark.parametrize("kernel", [RBF(4.0), NegativeDistance()], ids=["rbf", "distance"])
def test_share_of_variance_on_landmarks(way, kernel):
    """As many axes as certainly hold the share: never too few, at most as many as t hides."""
    X = blobs(300, 3)
    plain = cdist(X, X, "sqeuclidean")
    K = np.exp(-plain / 32) if isinstance(kernel, RBF) else -np.sqrt(plain)
    truth = eigenvalues(K)
    model = fitted(way, X, 0.8, kernel)
    k = model.n_components_
    needed = int(np.argmax(np.cumsum(truth) / truth.sum() >= 0.8)) + 1
    assert k >= needed
    Z = model.transform(X)
    held = np.sum(Z.var(axis=0)) * len(X) / truth.sum()
    assert held >= 0.8 - 1e-9
    assert k == needed if way == "refined" else model.captured_share_[0] >= 0.8 - 1e-12
    fewer = np.sum(Z[:, : k - 1].var(axis=0)) * len(X)
    missing = getattr(model, "residual_trace_", 0.0)
    assert fewer / (truth.sum() + missing) < 0.8


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("length", [1.0, 2.0, 6.0])
def test_bounds_of_the_projection_on_landmarks(dtype, length):
    """Asked for before or after the first transform, on rows near and far."""
    for seed in range(1):
        X = blobs(600, 3, seed, dtype=dtype)
        far = 2 * length * np.random.default_rng(seed).standard_normal((200, 3))
        new = (X[::3] + far).astype(dtype)
        options = {"kernel": RBF(length), "random_state": seed}
        exact = FORCED["tiles"](4, **options).fit(X)
        model = FORCED["tiles"](4, tol_transform=np.inf, **options).fit(X)
        bound = model.transform_bound(new)
        apart = np.abs(model.transform(new).astype(float) - exact.transform(new))
        np.testing.assert_array_equal(model.transform_bound(new), bound)
        rounding = (1e-9 if dtype == "float64" else 1e-5) * np.sqrt(model.explained_variance_)
        assert (apart <= bound + rounding).all()
        assert not exact.transform_bound(new).any()
        model.set_params(tol_transform=0.01)
        apart = np.abs(model.transform(new).astype(float) - exact.transform(new))
        assert (apart <= 0.01 * np.sqrt(model.explained_variance_) + rounding).all()


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
        u = np.linalg.eigh(centred(matrix("rbf", rows)))[1][:, ::-1][:, :4]
        v = model.dual_.astype(float) * np.sqrt(model.eigenvalues_)
        cosine = np.abs(np.sum(u * v, axis=0)) / np.linalg.norm(v, axis=0)
        sine = np.sqrt(np.maximum(0, 1 - cosine**2))
        assert (sine <= model.certificate_.sine + 3e-7).all()
        assert model.certificate_.sine.max() < 1e-2
