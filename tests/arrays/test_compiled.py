"""Loops are compiled where Numba is, and nobody notices where it is not."""

import importlib

import numpy as np
import pytest

from mercer.arrays import _compiled_loops, can_compile, compiled, in_any_order


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
    pytest.importorskip("numba")

    def no_folder(_loop):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(_compiled_loops, "_user_cache", lambda: no_folder)
    assert compiled(total)(np.arange(4.0)) == 6.0


def test_machine_code_is_kept_for_the_user_and_not_beside_the_source(tmp_path, monkeypatch):
    pytest.importorskip("numba")
    source = tmp_path / "loop_of_a_test.py"
    source.write_text("def last(numbers):\n    return numbers[len(numbers) - 1]\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    loop = importlib.import_module("loop_of_a_test").last
    made = compiled(loop)
    assert made(np.arange(4.0)) == 3
    kept = [*tmp_path.rglob("*.nbi"), *tmp_path.rglob("*.nbc")]
    assert kept == []
    assert made._cache is None or not str(made._cache.cache_path).startswith(str(tmp_path))
