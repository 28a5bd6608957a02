"""Streams are merged, and models refined by further passes over their rows."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from streams import blocks, counts, named, rows, truth, untouched

from mercer import PCA, KernelPCA
from mercer.errors import InputError, MercerError
from mercer.kernels import RBF, Laplacian, Linear, NegativeDistance

pytestmark = [
    pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning"),
    pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning"),
]


@pytest.mark.parametrize("kernel", [RBF(1.5), NegativeDistance()], ids=repr)
def test_two_streams_are_one(kernel):
    X, made = rows(), {"kernel": kernel, "landmarks": rows(40, 9)}
    one = KernelPCA(2, **made).partial_fit(X[:100])
    two = KernelPCA(2, **made).partial_fit(X[100:], sample_weight=counts()[100:])
    old = dict(vars(two))
    weights = np.r_[np.ones(100), counts()[100:]]
    whole = KernelPCA(2, **made).fit(X, sample_weight=weights)
    one.merge(two)
    assert untouched(two, old)
    for name in ("eigenvalues_", "explained_variance_", "residual_trace_", "n_samples_"):
        np.testing.assert_allclose(getattr(one, name), getattr(whole, name), rtol=1e-8)
    np.testing.assert_allclose(one.transform(X), whole.transform(X), rtol=0, atol=1e-7)
    one.partial_fit(X[:10])
    assert one.n_samples_ == 190


def test_streams_that_cannot_be_merged_are_refused():
    X, S = rows(), rows(40, 9)
    one = KernelPCA(2, kernel=RBF(1.5), landmarks=S).partial_fit(X)
    others = [
        KernelPCA(2, kernel=RBF(1.5), landmarks=S[:30]).partial_fit(X),
        KernelPCA(2, kernel=RBF(2.0), landmarks=S).partial_fit(X),
        KernelPCA(2, kernel=RBF(1.5), landmarks=40).partial_fit(X),
        KernelPCA(2, kernel=RBF(1.5), landmarks=S).fit(X),
        KernelPCA(2, kernel=RBF(1.5), landmarks=S),
    ]
    old = dict(vars(one))
    for odd in (3, None, PCA(2)):
        with pytest.raises(InputError):
            one.merge(odd)
        assert untouched(one, old)
    for other in others:
        for a, b in ((one, other), (other, one)):
            with pytest.raises(InputError) as error:
                a.merge(b)
            assert str(error.value).count("\n") == 2
        assert untouched(one, old)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", Laplacian(2.0), NegativeDistance()], ids=str)
def test_a_landmark_model_becomes_exact(kernel, weighted):
    X, w = rows(), counts() if weighted else None
    model = KernelPCA(3, kernel=kernel, landmarks=15).fit(X, sample_weight=w)
    seen = model.kernel_
    assert model.refine(X, tol=1e-6, sample_weight=w) is model
    assert model.kernel_ == seen
    exact = KernelPCA(3, kernel=seen).fit(X, sample_weight=w)
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=2e-6)
    assert model.certificate_.met
    assert model.certificate_.tol == 1e-6
    assert model.dual_.shape == (180, 3)
    assert not hasattr(model, "landmarks_")
    assert not hasattr(model, "residual_trace_")
    assert model.plan_.chosen.name != "landmarks"
    sine = float(np.max(model.certificate_.sine))
    Z, wanted = np.abs(model.transform(X)), np.abs(exact.transform(X))
    np.testing.assert_allclose(Z, wanted, rtol=0, atol=(1e-6 + 4 * sine) * wanted.max())
    np.testing.assert_allclose(model.fit_transform(X, sample_weight=w).shape, (180, 3))
    assert model.landmarks == 15  # the parameter is the user's


def test_the_lengthscale_and_the_frame_stay():
    X = rows() * [1, 50, 0.1] + 7
    model = KernelPCA(2, standardize=True, landmarks=25).fit(X)
    kernel, mean = model.kernel_, model._frame.mean
    model.refine(X[:120], tol=1e-6)  # other rows, the same frame
    assert model.kernel_ == kernel
    np.testing.assert_array_equal(model._frame.mean, mean)
    Y = ((X - X.mean(axis=0)) / X.std(axis=0, ddof=1))[:120]
    np.testing.assert_allclose(model.eigenvalues_, truth(kernel, Y)[:2], rtol=1e-5)


@pytest.mark.parametrize("passes", [1, 2])
def test_few_passes_give_honest_intervals(passes):
    X = rows(600)
    model = KernelPCA(3, kernel=RBF(1.0), landmarks=30).fit(X)
    wide = model.certificate_.upper - model.certificate_.lower
    values = truth(RBF(1.0), X)[:3]
    model.refine(X, tol=1e-12, passes=passes)
    assert model.plan_.chosen.name == "tiles"
    assert (model.certificate_.lower <= values * (1 + 1e-12)).all()
    assert (model.certificate_.upper >= values * (1 - 1e-12)).all()
    assert (model.certificate_.upper - model.certificate_.lower < wide).all()


@pytest.mark.parametrize("length", [0.6, 1.0])
def test_other_rows_are_not_bounded_by_eigenvalues_of_the_first(length):
    """Rows nearer to each other leave less beyond the axes than those of the fit did."""
    kernel, other = RBF(length), 0.2 * rows(600, 5)
    model = KernelPCA(3, kernel=kernel, landmarks=300).fit(rows(600))
    model.refine(other, tol=1e-12, passes=1)
    values = truth(kernel, other)[:3]
    assert (model.certificate_.lower <= values * (1 + 1e-12)).all()
    assert (model.certificate_.upper >= values * (1 - 1e-12)).all()


def test_a_stream_can_be_refined_and_an_exact_model_too():
    X = rows()
    values = truth(RBF(1.5), X)[:2]
    for model in (
        KernelPCA(2, kernel=RBF(1.5), landmarks=20).fit(iter(blocks(X))),
        KernelPCA(2, kernel=RBF(1.5), tol=0.3).fit(X),
        KernelPCA(2, kernel=RBF(1.5), landmarks=1).fit(X),
    ):
        model.refine(X, tol=1e-8)
        np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-7)
        assert model._stream is None
    linear = KernelPCA(2, kernel="linear").fit(X).refine(X)
    np.testing.assert_allclose(linear.eigenvalues_, truth(Linear(), X)[:2], rtol=1e-9)
    narrow = KernelPCA(2, kernel=RBF(1.5), landmarks=20).fit(X.astype(np.float32))
    narrow.refine(X.astype(np.float32), tol=1e-5)
    np.testing.assert_allclose(narrow.eigenvalues_, values, rtol=1e-4)
    assert narrow.transform(X.astype(np.float32)).dtype == np.float32


ODD = {
    "other width": ({}, np.ones((5, 4))),
    "other names": ({}, named().rename(columns={"a": "z"})),
    "NaN": ({}, np.full((5, 3), np.nan)),
    "no passes": ({"passes": 0}, rows()),
    "half a pass": ({"passes": 0.5}, rows()),
    "no tolerance": ({"tol": -1.0}, rows()),
    "few weights": ({"sample_weight": np.ones(3)}, rows()),
}


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")
@pytest.mark.parametrize("name", ODD)
def test_a_refused_refinement_changes_nothing(name):
    parameters, X = ODD[name]
    model = KernelPCA(2, kernel=RBF(1.5), landmarks=20).fit(named(60))
    old = dict(vars(model))
    with pytest.raises(MercerError) as error:
        model.refine(X, **parameters)
    assert len(str(error.value).splitlines()) >= 3
    assert untouched(model, old)


@pytest.mark.parametrize("passes", [None, 3])
def test_an_interrupted_refinement_changes_nothing(monkeypatch, passes):
    """Before the iteration, and after it."""
    X = rows()
    model = KernelPCA(2, kernel=RBF(1.5), landmarks=20).fit(X)
    Z, old = model.transform(X), dict(vars(model))

    def stop(*_args, **_kwargs):
        raise KeyboardInterrupt

    for step in ("_solve", "_scale"):
        with monkeypatch.context() as patch:
            patch.setattr(KernelPCA, step, stop)
            with pytest.raises(KeyboardInterrupt):
                model.refine(X, tol=1e-12, passes=passes)
        assert untouched(model, old)
    np.testing.assert_array_equal(model.transform(X), Z)


def test_what_is_not_fitted_cannot_be_refined():
    with pytest.raises(NotFittedError):
        KernelPCA(2).refine(rows())
