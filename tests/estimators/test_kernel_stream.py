"""Rows in blocks: a stream is a fit of all rows that it has seen."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from streams import assert_same, blocks, counts, rows, streamed, truth, untouched

import mercer.estimators.kernel._row_stream as module
from mercer import KernelPCA
from mercer.errors import DataWarning, InputError
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


@pytest.mark.parametrize("choice", CHOICES)
def test_weights_come_with_their_blocks(choice):
    X, w = rows(), counts()
    made = {"kernel": RBF(1.5), "landmarks": CHOICES[choice]}
    whole = KernelPCA(2, **made).fit(X, sample_weight=w)
    found = streamed(KernelPCA(2, **made), blocks(X), blocks(w))
    assert_same(found, whole, X, 1e-7)
    assert found.n_samples_ == 180
    mixed = (
        KernelPCA(2, **made).partial_fit(X[:100]).partial_fit(X[100:], sample_weight=w[100:])
    )
    whole = KernelPCA(2, **made).fit(X, sample_weight=np.r_[np.ones(100), w[100:]])
    assert_same(mixed, whole, X, 1e-7)


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
    assert (model.certificate_.lower <= values * (1 + 1e-12)).all()
    assert (model.certificate_.upper >= values * (1 - 1e-12)).all()
    Z, c = model.transform(X), np.ones(180) if w is None else w
    np.testing.assert_allclose(c @ Z, 0, rtol=0, atol=1e-8 * np.abs(Z).sum())
    np.testing.assert_allclose(
        (Z.T * c) @ Z, np.diag(model.eigenvalues_), rtol=0, atol=1e-7 * values[0]
    )


def test_the_buffer_ends_with_ten_thousand_rows():
    X = rows(10_050)
    made = {"kernel": RBF(2.0), "landmarks": 30}
    model = KernelPCA(2, **made).partial_fit(X[:9999])
    assert model._stream.sums is None
    whole = KernelPCA(2, **made).fit(X[:10_000])
    model.partial_fit(X[9999:10_000])
    assert model._stream.blocks == ()
    assert_same(model, whole, X[:50], 1e-8)
    model.partial_fit(X[10_000:])
    assert model.n_samples_ == 10_050
    once = KernelPCA(2, **made, standardize=True).fit(iter([X]))  # more than fit at once
    assert once._stream.blocks == ()


def test_given_landmarks_and_numbers_for_parameters_need_no_buffer():
    X = rows()
    model = KernelPCA(2, kernel=RBF(1.5), landmarks=X[:40]).partial_fit(X[:100])
    assert model._stream.blocks == ()
    for waiting in (
        KernelPCA(2, kernel="rbf", landmarks=X[:40]),  # the median is not known yet
        KernelPCA(2, kernel=RBF(1.5), landmarks=X[:40], standardize=True),
        KernelPCA(2, kernel=RBF(1.5), landmarks=np.int64(40)),
        KernelPCA(2, kernel=RBF(1.5)),
    ):
        assert len(waiting.partial_fit(X[:100])._stream.blocks) == 1


def test_every_block_has_the_same_tolerance():
    X = rows()
    model = KernelPCA(2, kernel=RBF(3.0))
    for part in blocks(X):
        assert model.partial_fit(part).certificate_.tol == 0.05
    assert KernelPCA(2, kernel=RBF(3.0)).fit(iter([X])).certificate_.tol == 0.05
    assert KernelPCA(2, kernel=RBF(3.0), tol=0.2).partial_fit(X).certificate_.tol == 0.2


def test_the_effective_rank_is_compared_with_the_rows():
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


# -- few rows --------------------------------------------------------------------------

WAITING = {
    "number": {"landmarks": 40, "kernel": RBF(1.5)},
    "rows": {"landmarks": rows(30, 9), "kernel": RBF(1.5)},
    "median": {},
    "standardised": {"standardize": True},
}


@pytest.mark.parametrize("name", WAITING)
def test_single_rows_wait_until_there_is_a_model(name):
    X = rows(30)
    model = KernelPCA(4, **WAITING[name])
    for i in range(3):
        model.partial_fit(X[i : i + 1])
        for call in (model.transform, model.novelty, model.refine, model.transform_bound):
            with pytest.raises(NotFittedError):
                call(X)
    model = pickle.loads(pickle.dumps(model))
    for i in range(3, 30):
        model.partial_fit(X[i : i + 1])
        assert model.n_samples_ == i + 1
        assert model.transform(X).shape == (30, 4)
    assert_same(model, KernelPCA(4, **({"landmarks": 30} | WAITING[name])).fit(X), X, 1e-6)


@pytest.mark.parametrize("name", WAITING)
def test_rows_without_weight_wait_too(name):
    X, w = rows(40), np.r_[np.zeros(10), np.ones(30)]
    model = KernelPCA(2, **WAITING[name])
    model.partial_fit(X[:10], sample_weight=w[:10])
    with pytest.raises(NotFittedError):
        model.transform(X)
    model.partial_fit(X[10:], sample_weight=w[10:])
    assert model.n_samples_ == 40
    wanted = KernelPCA(2, **({"landmarks": 40} | WAITING[name])).fit(X, sample_weight=w)
    np.testing.assert_allclose(model.eigenvalues_, wanted.eigenvalues_, rtol=1e-7)


def test_an_iterator_must_bring_enough_rows():
    X = rows(30)
    found = KernelPCA(3, kernel=RBF(1.5)).fit(x[None] for x in X)
    assert found.n_samples_ == 30
    for few in (1, 2):
        with pytest.raises(InputError) as error:
            KernelPCA(3, kernel=RBF(1.5)).fit(x[None] for x in X[:few])
        assert str(error.value).count("\n") == 2


def test_a_stream_of_equal_rows_has_no_variance():
    X = np.ones((20, 3))
    for kernel in ("rbf", RBF(1.0)):
        model = KernelPCA(1, kernel=kernel).partial_fit(X[:1])
        old = dict(vars(model))
        with pytest.raises(InputError) as error:
            model.partial_fit(X)
        assert str(error.value).count("\n") == 2
        assert untouched(model, old)


def test_rows_are_read_and_never_written_to():
    X, S, w = rows(), rows(30, 9), counts()
    kept = [X.copy(), S.copy(), w.copy()]
    for array in (X, S, w):
        array.flags.writeable = False
    for landmarks in (S, 30):
        for standardize in (False, True):
            model = KernelPCA(
                2,
                kernel=RBF(1.5),
                landmarks=landmarks,
                standardize=standardize,
                tol_transform=0.1,
            )
            model.fit(X, sample_weight=w)
            model.partial_fit(X, sample_weight=w).partial_fit(X[:50])
            model.novelty(X)
            model.refine(X, sample_weight=w).transform(X)
            model.transform_bound(X)
    for array, copy in zip((X, S, w), kept, strict=True):
        np.testing.assert_array_equal(array, copy)


WALKED = [RBF(1.5), "rbf", Log(), NegativeDistance(), Polynomial(2), "laplacian + linear"]


def walk(seed):
    """Call a model at random with blocks, bad blocks and questions, then compare with a fit."""
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
            with pytest.raises(InputError):
                model.partial_fit(np.ones((3, 7)))
        elif what == 2:
            model.novelty(model.inverse_transform(model.transform(seen[0])))
        else:
            pickle.loads(pickle.dumps(model)).refine(seen[0])
    X = np.concatenate(seen)
    assert_same(model, made.fit(X, sample_weight=np.concatenate(weights)), X, 1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_any_walk_of_calls_ends_where_one_fit_does(seed):
    walk(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 60))
def test_any_long_walk_of_calls(seed):
    walk(seed)
