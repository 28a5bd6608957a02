import copy
import pickle
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from pca_streams import assert_same, rows, streamed
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from streams import blocks, untouched

from mercer import PCA
from mercer.errors import AccuracyWarning, InputError
from mercer.estimators.linear import _principal_axes

OPTIONS = [
    {},
    {"n_components": 2},
    {"n_components": 0.9},
    {"n_components": "mle"},
    {"standardize": True},
    {"whiten": True},
    {"whiten": "zca"},
    {"feature_weight": [1.0, 2.0, 3.0, 0.5, 1.0], "n_components": 3},
    {"n_components": 1, "tol": 1e-9},
]


class TestPartialFit:
    @pytest.mark.parametrize("options", OPTIONS, ids=str)
    @pytest.mark.parametrize("sizes", [(1,) * 400, (40, 1, 70, 2), (399,)], ids=len)
    def test_a_stream_is_the_fit_of_all_rows(self, options, sizes):
        X = rows()
        found = streamed(PCA(**options), blocks(X, sizes))
        assert_same(found, PCA(**options).fit(X), X)
        assert found.n_samples_seen_ == found.n_samples_ == 400

    @pytest.mark.parametrize("kind", [np.float32, np.int16, np.uint8, bool], ids=str)
    def test_types_are_kept_as_fit_keeps_them(self, kind):
        X = (np.random.default_rng(0).random((400, 5)) * np.arange(2, 7)).astype(kind)
        X[::3, :2] = 0
        found, whole = streamed(PCA(2), blocks(X)), PCA(2).fit(X)
        assert found.components_.dtype == whole.components_.dtype
        assert_same(found, whole, X, tol=1e-5 if kind == np.float32 else 1e-9)
        assert found.transform(X).dtype == whole.transform(X).dtype

    @pytest.mark.parametrize("shape", ["csr_array", "csc_array", "coo_array", "csr_matrix"])
    def test_sparse_rows(self, shape):
        rng = np.random.default_rng(1)
        X = scipy.sparse.csr_array(rng.random((300, 9)) * (rng.random((300, 9)) < 0.3))
        found = PCA(3)
        for start in (0, 5, 6, 280):
            stop = {0: 5, 5: 6, 6: 280, 280: 300}[start]
            found.partial_fit(getattr(scipy.sparse, shape)(X[start:stop]))
        assert_same(found, PCA(3).fit(X), X)

    def test_kinds_may_change_on_the_way(self):
        X = np.round(rows())
        found = PCA(3).partial_fit(X[:10].astype(np.float32))
        found.partial_fit(scipy.sparse.csr_array(X[10:20])).partial_fit(X[20:30].astype(int))
        found.partial_fit(X[30:33].tolist()).partial_fit(np.asfortranarray(X[33:]))
        assert_same(found, PCA(3).fit(X), X)
        assert found.components_.dtype == np.float64

    def test_frames_keep_their_names(self):
        X = rows(30)
        frame = pd.DataFrame(X, columns=list("abcde"))
        found = PCA(2).partial_fit(frame[:1]).partial_fit(pl.from_pandas(frame[1:20]))
        found.partial_fit(frame[20:])
        assert list(found.feature_names_in_) == list("abcde")
        assert_same(found, PCA(2).fit(frame), frame)
        with pytest.raises(InputError, match="feature names should match"):
            found.partial_fit(frame[["b", "a", "c", "d", "e"]])

    def test_weights_are_repeat_counts(self):
        X = rows(60)
        w = np.random.default_rng(0).integers(0, 4, 60).astype(float)
        found = streamed(PCA(3), blocks(X, (20, 1, 30)), blocks(w, (20, 1, 30)))
        repeated = np.repeat(X, w.astype(int), axis=0)
        whole = PCA(3).fit(repeated)
        assert found.n_samples_seen_ == found.n_samples_ == 60
        np.testing.assert_allclose(
            found.explained_variance_, whole.explained_variance_, rtol=1e-11
        )
        np.testing.assert_allclose(found.mean_, whole.mean_, rtol=1e-12)
        zero = np.zeros(5)
        found.partial_fit(X[:5] + 100, sample_weight=zero)
        np.testing.assert_allclose(found.mean_, whole.mean_, rtol=1e-12)
        assert found.n_samples_seen_ == 65

    def test_rows_are_copied_while_they_wait(self):
        X = rows(50)
        buffer, found = np.empty((1, 5)), PCA(2)
        for row in X:
            buffer[:] = row
            found.partial_fit(buffer)
        assert_same(found, PCA(2).fit(X), X)

    @pytest.mark.parametrize("scale", [1e-160, 1e150, 1e300])
    def test_scales_at_the_ends_of_the_range(self, scale):
        X = rows(300) * scale
        found, whole = streamed(PCA(2), blocks(X)), PCA(2)
        with np.errstate(all="ignore"), pytest.MonkeyPatch.context() as patch:
            patch.setattr(_principal_axes, "warn", lambda *_, **__: None)
            whole.fit(X)
            ratio = found.explained_variance_ratio_
        np.testing.assert_allclose(ratio, whole.explained_variance_ratio_, rtol=1e-9)

    def test_quiet_batches_that_lie_far_apart(self):
        X = np.concatenate([rows(300), rows(300) + 1e150])
        found = PCA(1).partial_fit(X[:300]).partial_fit(X[300:])
        assert_same(found, PCA(1).fit(X), X)

    def test_a_fit_is_forgotten(self):
        X = rows()
        found = PCA(2).fit(X + 7).partial_fit(X)
        assert_same(found, PCA(2).fit(X), X)
        assert found.fit(X[:50]).n_samples_ == 50
        assert not hasattr(found, "n_samples_seen_")
        assert found.partial_fit(X).n_samples_ == 400

    def test_eigenpairs_are_found_once_and_only_when_looked_at(self, monkeypatch):
        looks, modelled = [], PCA._modelled

        def record(self, stream):
            looks.append(stream.rows)
            return modelled(self, stream)

        monkeypatch.setattr(PCA, "_modelled", record)
        X, found = rows(600), PCA(2)
        for row in X:
            found.partial_fit(row[None, :])
        repr(found), clone(found), pickle.dumps(found), copy.deepcopy(found)
        check_is_fitted(found)
        assert looks == []
        found.transform(X), found.components_, found.get_covariance()
        assert looks == [600]
        assert found.partial_fit(X[:1]).mean_ is found.mean_
        assert looks == [600, 601]


class TestTooFew:
    @pytest.mark.parametrize("n", [1, 2])
    def test_there_is_no_model_yet(self, n):
        found = PCA(3).partial_fit(rows(n))
        assert not hasattr(found, "components_")
        assert found.n_features_in_ == 5
        assert found.n_samples_seen_ == n
        with pytest.raises(NotFittedError):
            check_is_fitted(found)
        with pytest.raises(NotFittedError):
            found.transform(rows(3))
        with pytest.raises(AttributeError, match=f"no model yet\n.*n_samples = {n}"):
            found.explained_variance_  # noqa: B018
        assert found.partial_fit(rows(3)).components_.shape == (3, 5)

    def test_nothing_that_varies_is_an_attribute_error_until_it_does(self):
        found = PCA(1).partial_fit(np.ones((5, 2)))
        assert not hasattr(found, "components_")
        with pytest.raises(InputError, match="no variance"):
            found.transform(np.ones((1, 2)))
        assert hasattr(found.partial_fit([[2.0, 1.0]]), "components_")

    def test_before_any_row(self):
        assert not hasattr(PCA(), "components_")
        with pytest.raises(AttributeError, match="'PCA' object has no attribute 'mean_'"):
            PCA().mean_  # noqa: B018
        with pytest.raises(AttributeError, match="no attribute 'colour'"):
            PCA().partial_fit(rows(9)).colour  # noqa: B018


class TestFaults:
    @pytest.mark.parametrize("given", [0, 3, 300])
    @pytest.mark.parametrize(
        ("wrong", "words"),
        [
            (np.array([[1, 2, 3, 4, 5], [1, 2, np.nan, 4, 5]]), "row 1, column 2"),
            (np.full((300, 5), np.inf), "row 0, column 0"),
            (np.ones((2, 4)), "4 features, but PCA is expecting 5"),
            ([["a"] * 5], "text 'a' at row 0, column 0"),
            (np.ones(5), "Expected 2D array, got 1D array"),
            (np.ones((0, 5)), "0 sample"),
            ("table.csv", "no such file"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_a_batch_that_is_refused_changes_nothing(self, given, wrong, words):
        model = PCA(2)
        if given:
            model.partial_fit(rows(given))
        elif "expecting" in words:  # the first batch settles the columns
            return
        old = dict(vars(model))
        with pytest.raises((InputError, TypeError), match=words):
            model.partial_fit(wrong)
        assert untouched(model, old)

    def test_bad_weights_change_nothing(self):
        model = PCA(2).partial_fit(rows(9))
        old = dict(vars(model))
        for weights in ([1.0], [-1.0, 1.0], ["a", "b"], [np.nan, 1.0]):
            with pytest.raises(InputError, match=r"weight|number"):
                model.partial_fit(rows(2), sample_weight=weights)
        assert untouched(model, old)

    def test_bad_parameters_are_refused_at_the_first_batch(self):
        with pytest.raises(InputError, match="forget"):
            PCA(forget=1.5).partial_fit(rows(9))

    def test_threads_lose_no_rows(self):
        X, model = rows(4000), PCA(3)

        def work(part):
            for start in range(0, len(part), 3):
                model.partial_fit(part[start : start + 3])
                if start % 300 == 0:
                    model.n_samples_seen_  # noqa: B018

        threads = [threading.Thread(target=work, args=(X[i::4],)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert model.n_samples_seen_ == 4000
        np.testing.assert_allclose(
            model.explained_variance_, PCA(3).fit(X).explained_variance_, rtol=1e-10
        )


class TestCopies:
    @pytest.mark.parametrize(
        "copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
    )
    @pytest.mark.parametrize("looked", [False, True])
    def test_a_copy_goes_its_own_way(self, copied, looked):
        X = rows()
        model = PCA(2).partial_fit(X[:300]).partial_fit(X[300:303])
        if looked:
            model.components_  # noqa: B018
        other = copied(model)
        other.partial_fit(X[303:])
        assert_same(model, PCA(2).fit(X[:303]), X)
        assert_same(other, PCA(2).fit(X), X)

    def test_a_clone_has_seen_nothing(self):
        other = clone(PCA(2, forget=0.1).partial_fit(rows()))
        assert vars(other).keys() == vars(PCA()).keys()
        assert other.forget == 0.1


@pytest.mark.parametrize("blocks", [True, False])
def test_columns_that_sums_cannot_see_are_told(blocks):
    X = np.random.default_rng(0).standard_normal((400, 4)) * [1e8, 10, 7, 5]
    with pytest.warns(AccuracyWarning, match="2 of 3 axes are too small beside the first"):
        rank = (PCA(3).fit(iter([X])) if blocks else PCA(3).partial_fit(X)).rank_
    assert rank == 1


@pytest.mark.parametrize("weights", [[1.0, 2.0], [1.0, 2.0, 3.0, -1.0, 1.0], ["a"] * 5])
def test_odd_weights_of_columns_are_no_want_of_rows(weights):
    """They are refused at the first batch, and where they are set beside a stream."""
    X = rows()
    p = X.shape[1]
    with pytest.raises(InputError, match="one positive number") as caught:
        PCA(2, feature_weight=weights).partial_fit(X)
    assert not isinstance(caught.value, NotFittedError)
    model = PCA(2).partial_fit(X).set_params(feature_weight=weights)
    with pytest.raises(InputError, match=f"pass {p} positive numbers") as caught:
        model.transform(X)
    assert not isinstance(caught.value, NotFittedError)
