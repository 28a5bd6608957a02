"""describe_axes(), describe_groups(): what characterises axes and groups, tested, in words."""

import dataclasses
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from mercer import diagnostics
from mercer.arrays import Array
from mercer.errors import InputError
from mercer.studies._descriptor_columns import DescriptorColumns, coded, columns_of, together
from mercer.studies._plain_result import plain

_NAMED = 5  # columns of one direction that a sentence names


@final
@dataclasses.dataclass(frozen=True)
class Trait:
    """What a column says of an axis or a group.

    Attributes
    ----------
    name : str
        The column; "column=level" for a level.
    kind : {"number", "variable", "level"}
        A column of numbers, a column of groups as a whole, or one of its levels.
    size : float
        Correlation, η², or v-test.
    p, q : float
        Chance of as much, and the share of false ones among all that are as small or smaller
        (Benjamini-Hochberg).
    here, overall : float or None
        Of groups: the mean, or the share of the level, in the group and in all rows.
    """

    name: str
    kind: str
    size: float
    p: float
    q: float
    here: float | None = None
    overall: float | None = None


@final
@dataclasses.dataclass(frozen=True)
class Described:
    """Axes or groups, and the traits of each, the strongest first.

    Attributes
    ----------
    names : tuple of str
        Of the axes or groups.
    traits : tuple of tuple of Trait
        Those below the level, of each.
    words : tuple of str
        A sentence for each.
    """

    names: tuple[str, ...]
    traits: tuple[tuple[Trait, ...], ...]
    words: tuple[str, ...]

    def plain(self) -> Any:
        """Return the result as plain data."""
        return plain(self)

    def __str__(self) -> str:
        """Return the sentences, a line each."""
        return "\n".join(self.words)


def describe_axes(
    model: Any, X: Any, *, sup: Any = None, axes: int = 3, level: float = 0.05
) -> Described:
    """Return which columns follow each axis, and which levels lie at its ends.

    Numbers by their correlation with the coordinates; columns of groups by η² and their
    levels by the v-test of their mean coordinate. p-values are those of chosen columns looked
    at on axes that were made from them: they order, and do not prove. `sup` columns took no
    part in the axes, and theirs do: they are a family of their own, so that columns which
    made the axis do not lower the bar for those beside.

    Parameters
    ----------
    model : PCA or any mercer method with ``transform``
        Fitted.
    X : array or frame of shape (n, p)
        The rows of the fit.
    sup : frame, mapping of str to column, or None
        Further columns of the same rows, numbers or text. One that is called as a column of
        X is named "… (sup)".
    axes : int
        How many axes are described.
    level : float
        Largest q of a trait that is listed.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> X = np.random.default_rng(0).standard_normal((60, 3)) * [5, 1, 1]
    >>> side = {"side": np.where(X[:, 0] > 0, "right", "left")}
    >>> found = mercer.describe_axes(mercer.PCA(1).fit(X), X, sup=side, axes=1)
    >>> found.traits[0][0].name
    'column 0'
    """
    Z = np.asarray(model.transform(X), np.float64)[:, :axes]
    names = getattr(model, "feature_names_in_", None)
    own = columns_of(X, len(Z), names)
    families = _families(own, together(own, columns_of(sup, len(Z))))
    each = [[_on_axis(Z[:, [a]], part) for part in families] for a in range(Z.shape[1])]
    kept = tuple(_in_order([t for f in found for t in _beyond(f, level)]) for found in each)
    titles = tuple(str(name) for name in model.get_feature_names_out()[: Z.shape[1]])
    words = tuple(_axis_words(t, traits) for t, traits in zip(titles, kept, strict=True))
    return Described(titles, kept, words)


def describe_groups(
    groups: Sequence[Any], X: Any, *, names: Any = None, level: float = 0.05
) -> Described:
    """Return what characterises each group: columns and levels unlike those of all rows.

    Numbers by the v-test of their mean, with the p of that many rows drawn from the column
    as it is, long tails included; levels by the hypergeometric law of their count. If
    the groups were made from these columns, p-values order, and do not prove.

    Parameters
    ----------
    groups : sequence of length n
        Labels.
    X : frame, mapping, or array of shape (n, q)
        Columns, numbers or text.
    names : sequence of str or None
        Of the columns of an array.
    level : float
        Largest q of a trait that is listed.
    """
    at, kinds = coded(groups)
    if len(kinds) < 2:
        raise InputError(
            "groups are compared with all rows, so there must be two or more",
            got=f"{len(kinds)} group in {len(at)} labels",
            fix="pass a label for every row",
        )
    given = columns_of(X, len(at), names)
    each = _of_groups(at, len(kinds), given)
    kept = tuple(_beyond(traits, level) for traits in each)
    words = tuple(_group_words(kind, traits) for kind, traits in zip(kinds, kept, strict=True))
    return Described(tuple(kinds), kept, words)


def _families(own: DescriptorColumns, whole: DescriptorColumns) -> list[DescriptorColumns]:
    """Return the columns that made the axes, and those beside them, as they are named."""
    made = {*own.numbers, *own.levels}
    return [
        DescriptorColumns(
            {
                name: column
                for name, column in whole.numbers.items()
                if (name in made) == active
            },
            {name: column for name, column in whole.levels.items() if (name in made) == active},
        )
        for active in (True, False)
    ]


def _on_axis(z: Array, given: DescriptorColumns) -> list[Trait]:
    traits = []
    if given.numbers:
        r, p = diagnostics.correlations_tested(np.column_stack(list(given.numbers.values())), z)
        rows = zip(given.numbers, r[:, 0], p[:, 0], strict=True)
        traits += [Trait(name, "number", float(a), float(b), 1.0) for name, a, b in rows]
    for name, (at, kinds) in given.levels.items():
        share, p = diagnostics.correlation_ratios(z, at, len(kinds))
        traits.append(Trait(name, "variable", float(share[0]), float(p[0]), 1.0))
        v, chances = diagnostics.group_chances(z, at, len(kinds))
        traits += [
            Trait(f"{name}={kind}", "level", float(one), float(chance), 1.0)
            for kind, one, chance in zip(kinds, v[:, 0], chances[:, 0], strict=True)
        ]
    return traits


def _of_groups(at: Array, groups: int, given: DescriptorColumns) -> list[list[Trait]]:
    each = [list[Trait]() for _ in range(groups)]
    for name, column in given.numbers.items():
        v, chances = diagnostics.group_chances(column[:, None], at, groups)
        mean = float(np.nanmean(column)) if np.isfinite(column).any() else np.nan
        for g in range(groups):
            cells = column[(at == g) & np.isfinite(column)]
            here = float(np.mean(cells)) if len(cells) else None
            sized = float(v[g, 0]), float(chances[g, 0])
            each[g].append(Trait(name, "number", *sized, 1.0, here, mean))
    for name, (levels, kinds) in given.levels.items():
        v, chances = diagnostics.shares_tests(levels, at, len(kinds), groups)
        known = levels >= 0
        overall = np.bincount(levels[known], minlength=len(kinds)) / max(known.sum(), 1)
        for g in range(groups):
            inside = levels[(at == g) & known]
            shares = np.bincount(inside, minlength=len(kinds)) / max(len(inside), 1)
            each[g] += [
                Trait(f"{name}={kind}", "level", float(v[g, j]), float(chances[g, j]), 1.0,
                      float(shares[j]), float(overall[j]))
                for j, kind in enumerate(kinds)
            ]  # fmt: skip
    return each


def _beyond(traits: list[Trait], level: float) -> tuple[Trait, ...]:
    """Return the traits whose q is small, those of least p first."""
    if not traits:
        return ()
    q = diagnostics.false_shares(np.array([trait.p for trait in traits]))
    made = [dataclasses.replace(t, q=float(v)) for t, v in zip(traits, q, strict=True)]
    return _in_order([trait for trait in made if trait.q <= level])


def _in_order(made: list[Trait]) -> tuple[Trait, ...]:
    return tuple(sorted(made, key=lambda trait: (trait.p, -abs(trait.size))))


def _axis_words(title: str, traits: Sequence[Trait]) -> str:
    high = [t for t in traits if t.kind == "number" and t.size > 0]
    low = [t for t in traits if t.kind == "number" and t.size < 0]
    words = []
    if high:
        words.append(f"grows with {_with_sizes(high)}")
    if low:
        words.append(f"falls with {_with_sizes(low)}")
    ends = [t for t in traits if t.kind == "level"]
    for sign, side in ((1, "high"), (-1, "low")):
        there = [t.name for t in ends if sign * t.size > 0][:_NAMED]
        if there:
            words.append(f"{', '.join(there)} lie at its {side} end")
    return f"{title} " + ("; ".join(words) or "follows no column beyond chance") + "."


def _with_sizes(traits: Sequence[Trait]) -> str:
    ordered = sorted(traits, key=lambda trait: -abs(trait.size))[:_NAMED]
    more = len(traits) - len(ordered)
    text = ", ".join(f"{trait.name} ({trait.size:+.2f})" for trait in ordered)
    return text + (f" and {more} more" if more else "")


def _group_words(kind: str, traits: Sequence[Trait]) -> str:
    words = []
    for sign, how in ((1, "high"), (-1, "low")):
        numbers = [t.name for t in traits if t.kind == "number" and sign * t.size > 0]
        if numbers:
            words.append(f"{how} {', '.join(numbers[:_NAMED])}")
    for sign, how in ((1, "often"), (-1, "rarely")):
        levels = [t.name for t in traits if t.kind == "level" and sign * t.size > 0]
        if levels:
            words.append(f"{how} {', '.join(levels[:_NAMED])}")
    return f"{kind}: " + ("; ".join(words) or "like all rows") + "."
