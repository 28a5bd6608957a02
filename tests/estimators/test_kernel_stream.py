"""Rows in blocks: a stream is a fit of all rows that it has seen."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from streams import assert_same, blocks, counts, named, rows, streamed, truth, untouched
from tests.claims import agree, hold, refuses

import mercer.estimators.kernel._row_stream as module
from mercer import PCA, KernelPCA
from mercer.errors import (
    AccuracyWarning,
    DataWarning,
    InputError,
    MercerError,
    NotSupportedError,
)
from mercer.kernels import RBF, Laplacian, Linear, Log, NegativeDistance, Polynomial

pytestmark = [
    pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning"),
    pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning"),
]

KERNELS = ["rbf", RBF(1.5), Laplacian(), Log(), NegativeDistance(), Linear(), Polynomial(2)]
CHOICES = {"number": 40, "sampler": "uniform", "rows": rows(30, 9)}


CASES = [(kernel, False) for kernel in KERNELS] + [("rbf", True), (Log(), True)]


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize(("kernel", "standardize"), CASES, ids=str)
def test_a_stream_is_a_fit_of_all_its_rows(kernel, choice, standardize):
    X = rows() * [1, 30, 0.2]
    parameters = {
        "kernel": kernel,
        "landmarks": CHOICES[choice],
        "standardize": standardize,
        "random_state": 5,
    }
    whole = KernelPCA(2, **parameters).fit(X)
    found = streamed(KernelPCA(2, **parameters), blocks(X))
    assert_same(found, whole, X, 1e-7)
    if found._stream.sums is None:  # otherwise that of the first block
        assert found.alignment_ == pytest.approx(whole.alignment_)
    assert_same(KernelPCA(2, **parameters).fit(iter(blocks(X))), whole, X, 1e-7)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", [RBF(1.5), NegativeDistance()], ids=repr)
def test_rows_are_let_go_when_there_are_enough(monkeypatch, kernel, weighted):
    """From then on the landmarks stay, and the sums are those of all rows."""
    monkeypatch.setattr(module, "BUFFER", 100)
    X, w = rows(), counts() if weighted else None
    model = KernelPCA(2, kernel=kernel, landmarks=40)
    parts, weights = blocks(X), None if w is None else blocks(w)
    streamed(model, parts[:2], weights)
    assert model._stream.sums is None
    assert sum(map(len, model._stream.blocks)) == 41
    model.partial_fit(parts[2], sample_weight=None if w is None else weights[2])
    assert model._stream.blocks == ()
    marks, aligned = model.landmarks_, model.alignment_
    for i in (3, 4):
        model.partial_fit(parts[i], sample_weight=None if w is None else weights[i])
        np.testing.assert_array_equal(model.landmarks_, marks)
        assert model.alignment_ == aligned
    assert model.n_samples_ == 180
    given = KernelPCA(2, kernel=kernel, landmarks=marks).fit(X, sample_weight=w)
    if model._landmark_model.landmarks.origin is None:
        np.testing.assert_allclose(model.eigenvalues_, given.eigenvalues_, rtol=1e-8)
    values = truth(kernel, X, w)[:2]
    hold(model.certificate_, values, 1e-12)
    Z, c = model.transform(X), np.ones(180) if w is None else w
    agree(c @ Z, 0, 1e-8 * np.abs(Z).sum())
    agree((Z.T * c) @ Z, np.diag(model.eigenvalues_), 1e-7 * values[0])


def held(model):
    """Return how many blocks of rows a model keeps until it has enough of them."""
    return len(model._stream.blocks)


def test_given_landmarks_and_numbers_for_parameters_need_no_buffer():
    X = rows()
    many = KernelPCA(2, kernel=RBF(2.0), landmarks=30, standardize=True)
    assert held(many.fit(iter([rows(10_050)]))) == 0  # more than fit at once
    assert held(KernelPCA(2, kernel=RBF(1.5), landmarks=X[:40]).partial_fit(X[:100])) == 0
    for waiting in (
        KernelPCA(2, kernel="rbf", landmarks=X[:40]),  # the median is not known yet
        KernelPCA(2, kernel=RBF(1.5), landmarks=X[:40], standardize=True),
        KernelPCA(2, kernel=RBF(1.5), landmarks=np.int64(40)),
        KernelPCA(2, kernel=RBF(1.5)),
    ):
        assert held(waiting.partial_fit(X[:100])) == 1


def test_tolerance_and_effective_rank_of_every_block():
    X = rows()
    model = KernelPCA(2, kernel=RBF(3.0))
    for part in blocks(X):
        assert model.partial_fit(part).certificate_.tol == 0.05
    assert KernelPCA(2, kernel=RBF(3.0)).fit(iter([X])).certificate_.tol == 0.05
    assert KernelPCA(2, kernel=RBF(3.0), tol=0.2).partial_fit(X).certificate_.tol == 0.2
    X = np.random.default_rng(0).standard_normal((400, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        model = KernelPCA(2, kernel=RBF(0.7), landmarks=60).partial_fit(X)
    assert model.effective_rank_ > 60 / 4


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_other_types(dtype):
    X = rows().astype(dtype)
    made = {"kernel": RBF(1.5), "landmarks": X[:40]}
    whole = KernelPCA(2, **made).fit(X)
    found = streamed(KernelPCA(2, **made), blocks(X))
    assert found.transform(X).dtype == whole.transform(X).dtype
    assert_same(found, whole, X, 1e-5)
    wide = KernelPCA(2, kernel=RBF(1.5), landmarks=rows(40, 9))  # whatever the landmarks are
    assert wide.partial_fit(X).transform(X).dtype == whole.transform(X).dtype
    assert wide.partial_fit(rows()).transform(X).dtype == np.float64
    both = KernelPCA(2, kernel=RBF(1.5), landmarks=40)
    both.partial_fit(X[:100]).partial_fit(X[100:].astype(np.float64))
    assert both.n_samples_ == 180


def test_frames_and_sparse_blocks():
    X = rows()
    X[np.abs(X) < 2] = 0
    made = {"kernel": RBF(2.0), "landmarks": 40}
    whole = streamed(KernelPCA(2, **made), blocks(X))
    frame = pd.DataFrame(X, columns=list("abc"))
    named = streamed(KernelPCA(2, **made), blocks(frame))
    assert list(named.feature_names_in_) == list("abc")
    np.testing.assert_array_equal(named.transform(frame), whole.transform(X))
    parts = [scipy.sparse.csr_array(part) for part in blocks(X)]
    sparse = streamed(KernelPCA(2, **made), parts)
    np.testing.assert_allclose(sparse.eigenvalues_, whole.eigenvalues_, rtol=1e-7)
    assert sparse.transform(parts[0]).shape == (40, 2)


def test_a_block_that_is_changed_afterwards_is_not_seen():
    X = rows()
    wanted = KernelPCA(2, kernel=RBF(1.5), landmarks=40).fit(X)
    model, part = KernelPCA(2, kernel=RBF(1.5), landmarks=40), np.empty((60, 3))
    for start in (0, 60, 120):
        part[:] = X[start : start + 60]  # one buffer for all blocks
        model.partial_fit(part)
    assert_same(model, wanted, X)


def test_options_of_a_stream():
    X = rows()
    share = KernelPCA(0.8, kernel=RBF(1.5), landmarks=100).fit(iter(blocks(X)))
    assert (
        share.n_components_
        == KernelPCA(0.8, kernel=RBF(1.5), landmarks=100).fit(X).n_components_
    )
    named = KernelPCA(0.8, kernel=RBF(1.5), landmarks="pivoted")
    assert_same(clone(named).fit(iter(blocks(X))), named.fit(X), X, 1e-7)
    everything = KernelPCA(None, kernel=RBF(1.5), landmarks=10).fit(iter(blocks(X)))
    assert everything.transform(X).shape == (180, 180)
    assert share.plan_.chosen.name == "landmarks"
    frame = KernelPCA(2, kernel=RBF(1.5)).set_output(transform="pandas").partial_fit(X)
    assert list(frame.transform(X).columns) == ["kernelpca0", "kernelpca1"]
    assert share.novelty(X).shape == (180,)


WAITING = {
    "number": {"landmarks": 40, "kernel": RBF(1.5)},
    "rows": {"landmarks": rows(30, 9), "kernel": RBF(1.5)},
    "median": {},
    "standardised": {"standardize": True},
}


@pytest.mark.parametrize("name", WAITING)
def test_single_rows_and_rows_without_weight_wait_until_there_is_a_model(name):
    X = rows(30)
    model = KernelPCA(4, **WAITING[name])
    for i in range(3):
        model.partial_fit(X[i : i + 1])
        for call in (model.transform, model.novelty, model.refine, model.transform_bound):
            refuses(None, call, X, kind=NotFittedError)
    model = pickle.loads(pickle.dumps(model))
    for i in range(3, 30):
        model.partial_fit(X[i : i + 1])
        assert model.n_samples_ == i + 1
        assert model.transform(X).shape == (30, 4)
    assert_same(model, KernelPCA(4, **({"landmarks": 30} | WAITING[name])).fit(X), X, 1e-6)
    X, w = rows(40), np.r_[np.zeros(10), np.ones(30)]
    model = KernelPCA(2, **WAITING[name])
    model.partial_fit(X[:10], sample_weight=w[:10])
    refuses(None, model.transform, X, kind=NotFittedError)
    model.partial_fit(X[10:], sample_weight=w[10:])
    assert model.n_samples_ == 40
    wanted = KernelPCA(2, **({"landmarks": 40} | WAITING[name])).fit(X, sample_weight=w)
    np.testing.assert_allclose(model.eigenvalues_, wanted.eigenvalues_, rtol=1e-7)


def test_an_iterator_must_bring_enough_rows_that_vary():
    X = rows(30)
    found = KernelPCA(3, kernel=RBF(1.5)).fit(x[None] for x in X)
    assert found.n_samples_ == 30
    for few in (1, 2):
        refuses(None, KernelPCA(3, kernel=RBF(1.5)).fit, (x[None] for x in X[:few]))
    X = np.ones((20, 3))
    for kernel in ("rbf", RBF(1.0)):
        model = KernelPCA(1, kernel=kernel).partial_fit(X[:1])
        old = dict(vars(model))
        refuses(None, model.partial_fit, X)
        assert untouched(model, old)


WALKED = [RBF(1.5), "rbf", Log(), NegativeDistance(), Polynomial(2), "laplacian + linear"]


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
    agree(one.transform(X), whole.transform(X), 1e-7)
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
        refuses(None, one.merge, odd)
        assert untouched(one, old)
    for other in others:
        for a, b in ((one, other), (other, one)):
            refuses(None, a.merge, b)
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
    agree(Z, wanted, (1e-6 + 4 * sine) * wanted.max())
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
    X = rows(1500)
    model = KernelPCA(3, kernel=RBF(1.0), landmarks=30).fit(X)
    wide = model.certificate_.upper - model.certificate_.lower
    values = truth(RBF(1.0), X)[:3]
    model.refine(X, tol=1e-12, passes=passes)
    assert model.plan_.chosen.name == "tiles"
    hold(model.certificate_, values, 1e-12)
    assert (model.certificate_.upper - model.certificate_.lower < wide).all()


@pytest.mark.parametrize("length", [0.6, 1.0])
def test_other_rows_are_not_bounded_by_eigenvalues_of_the_first(length):
    """Rows nearer to each other leave less beyond the axes than those of the fit did."""
    kernel, other = RBF(length), 0.2 * rows(600, 5)
    model = KernelPCA(3, kernel=kernel, landmarks=300).fit(rows(600))
    model.refine(other, tol=1e-12, passes=1)
    values = truth(kernel, other)[:3]
    hold(model.certificate_, values, 1e-12)


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


def broken():
    yield rows()[:100]
    raise OSError("the disk is gone")


def widening():
    yield rows()
    yield np.ones((5, 4))


ITERATORS = {
    "empty": (lambda: iter([]), InputError),
    "failing": (broken, OSError),
    "other width": (widening, InputError),
    "one axis": (lambda: iter([np.arange(3.0)]), InputError),
    "text": (lambda: iter(["a", "b"]), MercerError),
    "numbers": (lambda: iter([1, 2, 3]), MercerError),
    "NaN": (lambda: iter([rows(), np.full((3, 3), np.nan)]), InputError),
}


@pytest.mark.parametrize("name", ITERATORS)
def test_a_failing_iterator_leaves_the_model_as_it_was(name):
    make, kind = ITERATORS[name]
    fresh = KernelPCA(2, kernel=RBF(1.5), landmarks=40)
    before = dict(vars(fresh))
    fitted = clone(fresh).fit(rows(80, 2))
    streaming = clone(fresh).partial_fit(rows(80, 2))
    for model in (fresh, fitted, streaming):
        old = dict(vars(model))
        with pytest.raises(kind) as error:
            model.fit(make())
        if isinstance(error.value, MercerError):
            assert str(error.value).count("\n") == 2
        assert untouched(model, old)
    assert untouched(fresh, before)


def test_what_is_gone_and_what_comes_in_no_blocks():
    model, read = KernelPCA(2, kernel=RBF(1.5), landmarks=40).fit(rows()), []
    old = dict(vars(model))
    refuses("read once", model.fit_transform, (read.append(i) or rows() for i in range(2)))
    assert untouched(model, old)
    assert not read
    model = KernelPCA(2, kernel="precomputed")
    assert not hasattr(model, "partial_fit")
    refuses(None, model.fit, iter([np.eye(3)]), kind=NotSupportedError)
    for kernel in ("sigmoid(gamma=0.1)", lambda x, y: x @ y.T):
        with pytest.raises(NotSupportedError, match="positive definite"):
            KernelPCA(2, kernel=kernel).partial_fit(rows())


BLOCKS = {
    "other width": np.ones((5, 4)),
    "other names": named().rename(columns={"a": "z"}),
    "other order": named()[["b", "a", "c"]],
    "NaN": np.full((5, 3), np.nan),
    "infinite": np.full((5, 3), np.inf),
    "empty": np.empty((0, 3)),
    "one axis": np.ones(3),
    "text": [["a", "b", "c"]],
    "complex": np.ones((4, 3)) * 1j,
    "sparse after dense": scipy.sparse.csr_array(np.eye(3)),
}
WEIGHTS = {
    "few weights": np.ones(3),
    "a weight below zero": np.r_[-1.0, np.ones(19)],
    "no weights": np.full(20, np.nan),
    "words": ["a"] * 20,
}


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")
@pytest.mark.parametrize(
    ("name", "settled"),  # sums take dense rows and sparse
    [(n, s) for n in [*WEIGHTS, *BLOCKS] for s in (False, True)][:-1],
)
def test_a_refused_block_changes_nothing(name, settled):
    landmarks = rows(20, 4) if settled else 20
    model = KernelPCA(2, kernel=RBF(1.5), landmarks=landmarks).partial_fit(named(60))
    Z, old = model.transform(named()), dict(vars(model))
    with pytest.raises(MercerError) as error:
        model.partial_fit(BLOCKS.get(name, named(20)), sample_weight=WEIGHTS.get(name))
    assert len(str(error.value).splitlines()) >= 3
    assert untouched(model, old)
    np.testing.assert_array_equal(model.transform(named()), Z)
    again = KernelPCA(2, kernel=RBF(1.5), landmarks=landmarks).partial_fit(named(60))
    np.testing.assert_array_equal(
        model.partial_fit(named(30)).transform(named()),
        again.partial_fit(named(30)).transform(named()),
    )


def test_what_changes_nothing_in_a_stream():
    model = KernelPCA(2, kernel=RBF(0.5), landmarks=5).partial_fit(rows(60))
    old = dict(vars(model))
    with warnings.catch_warnings():
        warnings.simplefilter("error", AccuracyWarning)
        refuses(None, model.partial_fit, rows(40, 1), kind=AccuracyWarning)
    assert untouched(model, old)
    X = rows()
    model = KernelPCA(2, kernel=RBF(1.5), landmarks=X[:40]).partial_fit(X[:100])
    model.set_params(kernel=RBF(9.0)).partial_fit(X[100:])
    wanted = KernelPCA(2, kernel=RBF(1.5), landmarks=X[:40]).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, wanted.eigenvalues_, rtol=1e-9)
    assert model.kernel_ == RBF(1.5)
    assert model.set_params(n_components=4).partial_fit(X[:5]).n_components_ == 4


def test_a_fit_forgets_the_stream():
    X, made = rows(), {"kernel": RBF(1.5), "landmarks": 40}
    model = KernelPCA(2, **made).partial_fit(named(60))
    model.fit(X)
    assert not hasattr(model, "feature_names_in_")
    assert_same(model.partial_fit(X[:100]), KernelPCA(2, **made).partial_fit(X[:100]), X)
    fresh = KernelPCA(2, **made).fit(named(60))
    fresh.partial_fit(X[:100])
    assert not hasattr(fresh, "feature_names_in_")
    assert fresh.n_samples_ == 100


@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=[pytest.mark.slow] if s >= 4 else []) for s in range(60)]
)
def test_any_walk_of_calls_ends_where_one_fit_does(seed):
    """Blocks, bad blocks and questions in any order, and then one fit of all rows."""
    rng = np.random.default_rng(seed)
    chosen = [20, "uniform", rows(25, 9)][rng.integers(3)]
    made = KernelPCA(
        [1, 3, 0.8, None][rng.integers(4)],
        kernel=WALKED[rng.integers(len(WALKED))],
        landmarks=chosen,
        standardize=bool(rng.integers(2)),
        random_state=seed,
    )
    model, seen, weights = clone(made), [], []
    for _ in range(rng.integers(2, 9)):
        seen.append(rows(int(rng.integers(5, 40)), int(rng.integers(1000))))
        weights.append(rng.integers(1, 3, len(seen[-1])) * 1.0)
        model.partial_fit(seen[-1], sample_weight=weights[-1])
        what = rng.integers(4)
        if what == 0:
            model = pickle.loads(pickle.dumps(model))
        elif what == 1:
            refuses(None, model.partial_fit, np.ones((3, 7)))
        elif what == 2:
            model.novelty(model.inverse_transform(model.transform(seen[0])))
        else:
            pickle.loads(pickle.dumps(model)).refine(seen[0])
    X = np.concatenate(seen)
    assert_same(model, made.fit(X, sample_weight=np.concatenate(weights)), X, 1e-6)


def test_a_generator_is_read_once_and_may_be_followed_by_blocks():
    X, read = rows(), []

    def parts():
        for part in blocks(X):
            read.append(len(part))
            yield part

    model = KernelPCA(2, kernel=RBF(1.5), landmarks=40).fit(parts())
    assert read == [40, 1, 70, 2, 67]
    model.partial_fit(rows(50, 3))
    assert model.n_samples_ == 230
