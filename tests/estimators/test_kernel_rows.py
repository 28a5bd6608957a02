"""The rows of a kernel: standardised, refused, and those that settle its parameters."""

import numpy as np
import pytest
import scipy.sparse

from mercer import KernelPCA, RandomFeatures
from mercer.errors import DataWarning, InputError
from mercer.estimators.kernel._row_samples import spread_evenly, stand_ins
from mercer.kernels import RBF, FeatureMap, Polynomial


def test_a_constant_column_is_left_at_zero(table):
    table[:, 3] = 5.0
    model = KernelPCA(8, kernel="linear", standardize=True)
    with pytest.warns(DataWarning, match="constant columns"):
        model.fit(table)
    assert model.rank_ == 7
    back = model.inverse_transform(model.transform(table))
    np.testing.assert_allclose(back, table, rtol=1e-12)


def test_sparse_rows_that_would_need_centring_cannot_be_standardised(table):
    sparse = scipy.sparse.csr_array(np.where(table > np.median(table, axis=0), table, 0.0))
    with pytest.raises(InputError, match="cannot be standardised"):
        KernelPCA(2, kernel="linear", standardize=True).fit(sparse)


def test_a_given_matrix_has_no_columns_to_standardise():
    with pytest.raises(InputError, match="cannot be standardised"):
        KernelPCA(2, kernel="precomputed", standardize=True).fit(np.eye(5))


@pytest.mark.parametrize(
    ("entry", "value"), [((2, 5), 9.0), ((5, 2), 9.0), ((0, 1500), 1.0), ((1500, 0), 1.0)]
)
def test_an_odd_entry_is_named(entry, value):
    K = np.eye(1501 if 1500 in entry else 40)
    K[entry] = value
    with pytest.raises(InputError, match="symmetric") as error:
        KernelPCA(2, kernel="precomputed").fit(K)
    places = {f"row {entry[0]}, column {entry[1]}", f"row {entry[1]}, column {entry[0]}"}
    assert any(place in error.value.got for place in places), error.value.got
    assert f"{value:.6g}" in error.value.got


def test_rounding_in_a_given_matrix_is_no_fault(table):
    K = RBF(50.0).block(table)
    rounded = K + 1e-15 * np.random.default_rng(0).standard_normal(K.shape)
    one, two = (KernelPCA(2, kernel="precomputed").fit(k).eigenvalues_ for k in (K, rounded))
    np.testing.assert_allclose(two, one, rtol=1e-10)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_bad_entry_of_a_matrix_is_named(bad):
    K = np.eye(30)
    K[4, 7] = K[7, 4] = bad
    with pytest.raises(InputError) as error:
        KernelPCA(2, kernel="precomputed").fit(K)
    assert "row 4, column 7" in error.value.got


def test_words_through_a_feature_map():
    words = ["spam", "ham", "eggs", "spam and eggs", "bread", "and"]

    def letters(rows):
        return np.array([[row.count(c) for c in "aeghms"] for row in rows], float)

    model = KernelPCA(2, kernel=FeatureMap(letters))
    Z = model.fit_transform(words)
    assert Z.shape == (6, 2)
    np.testing.assert_allclose(model.transform(words), Z, rtol=0, atol=1e-10)
    assert model.transform(["ham and eggs"]).shape == (1, 2)


@pytest.mark.parametrize(
    "phi", [lambda _: np.zeros(5), lambda _: np.array([["a"]]), lambda _: np.zeros((1, 2, 3))]
)
def test_a_map_that_gives_no_table_is_refused(phi, table):
    with pytest.raises(InputError, match="feature map"):
        KernelPCA(1, kernel=FeatureMap(phi)).fit(table)


def test_a_feature_map_stays_itself(table):
    """kernel_, alignment, inverse and score speak of the rows, not of their features."""
    phi = FeatureMap(lambda X: np.column_stack([X, X**2]))
    model = KernelPCA(3, kernel=phi).fit(table)
    assert model.kernel_ == phi
    assert model.n_features_in_ == 8
    back = model.inverse_transform(model.transform(table))
    assert back.shape == table.shape
    left = np.sum((table - back) ** 2) / np.sum((table - table.mean(axis=0)) ** 2)
    assert model.score(table) == pytest.approx(1 - left)
    assert 0 < model.alignment_ < 1


def test_columns_are_standardised_about_their_exact_mean():
    """A mean of 1e9 rounded to float64 is off by 1e-7, a part of a deviation of 1e-3."""
    x = (np.random.default_rng(0).standard_normal((50, 2)) * 1e-3 + 1e9).round(6)
    exact = x.astype(np.longdouble) - x[0]
    exact = exact - exact.mean(axis=0)
    scaled = (exact / np.sqrt(np.sum(exact**2, axis=0) / 49)).astype(float)
    kernel = Polynomial(2, gamma=1.0)  # it knows where the rows lie
    found = KernelPCA(3, kernel=kernel, standardize=True).fit(x)
    wanted = KernelPCA(3, kernel=kernel).fit(scaled)
    np.testing.assert_allclose(found.eigenvalues_, wanted.eigenvalues_, rtol=1e-11)
    flat = KernelPCA(2, kernel="linear", standardize=True).fit(x)
    np.testing.assert_array_equal(flat.inverse_transform(flat.transform(x)), x)
    options = {"kernel": kernel, "standardize": True}
    few = KernelPCA(3, **options).fit(x[:7], sample_weight=np.arange(7.0))
    many = KernelPCA(3, **options).fit(np.repeat(x[:7], range(7), axis=0))
    np.testing.assert_allclose(few.eigenvalues_, many.eigenvalues_, rtol=1e-9)


X = np.random.default_rng(0).normal(size=(180, 5))
HEAVY = (1e4, 1e5, 1e6, 1e12)


def counts(heavy):
    return np.r_[np.ones(90), heavy, np.ones(89)]


@pytest.mark.parametrize("weights", [None, np.random.default_rng(1).integers(0, 40, 180) * 1.0])
@pytest.mark.parametrize("most", [50, 1000])
def test_rows_without_a_heavy_one_are_evenly_spaced(weights, most):
    at, found = stand_ins(X, weights, most)
    np.testing.assert_array_equal(at, spread_evenly(180, weights, most))
    assert found is None


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("heavy", HEAVY)
def test_a_heavy_row_stands_once_beside_the_others(form, heavy):
    at, found = stand_ins(form(X), counts(heavy), 1000)
    np.testing.assert_array_equal(np.sort(at), np.arange(180))
    assert at[0] == 90
    np.testing.assert_allclose(found, np.r_[heavy, np.ones(179)])


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("others", [1, 7])
def test_repeats_give_what_weights_give(form, others):
    table = np.round(X[:60] * (np.random.default_rng(2).random((60, 5)) < 0.5), 1)
    w = np.r_[np.full(30, others), 40_000, np.full(29, others)]
    again = np.repeat(table, w, axis=0)
    one, two = stand_ins(form(table), w * 1.0, 100), stand_ins(form(again), None, 100)
    np.testing.assert_array_equal(table[one[0]], again[two[0]])
    np.testing.assert_allclose(one[1], two[1], rtol=1e-14)
    assert len(one[0]) <= 100


def test_light_rows_are_drawn_by_weight():
    at, found = stand_ins(X, np.r_[2.0, np.full(99, 1e-9), np.full(80, 1e-20)], 100)
    assert set(at) <= set(range(101))
    assert len(set(at)) >= 99
    np.testing.assert_allclose(found[0] / found[1:].sum(), 2.0 / 99e-9, rtol=1e-6)


@pytest.mark.parametrize("heavy", HEAVY)
@pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning")
def test_the_default_lengthscale_is_that_of_pairs_of_repeated_rows(heavy):
    """Most pairs are of the heavy row with itself: the mean of the others' squares is left."""
    w = counts(heavy)
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    pairs = np.triu(np.outer(w, w), 1)
    mean = np.sum(pairs * squares) / np.sum(pairs)
    for model in (KernelPCA(2), RandomFeatures(8)):
        found = model.fit(X, sample_weight=w).kernel_.lengthscale
        assert found == pytest.approx(np.sqrt(0.5 * mean), rel=1e-12)


@pytest.mark.parametrize("kernel", ["rbf(lengthscale=2)", "rbf", "laplacian", "polynomial"])
@pytest.mark.parametrize("heavy", HEAVY[2:])
@pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning")
def test_one_heavy_row_is_fitted(kernel, heavy):
    model = KernelPCA(2, kernel=kernel).fit(X, sample_weight=counts(heavy))
    assert 0 < model.alignment_ < 1
    assert np.isfinite(model.eigenvalues_).all()


@pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning")
def test_the_way_back_and_the_number_of_axes_see_the_other_rows():
    model = KernelPCA(2, kernel="rbf", landmarks=60).fit(X, sample_weight=counts(1e6))
    assert np.isfinite(model.inverse_transform(model.transform(X))).all()
    lines = np.outer(np.linspace(-1, 1, 180), [3.0, 2.0, 1.0]) + 0.01 * X[:, :3]
    assert KernelPCA("auto").fit(lines, sample_weight=counts(1e6)).n_components_ >= 1


def test_rows_that_are_all_equal_are_refused():
    with pytest.raises(InputError, match="all equal"):
        KernelPCA(2).fit(np.ones((180, 5)), sample_weight=counts(1e6))


def test_rows_that_stand_for_the_data():
    """Evenly spaced among rows repeated w times: none of weight 0, twice of weight 2."""
    np.testing.assert_array_equal(spread_evenly(5, None, 10), np.arange(5))
    np.testing.assert_array_equal(spread_evenly(10, None, 5), [0, 2, 4, 6, 8])
    weights = np.array([0.0, 2.0, 1.0, 0.0, 3.0])
    np.testing.assert_array_equal(spread_evenly(5, weights, 100), [1, 1, 2, 4, 4, 4])
    few = spread_evenly(5, weights, 3)
    assert len(few) <= 3
    assert not np.isin(few, [0, 3]).any()
