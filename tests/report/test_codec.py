import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mercer.report.facts._row_cloud import morton, packed, quantised, unpacked


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@given(data=st.data())
def test_what_was_packed_comes_back(dtype, data):
    values = data.draw(arrays(dtype, st.integers(0, 200)))
    assert np.array_equal(unpacked(packed(values), dtype), values)


@given(arrays(np.uint16, (2, 50)))
def test_a_morton_code_holds_both_numbers(pair):
    code = morton(*pair)
    for bits, shift in ((pair[0], 0), (pair[1], 1)):
        found = sum(((code >> np.uint32(2 * i + shift)) & 1) << np.uint32(i) for i in range(16))
        assert np.array_equal(found, bits)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_rounding_is_half_a_level_at_most(scale, offset):
    Z = (np.random.default_rng(0).normal(size=(500, 3)) + offset) * scale
    q, low, high = quantised(Z)
    back = low + q * ((high - low) / 65535)
    assert np.all(np.abs(back - Z) <= (high - low) / 131070 * (1 + 1e-9) + 1e-9 * np.abs(Z))
    assert q.min() == 0
    assert q.max() == 65535


def test_a_column_of_equal_values_keeps_its_value():
    q, low, high = quantised(np.full((4, 1), -3.0))
    assert np.all(low + q * (high - low) / 65535 == -3.0)
    assert np.all(high > low)


def test_neighbours_in_order_make_a_short_text():
    rng = np.random.default_rng(0)
    q, _, _ = quantised(rng.normal(size=(100_000, 2)))
    code = np.sort(morton(q[:, 0], q[:, 1]))
    plain = packed(q.reshape(-1))
    assert len(packed(np.diff(code, prepend=np.uint32(0)))) < 0.55 * len(plain)
