"""The way there: coordinates within what `tol_transform` allows, and novelty."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError
from streams import rows
from tests.claims import agree, hushed, refuses

from mercer import KernelPCA
from mercer.errors import AccuracyWarning, DataWarning, InputError, NotSupportedError
from mercer.kernels import (
    RBF,
    ArcCosine,
    Cosine,
    FeatureMap,
    Laplacian,
    Linear,
    Log,
    Matern,
    NegativeDistance,
    Polynomial,
    RationalQuadratic,
)

INF = float("inf")


def fitted(X, k=3, weights=None, **parameters):
    kinds = (AccuracyWarning, DataWarning)
    return hushed(KernelPCA(k, **parameters).fit, X, sample_weight=weights, kind=kinds)


def exactly(model, X):
    """Return the exact coordinates of a model that may project on landmarks."""
    asked = model.tol_transform
    model.set_params(tol_transform=None)
    found = model.transform(X)
    model.set_params(tol_transform=asked)
    return np.asarray(found, np.float64)


def far_and_near():
    return np.concatenate([rows(60, 3), rows(10, 4) + 50, rows(5, 5) * 1e4])


KERNELS = [RBF(1.0), RBF(4.0), Laplacian(2.0), Matern(1.0), Log(), NegativeDistance()]
MORE = [
    RBF(0.5), RBF(20.0), RationalQuadratic(1.5, 0.7), Cosine(), ArcCosine(1),
    0.5 * RBF(1.0) + Linear() * RBF(2.0),
]  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_row_is_within_the_tolerance(kernel, weighted):
    """Those for which that cannot be proved go the exact way."""
    X = rows(400)
    w = np.random.default_rng(0).integers(0, 3, len(X)).astype(float) if weighted else None
    for tol in (1e-6, 1e-2, 0.3):
        model = fitted(X, weights=w, kernel=kernel, tol_transform=tol)
        scale = np.sqrt(model.explained_variance_)
        for Y in (X, far_and_near()):
            wanted = exactly(model, Y)
            rounding = 1e-11 * np.abs(wanted).max()
            found = model.transform(Y)
            assert (np.abs(found - wanted) <= tol * scale + rounding).all()
            beyond = (model.transform_bound(Y) > tol * scale).any(axis=1)
            np.testing.assert_allclose(found[beyond], wanted[beyond], rtol=1e-12, atol=rounding)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", [*KERNELS, *MORE], ids=repr)
def test_infinity_projects_all_rows_on_landmarks(kernel, dtype, monkeypatch):
    """No error is above its bound, among the rows, between them and far away."""
    X = rows(240, dtype=dtype)
    w = np.random.default_rng(1).integers(0, 4, 240) if dtype == np.float32 else None
    model = fitted(X, weights=w, kernel=kernel, tol_transform=INF)
    Y = np.concatenate([X[:30], far_and_near(), np.zeros((1, 3))]).astype(dtype)
    wanted, bound = exactly(model, Y), model.transform_bound(Y)

    def never(_rows, _dual=None):
        raise AssertionError("a row went the exact way")

    monkeypatch.setattr(model._projection, "products", never)
    found = model.transform(Y)
    assert found.shape == (106, 3)
    assert (bound >= 0).all()
    rounding = (1e-11 if dtype == np.float64 else 3e-5) * np.abs(wanted).max(axis=0)
    assert (np.abs(found - wanted) <= bound + rounding).all()


def test_the_bound_is_neither_idle_nor_zero_without_need():
    # Where landmarks miss much, error and bound are of one size; and neither is zero.
    model = fitted(rows(240), 4, kernel=Laplacian(2.0), tol_transform=INF)
    Y = np.concatenate([rows(100, 1), far_and_near()])
    error = np.abs(model.transform(Y) - exactly(model, Y))
    assert error.max() > 1e-3 * np.sqrt(model.explained_variance_).max()
    assert model.transform_bound(Y).max() < 20 * error.max()
    # Cosines of three columns have rank three; twenty rows that stand often have twenty.
    often = np.repeat(rows(20), 40, axis=0)
    for kernel, X in ((Cosine(), rows(240)), (RBF(1.5), often)):
        model = fitted(X, 2, kernel=kernel, tol_transform=INF)
        wanted = exactly(model, X)
        size = np.abs(wanted).max()
        agree(model.transform(X), wanted, 1e-9 * size)
        assert model.transform_bound(X).max() < 1e-6 * size


@pytest.mark.parametrize(
    ("X", "k", "more"),
    [
        (rows(240)[:2], 1, {"kernel": RBF(1.5)}),
        (rows(240)[:3], 1, {"kernel": RBF(1.5)}),
        (rows(400) * [1, 100, 1e-3] + 5, 3, {"kernel": RBF(0.7), "standardize": True}),
    ],
    ids=["two", "three", "standardised"],
)
def test_few_and_standardised_rows_keep_their_bound(X, k, more):
    model = fitted(X, k, tol_transform=INF, **more)
    error = np.abs(model.transform(X) - exactly(model, X))
    assert (error <= model.transform_bound(X) + (1e-9 if k == 3 else 1e-12)).all()
    assert k < 3 or error.max() > 1e-9  # and something was projected on landmarks


def test_scale_and_offset_of_the_rows_do_not_matter():
    first = fitted(rows(240), kernel=RBF(1.5), tol_transform=INF)
    for factor, shift, close in ((1e-8, 0.0, 1e-8), (1.0, 1e6, 1e-4)):
        X = rows(240) * factor + shift
        other = fitted(X, kernel=RBF(1.5 * factor), tol_transform=INF)
        wanted = first.transform(rows(240))
        agree(other.transform(X), wanted, close)
        bounds = [m.transform_bound(Y).max() for m, Y in ((first, rows(240)), (other, X))]
        assert bounds[1] == pytest.approx(bounds[0], rel=0.02)


def test_the_seed_and_the_rows_are_all_that_landmarks_depend_on():
    one, two, other = (
        fitted(rows(240), kernel=Matern(1.5), tol_transform=INF, random_state=s).transform(
            rows(240)
        )
        for s in (3, 3, 4)
    )
    np.testing.assert_array_equal(one, two)
    assert np.any(one != other)
    X = rows(400)
    model = fitted(X, kernel=RBF(1.0), tol_transform=INF)
    model.transform(X)
    model.fit(X[:150])
    fresh = fitted(X[:150], kernel=RBF(1.0), tol_transform=INF)
    np.testing.assert_array_equal(model.transform(X), fresh.transform(X))


def test_float32_rows_stay_float32():
    X = rows(400, dtype=np.float32)
    model = fitted(X, kernel=RBF(1.0), tol_transform=0.05)
    found = model.transform(X)
    assert found.dtype == np.float32
    error = np.abs(found - exactly(model, X))
    assert (error <= 0.05 * np.sqrt(model.explained_variance_) + 1e-5).all()


def test_frames_and_sparse_rows():
    X = rows(400)
    X[np.abs(X) < 2] = 0
    plain = fitted(X, kernel=RBF(2.0), tol_transform=INF)
    sparse = fitted(scipy.sparse.csr_array(X), kernel=RBF(2.0), tol_transform=INF)
    agree(sparse.transform(scipy.sparse.csr_array(X)), plain.transform(X), 1e-4)
    named = fitted(pd.DataFrame(X, columns=list("abc")), kernel=RBF(2.0), tol_transform=INF)
    frame = pd.DataFrame(X, columns=list("abc"))
    np.testing.assert_array_equal(named.transform(frame), plain.transform(X))
    np.testing.assert_array_equal(named.transform_bound(frame), plain.transform_bound(X))


UNAFFECTED = {
    "precomputed": ({"kernel": "precomputed", "indefinite": "clip"}, True),
    "linear": ({"kernel": "linear"}, False),
    "polynomial": ({"kernel": Polynomial(2)}, False),
    "feature map": ({"kernel": FeatureMap(np.square)}, False),
    "landmarks": ({"kernel": RBF(2.0), "landmarks": 80}, False),
}


@pytest.mark.parametrize("name", UNAFFECTED)
def test_who_needs_no_landmarks_to_project(name):
    """A matrix, explicit features and a landmark model are projected as ever."""
    parameters, matrix = UNAFFECTED[name]
    X = rows(200)
    X = RBF(2.0).block(X) if matrix else X
    plain = fitted(X, **parameters)
    for tol in (0.1, INF):
        model = fitted(X, **parameters, tol_transform=tol)
        np.testing.assert_array_equal(model.transform(X), plain.transform(X))
        np.testing.assert_array_equal(model.transform_bound(X), np.zeros((200, 3)))


def test_a_projection_changes_nothing_that_is_kept():
    X = rows(400)
    model = fitted(X, kernel=RBF(1.0), tol_transform=0.1)
    old, bound = dict(vars(model)), model.transform_bound(X)  # before any projection
    assert bound.max() > 0
    first = model.transform(X)
    assert vars(model).keys() == old.keys()
    assert all(vars(model)[name] is old[name] for name in old)
    np.testing.assert_array_equal(model.transform(X), first)
    np.testing.assert_array_equal(model.transform_bound(X), bound)


@pytest.mark.parametrize("tol", [0, -0.1, float("nan"), -INF, "much"])
def test_odd_tolerances_are_refused(tol):
    refuses(None, KernelPCA(2, kernel=RBF(1.0), tol_transform=tol).fit, rows(30))


def test_an_indefinite_kernel_is_refused_in_three_lines():
    X = rows(80) / 4
    model = KernelPCA(2, kernel="sigmoid(gamma=0.1)", indefinite="clip", tol_transform=0.1)
    with pytest.warns(DataWarning):
        model.fit(X)
    for call in (model.transform, model.transform_bound):
        refuses(None, call, X, kind=NotSupportedError)
    model.set_params(tol_transform=None)
    assert model.transform(X).shape == (80, 2)
    np.testing.assert_array_equal(model.transform_bound(X), 0)


@pytest.mark.parametrize("call", ["transform", "transform_bound", "novelty"])
def test_bad_rows_are_named(call):
    model = fitted(rows(400), kernel=RBF(1.0), tol_transform=INF)
    bad = rows(10)
    bad[3, 1] = np.nan
    with pytest.raises(InputError) as error:
        getattr(model, call)(bad)
    assert "row 3, column 1" in error.value.got
    refuses("2 features", getattr(model, call), rows(10)[:, :2])
    refuses(None, getattr(KernelPCA(2), call), rows(10), kind=NotFittedError)


def left_over(kernel, X, Y, z, weights=None):
    """Return k̃(x, x) - ‖z‖² by plain algebra."""
    share = np.full(len(X), 1 / len(X)) if weights is None else weights / weights.sum()
    towards = kernel.block(Y, X) @ share
    middle = share @ kernel.block(X) @ share
    own = np.array([kernel.block(y[None])[0, 0] for y in Y])
    return own - 2 * towards + middle - np.sum(z**2, axis=1)


NOVELTY = [RBF(1.5), Laplacian(3.0), Log(), NegativeDistance(), Polynomial(2, 0.1, 1.0)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", [*NOVELTY, Linear(), FeatureMap(np.square)], ids=repr)
def test_novelty_is_what_the_axes_leave(kernel, weighted):
    X, Y = rows(150), np.concatenate([rows(20, 1), rows(5, 2) + 20])
    w = np.random.default_rng(0).integers(0, 4, 150).astype(float) if weighted else None
    model = fitted(X, 2, w, kernel=kernel)
    for Z in (X, Y):
        wanted = left_over(kernel, X, Z, model.transform(Z), w)
        found = model.novelty(Z)
        assert found.shape == (len(Z),)
        assert (found >= 0).all()
        agree(found, wanted, 1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", [RBF(1.5), NegativeDistance(), Linear()], ids=repr)
def test_novelty_on_landmarks(kernel, weighted):
    """The plane goes through the mean as the landmarks see it: Pμ, P onto their span."""
    X, Y = rows(150), np.concatenate([rows(20, 1), rows(5, 2) + 20])
    w = np.random.default_rng(0).integers(1, 4, 150).astype(float) if weighted else None
    model = fitted(X, 2, w, kernel=kernel, landmarks=30)
    share = np.full(150, 1 / 150) if w is None else w / w.sum()
    S, o = model.landmarks_, model._landmark_model.landmarks.origin

    def k(a, b):
        if o is None:
            return kernel.block(a, b)
        return kernel.block(a, b) - kernel.block(a, o) - kernel.block(o, b) + kernel.block(o, o)

    inner = np.linalg.pinv(k(S, S), rcond=1e-13, hermitian=True)
    mean = inner @ k(S, X) @ share
    own = np.array([k(y[None], y[None])[0, 0] for y in Y])
    size = own - 2 * k(Y, S) @ mean + mean @ k(S, S) @ mean
    wanted = size - np.sum(model.transform(Y) ** 2, axis=1)
    agree(model.novelty(Y), wanted, 1e-8 * np.abs(size).max())


def test_what_is_new_and_what_leaves_nothing():
    X = rows(400)
    outliers = np.array([[30.0, -30, 30], [0, 100, 0]])
    for parameters in ({}, {"landmarks": 60}, {"tol_transform": 0.1}):
        model = fitted(X, 6, kernel=RBF(2.0), **parameters)
        assert model.novelty(outliers).min() > 3 * np.median(model.novelty(X))
        assert model.novelty(outliers).min() > np.quantile(model.novelty(X), 0.99)
    X = rows(40)
    model = fitted(X, 39, kernel=RBF(1.0))
    agree(model.novelty(X), 0, 1e-9)
    assert model.novelty(X + 0.5).min() > 1e-6


def test_novelty_of_float32_of_large_tables_and_of_none():
    X = rows(9000)
    model = fitted(X[:300], 3, kernel=RBF(1.5))
    wanted = model.novelty(X)
    np.testing.assert_allclose(model.novelty(X[5000:5001]), wanted[5000], rtol=1e-9)
    narrow = fitted(X[:300].astype(np.float32), 3, kernel=RBF(1.5))
    agree(narrow.novelty(X.astype(np.float32)), wanted, 1e-4)
    K = RBF(1.0).block(rows(50))
    model = fitted(K, 2, kernel="precomputed", indefinite="clip")
    refuses(None, model.novelty, K, kind=NotSupportedError)


def test_fit_transform_is_fit_and_transform():
    X = rows(200)
    w = np.ones(200)
    w[[3, 50]] = 0
    for parameters in ({}, {"landmarks": 300}, {"kernel": "linear"}, {"kernel": Log()}):
        model = KernelPCA(2, **({"kernel": RBF(2.0)} | parameters))
        Z = model.fit_transform(X, sample_weight=w)
        agree(Z, model.transform(X), 1e-9 * np.abs(Z).max())
        assert np.isfinite(Z).all()
