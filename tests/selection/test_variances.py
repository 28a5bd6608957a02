import numpy as np
import pytest

from mercer.errors import InputError
from mercer.selection import Variances


def test_total_is_never_below_what_is_known():
    assert Variances.of([3.0, 1.0], rows=9, columns=4, total=3.9).total == 4.0


def test_rounding_below_zero_is_zero():
    assert Variances.of([3.0, -1e-17], rows=9, columns=4).values.tolist() == [3.0, 0.0]


@pytest.mark.parametrize(
    ("rows", "columns", "rank"), [(10, 4, 4), (4, 10, 3), (2, 1, 1), (7.5, 9, 7)]
)
def test_rank(rows, columns, rank):
    assert Variances.of([1.0], rows=rows, columns=columns).rank == rank


@pytest.mark.parametrize("values", [[1.0, 2.0], [[1.0]], [np.nan], [np.inf]])
def test_bad_values_are_refused(values):
    with pytest.raises(InputError, match="descending"):
        Variances.of(values, rows=9, columns=4)


@pytest.mark.parametrize(("rows", "columns"), [(1, 4), (9, 1)])
def test_impossible_shapes_are_refused(rows, columns):
    with pytest.raises(InputError, match="two rows"):
        Variances.of([2.0, 1.0], rows=rows, columns=columns)


def test_leading_says_none_only_where_more_could_follow():
    bound = np.full(4, 0.5)
    assert Variances.of([3, 1, 0.6, 0.1], rows=9, columns=4).leading(bound) == 3
    assert Variances.of([3, 1, 0.6, 0.6], rows=9, columns=4).leading(bound) == 4
    assert Variances.of([3, 1], rows=9, columns=4, total=5).leading(bound) is None
    assert Variances.of([3, 0.5], rows=9, columns=4, total=5).leading(bound) == 1
