import copy
import pickle

import pytest

from mercer import errors
from mercer.errors import BudgetError, InputError, MercerError, NotSupportedError, WorkerError

KINDS = [MercerError, InputError, NotSupportedError, BudgetError, WorkerError]


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_is_three_lines(kind):
    error = kind("no", got="this", fix="do that")
    assert str(error) == "no\n  got: this\n  fix: do that"
    assert (error.what, error.got, error.fix) == ("no", "this", "do that")


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_travels_between_processes(kind):
    error = kind("no", got="this", fix="do that")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is kind
        assert str(twin) == str(error)


def test_errors_are_what_scikit_learn_and_python_expect():
    assert issubclass(InputError, ValueError)
    assert issubclass(NotSupportedError, ValueError)
    assert issubclass(BudgetError, MemoryError)
    assert issubclass(WorkerError, RuntimeError)
    assert all(issubclass(kind, MercerError) for kind in KINDS)


def test_the_parts_must_be_named():
    with pytest.raises(TypeError):
        MercerError("no", "this", "do that")


def test_there_are_two_warnings():
    kinds = [getattr(errors, name) for name in errors.__all__]
    found = {k.__name__ for k in kinds if isinstance(k, type) and issubclass(k, Warning)}
    assert found == {"AccuracyWarning", "DataWarning"}


@pytest.mark.parametrize("category", [errors.AccuracyWarning, errors.DataWarning])
def test_a_warning_is_three_lines_that_point_at_the_caller(category):
    with pytest.warns(category) as caught:
        errors.warn("no", got="this", fix="do that", category=category)
    assert str(caught[0].message) == "no\n  got: this\n  fix: do that"
    assert caught[0].filename == __file__
