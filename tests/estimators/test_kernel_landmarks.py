"""Kernel PCA on landmarks: certified for all rows, whichever landmarks there are."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import scipy.sparse.linalg
from streams import rows, truth
from tests.claims import agree, hold, hushed, refused, refuses

import mercer
from mercer import KernelPCA
from mercer.errors import AccuracyWarning, DataWarning, InputError, NotSupportedError
from mercer.estimators.kernel._landmark_model import (
    as_dual,
)
from mercer.kernels import (
    RBF,
    Cosine,
    Function,
    Laplacian,
    Linear,
    Log,
    Matern,
    NegativeDistance,
    Polynomial,
    Sigmoid,
)
from mercer.operators import Landmarks

KERNELS = [
    RBF(1.5), Laplacian(2.0), Matern(1.5), Linear(), Polynomial(2, 0.25, 1.0), Cosine(), Log(),
    NegativeDistance(), RBF(2.0) + 0.5 * Linear(),
]  # fmt: skip
SAMPLERS = ["pivoted", "uniform", "kmeans++"]


def counts(n=160):
    return np.random.default_rng(7).integers(0, 4, n).astype(float)


def fitted(X, k=3, weights=None, **parameters):
    kinds = (AccuracyWarning, DataWarning)
    return hushed(KernelPCA(k, **parameters).fit, X, sample_weight=weights, kind=kinds)


def on_span(kernel, X, S, o, weights=None):
    """Return PKP, centred: what kernel PCA on the span of landmarks S is, by plain algebra."""

    def k(a, b):
        if o is None:
            return kernel.block(a, b)
        return kernel.block(a, b) - kernel.block(a, o) - kernel.block(o, b) + kernel.block(o, o)

    values, u = np.linalg.eigh(k(S, S))
    good = values > 1e-12 * values[-1]
    f = k(X, S) @ (u[:, good] / np.sqrt(values[good]))
    w = np.ones(len(X)) if weights is None else weights
    f = f - (w @ f) / w.sum()
    return np.linalg.svd(np.sqrt(w)[:, None] * f, compute_uv=False) ** 2


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("number", range(len(KERNELS)))
def test_intervals_hold_the_eigenvalues(number, weighted):
    kernel, sampler = KERNELS[number], SAMPLERS[(number + weighted) % 3]
    X, w = rows(160), counts() if weighted else None
    values = truth(kernel, X, w)
    S = fitted(X, 2, w, kernel=kernel, landmarks=sampler).landmarks_  # one way to draw them
    for landmarks in (12, S[:25]):
        model = fitted(X, 2, w, kernel=kernel, landmarks=landmarks)
        certificate = model.certificate_
        slack = 1e-12 * values[0]
        assert (certificate.lower <= values[:2] + slack).all()
        assert (certificate.upper >= values[:2] - slack).all()
        assert model.plan_.chosen.name == "landmarks"
        assert model.residual_trace_ >= 0
        inner = on_span(kernel, X, model.landmarks_, model._landmark_model.landmarks.origin, w)
        np.testing.assert_allclose(model.eigenvalues_, inner[:2], rtol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_all_rows_as_landmarks_are_exact(kernel):
    X = rows(120)
    model, exact = fitted(X, kernel=kernel, landmarks=120), fitted(X, kernel=kernel)
    k = int(np.sum(exact.eigenvalues_ > 1e-9 * exact.eigenvalues_[0]))
    np.testing.assert_allclose(model.eigenvalues_[:k], exact.eigenvalues_[:k], rtol=1e-7)
    Y = rows(40, 3)
    agree(np.abs(model.transform(Y)[:, :k]), np.abs(exact.transform(Y)[:, :k]), 1e-5)
    assert model.residual_trace_ <= 1e-9 * exact.eigenvalues_.sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_variance_along_each_axis_is_exact(weighted):
    X, w = rows(160), counts() if weighted else None
    model = fitted(X, 3, w, kernel=RBF(1.0), landmarks=15)
    Z = model.transform(X)
    c = np.ones(160) if w is None else w
    about = Z - (c @ Z) / c.sum()
    agree((about.T * c) @ about, np.diag(model.eigenvalues_), 1e-9)
    agree((c @ Z) / c.sum(), 0, 1e-10)
    np.testing.assert_allclose(model.explained_variance_, model.eigenvalues_ / (c.sum() - 1))
    np.testing.assert_allclose(
        model.explained_variance_ratio_,
        model.eigenvalues_ / (np.sum(model._landmark_model.values) + model.residual_trace_),
    )


def test_float32_is_seen_in_float64_and_given_landmarks_standardised():
    X = rows(160, dtype=np.float32)
    model = fitted(X, kernel=RBF(1.5), landmarks=60)
    assert model.transform(X).dtype == np.float32
    values = truth(RBF(1.5), X)[:3]
    hold(model.certificate_, values)
    wide = fitted(X.astype(np.float64), kernel=RBF(1.5), landmarks=60)
    np.testing.assert_allclose(model.eigenvalues_, wide.eigenvalues_, rtol=1e-6)
    X = rows(160) * [1, 100, 1e-3] + [0, 1e4, 5]
    model = fitted(X, kernel=RBF(1.0), standardize=True, landmarks=X[:60])
    Y = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    plain = fitted(Y, kernel=RBF(1.0), landmarks=Y[:60])
    np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-8)


def test_sparse_rows_and_frames():
    X = rows(160)
    X[np.abs(X) < 2] = 0
    plain = fitted(X, kernel=RBF(2.0), landmarks=50)
    sparse = fitted(scipy.sparse.csr_array(X), kernel=RBF(2.0), landmarks=50)
    np.testing.assert_allclose(sparse.eigenvalues_, plain.eigenvalues_, rtol=1e-8)
    agree(sparse.transform(scipy.sparse.csr_array(X)), plain.transform(X), 1e-7)
    frame = pd.DataFrame(X, columns=list("abc"))
    named = fitted(frame, kernel=RBF(2.0), landmarks=frame[:50])
    np.testing.assert_allclose(
        named.eigenvalues_, fitted(X, kernel=RBF(2.0), landmarks=X[:50]).eigenvalues_
    )
    assert list(named.feature_names_in_) == list("abc")


@pytest.mark.parametrize(
    ("k", "n", "given", "count"),
    [
        (2, 100, "pivoted", 100),  # of few rows all
        (2, 5000, "uniform", 300),
        (100, 5000, "kmeans++", 1000),
        (4500, 5000, "pivoted", 4500),
        (2, 400, np.int32(20), 20),
        (2, 10, 20, 10),
        (2, 400, rows(7), 7),
        (2, 3, rows(5), 5),
    ],
    ids=range(8),
)
def test_as_many_landmarks_as_are_worth_it(k, n, given, count):
    made = mercer.plan(KernelPCA(k, kernel=RBF(1.0), landmarks=given), rows(n))
    assert made.problem.kernel.landmarks == count
    assert made.chosen.name == "landmarks"


@pytest.mark.parametrize("kernel", [RBF(1.5), NegativeDistance(), Log()], ids=repr)
def test_coefficients_on_rows_give_the_same_coordinates(kernel):
    """wᵀf(x) = Bᵀk(rows, x) - c, with the origin of a cpd kernel among the rows."""
    X = rows(160)
    marks = Landmarks.of(kernel, X[:25])
    w = np.random.default_rng(0).standard_normal((marks.m, 2))
    S, dual, constant = as_dual(marks, w)
    f, _ = marks.features(X)
    found = kernel.block(X, S) @ dual - constant
    agree(found, f @ w, 1e-8 * np.abs(f @ w).max())
    assert len(S) == marks.m + (marks.origin is not None)


def test_landmarks_are_drawn_by_seed_and_the_largest_is_positive():
    model = fitted(rows(160), kernel=RBF(1.5), landmarks=40)
    z = model.transform(model.landmarks_)
    assert (z[np.argmax(np.abs(z), axis=0), range(3)] > 0).all()
    X = rows(160)
    model, same, other = (
        fitted(X, kernel=RBF(1.5), landmarks=40, random_state=s) for s in (3, 3, 4)
    )
    np.testing.assert_array_equal(same.transform(X), model.transform(X))
    assert not np.array_equal(other.landmarks_, model.landmarks_)


def test_few_landmarks_are_not_blamed_on_the_lengthscale():
    """What they leave counts as noise in the effective rank, which is no fault of the data."""
    X = rows(160)
    for landmarks in (3, 10):
        KernelPCA(2, kernel=RBF(2.0), landmarks=landmarks, tol=1e9).fit(X)
    with pytest.warns(DataWarning, match="lengthscale is too short"):
        KernelPCA(2, kernel=RBF(1e-3), landmarks=160, tol=1e9).fit(X)


@pytest.mark.parametrize("landmarks", [None, 5, 20, 60])
def test_the_interval_holds_the_share(landmarks):
    """Of the variance along the axes that were found, measured on all rows."""
    X = np.random.default_rng(1).standard_normal((60, 2))
    K = RBF(1.0).block(X)
    H = np.eye(60) - 1 / 60
    total = np.trace(H @ K @ H)
    model = KernelPCA(3, kernel=RBF(1.0), landmarks=landmarks, tol=1e6).fit(X)
    z = model.transform(X)
    held = np.sum((z - z.mean(axis=0)) ** 2) / total
    low, high = model.captured_share_
    assert low - 1e-12 <= held <= high + 1e-12
    assert 0 < low <= high <= 1


REFUSED = {
    "zero": 0, "negative": -1, "a word": "nonsense", "a fraction": 2.5, "true": True,
    "one axis": np.arange(3.0), "three axes": np.ones((2, 2, 3)),
    "wrong width": np.ones((5, 2)), "no rows": np.empty((0, 3)), "NaN": np.full((5, 3), np.nan),
    "infinite": np.full((5, 3), np.inf), "a list": [[1.0, 2.0, 3.0]],
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_odd_landmarks_are_refused_in_three_lines(name):
    model = KernelPCA(2, kernel=RBF(3.0)).fit(rows(50))
    model.set_params(landmarks=REFUSED[name])
    old = dict(vars(model))
    for call in (model.fit, model.partial_fit):
        refuses(None, call, rows(50))
        assert all(vars(model)[key] is old[key] for key in old)


@pytest.mark.parametrize(
    "kernel",
    [Sigmoid(0.1), Function(lambda x, y: x @ y.T)],
    ids=["tanh", "f"],
)
def test_kernels_that_may_be_indefinite_are_refused(kernel):
    X = rows(40)
    X = X @ X.T if kernel == "precomputed" else X
    with refused(NotSupportedError, match="positive definite"):
        KernelPCA(2, kernel=kernel, landmarks=10).fit(X)


def test_more_landmarks_than_rows():
    X = rows(40)
    model = fitted(X, kernel=RBF(1.5), landmarks=1000)
    assert model.landmarks_.shape[0] <= 40
    np.testing.assert_allclose(
        model.eigenvalues_, fitted(X, kernel=RBF(1.5)).eigenvalues_, rtol=1e-7
    )
    given = fitted(X, kernel=RBF(1.5), landmarks=rows(300))  # rows that are not in X
    assert given.landmarks_.shape[0] > 40
    values = fitted(X, kernel=RBF(1.5)).eigenvalues_
    hold(given.certificate_, values)


def test_fewer_landmarks_than_components():
    X = rows(80)
    model = fitted(X, 10, kernel=RBF(1.5), landmarks=4)
    assert model.n_components_ == 10
    assert model.transform(X).shape == (80, 10)
    np.testing.assert_array_equal(model.eigenvalues_[4:], 0)
    np.testing.assert_array_equal(model.transform(X)[:, 4:], 0)
    assert model.rank_ <= 4
    values = truth(RBF(1.5), X)[:10]
    hold(model.certificate_, values)


def test_all_components_and_a_share_that_cannot_be_proved():
    X = rows(50)
    model = fitted(X, None, kernel=RBF(1.5), landmarks=12)
    assert model.transform(X).shape == (50, 50)
    assert np.sum(model.eigenvalues_ > 0) <= 12
    model = fitted(rows(160), 0.999, kernel=Laplacian(0.5), landmarks=5)
    assert model.n_components_ == 5
    assert model.captured_share_[0] < 0.999


@pytest.mark.parametrize("wanted", [0.3, 0.8, 0.95])
def test_a_share_is_reached_for_certain(wanted):
    X = rows(160)
    model = fitted(X, wanted, kernel=RBF(1.5), landmarks=100)
    assert model.captured_share_[0] >= wanted
    fewer = (
        fitted(X, model.n_components_ - 1, kernel=RBF(1.5), landmarks=100)
        if (model.n_components_ > 1)
        else None
    )
    assert fewer is None or fewer.captured_share_[0] < wanted


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_duplicates_are_taken_once(sampler):
    X = np.repeat(rows(7), 30, axis=0)
    model = fitted(X, 3, kernel=RBF(1.5), landmarks=sampler)
    assert model.landmarks_.shape[0] <= 7
    twice = np.concatenate([X[:210:30], X[:210:30]])
    given = fitted(X, 3, kernel=RBF(1.5), landmarks=twice)
    assert given.landmarks_.shape[0] == 7
    values = truth(RBF(1.5), X)[:3]
    np.testing.assert_allclose(given.eigenvalues_, values, rtol=1e-9)


@pytest.mark.parametrize("landmarks", [1, 20, "uniform", np.zeros((4, 3))], ids=str)
def test_constant_rows_are_refused(landmarks):
    """The same words as without landmarks."""
    texts = []
    for chosen in (landmarks, None):
        with refused(InputError, match="constant up to rounding") as error:
            KernelPCA(2, kernel=RBF(1.0), landmarks=chosen, tol=1e9).fit(np.zeros((50, 3)))
        texts.append(str(error.value).splitlines()[0])
    assert texts[0] == texts[1]


def test_two_rows_and_landmarks_that_see_nothing():
    # Rows that are zero for the kernel: no axis, and the bound says so.
    X = rows(60)
    model = fitted(X, 2, kernel=Linear(), landmarks=np.zeros((3, 3)))
    np.testing.assert_array_equal(model.eigenvalues_, 0)
    np.testing.assert_array_equal(model.transform(X), 0)
    assert model.residual_trace_ == pytest.approx(np.sum(X**2))
    values = truth(Linear(), X)[:2]
    assert (model.certificate_.upper >= values).all()
    X = rows(2)
    for landmarks in (1, 2, 20, X, "uniform"):
        model = fitted(X, 1, kernel=RBF(3.0), landmarks=landmarks)
        value = truth(RBF(3.0), X)[0]
        assert model.certificate_.lower[0] <= value * (1 + 1e-12)
        assert model.certificate_.upper[0] >= value * (1 - 1e-12)
    refuses("one row", KernelPCA(1, kernel=RBF(3.0), landmarks=1).fit, X[:1])


def test_the_tolerance_of_landmarks():
    """0.05 unless it is given, and what is missed is said."""
    X = rows(160)
    model = KernelPCA(2, kernel=RBF(3.0), landmarks=100).fit(X)
    assert model.certificate_.tol == 0.05
    assert model.certificate_.met
    with pytest.warns(AccuracyWarning, match="not certified") as seen:
        KernelPCA(2, kernel=RBF(3.0), landmarks=5).fit(X)
    assert "refine" in str(seen[0].message)
    assert fitted(X, kernel=RBF(3.0), landmarks=100, tol=1e-3).certificate_.tol == 1e-3


def test_the_plan_names_as_many_landmarks_as_are_taken():
    X = rows(640)
    for wanted in (2, 0.9, 50):
        for landmarks in (40, "pivoted", X[:70]):
            parameters = {"kernel": RBF(0.5), "landmarks": landmarks}
            plan = mercer.plan(KernelPCA(wanted, **parameters), X)
            model = fitted(X, wanted, **parameters)
            assert model.plan_.chosen == plan.chosen
            assert f"{len(model.landmarks_):,} landmarks" in plan.chosen.note


def test_a_fit_keeps_neither_old_landmarks_nor_given_rows():
    X = rows(60)
    model = fitted(X, kernel=RBF(1.5), landmarks=20)
    assert model.landmarks_.shape == (20, 3)
    model.set_params(landmarks=None).fit(X)
    assert not hasattr(model, "landmarks_")
    fresh = fitted(X, kernel=RBF(1.5))
    assert vars(model).keys() == vars(fresh).keys()
    np.testing.assert_array_equal(model.transform(X), fresh.transform(X))
    X, S = rows(160), rows(40, 5)
    model = fitted(X, kernel=RBF(1.5), landmarks=S)
    Z, kept = model.transform(X), X.copy()
    S[:], X[:] = 0, 0
    np.testing.assert_array_equal(model.transform(kept), Z)


def lesser(model, K, **given):
    return hushed(model.fit, K, kind=(AccuracyWarning, DataWarning), **given)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sampler", [25, "uniform", [3, 50, 7, 99, 120]])
def test_a_given_matrix_has_the_landmarks_of_its_rows(sampler, weighted, tmp_path):
    X, new = rows(160), rows(20, seed=3)
    kernel, weights = RBF(1.5), counts() if weighted else None
    K, k = kernel(X), kernel.block(new, X)
    marks = X[sampler] if isinstance(sampler, list) else sampler
    wanted = fitted(X, 3, weights, kernel=kernel, landmarks=marks)
    given = np.asarray(sampler) if isinstance(sampler, list) else sampler
    model = KernelPCA(3, kernel="precomputed", landmarks=given)
    model = lesser(model, K, sample_weight=weights)
    agree(model.eigenvalues_, wanted.eigenvalues_, 1e-9 * wanted.eigenvalues_[0])
    agree(np.abs(model.transform(k)), np.abs(wanted.transform(new)), 1e-8)
    exact = np.linalg.eigvalsh(on_rows(K, weights))[::-1][:3]
    hold(model.certificate_, exact, 1e-12)
    others = np.setdiff1d(np.arange(160), model.landmark_indices_)
    k[:, others] = 1e6  # the columns of landmarks are enough
    agree(np.abs(model.transform(k)), np.abs(wanted.transform(new)), 1e-8)
    mercer.save(model, tmp_path / "few.mercer")
    again = mercer.load(tmp_path / "few.mercer")
    assert np.array_equal(again.transform(k), model.transform(k))
    assert not hasattr(KernelPCA(3).fit(X), "landmark_indices_")


def on_rows(K, weights):
    w = np.ones(len(K)) if weights is None else weights
    centre = np.eye(len(K)) - np.outer(np.ones(len(K)), w / w.sum())
    return np.sqrt(w)[:, None] * (centre @ K @ centre.T) * np.sqrt(w)


def test_a_given_matrix_without_landmarks_to_choose_is_refused():
    X = rows(60)
    K = RBF(1.0)(X)
    for wrong, marks, words in (
        (np.tanh(X @ X.T - 1), 5, "without negative eigenvalues"),
        (K - 1.0, 5, "nowhere above 0"),
        (K, X[:3], "numbers of rows"),
        (K, [4, 99], "one of the rows"),
        (K, [0.5], "numbers of rows"),
    ):
        model = KernelPCA(2, kernel="precomputed", landmarks=marks)
        with refused(InputError, match=words):
            model.fit(wrong)


# -- the sampled certificate ----------------------------------------------------------------


def cloud_of(n=3000, p=5, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p))


def exact_values(X, kernel, k):
    K = np.asarray(kernel.block(X, X), float)
    K -= K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    return scipy.sparse.linalg.eigsh(K, k, tol=1e-12)[0][::-1]


@pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning")
@pytest.mark.parametrize("way", ["memory", "weights", "stream", "float32"])
def test_rows_drawn_by_their_residual_narrow_the_certificate(way):
    X, kernel, weights = cloud_of(), mercer.kernels.RBF(2.0), None
    X = X.astype(np.float32) if way == "float32" else X
    if way == "weights":
        weights = np.r_[np.full(500, 2.0), np.ones(2500)]
        given, X = X, np.r_[X[:500], X]
    model = mercer.KernelPCA(5, kernel=kernel, landmarks=150, random_state=1)
    if way == "stream":
        model.fit(iter(np.array_split(X, 9)))
    elif way == "weights":
        model.fit(given, sample_weight=weights)
    else:
        model.fit(X)
    sure = model.certificate_
    values = exact_values(np.asarray(X, float), kernel, 5)
    assert sure.failure == 1e-9
    assert np.all(sure.lower <= values)
    assert np.all(values <= sure.upper)
    assert np.all(sure.upper < sure.sure_upper)
    assert np.median((sure.sure_upper - values) / (sure.upper - values)) > 2
    assert "probability of at most 1e-09" in str(sure)


@pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning")
def test_few_rows_draw_none():
    model = mercer.KernelPCA(3, kernel="rbf(lengthscale=2)", landmarks=20).fit(cloud_of(300))
    assert model.certificate_.failure == 0
    assert model.certificate_.sure_upper is None
