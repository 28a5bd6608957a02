import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.selection import share


@given(
    st.lists(st.floats(0, 1e6), min_size=1, max_size=30).filter(lambda v: max(v) > 0),
    st.floats(0.001, 0.999),
)
def test_it_is_the_least_number_that_suffices(values, wanted):
    values = np.sort(values)[::-1]
    k = share(values, wanted)
    assert 1 <= k <= len(values)
    kept, total = np.cumsum(values), float(np.sum(values))
    assert kept[k - 1] >= wanted * total * (1 - 1e-12)
    assert k == 1 or kept[k - 2] < wanted * total * (1 + 1e-12)


def test_a_share_met_exactly_needs_no_more():
    assert share(np.array([6.0, 3.0, 1.0]), 0.9) == 2
    assert share(np.array([0.1] * 10), 0.3) == 3
    assert share(np.ones(4), 0.5) == 2


def test_rounding_below_zero_does_not_count():
    assert share(np.array([1.0, 1e-3, -1e-17, -1e-16]), 0.999999) == 2


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_scale_does_not_matter(scale):
    values = np.array([6.0, 3.0, 1.0]) * scale / 10
    assert [share(values, w) for w in (0.5, 0.7, 0.95)] == [1, 2, 3]


def test_leading_values_with_a_total_may_be_too_few():
    assert share(np.array([6.0, 3.0]), 0.85, 10.0) == 2
    assert share(np.array([6.0, 3.0]), 0.95, 10.0) == 3
