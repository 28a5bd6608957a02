"""What a page about categories knows: rows, levels, variables, and what was set beside them."""

import dataclasses
import warnings
from collections.abc import Mapping
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.estimators.categories._category_codes import Variable
from mercer.report._page_request import tried
from mercer.report._row_labels import MISSING, Levels, colours_of

_CHANCE = 2e7  # cells times variables, and
_ORDER = 400  # levels, up to which tables are shuffled for a page
_ADJUSTED = 3000  # levels up to which adjusted inertias are found


@final
@dataclasses.dataclass(frozen=True, eq=False)
class CategoriesSummary:
    """A fit of categories, with or without numbers, and its rows.

    Attributes
    ----------
    model : MultipleCorrespondenceAnalysis, FAMD or MFA
        Fitted.
    Z : array of shape (n, k)
        Coordinates of the rows.
    categories : dict of str to Levels
        Level of every row, by variable.
    numbers : dict of str to array of shape (n,)
        The columns of numbers.
    levels : int array
        Which of `column_names_` are levels.
    counts : dict of str to int
        Rows of each level "variable=level".
    links : array of shape (variables, k)
        η² of categories, r² of numbers, in the order of `variables_`.
    beside : SupplementaryVariables or None
        Columns that made no axis.
    adjusted : dict of str to array
        Shares of the axes by the adjustments of Benzécri and of Greenacre; MCA only.
    band : array of shape (2, r) or None
        Eigenvalues that chance gives; MCA only.
    """

    model: Any
    Z: Array
    categories: dict[str, Levels]
    numbers: dict[str, Array]
    levels: Array
    counts: dict[str, int]
    links: Array
    beside: Any
    adjusted: dict[str, Array]
    band: Array | None

    @property
    def kind(self) -> str:
        """The name of the method's class."""
        return type(self.model).__name__

    @property
    def k(self) -> int:
        """Axes."""
        return int(self.model.n_components_)

    @property
    def beyond(self) -> int | None:
        """How many leading eigenvalues lie above the band of chance; None where none is."""
        if self.band is None:
            return None
        edge = self.band[1, : self.k]
        below = np.flatnonzero(self.model.eigenvalues_[: len(edge)] <= edge)
        return int(below[0]) if below.size else len(edge)


def categories_seen(
    model: Any, X: Any, sup: Mapping[str, Any] | None = None, sample_weight: Any = None
) -> CategoriesSummary:
    """Return what a page shows of a model and its rows.

    Parameters
    ----------
    model : MultipleCorrespondenceAnalysis, FAMD or MFA
        Fitted.
    X : frame or array of shape (n, p)
        Rows.
    sup : mapping of str to n values, or None
        Supplementary columns.
    sample_weight : array of shape (n,) or None
        As at fit.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has said it
        Z = np.asarray(model._project(model._admit(X, reset=False)), np.float64)
        table = model._admit(X, reset=False)
    plain = hasattr(table, "codes")
    if plain:
        pairs = [(v, table.codes[:, q]) for q, v in enumerate(table.variables)]
    else:
        pairs = [(Variable(c.name, c.values), c.codes) for c in table.columns]
    names = [table.names[j] for j in np.flatnonzero(~table.kinds)] if not plain else []
    numbers = {str(name): table.numbers[:, j] for j, name in enumerate(names)}
    links = model.eta2_ if plain else model.squared_correlations_
    counts: dict[str, int] = {}
    for variable, codes in pairs:
        found = np.bincount(codes[codes >= 0], minlength=len(variable))
        counts |= dict(zip(variable.labels, found.tolist(), strict=True))
    first = 0 if plain else len(numbers)
    return CategoriesSummary(
        model,
        Z,
        {str(v.name): _levels(v, codes) for v, codes in pairs},
        numbers,
        np.arange(first, len(model.column_names_)),
        counts,
        np.asarray(links),
        _beside(model, sup, len(Z)),
        _adjusted(model, X, sample_weight) if plain else {},
        _band(model) if plain else None,
    )


def _levels(variable: Any, codes: Array) -> Levels:
    """Return a variable as the map is coloured by it; cells without a level are missing."""
    names = np.array([*variable.levels, MISSING])
    return Levels(np.where(codes < 0, len(names) - 1, codes), names)


def _beside(model: Any, sup: Mapping[str, Any] | None, n: int) -> Any:
    """Return where supplementary columns lie, or None."""
    if not sup or n != int(model.n_samples_) or not model.n_components_:
        return None
    import polars as pl

    columns = {}
    for name, values in colours_of(sup, n).items():
        cells = values.levels[values.at] if isinstance(values, Levels) else values
        if cells.dtype.kind in "fiu":
            columns[name] = pl.Series(name, np.asarray(cells, np.float64))
        else:
            columns[name] = pl.Series(name, [None if c == MISSING else c for c in cells])
    return tried(model.supplementary, pl.DataFrame(list(columns.values())))


def _adjusted(model: Any, X: Any, sample_weight: Any) -> dict[str, Array]:
    """Return the shares of the axes by both adjustments, from a fit for each."""
    if model.table == "joint" or not model.n_components_:
        return {}
    if len(model.column_names_) > _ADJUSTED or len(model.variables_) < 2:
        return {}
    from sklearn.base import clone

    found = {}
    for name in ("benzecri", "greenacre"):
        other = clone(model).set_params(
            table="indicator", correction=name, n_components=int(model.n_components_)
        )
        if tried(other.fit, X, sample_weight=sample_weight) is None:
            return {}
        found[name] = np.asarray(other.explained_variance_ratio_)
    return found


def _band(model: Any) -> Any:
    n, q = int(model.n_samples_), len(model.variables_)
    if n * q**2 > _CHANCE or len(model.column_names_) > _ORDER or model.table == "joint":
        return None
    return tried(model.null_band)
