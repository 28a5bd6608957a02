"""built(): the estimator that a command line asks for."""

import ast
import difflib
import inspect
from collections.abc import Iterable
from typing import Any

from mercer.cli._known_methods import method_of
from mercer.errors import InputError


def built(
    method: str,
    *,
    components: str | None = None,
    settings: Iterable[str] = (),
    **parameters: Any,
) -> Any:
    """Return an estimator of `method`; parameters that it does not have are refused.

    Parameters
    ----------
    method : str
        A name of `mercer methods`.
    components : str or None
        As typed after -k.
    settings : iterable of str
        ``NAME=VALUE``, from --set.
    **parameters
        Others by name; None leaves a default.
    """
    kind = method_of(method).load()
    known = dict(inspect.signature(kind).parameters)
    given = {name: value for name, value in parameters.items() if value is not None}
    if "seed" in given:
        given["random_state"] = given.pop("seed")
    if components is not None:
        given["n_components"] = components_from(components)
    given |= dict(_setting(word) for word in settings)
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            raise InputError(
                f"{method} has no parameter {name!r}",
                got=f"{name}={given[name]!r}",
                fix=f"did you mean {near[0]!r}?" if near else f"see mercer methods {method}",
            )
    return kind(**given)


def components_from(text: str) -> int | float | str | None:
    """Return ``n_components`` from what was typed: a number, a share, auto, mle or all.

    Examples
    --------
    >>> [components_from(word) for word in ("10", "0.9", "auto", "all")]
    [10, 0.9, 'auto', None]
    """
    if text in ("auto", "mle"):
        return text
    if text == "all":
        return None
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise InputError(
            "the number of components is not understood",
            got=f"-k {text}",
            fix="give a number (10), a share (0.9), auto, mle or all",
        ) from None


def _setting(word: str) -> tuple[str, Any]:
    """Return name and value of ``NAME=VALUE``; what is no Python literal is text.

    Examples
    --------
    >>> _setting("whiten=True"), _setting("kernel=rbf")
    (('whiten', True), ('kernel', 'rbf'))
    """
    name, equals, value = word.partition("=")
    if not equals or not name.strip().isidentifier():
        raise InputError(
            "a setting is a name, an equals sign and a value",
            got=f"--set {word}",
            fix="write it as --set whiten=True",
        )
    try:
        return name.strip(), ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name.strip(), value
