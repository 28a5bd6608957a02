"""analyse(): what `mercer report FILE` does, in Python, of a file or a frame.

Frames are written to a file that is removed when Python ends, so that both take one walk.
"""

import dataclasses
import inspect
import os
import warnings
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np

from mercer.analysis._page_of_table import account, page_of_table
from mercer.analysis._ready_rows import assumptions, ready_rows
from mercer.errors import DataWarning, InputError
from mercer.methods import COMMANDS
from mercer.report import Report
from mercer.sources import plain_folder
from mercer.tables import Asked, Look, Prepared
from mercer.tables import look as look_at

AUTO = "auto"


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Analysis:
    """A table, the method that fits it, and what was found.

    Attributes
    ----------
    method : str
        The command of the method.
    model : estimator
        Fitted.
    seen : Look
        Kinds and roles of the columns, and what the table was taken for.
    rows : Prepared
        The rows of the fit.
    """

    method: str
    model: Any
    seen: Look
    rows: Prepared

    @property
    def said(self) -> tuple[str, ...]:
        """Every assumption that was made, a line each."""
        return assumptions(self.seen, self.rows)

    @property
    def account(self) -> str:
        """What was judged, left out, filled and standardised, in one paragraph."""
        return account(self.seen, self.rows, self.model)

    @cached_property
    def page(self) -> Report:
        """The page of `mercer report`."""
        return page_of_table(self.model, self.seen, self.rows, said=self.said)

    @property
    def verdict(self) -> tuple[str, ...]:
        """The sentences of the page's verdict; the first is the account."""
        return self.page.page.verdict

    def save(self, path: Any) -> Path:
        """Write the page as one HTML file, and return where."""
        return self.page.save(path)

    def __repr__(self) -> str:
        """Return the verdict, a line for each sentence."""
        return "\n".join(self.verdict)

    def _repr_html_(self) -> str:
        return str(self.page._repr_html_())


def analyse(data: Any, *, method: str = AUTO, **asked: Any) -> Analysis:
    """Return the analysis of a table: the method that fits it, fitted, with its page.

    Parameters
    ----------
    data : path, frame of pandas, polars or pyarrow, or array of shape (n, p)
        The table as people have it: with names, text, dates and missing cells.
    method : str
        A command of `mercer methods`; "auto" for what the table itself is taken for.
    **asked
        What is known of the columns, as in `mercer.tables.Asked`: columns, drop, id, color,
        weights, sup, missing, standardize ...; and parameters of the method, such as
        ``n_components=3``.

    Examples
    --------
    >>> import mercer, polars
    >>> frame = polars.DataFrame({"kg": [1.0, 2, 4, 3], "cm": [9.0, 7, 1, 3]})
    >>> found = mercer.analyse(frame)
    >>> found.method, found.model.n_features_in_
    ('pca', 2)
    """
    known = {field.name for field in dataclasses.fields(Asked)}
    word = _word({name: value for name, value in asked.items() if name in known})
    parameters = {name: value for name, value in asked.items() if name not in known}
    if method not in (AUTO, *COMMANDS):
        raise InputError(
            "there is no such method",
            got=f"method={method!r}",
            fix=f"take one of {AUTO}, {', '.join(COMMANDS)}",
        )
    table = AUTO if method == AUTO else COMMANDS[method].takes
    seen = look_at(path_of(data), dataclasses.replace(word, table=table))
    if seen.judged is not None:
        method = seen.judged.method
    model = _model(method, parameters)
    made = ready_rows(seen, method, model)
    given: dict[str, Any] = {} if made.weights is None else {"sample_weight": made.weights}
    if made.y is not None:
        given["y"] = made.y
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no (component|axis) beyond", DataWarning)
        model.fit(made.rows, **given)
    return Analysis(method, model, seen, made)


def look(data: Any, **asked: Any) -> Look:
    """Return what each column of a table holds and is used for; one walk, nothing is fitted.

    Parameters
    ----------
    data, **asked
        As for `analyse`.
    """
    return look_at(path_of(data), _word({"table": AUTO} | asked))


def reported(data: Any, path: Any = None, **asked: Any) -> Report:
    """Return the page of a table, and write it where a path is given.

    Parameters
    ----------
    data, **asked
        As for `analyse`.
    path : path or None
        Where the page is written: one HTML file.
    """
    page = analyse(data, **asked).page
    if path is not None:
        page.save(path)
    return page


def _word(given: dict[str, Any]) -> Asked:
    """Return what is known of the columns; one name stands for a tuple of one."""
    several = ("columns", "drop", "color", "sup", "category")
    for name in several:
        if isinstance(given.get(name), str):
            given[name] = (given[name],)
        elif given.get(name) is not None:
            given[name] = tuple(given[name])
    return Asked(**given)


def _model(method: str, parameters: dict[str, Any]) -> Any:
    """Return an estimator, of which the number of axes is found where the method can."""
    kind = COMMANDS[method].load()
    known = inspect.signature(kind).parameters
    for name in parameters:
        if name not in known:
            raise InputError(
                f"{method} has no parameter {name!r}",
                got=f"{name}={parameters[name]!r}",
                fix=f"take one of {', '.join(known)}, or a name of mercer.tables.Asked",
            )
    rules = getattr(kind, "_parameter_constraints", {}).get("n_components", [])
    chooses = any("auto" in getattr(rule, "options", ()) for rule in rules)
    if "n_components" not in parameters and chooses and COMMANDS[method].has_variances:
        parameters = {"n_components": "auto", **parameters}
    return kind(**parameters)


def path_of(data: Any) -> Any:
    """Return the file of a table; a frame or an array is written to one first.

    Parameters
    ----------
    data : path, frame or array
        The table.
    """
    if isinstance(data, str | os.PathLike):
        return data
    frame = _polars(data)
    made = Path(plain_folder()) / "frame.arrow"
    frame.write_ipc(made)
    return made


def _polars(data: Any) -> Any:
    import narwhals.stable.v2 as nw
    import polars as pl

    if isinstance(data, np.ndarray):
        data = pl.from_numpy(data, schema=[str(i) for i in range(data.shape[-1])])
    if hasattr(data, "reset_index"):  # pandas: an index with a name, or of text, names rows
        index: Any = data.index
        named = index.name is not None or str(getattr(index, "dtype", "")) in _TEXTS
        if named and index.name not in data.columns:
            data = data.reset_index(names=index.name or "index")
    try:
        frame = nw.from_native(data)
    except TypeError:
        raise InputError(
            "this is no table",
            got=type(data).__name__,
            fix="pass a path, a frame of pandas, polars or pyarrow, or an array",
        ) from None
    frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return frame.to_polars()


_TEXTS = ("object", "string", "str")  # kinds of an index that names rows
