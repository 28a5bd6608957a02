"""What every estimator does with its parameters and with what a fit has found.

Parameters that a class does not have: what other libraries call them, and what does it here.
Errors alone come that way: a call that succeeds pays for a `try` and nothing else.
"""

import abc
import difflib
import inspect
import reprlib
from collections.abc import Callable, Sequence
from copy import deepcopy
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils._param_validation import (
    Interval,
    InvalidParameterError,
    RealNotInt,
    StrOptions,
    make_constraint,
)
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, detached
from mercer.errors import REFUSALS, InputError, in_short
from mercer.methods import METHODS, method_of

Attributes: TypeAlias = dict[str, Any]  # what a fit has found, by name
Constraints: TypeAlias = dict[str, list[Any]]  # what each parameter may be
Seed: TypeAlias = int | np.random.RandomState | np.random.Generator | None
Model = TypeVar("Model", bound=BaseEstimator)
Names: TypeAlias = Sequence[str] | Array | None  # of columns
Kind: TypeAlias = np.dtype[Any]  # of numbers

COUNT = Interval(Integral, 1, None, closed="left")  # of axes, neighbours, landmarks
POSITIVE = Interval(Real, 0, None, closed="neither")
SHARE = Interval(RealNotInt, 0, 1, closed="neither")  # of the variance
COUNT_OR_SHARE = [COUNT, SHARE]

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
    """Refuse parameters that break the estimator's `_parameter_constraints`.

    What has passed once is known by type and value; constraints are made once for a class.
    """
    if all(_passes(type(estimator), *each) for each in estimator.get_params(False).items()):
        return
    try:
        estimator._validate_params()
    except InvalidParameterError as error:
        text = " ".join(str(error).split())
        what, _, got = text.partition(" Got ")
        raise ParameterError(
            what + (" Got " + got if got else ""),
            got=got.removesuffix(" instead.") or text,
            fix=_nearest(estimator, what) or "see the docstring for what each parameter takes",
        ) from None


_SIMPLE = (int, float, str, bool, type(None))  # types that are what they are worth
_MOST = 10_000  # values that are known
_known: set[tuple[type, str, type, object]] = set()


def _passes(kind: type[BaseEstimator], name: str, value: object) -> bool:
    """Tell whether a parameter of a class may have this value."""
    simple = type(value) in _SIMPLE
    key = kind, name, type(value), value if simple else None
    if simple and key in _known:
        return True
    if kind not in _allowed:
        _allowed[kind] = _made(kind._parameter_constraints)
    allowed = _allowed[kind].get(name)
    passes = allowed is None or any(each.is_satisfied_by(value) for each in allowed)
    if simple and passes and len(_known) < _MOST:
        _known.add(key)
    return passes


_allowed: dict[type, dict[str, list[Any]]] = {}  # constraints of classes, by parameter


def _made(given: Constraints) -> dict[str, list[Any]]:
    """Return constraints ready to be asked."""
    return {name: [make_constraint(each) for each in some] for name, some in given.items()}


def _nearest(estimator: BaseEstimator, what: str) -> str:
    """Return the option that was meant, where a parameter is nearly one of its options."""
    name = what.split("'")[1] if "'" in what else ""
    value, allowed = getattr(estimator, name, None), estimator._parameter_constraints
    kinds = [kind for kind in allowed.get(name, ()) if isinstance(kind, StrOptions)]
    options = [option for kind in kinds for option in kind.options]
    near = (
        difflib.get_close_matches(value.lower(), options, 1) if isinstance(value, str) else []
    )
    return f"did you mean {near[0]!r}?" if near else ""


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
    parameters = estimator._get_param_names()
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


_PLANNED = "leave it out: the plan chooses the path"
_CERTIFIED = "leave it out: passes are made until `tol` is certified"
_KEPT = "leave it out: data are never written to"
_POINTS = 'metric="precomputed", with distances of your own'
_ONE = "leave it out: the solution is found at once, without a start"

# A name of scikit-learn, prince or R: what to do here, for a class that has this parameter
# ("" for any); the first that fits counts. {value} is what was given.
_HERE: dict[str, tuple[tuple[str, str], ...]] = {
    # how it is computed
    "svd_solver": (("", _PLANNED),),
    "eigen_solver": (("", _PLANNED),),
    "solver": (("", _PLANNED),),
    "svd_method": (("", _PLANNED),),
    "algorithm": (("", _PLANNED),),
    "engine": (("", _PLANNED),),
    "path_method": (("", _PLANNED),),
    "neighbors_algorithm": (
        ("search", "search={value} where it is one of its values"),
        ("", _PLANNED),
    ),
    "n_iter": (("", _CERTIFIED),),
    "max_iter": (("", _CERTIFIED),),
    "iterated_power": (("", _CERTIFIED),),
    "n_oversamples": (("", _CERTIFIED),),
    "power_iteration_normalizer": (("", _CERTIFIED),),
    "eigen_tol": (("tol", "tol={value}"),),
    "eps": (("tol", "tol={value}"),),
    "hessian_tol": (("", "leave it out: rounding decides what counts as zero"),),
    "modified_tol": (("", "leave it out: rounding decides what counts as zero"),),
    "n_jobs": (("", "leave it out; threadpoolctl.threadpool_limits says how many threads"),),
    "verbose": (("", "leave it out; `with mercer.progress():` shows how far a fit is"),),
    "copy": (("", _KEPT),),
    "copy_X": (("", _KEPT),),
    "check_input": (("", "leave it out: rows are always checked"),),
    "batch_size": (("memory", 'memory="500MB" bounds the blocks'),),
    "init": (("", _ONE),),
    "n_init": (("", _ONE),),
    "noise_variance_init": (("", _ONE),),
    # how many
    "n_components": (
        ("n_landmarks", "n_landmarks={value}"),
        ("n_features", "n_features={value}"),
    ),
    "n_comps": (("n_components", "n_components={value}"),),
    "ncp": (("n_components", "n_components={value}"),),
    "n_neighbors": (("neighbours", "neighbours={value}"),),
    "radius": (("neighbours", "neighbours=10, a number of rows"),),
    # the kernel
    "gamma": (
        ("kernel", "kernel=RBF.from_gamma({value}), of mercer.kernels"),
        ("weights", 'weights="heat", scale=(2*gamma)**-0.5'),
        ("scale", "scale=(2*gamma)**-0.5"),
    ),
    "degree": (("kernel", "kernel=Polynomial(degree={value}), of mercer.kernels"),),
    "coef0": (("kernel", "kernel=Polynomial(coef0={value}), of mercer.kernels"),),
    "kernel_params": (("kernel", "kernel=Function(f), of mercer.kernels, f with them bound"),),
    "alpha": (("kernel", "leave it out: the way back chooses its own penalty"),),
    "fit_inverse_transform": (("kernel", "leave it out: inverse_transform is always there"),),
    "remove_zero_eig": (("kernel", "leave it out: `rank_` counts the axes that are not zero"),),
    # distances and graphs
    "affinity": (("weights", 'weights="heat", or metric="precomputed" for a matrix'),),
    "dissimilarity": (("metric", "metric={value}"),),
    "metric": (("", "distances of rows are Euclidean here"),),
    "p": (("search", 'metric="cityblock" for 1, "euclidean" for 2'), ("metric", _POINTS)),
    "metric_params": (("metric", _POINTS),),
    "metric_mds": (("", "leave it out: axes come from the distances, not from their order"),),
    "normalized_stress": (("", "leave it out: the certificate takes its place"),),
    # scales and classes
    "whiten": (("", "leave it out, or whiten with mercer.PCA"),),
    "rescale_with_mean": (("standardize", "leave it out: columns are always centred"),),
    "rescale_with_std": (("standardize", "standardize={value}"),),
    "scale": (("standardize", "standardize={value}"),),
    "scale_unit": (("standardize", "standardize={value}"),),
    "center": (
        ("centred", "centred={value}"),
        ("", "leave it out: columns are always centred"),
    ),
    "store_covariance": (("shrinkage", "leave it out: `scalings_` hold what is needed of it"),),
    "covariance_estimator": (("shrinkage", 'shrinkage="auto"'),),
}
_FACES = {  # faces that take scikit-learn's parameters of a method
    "PCA": ("dropin.PCA", "dropin.IncrementalPCA"),
    "KernelPCA": ("dropin.KernelPCA",),
    "TopicVectors": ("dropin.TruncatedSVD",),
    "LandmarkFeatures": ("dropin.Nystroem",),
}
_SHOWN = 3  # parameters of a call that are explained


_signatures: dict[type, tuple[object, list[str]]] = {}  # of classes: constructor, parameters


def names_of(kind: Any, read: Callable[[], list[str]]) -> list[str]:
    """Return the parameters of a class, in order; `read` reads its signature, once."""
    known = _signatures.get(kind)
    if known is None or known[0] is not kind.__init__:
        known = _signatures[kind] = kind.__init__, read()
    return [*known[1]]


def blank_of(estimator: Model) -> Model:
    """Return what scikit-learn's `clone` makes; values that never change stay the same."""
    held, given = vars(estimator), estimator.get_params(deep=False)
    copied = {
        name: value if type(value) in _SIMPLE else clone(value, safe=False)
        for name, value in given.items()
    }
    made: Model = type(estimator)(**copied)
    if any(getattr(made, name, None) is not value for name, value in copied.items()):
        raise RuntimeError(f"the constructor of {type(estimator).__name__} changes a parameter")
    for name in ("_metadata_request", "_sklearn_output_config"):
        if name in held:
            setattr(made, name, deepcopy(held[name]))
    if "_skl_callbacks" in held:  # of which all clones have one
        made._skl_callbacks = held["_skl_callbacks"]
    return made


class Explaining(abc.ABCMeta):
    """Makes instances; says of a parameter that a class does not have what takes its place."""

    if not TYPE_CHECKING:  # signatures are those of the classes

        def __call__(cls, *args, **kwargs):
            """Make an instance."""
            try:
                return abc.ABCMeta.__call__(cls, *args, **kwargs)
            except TypeError:
                refuse_names(cls, kwargs)
                refuse_places(cls, args)
                raise

        @property
        def __signature__(cls):
            """What `inspect.signature` returns: of the parameters, as without this."""
            made = inspect.signature(cls.__init__)
            return made.replace(parameters=list(made.parameters.values())[1:])


def set_by_name(self: Model, **params: Any) -> Model:
    """Set parameters, all of them or none.

    Parameters
    ----------
    **params
        By name; ``name__part`` is a parameter of the object that `name` is.
    """
    refuse_names(type(self), {name.partition("__")[0]: params[name] for name in params})
    BaseEstimator.set_params(self, **params)
    return self


def refuse_names(kind: type[BaseEstimator], given: dict[str, Any]) -> None:
    """Raise for parameters that a class does not have, saying what to do instead."""
    own = list(inspect.signature(kind).parameters)
    odd = [name for name in given if name not in own]
    if not odd:
        return
    some, method = odd[:_SHOWN], method_of(kind).name
    left = f" and {len(odd) - _SHOWN} more" if len(odd) > _SHOWN else ""
    said = [_instead(own, name, given[name]) for name in some]
    native = next((name for name, faces in _FACES.items() if method in faces), "")
    others = [native] if native else _FACES.get(method, ())
    there = next((other for other in others if _takes(other, some[0])), None)
    if there is not None:
        said = [text for text in said if text] if not native else []
        said.append(f"mercer.{there} has {', '.join(n for n in some if _takes(there, n))}")
    elif not any(said):
        near = difflib.get_close_matches(some[0].lower(), own, 1)
        said = [f"did you mean {near[0]!r}?" if near else f"there are {in_short(own, 12)}"]
    raise ParameterError(
        f"{kind.__name__} has no parameter {' or '.join(map(repr, some))}{left}",
        got=", ".join(f"{name}={_short(given[name])}" for name in some) + left,
        fix="; ".join(dict.fromkeys(filter(None, said))),
    )


def refuse_places(kind: type[BaseEstimator], given: tuple[Any, ...]) -> None:
    """Raise for parameters that are given without the names they need."""
    parameters = inspect.signature(kind).parameters.values()
    places = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    if len(given) <= len(places):
        return
    raise ParameterError(
        f"{kind.__name__} takes {in_short(places) or 'nothing'} by place, the rest by name",
        got=f"{len(given)} without a name, the last {_short(given[-1])}",
        fix=f"write their names: {in_short([f'{name}=...' for name in named])}",
    )


def _short(value: object) -> str:
    """Return a value in one short line."""
    return " ".join(reprlib.repr(value).split())


def _instead(own: list[str], name: str, value: object) -> str:
    """Return what to do where a class has these parameters and not this one."""
    rows = _HERE.get(name, ())
    here = next((text for need, text in rows if not need or need in own), "")
    return here.format(value=_short(value))


def _takes(method: str, name: str) -> bool:
    """Tell whether a method has a parameter of this name."""
    return method in METHODS and name in inspect.signature(METHODS[method].load()).parameters
