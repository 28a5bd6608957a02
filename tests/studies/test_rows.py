import numpy as np
import pytest
import scipy.sparse
from sklearn.preprocessing import StandardScaler

from mercer import KernelPCA
from mercer.errors import DataWarning, InputError
from mercer.studies._study_rows import evenly, few, rows_seen


@pytest.mark.parametrize(("n", "most", "count"), [(10, 20, 10), (2001, 2000, 2000), (7, 2, 2)])
def test_rows_are_spread_from_the_first_to_the_last(n, most, count):
    found = evenly(n, most)
    assert (len(found), found[0], found[-1]) == (count, 0, n - 1)
    assert len(np.unique(found)) == count


def test_rows_are_float64_and_as_many_as_asked_for(rng):
    X = (rng.normal(size=(50, 3)) + 1e6).astype(np.float32)
    rows, axes = rows_seen(KernelPCA(), X, 20, 0)
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(rows, X[evenly(50, 20)])
    assert 1 <= axes <= 3


def test_standardised_rows_have_one_unit_and_constant_columns_do_no_harm(rng):
    X = np.c_[rng.normal(size=(50, 2)) * [1e-8, 1e8], np.full(50, 7.0)]
    with pytest.warns(DataWarning, match="constant columns"):
        rows, axes = rows_seen(KernelPCA(standardize=True), X, 50, 0)
    expected = StandardScaler().fit_transform(X)[:, :2]
    ratio = rows[:, :2] / expected
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-9)
    assert np.ptp(rows[:, 2]) == 0
    assert axes == 2


def test_axes_are_those_of_95_per_cent(rng):
    X = rng.normal(size=(300, 6)) * [10, 10, 10, 1, 1, 1]
    share = np.cumsum(np.linalg.eigvalsh(np.cov(X.T))[::-1])
    assert rows_seen(KernelPCA(), X, 300, 0)[1] == np.sum(share < 0.95 * share[-1]) + 1


def test_sparse_rows_stay_sparse_until_they_are_few(rng):
    X = scipy.sparse.csc_array(np.maximum(rng.normal(size=(40, 6)) - 0.5, 0))
    rows, _ = rows_seen(KernelPCA(), X, 30, 0)
    assert scipy.sparse.issparse(rows)
    np.testing.assert_array_equal(few(rows, 40), rows.toarray())
    assert few(rows, 10).shape == (10, 6)


def test_a_bad_cell_is_found_even_if_its_row_is_not_looked_at(rng):
    X = rng.normal(size=(100, 3))
    X[1, 2] = np.nan
    with pytest.raises(InputError, match="NaN at row 1, column 2"):
        rows_seen(KernelPCA(), X, 10, 0)


@pytest.mark.parametrize("unit", [1e200, 1e-200])
def test_numbers_whose_squares_are_none_are_refused(rng, unit):
    with pytest.raises(InputError, match="leave the range of float64"):
        rows_seen(KernelPCA(), rng.normal(size=(20, 2)) * unit, 20, 0)
