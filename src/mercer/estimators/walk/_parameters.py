"""What every estimator does with its parameters and with what a fit has found."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, InvalidParameterError, RealNotInt
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, detached
from mercer.errors import REFUSALS, InputError

Attributes: TypeAlias = dict[str, Any]  # what a fit has found, by name
Constraints: TypeAlias = dict[str, list[Any]]  # what each parameter may be
Seed: TypeAlias = int | np.random.RandomState | np.random.Generator | None
Names: TypeAlias = Sequence[str] | Array | None  # of columns
Kind: TypeAlias = np.dtype[Any]  # of numbers

COUNT = Interval(Integral, 1, None, closed="left")  # of axes, neighbours, landmarks
POSITIVE = Interval(Real, 0, None, closed="neither")
COUNT_OR_SHARE = [COUNT, Interval(RealNotInt, 0, 1, closed="neither")]

# What every method asks of the solver and of the machine, as `_parameter_constraints` say it.
RESOURCES: Constraints = {
    "tol": [POSITIVE, None],
    "memory": [POSITIVE, str, None],
    "time": [POSITIVE, None],
    "device": [str, None],
    "random_state": ["random_state", np.random.Generator],
}


class ParameterError(InputError, InvalidParameterError):
    """A parameter is not of the kind or in the range it must be."""


def check_parameters(estimator: BaseEstimator) -> None:
    """Refuse parameters that break the estimator's `_parameter_constraints`."""
    try:
        estimator._validate_params()
    except InvalidParameterError as error:
        text = " ".join(str(error).split())
        what, _, got = text.partition(" Got ")
        raise ParameterError(
            what + (" Got " + got if got else ""),
            got=got.removesuffix(" instead.") or text,
            fix="see the docstring for what each parameter takes",
        ) from None


def refuse_truth(wanted: object, fix: str) -> None:
    """Refuse True and False as a number of axes; Python takes them for 1 and 0."""
    if isinstance(wanted, bool):
        what = "n_components must be a number, not a truth value"
        raise InputError(what, got=f"n_components={wanted}", fix=fix)


def seed_of(state: Seed) -> int:
    """Return a whole number from a `random_state`; None and generators are drawn from."""
    if isinstance(state, int | np.integer):
        return int(state)
    if state is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(state, np.random.Generator):
        return int(state.integers(2**31))
    return int(state.randint(2**31 - 1))


def check_fitted(estimator: BaseEstimator) -> None:
    """Refuse an estimator without a model; a stream of few rows says how many it has."""
    if hasattr(estimator, "_refuse_few"):
        estimator._refuse_few()
    check_is_fitted(estimator)


def learned(estimator: BaseEstimator) -> Attributes:
    """Return the attributes of an estimator that are no parameters."""
    parameters = estimator.get_params(deep=False)  # once: each call reads the signature
    return {name: value for name, value in vars(estimator).items() if name not in parameters}


def publish(estimator: BaseEstimator, fitted: Attributes) -> None:
    """Give an estimator its fitted attributes in one update; what an earlier fit left goes."""
    stale = [n for n in vars(estimator) if n.endswith("_") and n not in fitted]
    estimator.__dict__.update(fitted)
    for name in stale:
        estimator.__dict__.pop(name, None)


def as_numbers(values: object) -> Array | None:
    """Return numbers as float64; None for text, also where it looks like numbers."""
    try:
        given = np.asarray(detached(values))
        text = given.dtype.kind == "O" and any(isinstance(w, str | bytes) for w in given.flat)
        plain = given.dtype.kind in "biufO" and not text  # NumPy would make numbers of more
        return np.asarray(given, dtype=np.float64) if plain else None
    except REFUSALS:  # lists of several lengths, or other objects
        return None


def no_numbers(values: Array) -> list[tuple[int, object]]:
    """Return what among `values` is no real number, and where it stands."""
    try:
        each = enumerate(values if np.iterable(values) else [values])
        return [(at, value) for at, value in each if not isinstance(value, Real)]
    except REFUSALS:  # it can be walked over, and will not
        return []
