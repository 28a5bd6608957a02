"""Compiled loops complete rows as NumPy does, and are used only where they hold."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.operators.test_completion import model, rows_with_gaps

import mercer.operators.completion._compiled_expectation as compiled_expectation_module
from mercer.operators import Centring, Completion, CompletionSums, Survey, is_worth_compiling
from mercer.operators.completion._compiled_expectation import (
    CompiledExpectation,
    can_be_compiled,
)
from mercer.operators.completion._expectation import Expectation

pytest.importorskip("numba")


@pytest.fixture
def always(monkeypatch):
    """Compile for tables of any size."""
    monkeypatch.setattr(compiled_expectation_module, "_WORTH_LOADING", 0.0)


def test_only_many_cells_are_worth_it():
    assert not is_worth_compiling(1e6)
    assert is_worth_compiling(5e6)


@pytest.mark.parametrize("change", ["unit", "no axes", "many axes", "no noise"])
def test_what_the_loops_do_not_hold(change):
    completion = model()
    if change == "unit":
        centring = Centring(np.full(6, 2.0), np.zeros(6), 300)
        completion = dataclasses.replace(completion, centring=centring)
    elif change == "no axes":
        completion = model(k=0)
    elif change == "many axes":
        completion = model(p=60, k=30)
    else:
        completion = model(noise=1e-9)
    assert can_be_compiled(model())
    assert not can_be_compiled(completion)
    assert CompiledExpectation.of(completion) is None


@pytest.mark.parametrize("factor", [None, np.array([0.0, 2, 0.5, 1, 3, 1])], ids=["1", "0"])
@pytest.mark.parametrize("column", range(6))
def test_an_infinite_cell_is_told(factor, column):
    X = rows_with_gaps(n=70)
    loops, out = CompiledExpectation(model(factor=factor)), np.empty((70, 6))
    with np.errstate(all="ignore"):
        assert loops.fill(out, X) == (factor is not None)  # it cannot know
        X[66, column] = -np.inf
        assert loops.fill(out, X)
    assert out[66, column] == -np.inf


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_filled_in_loops(monkeypatch, threads, dtype):
    X = np.tile(rows_with_gaps(), (600, 1)).astype(dtype)
    X.flags.writeable = False
    monkeypatch.setattr(
        "mercer.operators.completion._completion_model.thread_count", lambda: threads
    )
    found = model().filled(X)
    close = 1e-6 if dtype is np.float32 else 1e-12
    np.testing.assert_allclose(found[:50], _by_numpy(model(), X[:50]), rtol=0, atol=close)
    seen = ~np.isnan(X)
    assert found[seen].tobytes() == X[seen].tobytes()
    np.testing.assert_array_equal(found, np.tile(found[:50], (600, 1)))


def _by_numpy(completion, X):
    expectation = Expectation(completion)
    return expectation.back(expectation.of(X).rows.copy())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("basis", [False, True])
@pytest.mark.parametrize(
    ("dtype", "given"), [(np.float32, "f8"), (np.float64, ">f8"), (np.float64, "g")]
)
def test_sums_in_loops(weighted, basis, dtype, given):
    X, completion = np.asfortranarray(rows_with_gaps(n=300)).astype(given), model()
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 3, len(X)).astype(float) if weighted else None
    Q = np.linalg.qr(rng.standard_normal((6, 3)))[0] if basis else None
    plain, loops = (
        CompletionSums(completion, Q, dtype=dtype, compiled=how).add(X, weights)
        for how in (False, True)
    )
    assert (loops.rows, loops.total) == (plain.rows, plain.total)
    close = 1e-12 if dtype == np.float64 else 1e-5
    for name in ("first", "second", "squares"):
        mine, theirs = getattr(loops, name), getattr(plain, name)
        np.testing.assert_allclose(mine, theirs, rtol=close, atol=100 * close)


@pytest.mark.parametrize("infinite", [False, True])
def test_a_survey_in_loops(monkeypatch, infinite):
    X = rows_with_gaps(n=300)
    X[:, 2], X[7] = 5.0, np.nan
    if infinite:
        X[17, 3] = -np.inf
    plain = Survey(6, 100)
    plain.add(X)
    monkeypatch.setattr(compiled_expectation_module, "_WORTH_LOADING", 0.0)
    loops = Survey(6, 100)
    loops.add(X)
    np.testing.assert_array_equal(loops.counts, plain.counts)
    np.testing.assert_array_equal(loops.weighed, plain.weighed)
    assert loops.empty == plain.empty == [7]
    assert loops.finite == plain.finite == (not infinite)
    np.testing.assert_array_equal(loops.constant, plain.constant)
    np.testing.assert_array_equal(loops.low, np.nanmin(X, axis=0))
    np.testing.assert_array_equal(loops.high, np.nanmax(X, axis=0))
    for one, other in zip(loops.origin(X.dtype), plain.origin(X.dtype), strict=True):
        np.testing.assert_array_equal(one, other)


@settings(max_examples=60, deadline=None)
@given(
    p=st.integers(2, 30),
    k=st.integers(1, 12),
    share=st.floats(0.0, 1.0),
    noise=st.floats(-5.0, 1.0),
    size=st.integers(-30, 30),
    far=st.floats(0.0, 8.0),
    seed=st.integers(0, 1000),
)
def test_any_model_and_any_gaps(p, k, share, noise, size, far, seed):
    rng = np.random.default_rng(seed)
    k, scale = min(k, p - 1), 2.0**size
    axes = np.linalg.qr(rng.standard_normal((p, k)))[0]
    values = np.sort(rng.random(k) + 10.0**noise)[::-1] * scale**2
    mean = scale * 10**far * rng.standard_normal(p)
    model_ = Completion(Centring(mean, np.zeros(p)), axes, values, 10.0**noise * scale**2)
    X = mean + scale * rng.standard_normal((50, p))
    X[rng.random(X.shape) < share] = np.nan
    plain = Expectation(model_).of(X).rows
    # Both are backward stable: they differ by rounding times the condition of a row.
    close = 1e-13 * (values[0] / model_.noise + 10) * scale
    for cache in (1e9, 0.0):  # cells are looked up together or alone
        out = np.empty_like(X)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compiled_expectation_module, "_CACHE", cache)
            CompiledExpectation(model_).rows(X, out)
        np.testing.assert_allclose(out, plain, rtol=0, atol=10 * close)
