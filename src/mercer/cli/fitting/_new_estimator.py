"""built(): the estimator that a command line asks for, checked before any data are read."""

import ast
import inspect
import re
import shlex
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mercer.cli._usage import UsageError, nearest
from mercer.cli._voice import TYPED
from mercer.errors import MercerError
from mercer.methods import COMMANDS, method_of

_WORDS = ("auto", "bic", "aic", "mle", "evidence")  # rules that methods have of their own
_K = "a number (10), a share (0.9), auto, bic, aic, mle or all"


def _in_order(found: re.Match[str]) -> str:
    """Return the words of a set in the order of the alphabet: theirs differs every time."""
    return "one of " + ", ".join(sorted(found[1].replace("'", "").split(", ")))


# scikit-learn's words for what a parameter takes, and ours.
_PLAINLY: tuple[tuple[str, Any], ...] = (
    (r"a str among \{(.*?)\}", _in_order),
    (r"an instance of 'bool' or an instance of 'numpy\.bool_?'", "True or False"),
    (r"a float in the range \(0\.0, inf\)", "a number above 0"),
    (r"an int in the range \[1, inf\)", "a whole number from 1 on"),
)


def built(
    method: str,
    *,
    components: str | None = None,
    settings: Iterable[str] = (),
    **parameters: Any,
) -> Any:
    """Return an estimator of `method`; what it does not have or take is refused as wrong usage.

    Parameters
    ----------
    method : str
        A name of `mercer methods`.
    components : str or None
        As typed after -k. A method that cannot choose itself keeps its default for "auto".
    settings : iterable of str
        ``NAME=VALUE``, from --set.
    **parameters
        Others by name; None leaves a default.
    """
    kind = COMMANDS[method].load()
    known = dict(inspect.signature(kind).parameters)
    given = {name: value for name, value in parameters.items() if value is not None}
    if "seed" in given:
        given["random_state"] = given.pop("seed")
    if not known.keys() & {"random_state"} and given.get("random_state") == 0:
        del given["random_state"]  # the default of --seed, to a method that draws nothing
    counted = _counted(kind)
    if components == "auto" and not _chooses(kind) and not _warned(kind):
        pass  # maps have two axes; others have a rule of their own
    elif components == "auto" and not _chooses(kind):
        warnings.warn(
            f"{method} does not choose the number of components: its default is taken (-k)",
            UserWarning,
            stacklevel=2,
        )
    elif components is not None:
        given[counted] = components_from(components)
    return built_of(method, kind, given, settings)


def built_of(
    method: str, kind: type[Any], given: Mapping[str, Any], settings: Iterable[str] = ()
) -> Any:
    """Return an estimator of a class with these parameters; see `built`.

    Parameters
    ----------
    method : str
        What it is called where it is typed.
    kind : type
        The class.
    given : mapping
        Parameters by name.
    settings : iterable of str
        ``NAME=VALUE``, from --set.
    """
    known = dict(inspect.signature(kind).parameters)
    given = dict(given) | dict(_setting(word) for word in settings)
    for name in given:
        if name not in known:
            raise _unknown(method, name, given[name], known)
    model = kind(**given)
    _hold(method, model, given)
    return model


def built_as(options: Mapping[str, Any]) -> Callable[[str], Any]:
    """Return a function from the name of a method to its estimator, see `built`.

    Parameters
    ----------
    options : mapping
        What was typed; its "method" may be "auto".
    """

    def make(method: str) -> Any:
        return built(**(dict(options) | {"method": method}))

    return make


def components_from(text: str) -> int | float | str | None:
    """Return ``n_components`` from what was typed: a number, a share, a rule or all.

    Examples
    --------
    >>> [components_from(word) for word in ("10", "0.9", "auto", "bic", "all")]
    [10, 0.9, 'auto', 'bic', None]
    """
    if text in _WORDS:
        return text
    if text == "all":
        return None
    try:
        value = int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
    except ValueError:
        value = float("nan")
    if not 0 < value < float("inf") or (value >= 1 and isinstance(value, float)):
        raise UsageError(
            "the number of components is not understood",
            got=f"-k {shlex.quote(text)}",
            fix=f"give {_K}",
        )
    return value


def _counted(kind: type[Any]) -> str:
    """Return the parameter that -k is: the number of components, or that of clusters."""
    return (
        "n_clusters" if "n_clusters" in inspect.signature(kind).parameters else "n_components"
    )


def _chooses(kind: type[Any]) -> bool:
    """Tell whether a method takes n_components="auto"."""
    rules = getattr(kind, "_parameter_constraints", {}).get(_counted(kind), [])
    return any("auto" in getattr(rule, "options", ()) for rule in rules)


def _warned(kind: type[Any]) -> bool:
    """Tell whether the number of axes that a method takes by itself is worth a word."""
    default = inspect.signature(kind).parameters[_counted(kind)].default
    return method_of(kind).has_variances and not isinstance(default, str)


def _unknown(method: str, name: str, value: Any, known: Mapping[str, Any]) -> UsageError:
    near = nearest(name, known)
    return UsageError(
        f"{method} has no parameter {name!r}",
        got=_shown(name, value),
        fix=f"did you mean {near!r}?" if near else _help(method),
    )


def _asked(model: Any) -> str:
    """Return what a method takes after -k: a number, and what else its rules allow."""
    from mercer.estimators.walk._parameters import SHARE

    rules = getattr(type(model), "_parameter_constraints", {}).get(_counted(type(model)), [])
    words = {word for rule in rules for word in getattr(rule, "options", ())}
    found = ["a number (10)", *["a share (0.9)"] * any(rule is SHARE for rule in rules)]
    found += [word for word in _WORDS if word in words]
    found += ["all"] * any(rule is None for rule in rules)
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} or {found[-1]}"


def _help(method: str) -> str:
    """Return where the parameters of a method, or the options of a command, are listed."""
    return f"see mercer methods {method}" if method in COMMANDS else f"see mercer {method} -h"


def _hold(method: str, model: Any, given: Mapping[str, Any]) -> None:
    """Refuse values that cannot be right for any data, before any data are read."""
    from mercer.arrays import parse_bytes
    from mercer.estimators.walk._parameters import check_parameters
    from mercer.kernels import as_kernel

    checks: dict[str, Callable[[], Any]] = {}
    needs_groups = model.get_params(deep=False).get("groups", "") is None  # from --group
    if hasattr(model, "_check_parameters") and not needs_groups:
        checks[""] = model._check_parameters
    elif not hasattr(model, "_check_parameters"):
        checks[""] = lambda: check_parameters(model)
    if getattr(model, "memory", None) is not None:
        checks["memory"] = lambda: parse_bytes(model.memory)
    if given.get("kernel") not in (None, "precomputed"):
        checks["kernel"] = lambda: as_kernel(model.kernel)
    for name, check in checks.items():
        try:
            check()
        except MercerError as error:
            raise _refused(method, model, name, error) from None


def _refused(method: str, model: Any, name: str, error: MercerError) -> UsageError:
    """Return what a model says of a parameter, as it was typed."""
    found = re.match(r"The '(\w+)' parameter of \w+ must be (.*?)\.( Got |$)", error.what)
    if found is None:
        got = _shown(name, getattr(model, name)) if name else error.got
        return UsageError(error.what, got=got, fix=error.fix)
    name, rule = found[1], found[2]
    for said, meant in _PLAINLY:
        rule = re.sub(said, meant, rule)
    return UsageError(
        f"{TYPED.get(name, name)} must be {rule}",
        got=_shown(name, getattr(model, name)),
        fix=f"give {_asked(model)}" if name == _counted(type(model)) else _help(method),
    )


def _shown(name: str, value: Any) -> str:
    option = TYPED.get(name)
    return f"--set {name}={value}" if option is None else f"{option} {value}"


def _setting(word: str) -> tuple[str, Any]:
    """Return name and value of ``NAME=VALUE``; what is no Python literal is text.

    Examples
    --------
    >>> _setting("whiten=True"), _setting("kernel=rbf")
    (('whiten', True), ('kernel', 'rbf'))
    """
    name, equals, value = word.partition("=")
    if not equals or not name.strip().isidentifier():
        raise UsageError(
            "a setting is a name, an equals sign and a value",
            got=f"--set {word}",
            fix="write it as --set whiten=True",
        )
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return name.strip(), value.strip()
