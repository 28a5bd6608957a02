"""Streams of PCA: batches, merges, removals, forgetting."""

import copy
import pickle
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from pca_streams import assert_same, rows
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from streams import blocks, streamed, untouched
from tests.claims import refuses

from mercer import PCA, KernelPCA, export_onnx
from mercer.errors import AccuracyWarning, InputError
from mercer.estimators.linear import _principal_axes
from mercer.estimators.linear._batches import ENOUGH, Batches
from mercer.estimators.linear._summed_rows import Summed
from mercer.operators import RunningMoments, RunningSvd, rows_of
from mercer.sources import scan

OPTIONS = [
    {}, {"n_components": 2}, {"n_components": 0.9}, {"n_components": "mle"},
    {"standardize": True}, {"whiten": True}, {"whiten": "zca"},
    {"feature_weight": [1.0, 2.0, 3.0, 0.5, 1.0], "n_components": 3},
    {"n_components": 1, "tol": 1e-9},
]  # fmt: skip


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
        refuses(None, check_is_fitted, found, kind=NotFittedError)
        refuses(None, found.transform, rows(3), kind=NotFittedError)
        with pytest.raises(AttributeError, match=f"no model yet\n.*n_samples = {n}"):
            found.explained_variance_  # noqa: B018
        assert found.partial_fit(rows(3)).components_.shape == (3, 5)

    def test_nothing_that_varies_is_an_attribute_error_until_it_does(self):
        found = PCA(1).partial_fit(np.ones((5, 2)))
        assert not hasattr(found, "components_")
        refuses("no variance", found.transform, np.ones((1, 2)))
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
        refuses(words, model.partial_fit, wrong, kind=(InputError, TypeError))
        assert untouched(model, old)

    def test_bad_weights_change_nothing(self):
        model = PCA(2).partial_fit(rows(9))
        old = dict(vars(model))
        for weights in ([1.0], [-1.0, 1.0], ["a", "b"], [np.nan, 1.0]):
            refuses(r"weight|number", model.partial_fit, rows(2), sample_weight=weights)
        assert untouched(model, old)

    def test_bad_parameters_are_refused_at_the_first_batch(self):
        refuses("forget", PCA(forget=1.5).partial_fit, rows(9))

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


class TestMerge:
    @pytest.mark.parametrize("cut", [1, 200, 399])
    def test_both_streams(self, cut):
        X = rows()
        one, two = PCA(3).partial_fit(X[:cut]), PCA().partial_fit(X[cut:])
        assert_same(one.merge(two), PCA(3).fit(X), X)
        assert two.n_samples_seen_ == 400 - cut
        assert_same(two.merge(PCA().partial_fit(X[:cut])), PCA().fit(X), X)

    def test_with_itself_every_row_counts_twice(self):
        X = rows(30)
        model = PCA(2).partial_fit(X)
        assert_same(model.merge(model), PCA(2).fit(np.concatenate([X, X])), X)

    def test_refusals_change_nothing(self):
        model = PCA(2).partial_fit(pd.DataFrame(rows(9), columns=list("abcde")))
        old = dict(vars(model))
        others = [
            PCA().partial_fit(rows(9, 4)),
            PCA().partial_fit(pd.DataFrame(rows(9), columns=list("edcba"))),
            PCA().fit(rows(9)),
            PCA(forget=0.1).partial_fit(rows(9)),
        ]
        for other in others:
            refuses("merged", model.merge, other)
        refuses("only streams", PCA().merge, model)
        assert untouched(model, old)

    @pytest.mark.parametrize(
        ("other", "named"),
        [
            (rows(9), "ndarray"), (None, "NoneType"), (PCA, "the class PCA"),
            (KernelPCA(2).partial_fit(rows(9)), "KernelPCA"),
        ],
        ids=["array", "none", "class", "kernel"],
    )  # fmt: skip
    def test_what_is_no_stream_is_named(self, other, named):
        model = PCA(2).partial_fit(rows(9))
        old = dict(vars(model))
        with pytest.raises(InputError, match="only a stream can be merged") as caught:
            model.merge(other)
        assert caught.value.got == named
        assert "partial_fit" in caught.value.fix
        assert untouched(model, old)


class TestAnotherForget:
    @pytest.mark.parametrize(("first", "then"), [(None, 0.1), (0.1, None), (0.1, 0.2)])
    def test_it_cannot_change_within_a_stream(self, first, then):
        model = PCA(2, forget=first).partial_fit(rows(9))
        model.set_params(forget=then)
        old = dict(vars(model))
        with pytest.raises(InputError, match="forget cannot change within a stream") as caught:
            model.partial_fit(rows(9))
        assert f"forget={then}" in caught.value.got
        assert f"forget={first}" in caught.value.got
        assert untouched(model, old)
        model.set_params(forget=first).partial_fit(rows(9))
        assert model.n_samples_seen_ == 18

    def test_a_new_stream_after_a_fit_takes_the_new_number(self):
        model = PCA(2).partial_fit(rows(9)).fit(rows(9)).set_params(forget=0.1)
        same = PCA(2, forget=0.1).partial_fit(rows(9))
        np.testing.assert_array_equal(model.partial_fit(rows(9)).mean_, same.mean_)


class TestTooFewRows:
    USES = {  # noqa: RUF012
        "transform": lambda model, _: model.transform(rows(9)),
        "out": lambda model, path: model.transform(rows(9), out=path / "z.npy"),
        "inverse": lambda model, _: model.inverse_transform(rows(9)),
        "score": lambda model, _: model.score(rows(9)),
        "covariance": lambda model, _: model.get_covariance(),
        "precision": lambda model, _: model.get_precision(),
        "onnx": lambda model, path: export_onnx(model, path / "z.onnx"),
    }

    @pytest.mark.parametrize("use", USES)
    def test_every_use_says_how_many_there_are(self, use, tmp_path):
        model = PCA(5).partial_fit(rows(3))
        with pytest.raises(InputError, match="the rows seen so far make no model") as caught:
            self.USES[use](model, tmp_path)
        assert isinstance(caught.value, NotFittedError)
        assert isinstance(caught.value, AttributeError)
        assert "n_samples = 3" in caught.value.got
        assert list(tmp_path.iterdir()) == []
        refuses("not fitted yet", self.USES[use], PCA(5), tmp_path, kind=NotFittedError)

    def test_more_rows_mend_it_and_weights_of_zero_do_not(self):
        model = PCA(5).partial_fit(rows(3))
        assert not model.__sklearn_is_fitted__()
        assert model.partial_fit(rows(9)).transform(rows(9)).shape == (9, 5)
        weights = np.zeros(9)
        with pytest.raises(NotFittedError, match="all sample weights are zero"):
            PCA(2).partial_fit(rows(9), sample_weight=weights).transform(rows(9))


class TestRemove:
    @pytest.mark.parametrize("sizes", [(1,), (100,), (1, 1, 50)], ids=str)
    def test_rows_that_went_were_never_there(self, sizes):
        X, model, gone = rows(), PCA(3), sum(sizes)
        model.partial_fit(X)
        for part in blocks(X[:gone], sizes):
            model.remove(part)
        assert_same(model, PCA(3).fit(X[gone:]), X)
        assert model.n_samples_seen_ == 400 - gone

    def test_a_window_over_a_trend(self):
        X = rows(2000) + np.linspace(0, 1e4, 2000)[:, None]
        model = PCA(2).partial_fit(X[:100])
        for start in range(0, 1900, 100):
            model.partial_fit(X[start + 100 : start + 200]).remove(X[start : start + 100])
        whole = PCA(2).fit(X[1900:])
        np.testing.assert_allclose(
            model.explained_variance_, whole.explained_variance_, rtol=1e-8
        )

    def test_all_rows_may_go(self):
        X = rows(30)
        model = PCA(2).partial_fit(X, sample_weight=np.full(30, 0.1))
        for row in X:
            model.remove(row[None, :], sample_weight=[0.1])
        assert model.n_samples_seen_ == 0
        assert not hasattr(model, "components_")
        assert_same(model.partial_fit(X), PCA(2).fit(X), X)

    def test_rows_that_cannot_have_been_there_are_refused(self):
        X = rows(30)
        model = PCA(2).partial_fit(X)
        old = dict(vars(model))
        for wrong in (X[[0]] + 1e4, rows(40), np.full((1, 5), np.nan), np.ones((1, 3))):
            refuses(None, model.remove, wrong)
        assert untouched(model, old)
        for never in (PCA(), PCA().fit(X)):
            refuses("out of a stream", never.remove, X)
        refuses("forget", PCA(forget=0.5).partial_fit(X).remove, X[:1])


class TestForget:
    @pytest.mark.parametrize("sizes", [(1,) * 400, (40, 1, 70, 2), (399,)], ids=len)
    @pytest.mark.parametrize("forget", [1e-3, 0.03, 0.9])
    def test_a_row_loses_its_share_with_every_later_row(self, forget, sizes):
        X = rows()
        w = (1 - forget) ** np.arange(399.0, -1.0, -1.0)
        mean = w @ X / w.sum()
        Y = np.sqrt(w / (w.sum() - 1))[:, None] * (X - mean)
        s = np.linalg.svd(Y, compute_uv=False) ** 2
        model = streamed(PCA(2, forget=forget), blocks(X, sizes))
        np.testing.assert_allclose(model.explained_variance_, s[:2], rtol=1e-9)
        np.testing.assert_allclose(model.mean_, mean, rtol=1e-10)
        np.testing.assert_allclose(model.noise_variance_, s[2:].mean(), rtol=1e-6)
        assert model.n_samples_seen_ == 400

    def test_fit_counts_all_rows_alike(self):
        X = rows()
        assert_same(PCA(2, forget=0.5).fit(X), PCA(2).fit(X), X)

    def test_it_follows_a_change_of_direction(self):
        rng = np.random.default_rng(0)
        before = rng.standard_normal((2000, 3)) * [9, 1, 1]
        after = rng.standard_normal((2000, 3)) * [1, 1, 9]
        model = PCA(1, forget=0.005).partial_fit(before).partial_fit(after)
        assert abs(model.components_[0, 2]) > 0.99


class TestWide:
    def test_leading_directions_where_the_sums_do_not_fit(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((700, 6)) @ rng.standard_normal((6, 200)) + 1e3
        model = streamed(PCA(4, memory="8.5MB"), blocks(X))
        whole = PCA(4).fit(X)
        assert model.plan_.chosen.name == "sketch"
        assert_same(model, whole, X)

    def test_what_is_not_certified_is_said(self):
        X = np.random.default_rng(0).standard_normal((3000, 200)) * np.linspace(3, 1, 200)
        model = PCA(3, memory="8.5MB", standardize=True).partial_fit(X)
        with pytest.warns(AccuracyWarning, match="directions kept of the stream"):
            model.components_  # noqa: B018
        exact = PCA(3, standardize=True).fit(X).explained_variance_
        certificate = model.certificate_
        assert np.all(certificate.lower <= exact * (1 + 1e-12))
        assert np.all(exact <= certificate.upper)

    @pytest.mark.parametrize("wanted", [None, 0.9, "mle"])
    def test_the_number_must_be_known(self, wanted):
        refuses("say how many", PCA(wanted, memory="8.5MB").partial_fit, np.ones((2, 200)))

    def test_what_is_kept_fades_too(self):
        X, f = rows(700, 200), 0.01
        model = streamed(PCA(3, memory="8.5MB", forget=f, tol=1e3), blocks(X))
        w = (1 - f) ** np.arange(699.0, -1.0, -1.0)
        Y = np.sqrt(w / (w.sum() - 1))[:, None] * (X - w @ X / w.sum())
        exact = np.linalg.svd(Y, compute_uv=False)[:3] ** 2
        assert np.all(model.certificate_.lower <= exact)
        assert np.all(exact <= model.certificate_.upper)
        np.testing.assert_allclose(model.mean_, w @ X / w.sum(), rtol=1e-10)
        np.testing.assert_allclose(model.explained_variance_, exact, rtol=0.05)

    def test_parts_merge(self):
        X = rows(600, 200)
        one, two = (PCA(3, memory="8.5MB", tol=1e3).partial_fit(x) for x in (X[:250], X[250:]))
        exact = PCA(3).fit(X).explained_variance_
        certificate = one.merge(two).certificate_
        assert one.n_samples_ == 600
        assert np.all(certificate.lower <= exact * (1 + 1e-9))
        assert np.all(exact <= certificate.upper * (1 + 1e-9))

    def test_rows_cannot_go(self):
        X = np.random.default_rng(0).standard_normal((300, 200))
        model = PCA(3, memory="8.5MB").partial_fit(X)
        refuses("leading directions only", model.remove, X[:1])
        refuses("cannot be merged", model.merge, PCA(3).partial_fit(X))


class TestOnePass:
    """`fit` of an iterator, whose rows are seen once, where p×p sums do not fit."""

    @staticmethod
    def parts(sparse=False):
        rng = np.random.default_rng(0)
        ways = rng.standard_normal((5, 1500)) * (rng.random((5, 1500)) < 0.2)
        for _ in range(30):
            block = rng.standard_normal((40, 5)) @ ways
            yield scipy.sparse.csr_array(block) if sparse else block + 7.0

    @pytest.mark.parametrize("sparse", [False, True])
    def test_leading_directions_are_kept(self, sparse):
        X = np.concatenate([part.toarray() if sparse else part for part in self.parts(sparse)])
        model = PCA(3, memory="53MB").fit(self.parts(sparse))
        assert model.plan_.chosen.name == "sketch"
        assert_same(model, PCA(3).fit(X), X)

    def test_exact_sums_where_they_fit(self):
        assert PCA(3).fit(self.parts()).plan_.chosen.name == "gram"

    def test_bad_cells_are_named(self):
        def parts():
            yield from self.parts()
            yield np.full((2, 1500), np.nan)

        refuses(r"1200|row 1,200|row 1200", PCA(3, memory="53MB").fit, parts())


def taken(stream, X):
    return stream.with_rows(scan(X), np.ones(X.shape[0]))


def drawn(n, p=3, seed=0):
    return np.random.default_rng([seed, n]).standard_normal((n, p))


def test_how_many_rows_wait():
    stream = Batches(RunningMoments())
    for _ in range(ENOUGH - 1):
        stream = taken(stream, drawn(1))
    assert (stream.waiting, stream.sums.rows, stream.rows) == (ENOUGH - 1, 0, ENOUGH - 1)
    stream = taken(stream, drawn(1))
    assert (stream.waiting, stream.sums.rows) == (0, ENOUGH)
    stream = taken(taken(stream, drawn(2)), drawn(300))
    assert (stream.waiting, stream.sums.rows) == (0, ENOUGH + 302)
    stream = taken(Batches(RunningSvd(400)), drawn(300, 500))
    assert stream.waiting == 300
    assert taken(stream, drawn(100, 500)).waiting == 0


@pytest.mark.parametrize(
    ("kinds", "stored", "products"),
    [
        ("f4 f4", "f4", "f4"), ("f4 f8", "f4", "f8"), ("i2 i8", "i8", "f8"),
        ("u1 f4", "f4", "f8"), ("? ?", "?", "f8"), ("i4 f8", "f8", "f8"),
    ],
)  # fmt: skip
def test_the_coarsest_type_is_remembered(kinds, stored, products):
    stream = Batches(RunningMoments())
    for kind in kinds.split():
        stream = taken(stream, np.eye(3).astype(kind))
    assert (stream.stored, stream.products) == (np.dtype(stored), np.dtype(products))


def test_what_waits_fades_like_what_is_summed():
    X, f = drawn(700), 0.01
    stream = Batches(RunningMoments(), f)
    for part in np.split(X, range(90, 700, 90)):
        stream = taken(stream, part)
    w = (1 - f) ** np.arange(699.0, -1.0, -1.0)
    assert stream.waiting
    Y = X - w @ X / w.sum()
    for found in (stream, stream.summed()):
        assert found.total == pytest.approx(w.sum(), rel=1e-12)
    np.testing.assert_allclose(found.sums.scatter, (Y.T * w) @ Y, rtol=1e-9, atol=1e-9)
    past = taken(taken(Batches(RunningMoments(), 0.9), drawn(300) + 1e6), drawn(2000))
    assert past.total == pytest.approx(1 / 0.9)
    assert np.abs(past.sums.scatter).max() < 1e3


def test_rows_without_weight_are_counted():
    none = np.zeros(300)
    stream = Batches(RunningMoments()).with_rows(scan(drawn(300)), none)
    assert (stream.rows, stream.total) == (300, 0.0)
    assert taken(stream, drawn(2)).without(scan(drawn(300)), none).rows == 2


F8 = np.dtype(np.float64)


def sums(X):
    return RunningMoments().add(rows_of(scan(X)))


def test_sums_speak_for_their_rows_and_stay_as_they_are():
    X = np.random.default_rng(0).standard_normal((50, 4)) + 1e6
    kept = sums(X)
    before, origin = kept.scatter.copy(), kept.origin.copy()
    found = Summed(kept, F8, F8, 50, sparse=False)
    assert (found.shape, found.source, found.nbytes, found.max_passes) == ((50, 4), found, 0, 0)
    found.scatter().scatter[:] = 0
    np.testing.assert_array_equal(kept.scatter, before)
    np.testing.assert_array_equal(kept.origin, origin)
    np.testing.assert_allclose(found.origin, X.mean(0), rtol=1e-12)
    assert found.sample(3).shape == (0, 4)
    kept = sums(np.ones((3, 2))).merge(sums(np.zeros((9, 2))))  # that of sparse rows stays
    for sparse, wanted in ((True, kept.origin.copy()), (False, [0.25, 0.25])):
        np.testing.assert_array_equal(Summed(kept, F8, F8, 12, sparse).origin, wanted)


def test_sums_out_of_range_are_refused():
    refuses("too far apart", Summed(sums(np.eye(3)), F8, F8, 3, sparse=False).first_bad_cell)
