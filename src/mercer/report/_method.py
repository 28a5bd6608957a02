"""How it was computed: plan, certificate, times, versions, and the code to do it again."""

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from mercer.arrays import show_bytes
from mercer.report._parts import Code, Part, Section, Table

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "polars")


def method_section(
    model: Any,
    *,
    data: str,
    seconds: Mapping[str, float],
    command: str = "",
    foreseen: Sequence[str] = (),
    opening: str = "",
    weights: str = "",
) -> Section:
    """Return the section on how the numbers came about.

    Parameters
    ----------
    model : estimator
        Fitted.
    data : str
        What the code calls the data, such as a file's name.
    seconds : mapping of str to float
        How long each part took.
    command : str
        The command line that does it again; empty for none.
    foreseen : sequence of str
        What was foreseen of the page, a line each.
    opening : str
        Lines of Python that make `data`.
    weights : str
        What the code calls the weights of the rows; empty for none.
    """
    plan, certificate = getattr(model, "plan_", None), getattr(model, "certificate_", None)
    words = "No plan was made: another library did the work. "
    if plan is not None:
        words = f"Path taken: {plan.chosen.name} ({plan.chosen.note}). "
    if certificate is None:
        words += "No certificate: nothing is known of the error of these numbers."
    else:
        words += f"{str(certificate).capitalize()}."
    parts: list[Part] = [] if plan is None else [_paths(model)]
    parts.append(_facts(model, seconds, foreseen))
    if command:
        parts.append(Code("Again, on the command line", command))
    parts.append(Code("Again, in Python", python_of(model, data, opening, weights)))
    return Section("method", "How it was computed", (words,), tuple(parts))


def _paths(model: Any) -> Table:
    plan = model.plan_
    pairs = [(plan.chosen, "taken"), *plan.rejected]
    rows = [(p.name, p.note, p.passes, show_bytes(p.bytes), p.seconds, why) for p, why in pairs]
    return Table(
        "The plan: made before the work began",
        ("path", "what it does", "passes", "memory", "seconds", "why"),
        tuple(rows),
        note="Seconds are a forecast.",
        chosen=(0,),
    )


def _facts(model: Any, seconds: Mapping[str, float], foreseen: Sequence[str]) -> Table:
    import sys

    rows: list[tuple[str, Any]] = [
        (f"seconds, {name}", round(value, 3)) for name, value in seconds.items()
    ]
    rows += [("foreseen", line) for line in foreseen]
    rows.append(("mercer", sys.modules["mercer"].__version__))
    rows.append(("Python", platform.python_version()))
    rows += [(name, version(name)) for name in _LIBRARIES]
    rows.append(("machine", f"{platform.system()} {platform.machine()}"))
    rows.append(("seed", str(model.get_params().get("random_state"))))
    return Table("Times and versions", ("what", "value"), tuple((a, str(b)) for a, b in rows))


def python_of(model: Any, data: str, opening: str = "", weights: str = "") -> str:
    """Return the lines of Python that fit the same model."""
    defaults = type(model)().get_params(deep=False)
    given = model.get_params(deep=False)
    changed = {
        name: value
        for name, value in given.items()
        if name in defaults and repr(value) != repr(defaults[name])
    }
    words = ", ".join(f"{name}={_written(value)}" for name, value in changed.items())
    kind = type(model).__name__
    classes = ("made.y" if opening else "y",) if hasattr(model, "classes_") else ()
    fitted = ", ".join((data, *classes, *((f"sample_weight={weights}",) if weights else ())))
    return (
        f"import mercer\n{opening}\nmodel = mercer.{kind}({words}).fit({fitted})\n"
        f"Z = model.transform({data})\n"
    )


def _written(value: Any) -> str:
    """Return a parameter as Python reads it; arrays as lists."""
    return repr(value.tolist() if hasattr(value, "tolist") else value)
