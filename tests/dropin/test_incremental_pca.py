import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn.decomposition
from tests.claims import agree, refuses

import mercer
from mercer.dropin import IncrementalPCA

THEIRS = sklearn.decomposition.IncrementalPCA


def rows(n=200, p=6, seed=0):
    rng = np.random.default_rng([seed, n, p])
    return rng.standard_normal((n, p)) * np.linspace(4, 1, p) + np.linspace(-50, 80, p)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("k", [None, 6])
def test_everything_is_scikit_learns_where_theirs_is_exact(k, whiten):
    X = rows()
    ours = IncrementalPCA(k, whiten=whiten, batch_size=40).fit(X)
    theirs = THEIRS(k, whiten=whiten, batch_size=40).fit(X)
    learned = [name for name in vars(theirs) if name.endswith("_")]
    assert {"batch_size_", "n_samples_seen_", "var_", "noise_variance_"} < set(learned)
    for name in learned:
        a, b = getattr(ours, name), getattr(theirs, name)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=name)
    agree(ours.transform(X), theirs.transform(X), 1e-8)
    back = ours.inverse_transform(ours.transform(X))
    agree(back, X, 1e-9)


def test_a_trend_costs_nothing_here():
    rng = np.random.default_rng(0)
    way = rng.standard_normal(40)
    trend = np.linspace(0, 4, 2000)[:, None] * way / np.linalg.norm(way)
    X = rng.standard_normal((2000, 40)) + trend
    exact = np.linalg.svd(X - X.mean(0), compute_uv=False)[0] ** 2 / 1999
    ours = IncrementalPCA(1, batch_size=50).fit(X).explained_variance_[0]
    batches = IncrementalPCA(1)
    for start in range(0, 2000, 50):
        batches.partial_fit(X[start : start + 50])
    theirs = THEIRS(1, batch_size=50).fit(X).explained_variance_[0]
    assert ours == pytest.approx(exact, rel=1e-11)
    assert batches.explained_variance_[0] == pytest.approx(exact, rel=1e-11)
    assert theirs < 0.7 * exact


def test_batches_settle_the_axes_and_go_on():
    X = rows()
    model = IncrementalPCA(3).fit(X[:100]).partial_fit(X[100:])
    whole = mercer.PCA(3).fit(X)
    np.testing.assert_allclose(model.explained_variance_, whole.explained_variance_, rtol=1e-11)
    assert (model.n_samples_seen_, model.batch_size_) == (200, 30)
    np.testing.assert_allclose(model.var_, X.var(0), rtol=1e-11)
    assert model.fit(X[:50]).n_samples_seen_ == 50
    X = rows(100, 20)
    model = IncrementalPCA().partial_fit(X[:7])
    assert model.n_components_ == 7
    assert model.partial_fit(X[7:]).components_.shape == (7, 20)
    assert IncrementalPCA(batch_size=9).fit(X).n_components_ == 9
    assert IncrementalPCA().fit(X).n_components_ == 20
    X = rows() @ np.diag([1, 1, 1, 1, 0, 0.0])
    model = IncrementalPCA().fit(X)
    agree(model.components_ @ model.components_.T, np.eye(6), 1e-12)
    assert model.rank_ == 4


def test_sparse_rows_in_fit_and_in_transform():
    X = rows() * (np.random.default_rng(0).random((200, 6)) < 0.3)
    sparse = scipy.sparse.csc_array(X)
    model = IncrementalPCA(2).fit(sparse)
    np.testing.assert_allclose(
        model.singular_values_, IncrementalPCA(2).fit(X).singular_values_, rtol=1e-11
    )
    agree(model.transform(sparse), model.transform(X), 1e-9)
    refuses("does not support sparse input", model.partial_fit, sparse, kind=TypeError)
    np.testing.assert_array_equal(model.n_samples_seen_, 200)


@pytest.mark.parametrize(
    ("options", "X", "words"),
    [
        ({"n_components": 7}, rows(9), "n_components=7 invalid for n_features=6"),
        ({"n_components": 4}, rows(3), "less or equal to the batch number of samples 3"),
        ({}, [[1.0, np.nan]], "row 0, column 1"),
        ({}, [["a", 1.0]], "text 'a'"),
    ],
)
def test_a_batch_that_is_refused_may_be_followed_by_a_good_one(options, X, words):
    model = IncrementalPCA(**options)
    for _ in range(2):  # the second call of scikit-learn's takes what the first refuses
        refuses(words, model.partial_fit, X)
    assert vars(model).keys() == vars(IncrementalPCA()).keys()


class TestFiles:
    FORMS = {  # noqa: RUF012
        "path": lambda folder: str(folder / "a.npy"),
        "source": lambda folder: mercer.scan(folder / "a.npy"),
        "text": lambda folder: folder / "a.csv",
        "once": lambda folder: iter(np.array_split(np.load(folder / "a.npy"), 7)),
    }

    @pytest.fixture
    def folder(self, tmp_path, monkeypatch):
        monkeypatch.setattr(IncrementalPCA, "_block_bytes", lambda *_: 100 * 6 * 8.0)
        np.save(tmp_path / "a.npy", rows(1050))
        pd.DataFrame(rows(1050)).to_csv(tmp_path / "a.csv", index=False, header=False)
        return tmp_path

    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("k", [None, 3])
    def test_the_fit_is_that_of_the_rows(self, folder, form, k):
        model = IncrementalPCA(k, whiten=True).fit(self.FORMS[form](folder))
        whole = IncrementalPCA(k, whiten=True).fit(rows(1050))
        assert model.n_samples_seen_ == 1050
        assert (model.n_components_, model.batch_size_) == (whole.n_components_, 30)
        for name in ("singular_values_", "mean_", "var_", "noise_variance_"):
            ours, theirs = getattr(model, name), getattr(whole, name)
            np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12, err_msg=name)
        X = rows(20, seed=1)
        new = pd.DataFrame(X, columns=model.feature_names_in_) if form == "text" else X
        agree(model.transform(new), whole.transform(X), 1e-8)
        assert model.partial_fit(new).n_samples_seen_ == 1070

    def test_coordinates_of_what_can_be_read_twice(self, folder):
        found = IncrementalPCA(2).fit_transform(folder / "a.npy")
        np.testing.assert_allclose(found, IncrementalPCA(2).fit_transform(rows(1050)))
        refuses("only once", IncrementalPCA(2).fit_transform, self.FORMS["once"](folder))

    def test_a_bad_cell_is_named_and_nothing_changes(self, folder):
        X = rows(1050)
        X[777, 4] = np.nan
        np.save(folder / "b.npy", X)
        model = IncrementalPCA(2)
        refuses(r"b\.npy, row 777, column 4", model.fit, folder / "b.npy")
        np.save(folder / "b.npy", X[:1])
        refuses("samples 1", model.fit, folder / "b.npy")
        assert vars(model).keys() == vars(IncrementalPCA()).keys()
