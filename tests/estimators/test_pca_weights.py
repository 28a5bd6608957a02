import numpy as np
import pytest
import scipy.sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import PCA, KernelPCA
from mercer.errors import InputError


def compare(a, b):
    np.testing.assert_allclose(a.explained_variance_, b.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(
        a.explained_variance_ratio_, b.explained_variance_ratio_, rtol=1e-9
    )
    np.testing.assert_allclose(a.singular_values_, b.singular_values_, rtol=1e-9)
    np.testing.assert_allclose(a.mean_, b.mean_, rtol=1e-13)
    np.testing.assert_allclose(a.components_, b.components_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(a.noise_variance_, b.noise_variance_, rtol=1e-8)


@pytest.mark.parametrize("options", [{}, {"standardize": True}, {"whiten": True}])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_weight_is_a_repeated_row(table, rng, options, sparse):
    counts = rng.integers(0, 4, 120)
    hold = scipy.sparse.csr_array if sparse else np.asarray
    weighted = PCA(4, **options).fit(hold(table), sample_weight=counts)
    repeated = PCA(4, **options).fit(hold(np.repeat(table, counts, axis=0)))
    compare(weighted, repeated)
    np.testing.assert_allclose(
        weighted.transform(table), repeated.transform(table), rtol=0, atol=1e-8
    )


@pytest.mark.parametrize("wanted", [None, 0.9, "mle"])
def test_the_number_of_components_is_that_of_the_repeated_rows(rng, wanted):
    x = rng.standard_normal((30, 2)) @ rng.standard_normal((2, 6)) * 4
    x += rng.standard_normal((30, 6))
    counts = rng.integers(1, 4, 30)
    weighted = PCA(wanted).fit(x, sample_weight=counts)
    repeated = PCA(wanted).fit(np.repeat(x, counts, axis=0))
    assert weighted.n_components_ == repeated.n_components_
    compare(weighted, repeated)


def test_few_rows_that_count_often(rng):
    x = rng.standard_normal((3, 10))
    weighted = PCA().fit(x, sample_weight=[5, 1, 2])
    repeated = PCA().fit(np.repeat(x, [5, 1, 2], axis=0))
    assert weighted.n_components_ == repeated.n_components_ == 8
    assert weighted.rank_ == repeated.rank_ == 2
    np.testing.assert_allclose(
        weighted.explained_variance_[:2], repeated.explained_variance_[:2]
    )


def test_ones_change_nothing(table):
    compare(PCA(4).fit(table, sample_weight=np.ones(120)), PCA(4).fit(table))


def test_zero_leaves_a_row_out(table):
    weights = np.ones(120)
    weights[::2] = 0
    wild = table.copy()
    wild[::2] *= 1e6
    compare(PCA(4).fit(wild, sample_weight=weights), PCA(4).fit(table[1::2]))


def test_fractions_are_counts_too(table, rng):
    weights = rng.uniform(0.1, 3, 120)
    mean = np.average(table, axis=0, weights=weights)
    y = table - mean
    covariance = (weights[:, None] * y).T @ y / (weights.sum() - 1)
    model = PCA(4).fit(table, sample_weight=weights)
    values = np.linalg.eigvalsh(covariance)[::-1]
    np.testing.assert_allclose(model.explained_variance_, values[:4], rtol=1e-9)
    np.testing.assert_allclose(
        model.singular_values_, np.sqrt(values[:4] * (weights.sum() - 1))
    )
    np.testing.assert_allclose(model.mean_, mean)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (["much"] * 120, "must be numbers"),
        (np.ones(120, complex), "must be numbers"),
        ([1.0] * 119 + [1j], "must be numbers"),
        (1j, "must be numbers"),
        (object(), "must be numbers"),
        (np.ones(119), "one number per row"),
        (np.ones((120, 1)), "one number per row"),
        (-np.ones(120), "not negative"),
        (np.full(120, np.nan), "finite"),
        (np.full(120, np.inf), "finite"),
        (np.zeros(120), "zero"),
        (np.full(120, 1 / 120), "must exceed 1"),
    ],
)
def test_what_is_refused(table, wrong, words):
    with pytest.raises(InputError, match=words) as caught:
        PCA(2).fit(table, sample_weight=wrong)
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(81), "got: 81 weights, 80 rows\n"),
        (np.ones(79), "got: 79 weights, 80 rows or more\n"),
        (np.ones((80, 1)), r"sample_weight of shape \(80, 1\)\n"),
        ([], r"sample_weight of shape \(0,\)\n"),
    ],
    ids=["many", "few", "2d", "none"],
)
@pytest.mark.parametrize("model", [PCA(2), KernelPCA(2, landmarks=20)], ids=["pca", "kernel"])
def test_wrong_weights_of_blocks(rng, model, weights, words):
    X = rng.normal(size=(80, 4))
    with pytest.raises(InputError, match=words):
        model.fit(iter([X[:40], X[40:]]), sample_weight=weights)


def test_the_remedy_for_shares_works(table):
    w = np.full(120, 1 / 120)
    compare(PCA(3).fit(table, sample_weight=w * len(w) / w.sum()), PCA(3).fit(table))


def test_one_row_that_counts_is_no_table(table):
    weights = np.zeros(120)
    weights[3] = 5
    with pytest.raises(InputError, match="variance"):
        PCA(2).fit(table, sample_weight=weights)


def test_weights_go_through_a_pipeline(table, rng):
    weights = rng.integers(1, 4, 120)
    steps = make_pipeline(StandardScaler(), PCA(3))
    steps.fit(table, pca__sample_weight=weights)
    scaled = StandardScaler().fit_transform(table)
    compare(steps[-1], PCA(3).fit(scaled, sample_weight=weights))


def test_complex_weights_are_named_by_their_row(table):
    weights = [1.0] * 120
    weights[7] = 1 + 2j
    with pytest.raises(InputError, match="no real number at row 7 of list"):
        PCA(2).fit(table, sample_weight=weights)
    with pytest.raises(InputError, match="must be numbers"):
        PCA(2).partial_fit(table, sample_weight=np.array(weights))
