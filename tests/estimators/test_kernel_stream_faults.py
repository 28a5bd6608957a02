"""Iterators and blocks that fail leave a stream as it was."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from streams import assert_same, blocks, named, rows, untouched

import mercer.dropin
import mercer.estimators.kernel._row_stream as module
from mercer import KernelPCA
from mercer.errors import AccuracyWarning, InputError, MercerError, NotSupportedError
from mercer.estimators.kernel._row_stream import Stream, is_blocks
from mercer.kernels import RBF

pytestmark = [
    pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning"),
    pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning"),
]


def test_what_counts_as_blocks():
    X = rows(4)
    assert is_blocks(iter([X]))
    assert is_blocks(x for x in [X])
    assert not is_blocks(X)
    assert not is_blocks([X])
    assert not is_blocks(pd.DataFrame(X))
    assert not is_blocks(scipy.sparse.csr_array(X))


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


def test_rows_that_are_gone_cannot_be_projected():
    model, read = KernelPCA(2, kernel=RBF(1.5), landmarks=40).fit(rows()), []
    old = dict(vars(model))
    with pytest.raises(InputError, match="read once") as error:
        model.fit_transform(read.append(i) or rows() for i in range(2))
    assert str(error.value).count("\n") == 2
    assert untouched(model, old)
    assert not read


@pytest.mark.parametrize("change", [-1, 1])
def test_weights_beside_an_iterator_are_one_for_every_row(change):
    w = np.ones(2 * len(rows()) + change)
    with pytest.raises(InputError, match="one number per row") as error:
        KernelPCA(2, kernel=RBF(1.5)).fit(iter([rows(), rows()]), sample_weight=w)
    assert str(error.value).count("\n") == 2


def test_the_face_of_another_library_takes_no_blocks():
    face = mercer.dropin.KernelPCA(2, kernel="rbf")
    assert not hasattr(face, "partial_fit")
    with pytest.raises((MercerError, TypeError, ValueError)) as error:
        face.fit(iter([rows()]))
    assert "NoneType" not in str(error.value)
    assert not hasattr(face, "eigenvalues_")


def test_a_given_matrix_does_not_come_in_blocks():
    model = KernelPCA(2, kernel="precomputed")
    assert not hasattr(model, "partial_fit")
    with pytest.raises(NotSupportedError) as error:
        model.fit(iter([np.eye(3)]))
    assert str(error.value).count("\n") == 2
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


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")
@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("name", BLOCKS)
def test_a_refused_block_changes_nothing(name, settled):
    if settled and name == "sparse after dense":
        return  # sums take either kind
    landmarks = rows(20, 4) if settled else 20
    model = KernelPCA(2, kernel=RBF(1.5), landmarks=landmarks).partial_fit(named(60))
    Z, old = model.transform(named()), dict(vars(model))
    with pytest.raises(MercerError) as error:
        model.partial_fit(BLOCKS[name])
    assert len(str(error.value).splitlines()) >= 3
    assert untouched(model, old)
    np.testing.assert_array_equal(model.transform(named()), Z)
    again = KernelPCA(2, kernel=RBF(1.5), landmarks=landmarks).partial_fit(named(60))
    np.testing.assert_array_equal(
        model.partial_fit(named(30)).transform(named()),
        again.partial_fit(named(30)).transform(named()),
    )


@pytest.mark.parametrize(
    "weights", [np.ones(3), np.r_[-1.0, np.ones(19)], np.full(20, np.nan), ["a"] * 20], ids=str
)
def test_refused_weights_change_nothing(weights):
    model = KernelPCA(2, kernel=RBF(1.5), landmarks=20).partial_fit(rows(60))
    old = dict(vars(model))
    with pytest.raises(InputError):
        model.partial_fit(rows(20), sample_weight=weights)
    assert untouched(model, old)


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("step", ["add", "pairs"])
def test_an_interrupted_block_changes_nothing(monkeypatch, step, error, settled):
    """In the pass over the rows, and after it."""
    landmarks = rows(20, 4) if settled else 20
    model = KernelPCA(2, kernel=RBF(1.5), landmarks=landmarks).partial_fit(rows(60))
    Z, old = model.transform(rows()), dict(vars(model))
    sums = model._stream.sums
    before = None if sums is None else (sums.count, sums.p.copy(), sums.t)

    def fail(*_args, **_kwargs):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(module.LandmarkSums, step, fail)
        with pytest.raises(error):
            model.partial_fit(rows(40, 1))
    assert untouched(model, old)
    if before is not None:
        assert (sums.count, sums.t) == (before[0], before[2])
        np.testing.assert_array_equal(sums.p, before[1])
    np.testing.assert_array_equal(model.transform(rows()), Z)
    assert model.partial_fit(rows(40, 1)).n_samples_ == 100


def test_a_warning_turned_into_an_error_changes_nothing():
    model = KernelPCA(2, kernel=RBF(0.5), landmarks=5).partial_fit(rows(60))
    old = dict(vars(model))
    with warnings.catch_warnings():
        warnings.simplefilter("error", AccuracyWarning)
        with pytest.raises(AccuracyWarning):
            model.partial_fit(rows(40, 1))
    assert untouched(model, old)


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


def test_pickle_clone_and_copies_of_a_stream(monkeypatch):
    monkeypatch.setattr(module, "BUFFER", 100)
    X = rows()
    for seen in (80, 120):
        model = KernelPCA(2, kernel="rbf", landmarks=30, standardize=True).partial_fit(X[:seen])
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.transform(X), model.transform(X))
        model.partial_fit(X[seen:])
        assert again.n_samples_ == seen  # not shared
        assert_same(again.partial_fit(X[seen:]), model, X)
        blank = clone(model)
        assert blank._stream is None
        assert not hasattr(blank, "eigenvalues_")


def test_parameters_set_during_a_stream_change_no_kernel():
    X = rows()
    model = KernelPCA(2, kernel=RBF(1.5), landmarks=X[:40]).partial_fit(X[:100])
    model.set_params(kernel=RBF(9.0)).partial_fit(X[100:])
    wanted = KernelPCA(2, kernel=RBF(1.5), landmarks=X[:40]).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, wanted.eigenvalues_, rtol=1e-9)
    assert model.kernel_ == RBF(1.5)
    assert model.set_params(n_components=4).partial_fit(X[:5]).n_components_ == 4


def test_a_stream_is_a_value():
    empty = Stream()
    assert (empty.blocks, empty.sums, empty.count) == ((), None, 0)
    model = KernelPCA(2, kernel=RBF(1.5), landmarks=rows(20, 4)).partial_fit(rows())
    first = model._stream
    model.partial_fit(rows(50, 1))
    assert model._stream is not first
    assert first.sums.count == 180


def test_a_file_is_read_as_blocks(tmp_path):
    rows = np.random.default_rng(0).standard_normal((300, 3))
    np.save(tmp_path / "rows.npy", rows)
    found = KernelPCA(2, kernel="rbf(lengthscale=2)", landmarks=40).fit(tmp_path / "rows.npy")
    same = KernelPCA(2, kernel="rbf(lengthscale=2)", landmarks=40).fit(iter([rows]))
    np.testing.assert_allclose(found.eigenvalues_, same.eigenvalues_, rtol=1e-10)
    with pytest.raises(InputError, match="no such file"):
        KernelPCA(2).fit("absent.csv")
