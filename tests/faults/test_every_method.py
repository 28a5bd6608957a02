"""A fit of any method that fails, is interrupted or refused leaves the model as it was."""

import warnings
from functools import partial

import numpy as np
import pytest
from interruptions import AtCall, InjectedError, traced, untouched
from sklearn.base import clone
from tests.estimators.saved_models import OTHERS, UNIT

import mercer
from mercer.errors import MercerError

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
    model, counter = clone(made).fit(rows, **more), AtCall(NEVER, None)
    kept = np.asarray(model.transform(rows)).tobytes()
    traced(counter, partial(clone(made).fit, rows, **more))
    calls = NEVER - counter.left
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
def test_a_refused_table_changes_nothing(name):
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
