"""Loops are compiled where Numba is, and nobody notices where it is not."""

import importlib

import numpy as np
import pytest

from mercer.arrays import can_compile, compiled, in_any_order


def total(numbers):
    s = 0.0
    for i in range(len(numbers)):
        s += numbers[i]
    return s


@in_any_order
def total_in_any_order(numbers):
    s = 0.0
    for i in range(len(numbers)):
        s += numbers[i]
    return s


def total_of_roots(numbers):
    s = 0.0
    for i in range(len(numbers)):
        s += root(numbers[i])
    return s


def root(number):
    return np.sqrt(number)


def inverse(number):
    return 1.0 / number


@pytest.fixture
def forgotten():
    """Let what is known of Numba be asked again, here and afterwards."""
    can_compile.cache_clear()
    compiled.cache_clear()
    yield
    can_compile.cache_clear()
    compiled.cache_clear()


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("error", [ModuleNotFoundError("no numba"), ImportError("too old")])
def test_a_numba_that_is_missing_or_does_not_start_is_not_used(monkeypatch, error):
    def missing(_name):
        raise error

    monkeypatch.setattr(importlib, "import_module", missing)
    assert not can_compile()


def test_what_a_loop_calls_is_compiled_with_it_and_divides_as_numpy_does():
    pytest.importorskip("numba")
    assert can_compile()
    numbers = np.arange(50.0)
    assert compiled(total_of_roots) is compiled(total_of_roots) is not total_of_roots
    np.testing.assert_allclose(compiled(total_of_roots)(numbers), total_of_roots(numbers))
    assert root(4.0) == 2.0  # the function itself is as it was
    assert not hasattr(root, "py_func")
    assert compiled(inverse)(0.0) == np.inf


def test_terms_are_added_in_another_order_only_where_a_loop_says_so():
    pytest.importorskip("numba")
    numbers = np.random.default_rng(0).random(1000)
    assert compiled(total)(numbers) == total(numbers)
    assert total_in_any_order(numbers) == total(numbers)  # the function itself is as it was
    loose = compiled(total_in_any_order)
    np.testing.assert_allclose(loose(numbers), total(numbers), rtol=1e-14)
    assert loose.targetoptions["fastmath"] == {"reassoc", "contract"}
    assert compiled(total).targetoptions["fastmath"] == {"contract"}


@pytest.mark.usefixtures("forgotten")
def test_code_that_cannot_be_kept_is_made_all_the_same(monkeypatch):
    numba = pytest.importorskip("numba")
    plain, asked = numba.njit, []

    def njit(**options):
        asked.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return plain(**options)

    monkeypatch.setattr(numba, "njit", njit)
    assert compiled(total)(np.arange(4.0)) == 6.0
    assert [options.get("cache") for options in asked] == [True, None]
