"""What tuning found: the kernel, the reason, and the curve behind it."""

import dataclasses
from collections.abc import Sequence
from typing import Any, final

from mercer.estimators import KernelPCA
from mercer.kernels import Kernel, Linear
from mercer.studies._plain_result import aligned

ADMITTED = "admitted"


@final
@dataclasses.dataclass(frozen=True)
class Candidate:
    """One kernel that was tried.

    Attributes
    ----------
    kernel : Kernel
        With numbers for parameters.
    effective_rank : float or None
        (tr K̃)²/‖K̃‖²_F on the rows that were looked at; None where the fit failed.
    score : float or None
        Mean over the folds of the R² of held-out rows; None where it was not measured.
    error : float or None
        Standard error of that mean.
    excess : float or None
        Σ_j (λ_j/tr - permuted)_+, where parallel analysis was asked.
    evidence : float or None
        How far the spectrum is more concentrated than those of permuted tables, in their
        standard deviations.
    verdict : str
        "admitted", or why not.
    by_fold : tuple of float
        R² of held-out rows, fold by fold: kernels are compared on the same folds.
    likeness : float or None
        Least canonical correlation of the k coordinates with those of PCA, of the kernel that
        would be chosen: from .99 on the map is that of PCA under another name.
    """

    kernel: Kernel
    effective_rank: float | None = None
    score: float | None = None
    error: float | None = None
    excess: float | None = None
    evidence: float | None = None
    verdict: str = ADMITTED
    by_fold: tuple[float, ...] = ()
    likeness: float | None = None

    @property
    def admitted(self) -> bool:
        """Whether the kernel could be chosen."""
        return self.verdict == ADMITTED

    @property
    def linear(self) -> bool:
        """Whether this is the yardstick, PCA itself."""
        return isinstance(self.kernel, Linear)


@final
@dataclasses.dataclass(frozen=True)
class Tuning:
    """The result of `tune`.

    Attributes
    ----------
    best : Kernel
        The kernel chosen, with numbers for parameters.
    criterion : str
        "reconstruction", "parallel analysis" or "linear is enough"; "held-out variance" for
        objects.
    reason : str
        Why, in plain sentences.
    curve : tuple of Candidate
        Every kernel that was tried, the linear one first.
    n_components, rows : int
        The number of axes that were asked about, and of rows that were looked at.
    standardize : bool
        Whether columns were divided by their standard deviation.
    random_state : object
        As given; the estimator gets it too.
    """

    best: Kernel
    criterion: str
    reason: str
    curve: tuple[Candidate, ...]
    n_components: int
    rows: int
    standardize: bool = False
    random_state: Any = 0

    def estimator(self) -> KernelPCA:
        """Return an unfitted kernel PCA with the kernel chosen."""
        return KernelPCA(
            self.n_components,
            kernel=self.best,
            standardize=self.standardize,
            random_state=self.random_state,
        )

    def columns(self) -> dict[str, list[Any]]:
        """Return the curve as columns, which any frame library takes."""
        names = ("score", "error", "effective_rank", "excess", "evidence", "verdict")
        found = {name: [getattr(one, name) for one in self.curve] for name in names}
        return {"kernel": [str(one.kernel) for one in self.curve], **found}

    def __str__(self) -> str:
        """Return the reason, and the curve as a table; a star marks the choice."""
        head = ("kernel", "R²", "± error", "eff. rank", "excess", "evidence", "verdict")
        lines = [head, *(_line(one, one.kernel == self.best) for one in self.curve)]
        table = aligned(lines, left=(0, 6))
        return "\n".join([f"{self.criterion}: {self.best}", self.reason, "", *table])


def _line(one: Candidate, chosen: bool) -> tuple[str, ...]:
    numbers = (
        _shown(one.score, ".4f"),
        _shown(one.error, ".4f"),
        _shown(one.effective_rank, ".1f"),
        _shown(one.excess, ".4f"),
        _shown(one.evidence, ".1f"),
    )
    return (("* " if chosen else "  ") + brief(one.kernel), *numbers, one.verdict)


def _shown(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def brief(kernel: Kernel) -> str:
    """Return a kernel in writing with numbers of four digits."""
    rounded = {
        name: float(f"{value:.4g}")
        for name, value in kernel.get_params().items()
        if isinstance(value, float) and value != 0
    }
    return str(kernel.with_params(**rounded)) if rounded else str(kernel)


def left_out(curve: Sequence[Candidate]) -> list[str]:
    """Return a sentence on the kernels that were not admitted, if there are any."""
    out = [one for one in curve if not one.admitted]
    if not out:
        return []
    count = (
        f"1 of {len(curve)} kernels was"
        if len(out) == 1
        else (f"{len(out)} of {len(curve)} kernels were")
    )
    return [f"{count} not admitted, the first because: {out[0].verdict}."]
