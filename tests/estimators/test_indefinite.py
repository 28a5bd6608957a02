import numpy as np
import pytest
from kernel_fits import FORCED
from tests.claims import agree, hushed, refuses, warned

from mercer import KernelPCA
from mercer.errors import AccuracyWarning, DataWarning, InputError
from mercer.estimators.kernel import _kernel_fit
from mercer.kernels import Precomputed, Sigmoid
from mercer.testing import matrices

N = 40


def fit_transform(X, k, **parameters):
    """Return the model and its coordinates; remarks are left aside."""
    model, kinds = KernelPCA(k, **parameters), (AccuracyWarning, DataWarning)
    return model, hushed(model.fit_transform, X, kind=kinds)


def fit(X, k, **parameters):
    return fit_transform(X, k, **parameters)[0]


def centred(K):
    K = K - K.mean(axis=0)
    return K - K.mean(axis=1, keepdims=True)


def apart(Z, wanted):
    """Return how far ZZᵀ is from what it should be: signs drop out."""
    return np.max(np.abs(Z @ Z.T - wanted @ wanted.T)) / np.max(np.abs(wanted @ wanted.T))


def made(values, seed=0):
    """Return K (40, 40) with K̃ = K of these eigenvalues beside zeros, off the constant."""
    rng = np.random.default_rng(seed)
    u = np.linalg.qr(np.column_stack([np.ones(N), rng.standard_normal((N, len(values)))]))[0]
    K = (u[:, 1:] * values) @ u[:, 1:].T
    return (K + K.T) / 2


def kernel_of(K):
    """Return a function that looks K up by the number in the first column, and its rows."""
    rows = np.arange(len(K), dtype=float)[:, None]

    def lookup(x, y):
        return K[np.ix_(x[:, 0].astype(int), y[:, 0].astype(int))]

    return lookup, rows


MIXED = np.array([5.0, -4.5, 3.0, 2.0, -1.0, 0.5])
FORMS = ["precomputed", "callable"]


def given(form, K):
    return ("precomputed", K) if form == "precomputed" else kernel_of(K)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("k", [1, 2, 3, None, 0.5])
def test_raise(form, k):
    """The same verdict for every number of components."""
    kernel, X = given(form, made(MIXED))
    with pytest.raises(InputError, match="negative eigenvalues") as error:
        KernelPCA(k, kernel=kernel).fit(X)
    text = str(error.value)
    assert text.count("\n") == 2
    part = 5.5 / 16
    assert f"{part:.2g}" in text
    assert "clip" in error.value.fix


@pytest.mark.parametrize("form", FORMS)
def test_a_small_negative_share_is_clipped_with_a_word(form):
    kernel, X = given(form, made([5.0, 3.0, -0.004]))
    model = warned("left out as noise", KernelPCA(2, kernel=kernel).fit, X)
    np.testing.assert_allclose(model.eigenvalues_, [5, 3], rtol=1e-12)
    assert model.negative_share_ == pytest.approx(0.004 / 8.004, rel=1e-6)
    kernel, X = given(form, made([5.0, 3.0, -0.02]))
    refuses("negative eigenvalues", KernelPCA(2, kernel=kernel).fit, X)


@pytest.mark.parametrize("form", FORMS)
def test_clip(form):
    K = made(MIXED)
    kernel, X = given(form, K)
    model = warned("left out", KernelPCA(3, kernel=kernel, indefinite="clip").fit, X)
    np.testing.assert_allclose(model.eigenvalues_, [5, 3, 2], rtol=1e-12)
    np.testing.assert_allclose(model.explained_variance_ratio_, np.array([5, 3, 2]) / 16)
    assert model.negative_share_ == pytest.approx(5.5 / 16, rel=1e-9)
    model, Z = fit_transform(X, 3, kernel=kernel, indefinite="clip")
    np.testing.assert_allclose(model.transform(X), Z, rtol=0, atol=1e-10)
    values, u = np.linalg.eigh(K)
    top = u[:, np.argsort(values)[::-1][:3]]
    assert apart(Z, top * np.sqrt([5, 3, 2])) <= 1e-10


def test_clip_names_zeros_beyond_the_positive_ones():
    """Four positive eigenvalues: the fifth axis and on are zeros, never square roots."""
    K = made(MIXED)
    model, Z = fit_transform(K, 8, kernel="precomputed", indefinite="clip")
    np.testing.assert_allclose(
        model.eigenvalues_, [5, 3, 2, 0.5, 0, 0, 0, 0], rtol=1e-12, atol=1e-12
    )
    assert model.rank_ == 4
    np.testing.assert_array_equal(Z[:, 4:], 0)
    np.testing.assert_array_equal(model.dual_[:, 4:], 0)
    assert np.isfinite(model.transform(K)).all()
    every = fit(K, None, kernel="precomputed", indefinite="clip")
    assert every.n_components_ == N
    inside = (every.certificate_.lower <= every.eigenvalues_ + 1e-12) & (
        every.eigenvalues_ - 1e-12 <= every.certificate_.upper
    )
    assert inside.all()


@pytest.mark.parametrize("form", FORMS)
def test_flip(form):
    """Z = U|λ|^½ in order of |λ|, B = U sign(λ)|λ|^-½; transform = fit_transform."""
    K = made(MIXED)
    kernel, X = given(form, K)
    warned("modulus", KernelPCA(4, kernel=kernel, indefinite="flip").fit, X)
    model, Z = fit_transform(X, 4, kernel=kernel, indefinite="flip")
    np.testing.assert_allclose(model.eigenvalues_, [5, -4.5, 3, 2], rtol=1e-12)
    np.testing.assert_allclose(model.explained_variance_, np.array([5, 4.5, 3, 2]) / 39)
    np.testing.assert_allclose(model.explained_variance_ratio_, np.array([5, 4.5, 3, 2]) / 16)
    np.testing.assert_allclose(model.transform(X), Z, rtol=0, atol=1e-10)
    np.testing.assert_allclose(np.sum(Z**2, axis=0), [5, 4.5, 3, 2], rtol=1e-10)
    np.testing.assert_allclose(Z.T @ K @ model.dual_, Z.T @ Z, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.dual_.T @ Z, np.diag([1, -1, 1, 1]), rtol=0, atol=1e-9)
    signed = (Z * [1, -1, 1, 1]) @ Z.T
    left = centred(K) - signed
    assert np.max(np.abs(np.linalg.eigvalsh(left))) == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_shift(form):
    """λ - λ_min for all n - 1 directions off the constant; old rows differ from new ones."""
    K = made(MIXED)
    kernel, X = given(form, K)
    warned("differs", KernelPCA(4, kernel=kernel, indefinite="shift").fit, X)
    model, Z = fit_transform(X, 4, kernel=kernel, indefinite="shift")
    np.testing.assert_allclose(model.eigenvalues_, [9.5, 7.5, 6.5, 5.0], rtol=1e-12)
    np.testing.assert_allclose(np.sum(Z**2, axis=0), [9.5, 7.5, 6.5, 5.0], rtol=1e-10)
    wanted = np.sqrt(np.sum(Z**2, axis=0)) * np.array([5, 3, 2, 0.5]) / [9.5, 7.5, 6.5, 5.0]
    found = np.linalg.norm(model.transform(X), axis=0)
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_shift_of_all_axes():
    K = made(MIXED)
    model, Z = fit_transform(K, None, kernel="precomputed", indefinite="shift")
    assert model.n_components_ == N
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1, rtol=1e-9)
    H = np.eye(N) - 1 / N
    np.testing.assert_allclose(Z @ Z.T, K + 4.5 * H, rtol=0, atol=1e-9)
    assert model.eigenvalues_[-1] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("policy", ["clip", "flip", "shift", "raise"])
def test_policies_leave_a_positive_matrix_alone(policy, form):
    kernel, X = given(form, made([5.0, 3.0, 1.0]))
    model = KernelPCA(3, kernel=kernel, indefinite=policy)
    Z = model.fit_transform(X)
    np.testing.assert_allclose(model.eigenvalues_, [5, 3, 1], rtol=1e-12)
    assert model.negative_share_ == 0
    np.testing.assert_allclose(model.explained_variance_ratio_, np.array([5, 3, 1]) / 9)
    agree(model.transform(X), Z, 1e-10)


@pytest.mark.parametrize("k", [1, 3, None])
def test_sigmoid(k):
    """Refused for every k alike; by policy it is what LAPACK says."""
    X = np.random.default_rng(0).standard_normal((80, 4))
    kernel = Sigmoid(1.0, -1.0)
    refuses("negative eigenvalues", KernelPCA(k, kernel=kernel).fit, X)
    values = np.linalg.eigvalsh(centred(np.tanh(X @ X.T - 1)))[::-1]
    part = -values[values < 0].sum() / np.abs(values).sum()
    for policy in ("clip", "flip", "shift"):
        model = fit(X, 3, kernel=kernel, indefinite=policy)
        assert model.negative_share_ == pytest.approx(part, rel=1e-6)
        wanted = {
            "clip": values[:3],
            "flip": values[np.argsort(-np.abs(values))][:3],
            "shift": values[:3] - values[-1],
        }[policy]
        np.testing.assert_allclose(model.eigenvalues_, wanted, rtol=1e-9)


def test_every_type_of_symmetric_matrix():
    """LAPACK's own 21 types as precomputed matrices, by every policy."""
    for number in range(1, 22):
        K = matrices.lapack(number, 20)
        if number in (6, 7, 11, 12, 14, 15, 19, 20):  # squares leave the range of float64
            continue
        values = np.linalg.eigvalsh(centred(K))[::-1]
        if np.abs(values).max() <= 1e-12 * max(np.abs(K).max(), 1e-300):
            continue
        level = 1e-12 * np.abs(values).max()
        clip = fit(K, 5, kernel="precomputed", indefinite="clip")
        np.testing.assert_allclose(
            clip.eigenvalues_,
            np.maximum(values[:5], 0),
            rtol=0,
            atol=level,
            err_msg=str(number),
        )
        flip = fit(K, 5, kernel="precomputed", indefinite="flip")
        sizes = np.sort(np.abs(values))[::-1][:5]
        np.testing.assert_allclose(np.abs(flip.eigenvalues_), sizes, rtol=0, atol=level)
        for model in (clip, flip):
            assert np.isfinite(model.transform(K)).all()
            assert 0 <= model.explained_variance_ratio_.sum() <= 1 + 1e-9


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_large_matrices_are_judged_by_a_sample(monkeypatch, dtype):
    """Past so many rows a sample is looked at: the verdict is the same, and is said."""
    monkeypatch.setattr(_kernel_fit, "_LOOKED_THROUGH", 100)
    X = np.random.default_rng(0).standard_normal((500, 3)).astype(dtype)
    kernel = Sigmoid(1.0, -1.0)
    with pytest.raises(InputError, match="negative eigenvalues") as error:
        FORCED["stored"](2, kernel=kernel).fit(X)
    assert "sample" in error.value.got
    K = np.tanh(X.astype(float) @ X.T.astype(float) - 1)
    truth = np.linalg.eigvalsh(centred(K))[::-1]
    for given_kernel, rows in ((kernel, X), (Precomputed(), K.astype(dtype))):
        with pytest.warns(DataWarning, match="left out"):
            model = FORCED["stored"](2, kernel=given_kernel, indefinite="clip").fit(rows)
        assert model.plan_.chosen.name == "stored"
        np.testing.assert_allclose(model.eigenvalues_, truth[:2], rtol=2e-5)
        allowed = 1e-6 * truth[0] if given_kernel != kernel and dtype == np.float32 else 1e-12
        assert (model.certificate_.lower <= truth[:2] + allowed).all()
        assert (model.certificate_.upper >= truth[:2] - allowed).all()
        wanted = truth[:2] / np.abs(truth).sum()
        np.testing.assert_allclose(model.explained_variance_ratio_, wanted, rtol=0.02)
