"""Kernel parallel analysis: eigenvalues against those of tables without that structure."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from mercer.arrays import Array, eigvalsh, svd
from mercer.errors import MercerError
from mercer.kernels import Kernel, Linear
from mercer.studies.tuning._tuning_result import Candidate, brief

ROWS = 250  # rows of the tables that are permuted
_FIRST = 19  # draws of each kind for all kernels: one in 20 by chance
_MORE = 80  # further draws for the kernel chosen
_LEVEL = 0.95  # quantile of the draws that an eigenvalue must exceed
_STANDS = 4.0  # evidence that the kernel chosen must have over all draws
_CLEAR = 0.5  # evidence, as a share of the clearest, of kernels that may be chosen
_NEARLY = 0.9  # excess, as a share of the largest, that is as good
_WIDER = 2.0  # times the evidence that a kernel beyond the grid must have
_ROUNDING = 1e-6  # difference, as a share of the variance, that is nothing


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What parallel analysis finds.

    Attributes
    ----------
    chosen : Candidate or None
        The kernel, or None where linear is enough.
    curve : tuple of Candidate
        With excess and evidence.
    draws : int
        Permuted tables of each kind.
    structured : bool
        Whether some kernel sees structure, be it in the leading axes or not.
    """

    chosen: Candidate | None
    curve: tuple[Candidate, ...]
    draws: int
    structured: bool


def analyse(
    curve: Sequence[Candidate], rows: Array, k: int, seed: int, first: int | None = None
) -> Verdict:
    """Choose the kernel whose Σ_j (λ_j/tr - permuted)_+, j ≤ k, is beyond chance.

    Two kinds of permuted tables are drawn. With its columns permuted a table keeps the
    values of each column and loses every dependence. With its principal coordinates
    permuted it keeps the covariance too, and loses what a Gaussian table does not have.
    `excess` is the sum above, over the higher of the two 95 % quantiles [Jorgensen2012]_.

    Whether there is anything beyond linear is asked first, of Σ_j (λ_j/tr)² over the whole
    spectrum, one over the effective rank: structure concentrates it. `evidence` is its
    distance from the mean of the draws in their standard deviations, the smaller of both
    kinds. The largest over the kernels must be above that of every draw. Of the kernels with
    half of the largest evidence or more, and nine tenths of the largest excess among these,
    the one with most evidence is chosen, if over 99 draws it is 4 or more.

    Cost: 38C + 160 matrices of at most 250 rows for C kernels, and 38C spectra.

    Parameters
    ----------
    curve : sequence of Candidate
        Those not admitted are left as they are.
    rows : ndarray of shape (n, p)
        Rows as the kernels see them.
    k : int
        Number of components; 0 asks for evidence alone, without eigenvalues.
    seed : int
        Of the permutations.
    first : int or None
        Candidates of the grid as it was before it was widened; None for all.
    """
    k = min(k, len(rows) - 1)  # centring takes one axis away
    rng = np.random.default_rng([seed, 8])
    able = [number for number, one in enumerate(curve) if one.admitted]
    drawn = _drawn([curve[number].kernel for number in able], permuted(rows, _FIRST, rng), k)
    found = list(curve)
    known: dict[int, tuple[Array, Array]] = {}
    for number, draws in zip(able, drawn, strict=True):
        if isinstance(draws, str):
            verdict = f"not defined on permuted rows: {draws}"
            found[number] = dataclasses.replace(curve[number], verdict=verdict)
        else:
            known[number] = profile(curve[number].kernel, rows, k), draws
            found[number] = _measured(curve[number], *known[number])
    curved = [number for number in known if not found[number].linear]
    if not curved or not _beyond([known[number] for number in curved]):
        return Verdict(None, tuple(found), _FIRST, False)
    top = _leading(found, curved, len(found) if first is None else first)
    (more,) = _drawn([found[top].kernel], permuted(rows, _MORE, rng), 0)
    if isinstance(more, str):
        return Verdict(None, tuple(found), _FIRST, False)
    seen, draws = known[top]
    evidence = _evidence(seen, np.concatenate([draws[..., -1:], more], axis=1))
    found[top] = dataclasses.replace(found[top], evidence=evidence)
    structured = evidence >= _STANDS
    chosen = found[top] if structured and (found[top].excess or 0.0) > _ROUNDING else None
    return Verdict(chosen, tuple(found), _FIRST + _MORE, structured)


def permuted(rows: Array, draws: int, rng: np.random.Generator) -> Iterator[Array]:
    """Yield rows (n, p) with columns, then with principal coordinates permuted, in turn.

    The second is mean + π(US)Vᵀ for X - mean = USVᵀ: rotated back, since kernels need not
    be blind to rotations.
    """
    mean = rows.mean(axis=0)
    u, s, v = svd(rows - mean)
    for _ in range(draws):
        yield rng.permuted(rows, axis=0)
        yield rng.permuted(u * s, axis=0) @ v + mean


def profile(kernel: Kernel, rows: Array, k: int) -> Array:
    """Return λ_j/tr K̃ for j ≤ k, and behind them Σ_j (λ_j/tr K̃)² over all j: (k + 1,)."""
    if isinstance(kernel, Linear):  # blind to a shift, and exact only near the origin
        rows = rows - rows.mean(axis=0)
    block = np.array(kernel.block(rows), np.float64)
    block -= block.mean(axis=0)
    block -= block.mean(axis=1, keepdims=True)
    trace = float(np.trace(block))
    if not trace > 0:
        return np.zeros(k + 1)
    block = (block + block.T) / (2 * trace)
    leading = eigvalsh(block)[:k] if k else np.zeros(0)
    return np.append(leading, np.sum(block * block))


def _drawn(kernels: Sequence[Kernel], tables: Iterable[Array], k: int) -> list[Array | str]:
    """Return the profiles of permuted tables, (2 kinds, draws, k + 1) for each kernel.

    A kernel that some table is not made for has a sentence instead. One table is held at a
    time: rows may be wide.
    """
    found: list[list[Array]] = [[] for _ in kernels]
    failed: dict[int, str] = {}
    for table in tables:
        for number, kernel in enumerate(kernels):
            if number not in failed:
                try:
                    found[number].append(profile(kernel, table, k))
                except MercerError as error:
                    failed[number] = error.what
    return [
        failed[number]
        if number in failed
        else np.array(profiles).reshape(-1, 2, k + 1).transpose(1, 0, 2)
        for number, profiles in enumerate(found)
    ]


def _measured(one: Candidate, seen: Array, drawn: Array) -> Candidate:
    """Return the candidate with excess and evidence."""
    level = np.quantile(drawn[:, :, :-1], _LEVEL, axis=1).max(axis=0)
    excess = float(np.sum(np.maximum(seen[:-1] - level, 0.0))) if level.size else None
    return dataclasses.replace(one, excess=excess, evidence=_evidence(seen, drawn))


def _evidence(seen: Array, drawn: Array) -> float:
    """Return how far Σ(λ/tr)² is above the draws, the smaller of both kinds."""
    return min(_standing(seen, draws)[0] for draws in drawn)


def _standing(seen: Array, draws: Array) -> tuple[float, Array]:
    """Return Σ(λ/tr)² of the table, and of the draws, about their mean and in their spread."""
    values = draws[:, -1]
    unit = max(float(values.std(ddof=1)), _ROUNDING)
    return float(seen[-1] - values.mean()) / unit, (values - values.mean()) / unit


def _beyond(known: Sequence[tuple[Array, Array]]) -> bool:
    """Tell whether the table stands above every draw, of both kinds, best kernel against best.

    The best kernel is looked for in the draws too, so that trying many finds no more.
    """
    for kind in (0, 1):
        standing = [_standing(seen, drawn[kind]) for seen, drawn in known]
        own, others = (list(side) for side in zip(*standing, strict=True))
        if max(own) <= np.max(others):
            return False
    return True


def _leading(found: Sequence[Candidate], curved: Sequence[int], first: int) -> int:
    """Return which kernel has the largest excess, or nearly, and of these most evidence.

    Of kernels by which the grid was widened one is taken only where its evidence is twice as
    large: it is known from 19 draws, and with shorter lengthscales maps fall to pieces.
    """
    evidence = [one.evidence or 0.0 for one in found]
    excess = [one.excess or 0.0 for one in found]
    clearest = max(evidence[n] for n in curved if n < first)
    clear = [n for n in curved if n < first and evidence[n] >= _CLEAR * clearest]
    most = max(excess[n] for n in clear)
    top = max(
        (n for n in clear if excess[n] >= _NEARLY * most),
        key=lambda n: (evidence[n], excess[n]),
    )
    for n in curved:
        if n >= first and excess[n] > excess[top] and evidence[n] > _WIDER * evidence[top]:
            top = n
    return top


def reason(verdict: Verdict, k: int, needed: int) -> str:
    """Return the choice in plain sentences."""
    axes = "1 component is" if k == 1 else f"{k} components are"
    start = f"{axes} asked for, and {needed} hold 95 % of the linear variance, so"
    words = [f"{start} reconstruction cannot decide."]
    draws = _tables(verdict)
    if verdict.chosen is not None:
        words.append(
            f"With {brief(verdict.chosen.kernel)} the leading eigenvalues exceed those of"
            f" {draws} by {verdict.chosen.excess:.3f} of the variance."
        )
    elif verdict.structured:
        words.append(
            f"There is structure that {draws} do not have, but not in the leading axes: ask"
            " for more components."
        )
    else:
        words.append(f"No kernel sees structure that {draws} do not have.")
    return " ".join(words)


def doubt(verdict: Verdict) -> str:
    """Return why a better reconstruction is not believed."""
    return (
        f"But no kernel sees structure that {_tables(verdict)} do not have: the gain is taken"
        " for chance."
    )


def _tables(verdict: Verdict) -> str:
    draws = verdict.draws
    return f"permuted tables ({draws} with the same columns, {draws} with the same covariance)"
