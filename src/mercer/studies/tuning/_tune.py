"""Tuning: which kernel, and at which lengthscale.

Cross-validated reconstruction: how well held-out rows are rebuilt from k coordinates.

Which kernels are tried: those given, and a grid of lengthscales for the open ones.
"""

import dataclasses
import logging
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, check_cv

from mercer.arrays import is_objects, svd
from mercer.errors import (
    AccuracyWarning,
    DataWarning,
    InputError,
    MercerError,
    NotSupportedError,
)
from mercer.estimators import KernelPCA
from mercer.estimators.kernel._kernel_rows import sees_numbers
from mercer.estimators.kernel._preimages import learn
from mercer.estimators.kernel._row_samples import dense
from mercer.estimators.kernel._way_back import share_rebuilt
from mercer.estimators.walk._admission import admit_objects
from mercer.kernels import RBF, Kernel, Linear, Precomputed, as_kernel
from mercer.studies._study_rows import evenly, few, rows_seen
from mercer.studies.tuning import _parallel_analysis as _parallel
from mercer.studies.tuning._tuning_result import (
    ADMITTED,
    Candidate,
    Tuning,
    brief,
    left_out,
)

_LARGEST_RANK = 0.25  # effective rank, in rows, from which a kernel sees no structure

Folds = Sequence[tuple[Any, Any]]


def look(model: KernelPCA, rows: Any) -> Candidate:
    """Return the candidate of an unfitted model with its effective rank, or why it is out."""
    n = int(rows.shape[0])
    try:
        with _quietly():
            rank = float(model.fit(rows).effective_rank_)
    except MercerError as error:
        return Candidate(model.kernel, verdict=error.what)
    found = Candidate(model.kernel, rank)
    if not found.linear and rank > _LARGEST_RANK * n:
        verdict = f"effective rank {rank:.0f} is above a quarter of {n} rows"
        return dataclasses.replace(found, verdict=verdict)
    return found


def rebuild(one: Candidate, model: KernelPCA, rows: Any, folds: Folds) -> Candidate:
    """Return the candidate with the mean R² of held-out rows, and its standard error.

    With R²_f of fold f = 1 … F, score = mean R²_f and error = sd(R²_f)/√F. The way back is
    the same regression for every kernel, the linear one too: what is compared is the
    coordinates, not a straight way back with a bent one.

    Cost: F fits and F decoders.
    """
    try:
        with _quietly(), np.errstate(over="ignore", invalid="ignore"):
            scores = [_rebuilt_share(model, rows[kept], rows[held]) for kept, held in folds]
    except MercerError as error:
        return dataclasses.replace(one, verdict=error.what)
    if not np.all(np.isfinite(scores)):
        return dataclasses.replace(one, verdict="the R² of held-out rows is not finite")
    spread = float(np.std(scores, ddof=1)) / len(scores) ** 0.5
    by_fold = tuple(float(score) for score in scores)
    return dataclasses.replace(one, score=float(np.mean(scores)), error=spread, by_fold=by_fold)


def _rebuilt_share(model: KernelPCA, kept: Any, held: Any) -> float:
    """Return R² of held rows, rebuilt from k coordinates by what the others have taught."""
    inside = np.asarray(model.fit_transform(kept), np.float64)
    decoder = learn(inside, dense(kept), None)
    found = decoder.decode(np.asarray(model.transform(held), np.float64))
    return float(share_rebuilt(dense(held), found, None, None))


@contextmanager
def _quietly() -> Iterator[None]:
    """Silence what a single fit would say: the curve says it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", AccuracyWarning)
        yield


def simplest(curve: Sequence[Candidate]) -> tuple[Candidate, Candidate]:
    """Return the choice by the rule of one standard error, and the best candidate.

    Of those whose mean is within one standard error of the best, fold against fold, linear is
    the simplest, then the lowest effective rank, which is the longest lengthscale.
    """
    able = [one for one in curve if one.admitted and one.score is not None]
    best = max(able, key=_score)
    near = [one for one in able if _score(one) >= _score(best) - _paired_error(best, one)]
    return min(near, key=lambda one: (not one.linear, one.effective_rank)), best


def _paired_error(best: Candidate, one: Candidate) -> float:
    """Return the standard error of the difference of two means over the same folds."""
    if len(best.by_fold) < 2 or len(best.by_fold) != len(one.by_fold):
        return best.error or 0.0
    apart = np.subtract(best.by_fold, one.by_fold)
    return float(np.std(apart, ddof=1) / np.sqrt(len(apart)))


def _score(one: Candidate) -> float:
    return -np.inf if one.score is None else one.score


def reason(chosen: Candidate, best: Candidate, curve: Sequence[Candidate], k: int) -> str:
    """Return the choice in plain sentences."""
    linear = next(one for one in curve if one.linear)
    axes = "1 component" if k == 1 else f"{k} components"
    top = f"R² {best.score:.3f} ± {best.error:.3f} with {brief(best.kernel)}"
    words = [f"Held-out rows are rebuilt from {axes} best at {top}."]
    if chosen.linear and not best.linear:
        words.append(
            f"Linear reaches {linear.score:.3f}, within one standard error,"
            " and is the simplest."
        )
    elif chosen.linear:
        words.append("No other kernel rebuilds them better.")
    else:
        if chosen is not best:
            words.append(
                f"{brief(chosen.kernel)} is the simplest within one standard error"
                f" ({chosen.score:.3f})."
            )
        words.append(f"Linear reaches {linear.score:.3f}.")
    return " ".join(words)


GAMMAS = (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0)  # in units of 1/median‖x-y‖²


def candidates(kernels: Any, lengthscales: Any, rows: Any) -> list[Kernel]:
    """Return the kernels to compare, with numbers for parameters; the linear one is first.

    A kernel with the lengthscale "median" stands for several: ℓ = ℓ_median/√g for the
    multiples g = 1/8 … 8 of γ = 1/2ℓ², or one for each of `lengthscales`.

    Parameters
    ----------
    kernels : None, a kernel, or several
        As `as_kernel` reads them; None is RBF().
    lengthscales : None or numbers
        What takes the place of "median".
    rows : array of shape (n, p), or of n objects
        The rows that medians are taken from; objects have no linear kernel.
    """
    given = _read(kernels)
    lengths = None if lengthscales is None else _numbers(lengthscales)
    if lengths is not None and not any(_open_lengths(kernel) for kernel in given):
        raise InputError(
            "lengthscales were given, but no kernel waits for one",
            got=f"lengthscales={lengths}, kernels={given}",
            fix='leave the lengthscale of a kernel at "median", for example RBF()',
        )
    found: list[Kernel] = [] if is_objects(rows) else [Linear()]
    for kernel in given:
        found += [one for one in _spread(kernel, lengths, rows) if one not in found]
    return found


def _read(kernels: Any) -> list[Kernel]:
    """Return the kernels given as kernels."""
    if kernels is None:
        return [RBF()]
    single = isinstance(kernels, Kernel | str) or not isinstance(kernels, Iterable)
    given = [as_kernel(one) for one in ([kernels] if single else kernels)]
    if not given:
        raise InputError(
            "there is no kernel to try",
            got="kernels=[]",
            fix='pass kernels such as [RBF(), "matern"], or None for RBF',
        )
    for kernel in given:
        if isinstance(kernel, Precomputed):
            raise NotSupportedError(
                "a kernel matrix cannot be tuned: rows are needed, to be rebuilt",
                got=f"{kernel!r} among the kernels",
                fix="pass the rows and the kernel as a function",
            )
    return given


def _numbers(lengthscales: Any) -> list[Any]:
    """Return the lengthscales as a list; each is checked by the kernel that takes it."""
    try:
        found = list(lengthscales)
    except TypeError:
        found = [lengthscales]
    if isinstance(lengthscales, str) or not found:
        raise InputError(
            "lengthscales must be positive numbers",
            got=f"lengthscales={lengthscales!r}",
            fix="pass for example lengthscales=[0.5, 1.0, 2.0], or None for a grid",
        )
    return found


def _open_lengths(kernel: Kernel) -> list[str]:
    """Return the names of the lengthscales that wait for the data."""
    return [
        name
        for name, value in kernel.get_params().items()
        if name.split("__")[-1] == "lengthscale" and isinstance(value, str)
    ]


def _spread(kernel: Kernel, lengths: list[Any] | None, rows: Any) -> list[Kernel]:
    """Return one kernel for each lengthscale, the longest first."""
    names = _open_lengths(kernel)
    if lengths is not None and names:
        several = [kernel.with_params(**dict.fromkeys(names, length)) for length in lengths]
        return [one.resolve(rows) for one in several]
    middle = kernel.resolve(rows)
    if not names:
        return [middle]
    at = {name: middle.get_params()[name] for name in names}
    return [
        middle.with_params(**{name: length / gamma**0.5 for name, length in at.items()})
        for gamma in GAMMAS
    ]


def at_the_edge(kernel: Kernel, tried: list[Kernel]) -> list[str]:
    """Return a sentence if a kernel has the longest or shortest lengthscale of its kind."""
    alike = [other for other in tried if _shape(other) == _shape(kernel)]
    if len(alike) < 3 or not _lengths(kernel):
        return []
    for ends, word in ((max, "longest"), (min, "shortest")):
        if kernel == ends(alike, key=lambda other: sum(_lengths(other).values())):
            return [
                f"The one chosen has the {word} lengthscale tried; `lengthscales` takes others."
            ]
    return []


def _lengths(kernel: Kernel) -> dict[str, float]:
    """Return the lengthscales that are one number, by name."""
    return {
        name: value
        for name, value in kernel.get_params().items()
        if name.split("__")[-1] == "lengthscale" and isinstance(value, float)
    }


def _shape(kernel: Kernel) -> Kernel:
    """Return the kernel with all its lengthscales one."""
    return kernel.with_params(**dict.fromkeys(_lengths(kernel), 1.0))


_WIDER = (2.0, 4.0)  # factors of γ by which the grid goes on where its end was chosen
_ROUNDS = 3  # of going on


def further(kernel: Kernel, tried: list[Kernel]) -> list[Kernel]:
    """Return kernels beyond the end of the grid that one stands at; none where it does not."""
    alike = [other for other in tried if _shape(other) == _shape(kernel)]
    if len(alike) < 3 or not _lengths(kernel):
        return []
    sizes = [sum(_lengths(other).values()) for other in alike]
    own = sum(_lengths(kernel).values())
    if own not in (min(sizes), max(sizes)):
        return []
    power = -0.5 if own == min(sizes) else 0.5
    return [
        kernel.with_params(
            **{name: value * factor**power for name, value in _lengths(kernel).items()}
        )
        for factor in _WIDER
    ]


_ALIKE = 0.99  # canonical correlation from which a map is that of PCA


def likeness(kernel: Kernel, rows: Any, k: int, seed: int) -> float:
    """Return the least canonical correlation of k coordinates with the k of PCA."""
    with _quietly():
        bent, flat = (
            np.asarray(_model(one, k, seed).fit_transform(rows), np.float64)
            for one in (kernel, Linear())
        )
    bases = []
    for scores in (bent, flat):
        u, s, _ = svd(scores - scores.mean(axis=0))
        bases.append(u[:, s > 1e-10 * max(float(s[0]), 1e-300)])
    if bases[0].shape[1] != bases[1].shape[1] or not bases[0].shape[1]:
        return 0.0
    return float(min(svd(bases[0].T @ bases[1])[1][-1], 1.0))


_log = logging.getLogger("mercer")
_FEWEST = 2  # held-out rows without which R² has no denominator


def tune(
    X: Any,
    kernels: Any = None,
    n_components: int = 2,
    *,
    cv: Any = 5,
    lengthscales: Any = None,
    max_rows: int = 2000,
    random_state: Any = 0,
    standardize: bool = False,
) -> Tuning:
    """Choose the kernel of a kernel PCA without labels, and say whether one is needed.

    Kernels are compared by the R² with which held-out rows are rebuilt from k coordinates,
    1 - Σ‖x - x̂‖²/Σ‖x - x̄‖², because errors in feature space have a unit of their own for
    every kernel [Alam2014]_. The way back is the same regression for every kernel, linear
    included. The simplest kernel within one standard error of the best, fold against fold, is
    chosen; linear where the coordinates of that one are those of PCA (canonical correlations
    of .99 and more). A lengthscale at an end of the grid is chosen only after the grid has
    been widened there, up to three times. Where k linear axes hold 95 % of the variance
    everything is rebuilt and R² cannot decide; then leading eigenvalues are compared with
    those of permuted tables. The linear
    kernel is always tried: it is the yardstick, and the answer where no other is better, or
    where permuted tables with the same covariance look the same to every kernel. Kernels of
    effective rank above n/4 are not admitted.

    Parameters
    ----------
    X : array, sparse matrix or frame of shape (n_samples, n_features)
        Rows of numbers; or a sequence of objects such as texts, for kernels that take them.
        Those cannot be rebuilt: kernels are compared by the share of the variance of held-out
        objects that k axes hold in feature space, and the simplest within one standard error
        is chosen. It is larger where a kernel sees less, so compare kernels of one kind.
    kernels : None, a kernel, or several
        Kernels, their names or functions. One with the lengthscale "median" stands for
        seven, γ = 1/2ℓ² at 1/8 … 8 times 1/median‖x-y‖²; None is RBF().
    n_components : int
        k, the number of axes that will be used.
    cv : int or splitter
        Folds, of shuffled rows; or an object with ``split``.
    lengthscales : None or numbers
        Instead of the seven.
    max_rows : int
        Rows that are looked at, evenly spread over the table.
    random_state : int, Generator, RandomState or None
        Of the folds, the permutations and the fits.
    standardize : bool
        Whether columns are divided by their standard deviation first. R² is then in those
        units too.

    Returns
    -------
    Tuning
        ``best``, ``criterion``, ``reason``, ``curve``, ``estimator()``.

    Notes
    -----
    For C kernels and F folds on n ≤ `max_rows` rows: C fits, and C·F fits with their
    decoders, each about 3·9·min(n, 1000)³ operations. Where k reaches the linear axes there
    are no folds. Permuted tables cost 38C + 160 matrices of 250 rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import tune
    >>> X = np.random.default_rng(0).normal(size=(150, 4))
    >>> tune(X, n_components=2).criterion
    'linear is enough'
    """
    model = KernelPCA(
        n_components, kernel=Linear(), standardize=standardize, random_state=random_state
    )
    _check(model, max_rows)
    seed, k = model._seed(), int(n_components)
    if _are_objects(kernels, X):
        return _tuned_on_objects(model, k, X, kernels, cv, lengthscales, int(max_rows))
    rows, needed = rows_seen(model, X, int(max_rows), seed)
    n = int(rows.shape[0])
    folds = _folds(cv, n, k, seed)
    tried = candidates(kernels, lengthscales, rows)
    _log.info("tune: %d kernels, %d rows, %d components", len(tried), n, k)
    own_grid = lengthscales is None
    asked = _Contest(rows, k, needed, folds, seed, len(tried))
    curve: list[Candidate] = []
    fresh, rounds = tried, 0
    while True:
        curve = asked.looked(curve, fresh)
        criterion, chosen, curve, why = asked.chosen(curve)
        fresh = further(chosen.kernel, tried) if own_grid and rounds < _ROUNDS else []
        if not fresh:
            break
        tried, rounds = [*tried, *fresh], rounds + 1
    if not chosen.linear:
        alike = likeness(chosen.kernel, rows, k, seed)
        curve = [
            dataclasses.replace(one, likeness=alike) if one.kernel == chosen.kernel else one
            for one in curve
        ]
        if alike >= _ALIKE:
            why += (
                " But its coordinates are those of PCA (canonical correlations from"
                f" {alike:.3f} on), so linear is enough."
            )
            chosen = curve[0]
    if chosen.linear:
        criterion = "linear is enough"
    _log.info("tune: %s, %s", criterion, chosen.kernel)
    return Tuning(
        best=chosen.kernel,
        criterion=criterion,
        reason=" ".join([why, *at_the_edge(chosen.kernel, tried), *left_out(curve)]),
        curve=tuple(curve),
        n_components=k,
        rows=n,
        standardize=bool(standardize),
        random_state=random_state,
    )


@dataclasses.dataclass(frozen=True)
class _Contest:
    """The rows, folds and axes that kernels are compared on."""

    rows: Any
    k: int
    needed: int
    folds: Folds
    seed: int
    first: int  # kernels of the grid as it was given

    def looked(self, curve: list[Candidate], fresh: list[Kernel]) -> list[Candidate]:
        """Return the curve with further kernels, held out where that decides."""
        more = [look(_model(kernel, self.k, self.seed), self.rows) for kernel in fresh]
        if not curve:
            _refuse_failures(more)
        if self.k < self.needed:
            more = [_rebuilt(one, self.k, self.rows, self.folds, self.seed) for one in more]
            if not curve:
                _refuse_failures(more)
        return [*curve, *more]

    def chosen(self, curve: list[Candidate]) -> tuple[str, Candidate, list[Candidate], str]:
        """Return the criterion, the choice, the curve and the reason."""
        if self.k < self.needed:
            return "reconstruction", *_by_reconstruction(curve, self.rows, self.k, self.seed)
        seen = few(self.rows, _parallel.ROWS)
        verdict = _parallel.analyse(curve, seen, self.k, self.seed, self.first)
        why = _parallel.reason(verdict, self.k, self.needed)
        found = list(verdict.curve)
        return "parallel analysis", verdict.chosen or found[0], found, why


def _are_objects(kernels: Any, X: Any) -> bool:
    """Tell whether X holds objects that all the kernels take."""
    return kernels is not None and not any(sees_numbers(one, X) for one in _read(kernels))


def _tuned_on_objects(
    model: KernelPCA, k: int, X: Any, kernels: Any, cv: Any, lengthscales: Any, most: int
) -> Tuning:
    """Return the kernel whose k axes hold most of the variance of held-out objects."""
    if model.standardize:
        raise InputError(
            "objects have no columns that could be standardised",
            got="standardize=True with rows that are no table of numbers",
            fix="leave standardize out",
        )
    things, seed = admit_objects(X, fewest=_FEWEST), model._seed()
    things = things[evenly(len(things), most)]
    folds = _folds(cv, len(things), k, seed)
    curve = []
    for kernel in candidates(kernels, lengthscales, things):
        one = look(_model(kernel, k, seed), things)
        if one.effective_rank is not None:  # of many directions k may still hold much
            one = dataclasses.replace(one, verdict=ADMITTED)
        curve.append(_held(one, _model(kernel, k, seed), things, folds))
    if not any(one.score is not None for one in curve):
        raise InputError(
            "the kernels cannot be compared on these rows",
            got=f"{curve[0].kernel!r}: {curve[0].verdict}",
            fix="choose other kernels",
        )
    chosen, best = simplest(curve)
    axes = "1 component holds" if k == 1 else f"{k} components hold"
    why = f"{axes} {best.score:.3f} ± {best.error:.3f} of the variance of held-out rows with"
    why = f"{why} {brief(best.kernel)}, the largest share."
    if chosen is not best:
        why += f" {brief(chosen.kernel)} is the simplest within one standard error"
        why += f" ({chosen.score:.3f})."
    return Tuning(
        best=chosen.kernel,
        criterion="held-out variance",
        reason=" ".join([why, *left_out(curve)]),
        curve=tuple(curve),
        n_components=k,
        rows=len(things),
        random_state=model.random_state,
    )


def _held(one: Candidate, model: KernelPCA, things: Any, folds: Folds) -> Candidate:
    """Return the candidate with the mean of 1 - Σr(x)/Σ‖φ(x) - φ̄‖² over held-out objects.

    r(x) is what the axes of the others leave of φ(x), φ̄ their mean.
    """
    if not one.admitted:
        return one
    shares = []
    try:
        with _quietly():
            for kept, held in folds:
                fitted = model.fit(things[kept])
                left = fitted.novelty(things[held])
                inside = np.sum(np.asarray(fitted.transform(things[held])) ** 2, axis=1)
                shares.append(1 - float(np.sum(left)) / float(np.sum(left + inside)))
    except MercerError as error:
        return dataclasses.replace(one, verdict=error.what)
    spread = float(np.std(shares, ddof=1)) / len(shares) ** 0.5
    return dataclasses.replace(one, score=float(np.mean(shares)), error=spread)


def _model(kernel: Kernel, k: int, seed: int) -> KernelPCA:
    return KernelPCA(k, kernel=kernel, random_state=seed)


def _check(model: KernelPCA, max_rows: Any) -> None:
    """Refuse parameters that cannot be, before any data are read."""
    model._check_parameters()
    k = model.n_components
    if not isinstance(k, Integral) or isinstance(k, bool):
        raise InputError(
            "kernels are compared at one number of components",
            got=f"n_components={k!r}",
            fix="pass a whole number, for example n_components=2",
        )
    whole = isinstance(max_rows, Integral) and not isinstance(max_rows, bool)
    if not whole or int(max_rows) < _FEWEST:
        raise InputError(
            "max_rows must be a whole number of rows",
            got=f"max_rows={max_rows!r}",
            fix="pass for example max_rows=2000",
        )


def _folds(cv: Any, n: int, k: int, seed: int) -> Folds:
    """Return the row numbers to fit and to hold out, fold by fold."""
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        count = int(cv)
        if count < _FEWEST or n < _FEWEST * count:
            raise InputError(
                f"every fold needs at least {_FEWEST} rows, and there are at least 2 folds",
                got=f"{n} rows, cv={cv}",
                fix="pass more rows, or fewer folds such as cv=2",
            )
        cv = KFold(count, shuffle=True, random_state=seed)
    try:
        folds = [(np.asarray(a), np.asarray(b)) for a, b in check_cv(cv).split(np.empty(n))]
    except (TypeError, ValueError) as error:
        raise InputError(
            "the rows cannot be split into folds",
            got=f"cv={cv!r}: {error}",
            fix="pass a number of folds, or a splitter that needs rows only, such as KFold(5)",
        ) from None
    least = min((len(kept) for kept, _ in folds), default=0)
    held = min((len(out) for _, out in folds), default=0)
    last = max((int(part.max(initial=0)) for fold in folds for part in fold), default=0)
    if held < _FEWEST or last >= n:
        raise InputError(
            f"every fold must hold out at least {_FEWEST} of the rows that are looked at",
            got=f"{n} rows, row {last} asked for" if last >= n else f"{held} rows held out",
            fix="pass a number of folds such as cv=5",
        )
    if len(folds) < _FEWEST or k >= least:
        raise InputError(
            f"n_components={k} needs more rows in every fold",
            got=f"{n} rows, {len(folds)} folds, of which the smallest leaves {least} to fit",
            fix=f"ask for at most {max(least - 1, 1)} components, or pass more rows or folds",
        )
    return folds


def _refuse_failures(curve: list[Candidate]) -> None:
    """Refuse if the linear kernel failed, or all others did: nothing was compared."""
    failed = [one for one in curve if not one.admitted and one.score is None]
    broken = [one for one in failed if one.effective_rank is None or one.linear]
    if curve[0] in broken or (len(curve) > 1 and len(broken) == len(curve) - 1):
        raise InputError(
            "the kernels cannot be compared on these rows",
            got=f"{broken[0].kernel!r}: {broken[0].verdict}",
            fix="choose other kernels, or divide the data by a constant if it is huge",
        )


def _by_reconstruction(
    curve: list[Candidate], rows: Any, k: int, seed: int
) -> tuple[Candidate, list[Candidate], str]:
    """Return the choice, the curve and the reason; a gain without any evidence is doubted.

    With few rows a kernel may rebuild a Gaussian table better by chance, beyond the standard
    error of a few folds.
    """
    chosen, best = simplest(curve)
    why = reason(chosen, best, curve, k)
    if chosen.linear:
        return chosen, curve, why
    verdict = _parallel.analyse(curve, few(rows, _parallel.ROWS), 0, seed)
    evidence = [one.evidence for one in verdict.curve]
    curve = [
        dataclasses.replace(one, evidence=standing)
        for one, standing in zip(curve, evidence, strict=True)
    ]
    known = any(one.evidence is not None for one in curve if not one.linear)
    if known and not verdict.structured:
        return curve[0], curve, f"{why} {_parallel.doubt(verdict)}"
    return next(one for one in curve if one.kernel == chosen.kernel), curve, why


def _rebuilt(one: Candidate, k: int, rows: Any, folds: Folds, seed: int) -> Candidate:
    """Return the candidate with its score, if it may be chosen."""
    if not one.admitted:
        return one
    found = rebuild(one, _model(one.kernel, k, seed), rows, folds)
    if found.score is not None:
        _log.info("tune: %s, R² %.4f ± %.4f", brief(one.kernel), found.score, found.error)
    return found
