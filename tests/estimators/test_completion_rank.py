import numpy as np
import pytest

from mercer.estimators.missing._filling import _spread_factor, completion_rank


def _rows(n=400, p=12, rank=3, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, p))
    x += 0.3 * rng.standard_normal((n, p))
    x[rng.random((n, p)) < 0.2] = np.nan
    return x


@pytest.mark.parametrize(("wanted", "rank"), [(1, 1), (5, 5), (12, 11), (np.int64(2), 2)])
def test_a_number_is_taken_at_its_word(wanted, rank):
    assert completion_rank(wanted, (400, 12), _rows()) == rank


@pytest.mark.parametrize("wanted", [None, 0.9, "mle"])
def test_other_wishes_are_cross_validated(wanted):
    assert completion_rank(wanted, (400, 12), _rows()) == 3


def test_complete_rows_are_judged_by_their_variances():
    values = np.array([9.0, 5.0, 3.0, 0.11, 0.1, 0.09])
    assert completion_rank(0.9, (400, 12), (values, float(np.sum(values)) + 0.5)) == 3
    assert completion_rank(2, (400, 12), (values, 20.0)) == 2


def test_few_rows_or_columns_leave_little():
    assert completion_rank(4, (3, 12), _rows()) == 1
    assert completion_rank(4, (2, 12), _rows()) == 0
    assert completion_rank(None, (400, 1), _rows(p=1, rank=1)) == 0


def test_columns_count_as_the_fit_counts_them():
    x = _rows()
    loud = x.copy()
    loud[:, 0] = np.random.default_rng(1).standard_normal(400) * 1e4
    assert completion_rank(None, (400, 12), loud) == 4  # a loud column is an axis of its own
    scales = np.logspace(-6, 6, 12)
    ranks = [completion_rank(None, (400, 12), x * s, standardize=True) for s in (1, scales)]
    assert ranks[0] == ranks[1] >= 3
    weight = np.ones(12)
    weight[0] = 1e-6
    assert completion_rank(None, (400, 12), loud, root_feature_weight=weight) == 3


def test_spread_is_that_of_the_observed_cells():
    x = np.array([[1.0, 5.0, np.nan, 1e300], [3.0, 5.0, np.nan, -1e300], [np.nan] * 4])
    np.testing.assert_allclose(_spread_factor(x), [1, 1, 1, 1e-300])


@pytest.mark.parametrize("standardize", [False, True])
def test_rows_that_do_not_count_and_those_that_count_often(standardize):
    x = _rows()
    w = np.random.default_rng(1).integers(0, 4, len(x))
    often = completion_rank(
        None, (w.sum(), 12), np.repeat(x, w, axis=0), standardize=standardize
    )
    loud = np.where(w[:, None] > 0, x, x * np.linspace(1, 1e4, len(x))[:, None])
    found = completion_rank(
        None, (w.sum(), 12), loud, standardize=standardize, weights=w.astype(float)
    )
    assert found == often
