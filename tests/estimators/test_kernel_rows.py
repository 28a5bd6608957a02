import numpy as np
import pytest
import scipy.sparse

from mercer import KernelPCA
from mercer.errors import DataWarning, InputError
from mercer.estimators.kernel._kernel_rows import KernelRows, spread_evenly
from mercer.kernels import RBF, FeatureMap, Linear, Polynomial, Precomputed
from mercer.sources import scan


def test_plain_rows_stay_as_they_are(table):
    source = scan(table)
    frame = KernelRows.of(source, RBF(), False, True, None)
    assert frame.ready(source) is source.array
    assert frame.numeric
    assert frame.kernel == RBF()
    np.testing.assert_array_equal(frame.back(table), table)


def test_standardised_rows(table):
    source = scan(table)
    frame = KernelRows.of(source, RBF(), True, True, None)
    ready = frame.ready(source)
    np.testing.assert_allclose(ready.mean(axis=0), 0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ready.std(axis=0, ddof=1), 1, rtol=1e-12)
    np.testing.assert_allclose(frame.back(ready), table, rtol=1e-12)


def test_weights_enter_mean_and_scale(table):
    counts = np.random.default_rng(0).integers(0, 3, len(table)).astype(float)
    frame = KernelRows.of(scan(table), RBF(), True, True, counts)
    repeated = np.repeat(table, counts.astype(int), axis=0)
    np.testing.assert_allclose(frame.mean, repeated.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(1 / frame.factor, repeated.std(axis=0, ddof=1), rtol=1e-10)


def test_a_constant_column_is_left_at_zero(table):
    table[:, 3] = 5.0
    source = scan(table)
    with pytest.warns(DataWarning, match="constant columns"):
        frame = KernelRows.of(source, RBF(), True, True, None)
    ready = frame.ready(source)
    np.testing.assert_array_equal(ready[:, 3], 0)
    assert np.isfinite(ready).all()
    back = frame.back(ready)
    assert np.isfinite(back).all()
    np.testing.assert_allclose(back, table, rtol=1e-12)


def test_sparse_rows_are_scaled_and_not_centred(table):
    sparse = scipy.sparse.csr_array(np.where(table > np.median(table, axis=0), table, 0.0))
    source = scan(sparse)
    frame = KernelRows.of(source, RBF(), True, True, None)
    ready = frame.ready(source)
    assert scipy.sparse.issparse(ready)
    dense = sparse.toarray()
    np.testing.assert_allclose(ready.toarray(), dense * frame.factor, rtol=1e-12)
    with pytest.raises(InputError, match="cannot be standardised"):
        KernelRows.of(source, Linear(), True, True, None)


def test_a_given_matrix_has_no_columns_to_standardise():
    with pytest.raises(InputError, match="cannot be standardised"):
        KernelPCA(2, kernel="precomputed", standardize=True).fit(np.eye(5))


def test_kept_rows_are_out_of_reach(table):
    source = scan(table)
    frame = KernelRows.of(source, RBF(), False, True, None)
    kept = frame.kept(frame.ready(source), source)
    assert not np.shares_memory(kept, table)
    assert KernelRows(Precomputed(), True, None).kept(table, source) is None


def test_features_are_the_only_way_but_for_polynomials(table):
    frame = KernelRows.of(scan(table), Linear(), False, True, None)
    assert frame.finite(Linear())
    assert not frame.finite(Polynomial(2))
    assert not frame.finite(Linear() + Polynomial(2))


@pytest.mark.parametrize(
    ("entry", "value"), [((2, 5), 9.0), ((5, 2), 9.0), ((0, 1500), 1.0), ((1500, 0), 1.0)]
)
def test_an_odd_entry_is_named(entry, value):
    K = np.eye(1501)
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


def test_rows_that_stand_for_the_data():
    """Evenly spaced among rows repeated w times: none of weight 0, twice of weight 2."""
    np.testing.assert_array_equal(spread_evenly(5, None, 10), np.arange(5))
    np.testing.assert_array_equal(spread_evenly(10, None, 5), [0, 2, 4, 6, 8])
    weights = np.array([0.0, 2.0, 1.0, 0.0, 3.0])
    np.testing.assert_array_equal(spread_evenly(5, weights, 100), [1, 1, 2, 4, 4, 4])
    few = spread_evenly(5, weights, 3)
    assert len(few) <= 3
    assert not np.isin(few, [0, 3]).any()


def test_a_default_lengthscale_is_that_of_repeated_rows(table):
    counts = np.random.default_rng(1).integers(0, 4, len(table))
    weighted = KernelPCA(2).fit(table, sample_weight=counts)
    repeated = KernelPCA(2).fit(np.repeat(table, counts, axis=0))
    assert weighted.kernel_.lengthscale == pytest.approx(
        repeated.kernel_.lengthscale, rel=1e-12
    )
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-9)
    assert weighted.alignment_ == pytest.approx(repeated.alignment_, rel=1e-9)


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
    wanted = exact / np.sqrt(np.sum(exact**2, axis=0) / 49)
    frame = KernelRows.of(scan(x), RBF(), True, True, None)
    found = frame.ready(scan(x))
    np.testing.assert_allclose(found, wanted.astype(float), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(frame.back(found), x)
    few = KernelRows.of(scan(x[:7]), RBF(), True, True, np.arange(7.0))
    many = KernelRows.of(scan(np.repeat(x[:7], range(7), axis=0)), RBF(), True, True, None)
    np.testing.assert_allclose(few.ready(scan(x)), many.ready(scan(x)), rtol=0, atol=1e-9)
