import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.arrays import anonymous_bytes, available_bytes, parse_bytes, show_bytes
from mercer.errors import InputError


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (2048, 2048),
        (1.5e9, 1_500_000_000),
        ("2048", 2048),
        ("7B", 7),
        ("4GB", 4 * 10**9),
        ("4GiB", 4 * 2**30),
        (" 1.5 MiB ", 3 * 2**19),
        ("1e3 kB", 10**6),
        ("512MB", 512 * 10**6),
        ("0.5TB", 5 * 10**11),
        (np.int64(12), 12),
    ],
)
def test_sizes_are_read(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize(
    "text",
    ["", "GB", "4 GBB", "4XB", "-4GB", "0", 0, -1, "nan", "inf", float("nan"), float("inf"),
     "1.2.3MB", "4G B", "99999999PB", "4iB", None],
)  # fmt: skip
def test_what_is_not_a_size_is_refused(text):
    with pytest.raises(InputError, match="`memory` is not a size") as caught:
        parse_bytes(text)
    assert repr(text) in caught.value.got


@given(st.integers(1, 10**6), st.sampled_from(["kB", "MB", "GB", "TB"]))
def test_units_are_powers(number, unit):
    power = 1 + ["kB", "MB", "GB", "TB"].index(unit)
    assert parse_bytes(f"{number}{unit}") == number * 1000**power
    assert parse_bytes(f"{number}{unit[0]}iB") == number * 1024**power


@given(st.floats(1, 1e15))
def test_what_is_shown_is_read_back_to_three_digits(size):
    shown = show_bytes(size)
    assert len(shown) <= 8
    assert parse_bytes(shown) == pytest.approx(size, rel=6e-3, abs=1)


def test_sizes_are_short():
    assert [show_bytes(s) for s in (0, 999, 999.6, 12_345, 999_600, 5e13)] == [
        "0 B", "999 B", "1 kB", "12.3 kB", "1 MB", "50 TB",
    ]  # fmt: skip


def test_taken_memory_grows_with_what_is_taken():
    assert 2**20 < available_bytes() < 2**50
    before = anonymous_bytes()
    held = np.ones(48_000_000 // 8)  # up to 32 MiB may come from what was freed before
    grown = anonymous_bytes() - before
    assert before == 0 or 0.8 * held.nbytes < grown < 2 * held.nbytes
