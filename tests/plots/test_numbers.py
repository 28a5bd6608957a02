import numpy as np
import pytest

from mercer.errors import InputError
from mercer.plots._marks import column, floats, same_length


def test_numbers_become_a_vector():
    assert column("a", 3).tolist() == [3.0]
    assert column("a", [1, 2]).dtype == np.float64
    assert floats(np.array([1.0, 2.0])) == (1.0, 2.0)


@pytest.mark.parametrize("values", [[], [np.nan], [np.inf], np.eye(2)])
def test_what_is_no_list_of_finite_numbers_is_refused_by_name(values):
    with pytest.raises(InputError, match="widths must be"):
        column("widths", values)


def test_lengths_are_compared_by_name():
    same_length("a panel", a=np.ones(2), b=np.ones(2))
    with pytest.raises(InputError, match="2 a, 3 b"):
        same_length("a panel", a=np.ones(2), b=np.ones(3))
