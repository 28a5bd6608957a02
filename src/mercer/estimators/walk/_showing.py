"""What a fitted model shows of itself: a summary in notebooks, and `report`, a whole page.

The summary is words, a table and a small scree, all escaped. `report` is the one import
upwards, made when it is called.
"""

import dataclasses
import os
from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from sklearn.base import BaseEstimator

from mercer import plots
from mercer.arrays import Array
from mercer.estimators.walk._admission import listed
from mercer.estimators.walk._parameters import Attributes, Explaining, check_fitted, set_by_name
from mercer.methods import method_of


class ShownModel(BaseEstimator, metaclass=Explaining):
    """What every fitted model shows of itself: a summary in notebooks, and a page.

    One that is not fitted keeps scikit-learn's diagram.
    """

    set_params = set_by_name

    def report(
        self, X: object = None, path: str | os.PathLike[str] | None = None, **options: Any
    ) -> Any:
        """Return one self-contained HTML page about this fit, written to `path` if given.

        Parameters
        ----------
        X : array, frame, path or source of shape (n_samples, n_features), or None
            The rows of the fit. Without them the page has no map and says so.
        path : path or None
            File to write, with a name that ends in .html; an older one is replaced.
        **options
            title, row_names, colours, choice and others of `mercer.report.report`.

        Returns
        -------
        Report
            With ``save(path)``; a notebook shows it.
        """
        from mercer.report import report

        check_fitted(self)
        made = report(self, X, **options)
        if path is not None:
            made.save(path)
        return made

    def _repr_html_inner(self) -> str:
        """Return what `_repr_html_` returns; scikit-learn hides it where `display` is text."""
        if not _is_fitted(self):
            return str(super()._repr_html_inner())

        return summary(self)

    def _repr_mimebundle_(self, **kwargs: object) -> Attributes:
        """Return text, and HTML where scikit-learn's `display` option wants diagrams."""
        if not _is_fitted(self):
            return dict(super()._repr_mimebundle_(**kwargs))
        html = {"text/html": self._repr_html_inner()} if hasattr(self, "_repr_html_") else {}
        return {"text/plain": repr(self), **html}


def _is_fitted(model: BaseEstimator) -> bool:
    # Methods without shares set them to None when they are fitted.
    return hasattr(model, "explained_variance_ratio_")


_ROWS = 8  # components in the table
_READ = 4  # components whose heaviest columns are named
_NAMED = 10  # outlying rows that are named
_LONG = 40  # letters of a name
_STYLE = (
    ".mercer-summary{font:13px/1.45 system-ui,sans-serif;max-width:70em}"
    ".mercer-summary p{margin:.35em 0;overflow-wrap:anywhere}"
    ".mercer-beside{display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start}"
    ".mercer-summary table{border-collapse:collapse;margin:.5em 0}"
    ".mercer-summary th,.mercer-summary td{padding:.15em .6em;text-align:right;"
    "border-bottom:1px solid #8886;white-space:nowrap}"
    ".mercer-summary svg{max-width:100%;height:auto}"
)


def summary(model: BaseEstimator) -> str:
    """Return the summary of a fitted model as one piece of HTML, under 30 kB.

    It holds no script and loads nothing. Every word from the data goes through one tree that
    escapes it.

    Parameters
    ----------
    model : fitted estimator
        `explained_variance_ratio_` must be there, or None where shares have no meaning; what
        else it has is shown.
    """
    root = ET.Element("div")
    ET.SubElement(root, "style").text = _STYLE
    head = ET.SubElement(root, "p")
    ET.SubElement(head, "strong").text = f"{type(model).__name__}, fitted. "
    ET.SubElement(head, "code").text = _line(repr(model), 300)
    for sentence in _sentences(model):
        ET.SubElement(root, "p").text = sentence
    shares = model.explained_variance_ratio_ is not None
    spectrum = plots.spectrum_of(model) if shares else _values(model)
    table = _table(model, spectrum) if len(spectrum[0]) else None
    text = "".join(ET.tostring(e, encoding="unicode", method="html") for e in root)
    if table is not None:
        beside = ET.tostring(table, encoding="unicode", method="html")
        beside += _scree(model, spectrum) if shares else ""
        text += f'<div class="mercer-beside">{beside}</div>'
    return f'<div class="mercer-summary">{text}</div>'


def _sentences(model: BaseEstimator) -> Iterator[str]:
    """Yield what was fitted, by which path, and why so many axes."""
    n, p = (getattr(model, name, None) for name in ("n_samples_", "n_features_in_"))
    rows = "" if n is None else f"{n:,} rows × "
    how = _how(model)
    yield f"{rows}{p:,} columns{how}." if p is not None else f"{rows.rstrip(' ×')}{how}."
    # Other methods make `kernel_` when it is asked for, at n² numbers.
    kernel = model.kernel_ if hasattr(model, "captured_share_") else None
    if kernel is not None:
        low, high = (100 * share for share in model.captured_share_)
        held = f"{low:.1f} %" if high - low < 0.05 else f"{low:.1f} to {high:.1f} %"
        yield (
            f"Kernel {_line(repr(kernel), 200)}; the {_inside(model)} hold {held} of the"
            " variance in feature space, whose effective rank is"
            f" {model.effective_rank_:.1f}."
        )
    missing = getattr(model, "n_missing_", 0)
    if missing:
        yield f"{missing:,} missing cells were filled."
    yield from _outlying(model)
    plan, certificate = (getattr(model, name, None) for name in ("plan_", "certificate_"))
    path = "" if plan is None else f"Path {plan.chosen.name}: {plan.chosen.note}. "
    proof = ""
    if certificate is not None and len(certificate.lower):
        proof = str(certificate).partition("\n")[0].capitalize() + "."
    if path or proof:
        yield path + proof
    if plan is None and certificate is None and hasattr(model, "certificate_"):
        yield "No certificate: a guest, whose numbers come from another library."
    yield _why(model)
    yield from _weights(model)
    yield from _planes(model)


def _count(model: BaseEstimator) -> int:
    """Return the number of axes; faces of other libraries have their shares alone."""
    found = getattr(model, "n_components_", None)
    return len(model.explained_variance_ratio_) if found is None else int(found)


def _how(model: BaseEstimator) -> str:
    """Return what was made of the rows: categories, classes, a graph, or numbers centred."""
    kind = method_of(model).page
    if kind == "counts":
        return " of counts"
    if kind == "categories":
        levels = len(model.column_names_)
        return f", {levels:,} numbers and levels" if hasattr(model, "mean_") else (
            f", {levels:,} levels"
        )  # fmt: skip
    if kind == "groups":
        return f", {len(model.classes_):,} classes"
    if kind == "manifold":
        return ""
    if not getattr(model, "centred", True):
        return ", not centred"
    return ", standardised" if getattr(model, "standardize", False) else ", centred"


def _inside(model: BaseEstimator) -> str:
    return "coordinates looked in" if hasattr(model, "classes_") else "axes"


def _outlying(model: BaseEstimator) -> Iterator[str]:
    rows = getattr(model, "outliers_", None)
    if rows is None:
        return
    apart = f": {listed([str(i) for i in rows[:_NAMED]], len(rows))}" if len(rows) else ""
    yield f"{len(rows):,} of {model.n_samples_:,} rows lie apart and do not count{apart}."


def _why(model: BaseEstimator) -> str:
    """Return how many axes are kept, and why."""
    ratio = model.explained_variance_ratio_
    k, choice = _count(model), getattr(model, "choice_", None)
    count = f"{k} axis" if k == 1 else f"{k} axes"
    if choice is not None:
        return f"{count} kept. {_line(choice.reason, 600)}"
    wanted = getattr(model, "n_components", None)
    if wanted is None:
        reason = "all there are"
    elif isinstance(wanted, str):
        reason = {"mle": "by Minka's estimate"}.get(wanted, wanted)
    elif isinstance(wanted, Integral):
        reason = "as asked"
    else:
        reason = f"for {100 * float(wanted):g} % of the {_whole(model)}"
    if ratio is None:
        return f"{count} kept, {reason}; shares of the variance have no meaning here."
    return f"{count} kept, {reason}: {100 * float(np.sum(ratio)):.1f} % of the {_whole(model)}."


def _whole(model: BaseEstimator) -> str:
    """Return what shares are shares of."""
    return {
        "counts": "inertia",
        "categories": "inertia",
        "groups": "variance between the classes",
    }.get(method_of(model).page, "variance")


def _values(model: BaseEstimator) -> tuple[Array, Array, Array, None]:
    """Return eigenvalues, lower and upper ends, and no shares."""
    values = np.asarray(getattr(model, "eigenvalues_", ()), np.float64)
    certificate = getattr(model, "certificate_", None)
    if certificate is None or len(certificate.lower) != len(values):
        return values, values, values, None
    return values, certificate.lower, certificate.upper, None


def _table(model: BaseEstimator, spectrum: Sequence[Array]) -> ET.Element:
    values, lower, upper, ratio = spectrum
    table = ET.Element("table")
    what = "eigenvalue" if hasattr(model, "eigenvalues_") else "variance"
    shares = ratio is not None
    _row(table, "th", ["axis", what, "certified ±", *(("share %", "sum %") if shares else ())])
    total = 100 * np.cumsum(ratio) if shares else None
    for i in range(min(len(values), _ROWS)):
        bound = max(values[i] - lower[i], upper[i] - values[i], 0.0)
        cells = [f"{i + 1}", f"{values[i]:.5g}", f"{bound:.1e}" if bound else "–"]
        cells += [] if total is None else [f"{100 * ratio[i]:.1f}", f"{total[i]:.1f}"]
        row = _row(table, "td", cells)
        row.set("title", f"in [{lower[i]:.12g}, {upper[i]:.12g}]")
    if len(values) > _ROWS:
        _row(table, "td", ["…", f"{len(values) - _ROWS} more", ""])
    return table


def _row(table: ET.Element, kind: str, cells: Sequence[str]) -> ET.Element:
    row = ET.SubElement(table, "tr")
    for cell in cells:
        ET.SubElement(row, kind).text = cell
    return row


def _weights(model: BaseEstimator) -> Iterator[str]:
    """Yield the heaviest columns of the first axes with their entries."""
    names = getattr(model, "feature_names_in_", None)
    for i, axis in enumerate(getattr(model, "components_", ())[:_READ]):
        words = []
        for j in plots.heaviest(axis, 4):
            name = f"x{j}" if names is None else _line(str(names[j]), _LONG)
            words.append(f"{name} {float(axis[j]):+.2f}")
        yield f"Axis {i + 1} weighs most: {', '.join(words) or 'nothing'}."


def _planes(model: BaseEstimator) -> Iterator[str]:
    """Yield the axes that cannot be told apart."""
    certificate = getattr(model, "certificate_", None)
    k = _count(model)
    for group in () if certificate is None else certificate.groups[:_ROWS]:
        names = [f"{i + 1}" if i < k else "the next" for i in group]
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        yield f"Axes {listed} cannot be told apart: only the space they span has a meaning."


def _scree(model: BaseEstimator, spectrum: Sequence[Array]) -> str:
    """Return a small scree as SVG, which escapes by itself; nothing where λ leaves float64."""
    if not all(bool(np.isfinite(part).all()) for part in spectrum):
        return ""
    values, lower, upper, ratio = spectrum
    plain = _whole(model) == "variance"
    what, axis = _whole(model).partition(" ")[0], "component" if plain else "axis"
    panel = plots.scree(values, lower, upper, ratio, what=what, axis=axis)
    return plots.figure([dataclasses.replace(panel, width=330.0, height=230.0)])


def _line(words: str, longest: int) -> str:
    """Return words on one line, without what cannot be printed, cut where they are long."""
    line = "".join(c for c in " ".join(words.split()) if c.isprintable())
    return line if len(line) <= longest else line[: longest - 1] + "…"
