"""Choice: how many components by every rule, one number chosen, and the difference in words."""

import dataclasses
from collections.abc import Sequence
from typing import final

import numpy as np

from mercer.arrays import Array
from mercer.selection._bicross import BiCross
from mercer.selection._likelihood import aic, bic, minka
from mercer.selection._stepwise_edge import EdgeCount
from mercer.selection._thresholds import broken_stick, gavish_donoho, kaiser, noise_edge, share
from mercer.selection._variances import Variances

CROSS = "bi-cross-validation"
EDGE = "stepwise edge"
_NAMED = 3  # rows that are named, of those held back
_SHARE = 0.9
_TRUNCATED = "needs eigenvalues beyond those known"


@final
@dataclasses.dataclass(frozen=True)
class Rule:
    """What one rule says.

    Attributes
    ----------
    name : str
        Its name.
    k : int or None
        Its answer; None where it cannot answer.
    about : str
        What it asks, or why it cannot answer.
    """

    name: str
    k: int | None
    about: str


@final
@dataclasses.dataclass(frozen=True)
class Choice:
    """How many components: the answer, and those of other rules beside it.

    Attributes
    ----------
    k : int
        Components beyond noise, by the stepwise edge (by shuffled tables for a kernel); 0 is
        an answer.
    rules : tuple of Rule
        Every rule, the one that decides first.
    errors : ndarray of shape (m + 1,)
        Error of held-out cells for k = 0, 1, …, as a share of their squares, where
        bi-cross-validation was asked.
    seen : str
        What the answer was found from: all rows, or some of them.
    interval : (int, int) or None
        Least and largest number that 95 % of the same rows would give.
    outlying : tuple of int
        Rows (from 0) so far out that they were held back: they count no more than others.
    neighbours : float
        Correlation of rows that follow each other, where that may have made components.
    capped : bool
        Whether no more could have been found.
    """

    k: int
    rules: tuple[Rule, ...]
    errors: Array
    seen: str
    interval: tuple[int, int] | None = None
    outlying: tuple[int, ...] = ()
    neighbours: float = 0.0
    capped: bool = False

    @property
    def reason(self) -> str:
        """The answer and how the rules differ, in plain sentences."""
        said = [self._answer(), *self._rows(), *_others(self.k, self.rules[1:])]
        return " ".join(said)

    @property
    def spread(self) -> str:
        """The numbers that are possible, such as "1 or 2"; empty where there is one."""
        low, high = self.interval or (self.k, self.k)
        if low == high:
            return ""
        return f"{low} or {high}" if high == low + 1 else f"{low} to {high}"

    def _rows(self) -> list[str]:
        """Return sentences on rows that count less, or hang together."""
        said = []
        if self.outlying:
            more = len(self.outlying) - _NAMED
            names = ", ".join(map(str, self.outlying[:_NAMED]))
            names += f" and {more} more" if more > 0 else ""
            few = len(self.outlying) == 1
            said.append(
                f"Row{'' if few else 's'} {names} (counted from 0) {'lies' if few else 'lie'}"
                f" far out and {'counts' if few else 'count'} no more than the others."
            )
        if self.neighbours:
            said.append(
                f"Rows next to each other are alike (correlation {self.neighbours:.2f}), as"
                " in a series or with several rows of one subject: that alone makes components."
            )
        return said

    def _answer(self) -> str:
        decides = self.rules[0]
        count = _count(self.k) if self.k else "No component"
        if decides.name != EDGE:
            return f"{count} beyond noise: {decides.about} ({decides.name}, {self.seen})."
        more = " or more (half as many as columns is all that can be found)"
        left = "what is left looks like noise" if self.k else "the table looks like noise"
        other = f"; a few rows less would give {self.spread}" if self.spread else ""
        return (
            f"{count}{more if self.capped else ''} beyond noise: {left}"
            f" ({EDGE}, {self.seen}{other})."
        )

    def columns(self) -> dict[str, list[object]]:
        """Return the rules as columns, which any frame library takes."""
        return {
            "rule": [rule.name for rule in self.rules],
            "k": [rule.k for rule in self.rules],
            "about": [rule.about for rule in self.rules],
        }

    def __str__(self) -> str:
        """Return the reason, and the rules as a table; a star marks the one that decides."""
        wide = max(len(rule.name) for rule in self.rules)
        lines = [
            f"{'*' if i == 0 else ' '} {rule.name.ljust(wide)}"
            f"  {'-' if rule.k is None else rule.k:>5}  {rule.about}"
            for i, rule in enumerate(self.rules)
        ]
        return "\n".join([self.reason, "", *lines])


def choice_of(
    count: EdgeCount,
    known: Variances,
    columns: Array | None,
    seen: str,
    cross: BiCross | None = None,
) -> Choice:
    """Return the choice, with the rules that the eigenvalues answer beside it.

    Parameters
    ----------
    count : EdgeCount
        What decides.
    known : Variances
        Eigenvalues, all or the leading ones.
    columns : ndarray of shape (p,) or None
        Variances of the columns as they were analysed, where they are known.
    seen : str
        What it was found on, such as "all 400 rows".
    cross : BiCross or None
        What bi-cross-validation says, where it was asked.
    """
    rules = [Rule(EDGE, count.k, "components in turn, each beside noise of what is left")]
    if cross is not None:
        about = "least error of cells left out by row and column"
        rules.append(Rule(CROSS, cross.k, about))
    return Choice(
        count.k,
        (*rules, *spectrum_rules(known, columns)),
        np.ones(1) if cross is None else cross.errors,
        seen,
        count.interval,
        count.outlying,
        count.neighbours,
        count.capped,
    )


def spectrum_rules(known: Variances, columns: Array | None = None) -> tuple[Rule, ...]:
    """Return what the rules that read eigenvalues say; each says so where it cannot answer.

    Parameters
    ----------
    known : Variances
        Eigenvalues, all or the leading ones.
    columns : ndarray of shape (p,) or None
        Variances of the columns; without them there is no noise edge.
    """
    held = share(known.values, _SHARE, known.total) if known.total > 0 else 0
    edge = None if columns is None else noise_edge(known, columns)
    found = [
        _rule("noise edge", edge, "above the edge of noise with these column variances"),
        _rule("Gavish-Donoho", gavish_donoho(known), "best threshold for white noise"),
        _minka(known),
        _rule("BIC", bic(known), "probabilistic PCA, white noise"),
        _rule("AIC", aic(known), "probabilistic PCA, white noise"),
        _rule("broken stick", broken_stick(known), "larger than pieces of a broken stick"),
        _rule("Kaiser", kaiser(known), "above the mean; on noise about half are"),
        _rule(
            f"{_SHARE:.0%} of variance",
            held if held <= len(known.values) else None,
            "says nothing of noise",
        ),
    ]
    if columns is None:
        found[0] = Rule("noise edge", None, "needs the variances of the columns")
    return tuple(found)


def _rule(name: str, k: int | None, about: str) -> Rule:
    return Rule(name, k, _TRUNCATED if k is None else about)


def _minka(known: Variances) -> Rule:
    name = "Minka"
    if known.rows <= known.columns:
        return Rule(name, None, "needs more rows than columns")
    if not known.complete:
        return Rule(name, None, _TRUNCATED)
    if known.columns < 2 or known.total <= 0:
        return Rule(name, None, "needs two columns that vary")
    k = minka(known.values, known.rows)
    return Rule(name, k, "evidence of probabilistic PCA, white noise; never 0")


def _others(k: int, rules: Sequence[Rule]) -> list[str]:
    """Return sentences on the rules that agree, that say fewer, and that say more."""
    near = 1 if k else 0  # none and one are not alike
    alike: list[Rule] = []
    fewer: list[Rule] = []
    more: list[Rule] = []
    for rule in rules:
        if rule.k is not None:
            apart = rule.k - k
            (alike if abs(apart) <= near else fewer if apart < 0 else more).append(rule)
    if not (fewer or more):
        return (
            ["The other rules agree" + (", give or take one." if k else ".")] if alike else []
        )
    within = " within one" if k else ""
    out = [f"In agreement{within}: {_listed(alike)}." if alike else "No other rule agrees."]
    out += [f"Fewer: {_listed(fewer, counts=True)}."] if fewer else []
    out += [f"More: {_listed(more, counts=True)}."] if more else []
    return out


def _listed(rules: Sequence[Rule], *, counts: bool = False) -> str:
    words = [f"{rule.name} {rule.k}" if counts else rule.name for rule in rules]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def _count(k: int) -> str:
    return f"{k} component{'' if k == 1 else 's'}"
