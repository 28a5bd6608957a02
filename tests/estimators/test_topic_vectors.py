import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition as other_room
from sklearn.feature_extraction.text import TfidfTransformer
from tests.claims import agree, refuses

import mercer
from mercer import TopicVectors


def counts(seed=0, n=120, p=60):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(p, 0.1), 4)
    return rng.poisson(30 * rng.dirichlet(np.full(4, 0.2), n) @ topics)


@pytest.mark.parametrize("sublinear", [False, True])
@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array, scipy.sparse.coo_matrix])
def test_it_is_scikit_learns_tfidf_and_then_its_axes(form, centred, sublinear):
    N = counts()
    found = TopicVectors(3, centred=centred, sublinear=sublinear).fit(form(N))
    W = TfidfTransformer(sublinear_tf=sublinear).fit_transform(N).toarray()
    if centred:
        other = other_room.PCA(3, svd_solver="full").fit(W)
        np.testing.assert_allclose(found.explained_variance_, other.explained_variance_)
    else:
        other = other_room.TruncatedSVD(3, algorithm="arpack").fit(W)
    cosines = np.abs(np.sum(found.components_ * other.components_, axis=1))
    agree(cosines, 1, 1e-9)
    signs = np.sign(np.sum(found.components_ * other.components_, axis=1))
    agree(found.transform(form(N)), other.transform(W) * signs, 1e-9)
    assert found.certificate_.met


@pytest.mark.parametrize("path", ["svd", "gram", "krylov"])
def test_every_path_agrees(path, monkeypatch):
    N = counts(1, 300, 90)
    plain = TopicVectors(2).fit(N)
    monkeypatch.setattr(TopicVectors, "_allowed", lambda _: (path,))
    found = TopicVectors(2).fit(N)
    assert found.plan_.chosen.name == path
    np.testing.assert_allclose(found.explained_variance_, plain.explained_variance_, rtol=1e-6)
    np.testing.assert_allclose(found.components_, plain.components_, atol=1e-4)


def test_terms_at_both_ends_of_documents_that_may_be_empty():
    N = np.array([[3, 2, 0, 0], [2, 3, 0, 1], [0, 0, 4, 2], [0, 1, 2, 3]])
    found = TopicVectors(1).fit(N)
    high, low = found.top_terms(2, ["cat", "dog", "sun", "moon"])[0]
    assert {frozenset(high), frozenset(low)} == {
        frozenset(("cat", "dog")),
        frozenset(("sun", "moon")),
    }
    refuses("every term has a name", found.top_terms, 2, ["cat"])
    N = counts().astype(float)
    N[3] = 0
    N[:, 5] = 0
    N[7] *= 1e300
    found = TopicVectors(2).fit(N)
    Z = found.transform(N)
    assert np.all(np.isfinite(Z))
    np.testing.assert_allclose(Z[3], -found.mean_ @ found.components_.T)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (np.ones((5, 3)), "all documents are alike"),
        (np.zeros((5, 3)), "all documents are alike"),
        (np.array([[1.0, -2.0], [1.0, 1.0]]), "Negative values"),
        (np.array([[1.0, np.nan], [1.0, 1.0]]), "NaN"),
    ],
)
def test_what_has_no_topics_is_refused(table, words):
    refuses(words, TopicVectors(1).fit, table)


def test_cells_that_stand_twice_are_one_count(rng):
    counts = rng.poisson(1, size=(20, 8)) * 2
    rows, columns = np.nonzero(counts)
    half = counts[rows, columns] / 2
    starts = np.concatenate([[0], np.cumsum(2 * np.bincount(rows, minlength=20))])
    twice = scipy.sparse.csr_array(
        (np.repeat(half, 2), np.repeat(columns, 2), starts), shape=counts.shape
    )
    assert not twice.has_canonical_format
    for sublinear in (False, True):
        model = mercer.TopicVectors(2, sublinear=sublinear).fit(counts)
        other = mercer.TopicVectors(2, sublinear=sublinear).fit(twice)
        np.testing.assert_allclose(other.idf_, model.idf_)
        agree(other.transform(twice), model.transform(counts), 1e-12)
    assert len(twice.data) == len(half) * 2  # what was given stays


def test_parameters_set_after_the_fit_change_nothing(rng):
    counts = rng.poisson(1, size=(20, 8))
    model = mercer.TopicVectors(2).fit(counts)
    before = model.transform(counts)
    model.set_params(sublinear=True, normalise=False, centred=False)
    np.testing.assert_array_equal(model.transform(counts), before)
