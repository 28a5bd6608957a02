"""Kernel parallel analysis: eigenvalues against those of tables without that structure."""

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from mercer.arrays import Array, eigvalsh, svd
from mercer.errors import MercerError
from mercer.kernels import Kernel
from mercer.studies._tuning import Candidate, brief

ROWS = 300  # rows of the tables that are permuted
_FIRST = 19  # draws of each kind for all kernels: one in 20 by chance
_MORE = 80  # further draws for the kernel chosen
_LEVEL = 0.95  # quantile of the draws that an eigenvalue must exceed
_ROUNDING = 1e-6  # excess, as a share of the variance, that is nothing


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The kernel that parallel analysis chooses, None for linear, and the curve."""

    chosen: Candidate | None
    curve: tuple[Candidate, ...]
    draws: int


def analyse(curve: Sequence[Candidate], rows: Array, k: int, seed: int) -> Verdict:
    """Choose the kernel with the largest Σ_j (λ_j/tr - permuted)_+, j ≤ k [Jorgensen2012]_.

    Two kinds of permuted tables are drawn. With its columns permuted a table keeps the
    values of each column and loses every dependence. With its principal coordinates
    permuted it keeps the covariance too, as a Gaussian table would, and loses what is
    beyond. `excess` is taken over the higher of the two 95 % quantiles. A kernel is chosen
    only if its sum is above that of all draws of either kind: first with sums in units of
    their spread and the largest over all kernels on both sides, then for the kernel chosen.

    Cost: 38 C + 160 matrices and spectra of at most 300 rows for C kernels.

    Parameters
    ----------
    curve : sequence of Candidate
        Those not admitted are left as they are.
    rows : ndarray of shape (n, p)
        Rows as the kernels see them.
    k : int
        Number of components.
    seed : int
        Of the permutations.
    """
    rng = np.random.default_rng([seed, 8])
    tables = [table for _ in range(_FIRST) for table in permuted(rows, rng)]
    known: dict[int, tuple[Array, Array]] = {}
    found = list(curve)
    for number, one in enumerate(curve):
        if not one.admitted:
            continue
        try:
            seen = shares(one.kernel, rows, k)
            drawn = _drawn(one.kernel, tables, k)
        except MercerError as error:
            verdict = f"not defined on permuted rows: {error.what}"
            found[number] = dataclasses.replace(one, verdict=verdict)
            continue
        known[number] = seen, drawn
        found[number] = dataclasses.replace(one, excess=_excess(seen, drawn))
    curved = [number for number in known if not found[number].linear]
    draws = _FIRST
    chosen = None
    if curved and _beyond([known[number] for number in curved]):
        top = max(curved, key=lambda number: found[number].excess or 0.0)
        draws += _MORE
        if (found[top].excess or 0.0) > _ROUNDING:
            more = [table for _ in range(_MORE) for table in permuted(rows, rng)]
            seen, drawn = known[top]
            further = _drawn(found[top].kernel, more, k)
            if _beyond([(seen, np.concatenate([drawn, further], axis=1))]):
                chosen = found[top]
    return Verdict(chosen, tuple(found), draws)


def permuted(rows: Array, rng: np.random.Generator) -> Iterator[Array]:
    """Yield rows (n, p) with their columns permuted, then with principal coordinates permuted.

    The second is mean + π(US)Vᵀ for X - mean = USVᵀ: rotated back, since kernels need not
    be blind to rotations.
    """
    yield rng.permuted(rows, axis=0)
    mean = rows.mean(axis=0)
    u, s, v = svd(rows - mean)
    yield rng.permuted(u * s, axis=0) @ v + mean


def shares(kernel: Kernel, rows: Array, k: int) -> Array:
    """Return λ_j/tr K̃, j ≤ k, of the centred kernel matrix of rows (n, p)."""
    block = np.array(kernel.block(rows), np.float64)
    block -= block.mean(axis=0)
    block -= block.mean(axis=1, keepdims=True)
    block = (block + block.T) / 2
    trace = float(np.trace(block))
    values = eigvalsh(block)[:k]
    return np.asarray(values / trace if trace > 0 else np.zeros(k))


def _drawn(kernel: Kernel, tables: Sequence[Array], k: int) -> Array:
    """Return the shares of permuted tables, (2 kinds, draws, k)."""
    found = np.array([shares(kernel, table, k) for table in tables])
    return found.reshape(-1, 2, k).transpose(1, 0, 2)


def _excess(seen: Array, drawn: Array) -> float:
    """Return Σ_j (λ_j/tr - q_j)_+ over the higher of the quantiles of the two kinds."""
    level = np.quantile(drawn, _LEVEL, axis=1).max(axis=0)
    return float(np.sum(np.maximum(seen - level, 0.0)))


def _beyond(known: Sequence[tuple[Array, Array]]) -> bool:
    """Tell whether the largest sum over the kernels is above that of every draw, both kinds.

    The sum of a table is T = Σ_j (λ_j/tr - mean of the draws)_+; for a draw the mean is
    that of the others. T is taken in units of its spread over the draws.
    """
    for kind in (0, 1):
        own, others = [], []
        for seen, drawn in known:
            draws = drawn[kind]
            mean = draws.mean(axis=0)
            rest = (draws.sum(axis=0) - draws) / (len(draws) - 1)
            sums = np.maximum(draws - rest, 0.0).sum(axis=1)
            unit = max(float(sums.std(ddof=1)), _ROUNDING)
            own.append((np.maximum(seen - mean, 0.0).sum() - sums.mean()) / unit)
            others.append((sums - sums.mean()) / unit)
        if max(own) <= np.max(others):
            return False
    return True


def reason(verdict: Verdict, k: int, needed: int) -> str:
    """Return the choice in plain sentences."""
    axes = "1 component is" if k == 1 else f"{k} components are"
    start = (
        f"{axes} asked for, and {needed} hold 95 % of the linear variance, so"
        " reconstruction cannot decide."
    )
    if verdict.chosen is None:
        rest = (
            "No kernel has leading eigenvalues above those of permuted tables with the same"
            f" columns or the same covariance ({verdict.draws} draws of each)."
        )
    else:
        rest = (
            f"With {brief(verdict.chosen.kernel)} the leading eigenvalues exceed those of"
            " permuted tables most, by"
            f" {verdict.chosen.excess:.3f} of the variance, and more than in all"
            f" {verdict.draws} draws of each kind."
        )
    return f"{start} {rest}"
