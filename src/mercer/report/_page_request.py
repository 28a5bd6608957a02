"""Wanted: what a page is given beside the model and its rows.

How it was computed: plan, certificate, times, versions, and the code to do it again.
"""

import dataclasses
import platform
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, final

from mercer.arrays import show_bytes
from mercer.errors import MercerError
from mercer.report._page_parts import Code, Page, Part, Section, Table

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "polars")


def tried(look: Callable[..., Any], *given: Any, **more: Any) -> Any:
    """Return what a look at a fit and its rows finds, or None where these do not allow it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit has said it
            return look(*given, **more)
    except (MercerError, ValueError, TypeError, ArithmeticError, AttributeError, LookupError):
        return None


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


@final
@dataclasses.dataclass(frozen=True)
class PageRequest:
    """The arguments of `mercer.report.report`, as every kind of page takes them.

    Attributes
    ----------
    title : str
        Of the page.
    row_names : sequence of n str, callable or None
        Names of the rows.
    colours : mapping of str to n values, or None
        Columns to colour the map by.
    choice, tuning : Choice and Tuning, or None
        How many components; what was tuned.
    sample_weight, y : sequences of length n, or None
        Weights and groups of the rows.
    said, care, foreseen : tuple of str
        What was assumed, what asks for care, what was foreseen: a line each.
    account : str
        One paragraph on what was judged, left out, filled and standardised.
    columns : Table or None
        Every column of the file with its role.
    more : tuple of Section
        Further sections, before the last one.
    sup : mapping of str to n values, or None
        Supplementary columns.
    grid : (int, sequence of int) or None
        Pixels on a side, and the place of every column.
    seconds : dict of str to float
        How long the parts of the fit took.
    data, command, opening : str
        For the code that does it again.
    """

    title: str
    row_names: Any = None
    colours: Mapping[str, Any] | None = None
    choice: Any = None
    tuning: Any = None
    sample_weight: Any = None
    y: Any = None
    said: tuple[str, ...] = ()
    care: tuple[str, ...] = ()
    account: str = ""
    foreseen: tuple[str, ...] = ()
    columns: Table | None = None
    more: tuple[Section, ...] = ()
    sup: Mapping[str, Any] | None = None
    grid: Any = None
    seconds: Mapping[str, float] = dataclasses.field(default_factory=dict)
    data: str = "X"
    command: str = ""
    opening: str = ""

    @property
    def listed_names(self) -> Any:
        """The names of all rows where they are at hand, else None."""
        return None if callable(self.row_names) else self.row_names

    def last(self, model: Any) -> Section:
        """Return the last section: how the numbers of a fitted model came about."""
        weights = ""
        if self.sample_weight is not None:
            weights = "made.weights" if self.opening else "sample_weight"
        plan, certificate = getattr(model, "plan_", None), getattr(model, "certificate_", None)
        words = "No plan was made. "
        if plan is not None:
            words = f"Path taken: {plan.chosen.name} ({plan.chosen.note}). "
        if hasattr(model, "slope_"):
            words += (
                f"No certificate: the likelihood was climbed to a slope of {model.slope_:.0e}, "
                "and may have larger maxima elsewhere."
            )
        elif certificate is None:
            words += "No certificate: nothing is known of the error of these numbers."
        else:
            words += f"{str(certificate).capitalize()}."
        parts: list[Part] = [] if plan is None else [_paths(model)]
        parts.append(_facts(model, self.seconds, self.foreseen))
        if self.command:
            parts.append(Code("Again, on the command line", self.command))
        again = python_of(model, self.data, self.opening, weights)
        parts.append(Code("Again, in Python", again))
        return Section("method", "How it was computed", (words,), tuple(parts))

    def page(
        self,
        model: Any,
        facts: Iterable[str],
        verdict: Iterable[str],
        sections: Iterable[Section | None],
        cloud: Any = None,
    ) -> Page:
        """Return a page of the sections that there are, the further ones and the last."""
        found = (section for section in sections if section is not None)
        shown = (*found, *self.more, self.last(model))
        told = (*((self.account,) if self.account else ()), *verdict)
        return Page(self.title, tuple(facts), told, shown, cloud)
