"""A call that fails or is interrupted changes nothing: the model is the old one, or the new."""

import threading
import warnings
from functools import partial

import numpy as np
import pytest
from forced import FORCED, gapped
from interruptions import AtCall, InjectedError, traced, untouched
from sklearn.base import clone
from tests.estimators.saved_models import OTHERS, UNIT

import mercer
from mercer import PCA
from mercer.arrays import thread_count
from mercer.errors import AccuracyWarning, InputError, MercerError

OLD = gapped(50, 40, 1)
OLDER = {"dual": gapped(25, 40, 1)}
NEW = {"svd": gapped(60, 30, 2), "gram": gapped(60, 30, 2), "krylov": gapped(60, 30, 2)}
NEW["dual"] = gapped(30, 60, 2)
K = 3


def state(model):
    """Return the public state of a model as values that can be compared."""
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


def count_calls(path):
    counter = AtCall(10**9, None)
    traced(counter, lambda: FORCED[path](K).fit(NEW[path]))
    return 10**9 - counter.left


def fit_and_fail(model, X, number, error):
    """Return where the n-th call of the package raised, or None if fit ended before."""
    tracer = AtCall(number, error)
    try:
        traced(tracer, lambda: model.fit(X))
    except (InjectedError, KeyboardInterrupt) as caught:
        return tracer.where if caught is error else "another error"
    return None


@pytest.mark.parametrize("path", NEW)
def test_an_error_at_any_call_leaves_the_model_alone(path):
    """The first call of the package fails, then the second, … until the fit succeeds."""
    calls = count_calls(path)
    assert calls > 50
    first = OLDER.get(path, OLD)
    model = FORCED[path](K).fit(first)
    reached = set()
    for number in range(1, calls + 1):
        old = dict(vars(model))
        error = KeyboardInterrupt() if number % 2 else InjectedError()
        where = fit_and_fail(model, NEW[path], number, error)
        if where is None:
            break
        reached.add(where)
        if not untouched(model, old):  # the last step is publication: then all of it is new
            assert model.n_features_in_ == NEW[path].shape[1], where
            wanted = FORCED[path](K).fit(NEW[path])
            assert state(model).keys() == state(wanted).keys(), where
            np.testing.assert_array_equal(model.components_, wanted.components_)
            model = FORCED[path](K).fit(first)
        assert model.transform(first).shape == (len(first), K), where
    assert len(reached) > 30


def test_a_warning_that_is_an_error_changes_nothing():
    """Who turns warnings into errors and meets a missed tolerance keeps the old model."""
    noise = np.random.default_rng(0).standard_normal((300, 200))
    model = FORCED["krylov"](K).fit(OLD)
    model.set_params(tol=1e-300)
    old = dict(vars(model))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(AccuracyWarning):
            model.fit(noise)
    assert untouched(model, old)


def test_a_refused_table_changes_nothing():
    model = PCA(K).fit(OLD)
    old = dict(vars(model))
    bad = NEW["svd"].copy()
    bad[4, 7] = np.nan
    for table in (bad, np.full((9, 5), 2.0), "text", None, bad[:1]):
        with pytest.raises((ValueError, TypeError)):
            model.fit(table)
        assert untouched(model, old)
    for table in (bad, OLD[:, :3]):
        with pytest.raises(InputError):
            model.transform(table)
        assert untouched(model, old)


def test_a_fit_after_other_parameters_forgets_the_old_attributes():
    model = PCA(K).fit(OLD)
    model.scratch_ = "left over"
    model.fit(NEW["svd"])
    assert not hasattr(model, "scratch_")
    assert state(model).keys() == state(PCA(K).fit(NEW["svd"])).keys()


@pytest.mark.parametrize("path", ["gram", "krylov"])
def test_an_error_in_a_lane_reaches_the_caller_and_blas_keeps_its_threads(monkeypatch, path):
    from mercer.operators import DenseRows

    X = gapped(30_000, 60, 3)
    before, threads = thread_count(), threading.active_count()
    plain = DenseRows.block
    calls = []

    def block(self, rows, buffer):
        calls.append(rows)
        if len(calls) == 5:
            raise InjectedError
        return plain(self, rows, buffer)

    model = FORCED[path](K).fit(OLD)
    old = dict(vars(model))
    monkeypatch.setattr(DenseRows, "block", block)
    with pytest.raises(InjectedError):
        model.fit(X)
    assert untouched(model, old)
    assert thread_count() == before
    assert threading.active_count() == threads


def test_parallel_fits_do_not_disturb_each_other_or_blas():
    X = gapped(8000, 60, 4)
    wanted = PCA(K).fit(X)
    before = thread_count()
    found, failures = [], []

    def work():
        try:
            found.extend(PCA(K).fit(X) for _ in range(4))
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert thread_count() == before
    for model in found:
        np.testing.assert_allclose(
            model.explained_variance_, wanted.explained_variance_, rtol=1e-10
        )


def test_a_reader_never_sees_half_a_model():
    """One object fitted again and again to two tables while another thread reads it."""
    tables = (gapped(50, 8, 5), gapped(50, 8, 6))
    models = [PCA(2).fit(t) for t in tables]
    shared, stop, torn = PCA(2).fit(tables[0]), threading.Event(), []

    def read():
        while not stop.is_set():
            seen = dict(vars(shared))
            pair = (seen["components_"][0, 0], seen["explained_variance_"][0])
            if pair not in [(m.components_[0, 0], m.explained_variance_[0]) for m in models]:
                torn.append(pair)

    reader = threading.Thread(target=read)
    reader.start()
    for i in range(150):
        shared.fit(tables[i % 2])
    stop.set()
    reader.join()
    assert not torn


# A fit of any method that fails, is interrupted or refused leaves the model as it was.


NEVER, PLACES = 10**9, 9
METHODS = OTHERS | {
    "random features": (mercer.RandomFeatures(9), UNIT, {}),
    "landmark features": (mercer.LandmarkFeatures(9), UNIT, {}),
    "kernel": (mercer.KernelPCA(2), UNIT, {}),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", METHODS)
def test_an_error_at_any_call(name):
    """The package fails at a few calls, spread over the fit of another model."""
    made, rows, more = METHODS[name]
    model, counters = clone(made).fit(rows, **more), [AtCall(NEVER, None) for _ in range(3)]
    kept = np.asarray(model.transform(rows)).tobytes()
    for counter in counters:  # a plan that is remembered takes fewer calls
        traced(counter, partial(clone(made).fit, rows, **more))
    calls = min(NEVER - counter.left for counter in counters)
    assert calls > 40
    met = 0
    for number in np.linspace(1, 0.97 * calls, PLACES).astype(int):
        old = dict(vars(model))
        error = KeyboardInterrupt() if number % 2 else InjectedError()
        try:
            traced(AtCall(number, error), partial(model.fit, rows, **more))
        except (InjectedError, KeyboardInterrupt):
            assert untouched(model, old), number
            met += 1
    assert met >= PLACES - 2
    assert np.asarray(model.transform(rows)).tobytes() == kept


@pytest.mark.parametrize("name", METHODS)
def test_a_refused_table_changes_nothing_every_method(name):
    made, rows, more = METHODS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(made).fit(rows, **more)
    old = dict(vars(model))
    empty = dict.fromkeys(more, np.empty(0))
    for table, given in ((rows[:0], empty), ("rows", more), (None, more), (np.ones(3), more)):
        with pytest.raises((MercerError, TypeError, ValueError)):
            model.fit(table, **given)
        assert untouched(model, old)
    with pytest.raises((MercerError, TypeError, ValueError)):
        model.transform(rows[:0])
    assert untouched(model, old)
