import numpy as np
import pandas as pd
import pytest

from mercer.errors import DataWarning, InputError
from mercer.estimators.counts.correspondence import (
    beside,
    kept_of,
    picked,
    refuse_empty_columns,
    spread,
    unscaled,
    warn_centred,
    warn_lost,
)


def test_rows_go_back_to_their_places():
    kept = kept_of(5, np.array([1, 3]))
    np.testing.assert_array_equal(kept, [True, False, True, False, True])
    np.testing.assert_array_equal(spread(np.array([7, 8, 9.0]), kept), [7, 0, 8, 0, 9])
    whole = np.arange(5.0)
    assert spread(whole, kept_of(5, np.zeros(0, int))) is whole
    assert picked(list("abcde"), kept) == ["a", "c", "e"]
    assert picked(None, kept) is None


def test_a_total_that_is_too_large_is_infinite():
    assert unscaled(3.0, 2) == 12.0
    assert unscaled(3.0, 5000) == np.inf


def test_new_rows_and_columns_without_counts():
    warn_centred(np.ones(2), None)
    with pytest.warns(DataWarning, match="row 1 .'b'.: its total is zero; 1 of 2 rows"):
        warn_centred(np.array([1.0, 0.0]), ["a", "b"])
    refuse_empty_columns(np.ones(2))
    with pytest.raises(InputError, match="column 1: its total is zero"):
        refuse_empty_columns(np.array([1.0, 0.0]))


def test_counts_in_columns_that_were_empty():
    warn_lost(np.zeros(3), np.array([4]), None)
    with pytest.warns(DataWarning, match="2 rows; 1 such columns, the first 'e'"):
        warn_lost(np.array([0, 2, 1]), np.array([4]), list("abcde"))


def test_columns_beside_the_table():
    found = beside(pd.DataFrame({"who": ["a", "b"], "n": [1, 2]}), 2)
    assert found.shape == (2, 1)
    assert found.names == ["a", "b"]
    assert beside([[1]], 1).shape == (1, 1)
    with pytest.raises(InputError, match=r"a table of shape .2, 1., a fit of 3 rows"):
        beside(np.ones((2, 1)), 3)
    with pytest.raises(InputError, match="Negative"):
        beside(np.array([[1.0], [-1.0]]), 2)
