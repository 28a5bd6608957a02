"""Parameters: refused in three lines, and seeds as whole numbers."""

from typing import Any

import numpy as np
from sklearn.utils._param_validation import InvalidParameterError

from mercer.errors import InputError


class ParameterError(InputError, InvalidParameterError):
    """A parameter is not of the kind or in the range it must be."""


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that break the estimator's `_parameter_constraints`."""
    try:
        estimator._validate_params()
    except InvalidParameterError as error:
        text = str(error)
        what, _, got = text.partition(" Got ")
        raise ParameterError(
            what + (" Got " + got if got else ""),
            got=got.removesuffix(" instead.") or text,
            fix="see the docstring for what each parameter takes",
        ) from None


def seed_of(state: Any) -> int:
    """Return a whole number from a `random_state`; None and generators are drawn from."""
    if isinstance(state, int | np.integer):
        return int(state)
    if state is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(state, np.random.Generator):
        return int(state.integers(2**31))
    return int(state.randint(2**31 - 1))
