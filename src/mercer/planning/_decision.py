"""plan(): a pure function from a Problem to a decision."""

import dataclasses
from functools import lru_cache

from mercer.arrays import show_bytes
from mercer.errors import BudgetError, InputError
from mercer.planning._distributed_cost import refused_workers, workers_line
from mercer.planning._graph_paths import graph_candidates, graph_fallbacks, inverse_paths
from mercer.planning._kernel_paths import (
    choice_line,
    kernel_candidates,
    kernel_fallbacks,
    with_choice,
)
from mercer.planning._principal_paths import Path, candidates, settled
from mercer.planning._problem import BLAS_EACH, Problem, Workers
from mercer.solvers import BlockKrylov

_SLOWER = "slower"
_PREFER = 1.3  # how much slower an exact path may be than an iterative one
_SPARSE = 0.5  # of sparse rows, whose flat spectra take many times longer as a dense matrix


@dataclasses.dataclass(frozen=True)
class Plan:
    """The chosen path, what follows if it falls short, and the reason against the others."""

    problem: Problem
    chosen: Path
    rejected: tuple[tuple[Path, str], ...]
    remark: str = ""

    @property
    def bytes(self) -> int:
        """The most that a fit may take, should it need the paths behind the chosen one."""
        most, path = 0, self.chosen
        while path is not None:
            most, path = max(most, path.bytes), path.then  # type: ignore[assignment]
        return most

    def __str__(self) -> str:
        """Return what the user reads: one line per path."""
        p = self.problem
        stored = "" if p.nnz is None else f", {p.nnz:,} stored cells"
        rates = "measured on this machine" if p.rates.measured else "from default rates"
        lines = [
            f"plan: {_size(p)}{stored}, {p.components:,} components,"
            f" tol {p.tol:.0e}, {show_bytes(p.memory)} allowed, seconds {rates}",
            "  -> " + self.chosen.line(),
        ]
        follow = self.chosen.then
        while follow is not None:
            lines.append(
                f"     then {follow.name}, only if tol is not certified: {follow.note}"
                f" ({follow.seconds:.2g} s, {show_bytes(follow.bytes)})"
            )
            follow = follow.then
        if p.parts:
            lines.append("     " + workers_line(self.chosen, p))
        lines += filter(None, [choice_line(p)] if p.kernel is not None else [])
        lines += [f"     {path.line()}   not taken: {why}" for path, why in self.rejected]
        if self.remark:
            lines.append("  " + self.remark)
        return "\n".join(lines)


@lru_cache(maxsize=256)
def plan(problem: Problem) -> Plan:
    """Return the cheapest path that meets `tol` and fits `memory` and `time`.

    What is done does not depend on the number of threads: paths are compared as one thread
    would take them. The one that is chosen then has as many as `memory` has space for. Only
    where `time` is given does it count what all of them can do.

    Raises
    ------
    BudgetError
        When no path fits the memory; it says what would.
    """
    alone = _with_threads(problem, 1)
    paths = _candidates(alone)
    if not paths:
        raise InputError(
            "no path can do this",
            got=f"allowed={problem.allowed}, {problem.components} components",
            fix="ask for fewer components, or allow other paths",
        )
    fits = [path for path in paths if _fits(path, problem)]
    fits = [path for path in fits if path.passes <= problem.max_passes]
    if not fits:
        raise _refusal(problem, paths)
    sure = [path for path in fits if path.digits != "bound"]  # those that can meet tol
    best, remark, threads = _best(sure or fits, problem), "", _Threads(problem, paths)
    if problem.time is not None:
        paths, fits, sure = ([threads.timed(p) for p in some] for some in (paths, fits, sure))
        best = threads.timed(best)
        if best.seconds > problem.time:
            best = min(sure or fits, key=lambda path: path.seconds)
        if best.seconds > problem.time:
            best, remark = _hurry(best, fits, problem.time)
    rejected = [
        (path, _reason(path, best, problem)) for path in paths if path.name != best.name
    ]
    chosen = _with_fallbacks(best, paths, alone)
    if problem.kernel is not None:
        rejected = [(with_choice(path, alone), reason) for path, reason in rejected]
        chosen = with_choice(chosen, alone)
    chosen = threads.sharing(chosen)
    others = [(threads.sharing(path), reason) for path, reason in rejected]
    for at, (path, reason) in enumerate(others):
        if reason == _SLOWER and path.seconds < chosen.seconds:
            others[at] = path, f"{_SLOWER} on one thread"
    return Plan(problem, chosen, tuple(others), remark)


def _with_threads(problem: Problem, threads: int) -> Problem:
    """Return the problem as so many threads would solve it."""
    machine = problem.machine
    machine = None if machine is None else dataclasses.replace(machine, threads=threads)
    return dataclasses.replace(problem, threads=threads, machine=machine)


class _Threads:
    """What becomes of the paths of one thread when several share the work.

    It takes less time and more space: as many share it as fit.
    """

    def __init__(self, problem: Problem, alone: list[Path]) -> None:
        self.problem, self.all, own = problem, problem.rates.threads, problem.itemsize
        found = alone if self.all == 1 else _candidates(problem)
        self.priced = {(1, own): alone, (self.all, own): found}

    def timed(self, path: Path) -> Path:
        """Return a path with the seconds that it takes all threads which fit."""
        return dataclasses.replace(path, seconds=self._fitting(path)[2])

    def sharing(self, path: Path) -> Path:
        """Return a path, and those behind it, with all threads that fit and all they take."""
        then = None if path.then is None else self.sharing(path.then)
        count, taken, seconds = self._fitting(path)
        if self.problem.time is not None:  # it is timed
            seconds = path.seconds
        taken = self.problem.whole(taken)
        found = dataclasses.replace(path, bytes=taken, seconds=seconds, then=then)
        if count == self.all:
            return found
        note = f"{path.note}, {count} of {self.all} threads"
        return dataclasses.replace(found, threads=count, note=note)

    def _fitting(self, path: Path) -> tuple[int, int, float]:
        """Return the most threads that fit, and the bytes and seconds of a path with them."""
        fits, most, many = 1, self.all, self.all
        while many > fits:
            if self._fits(path, many):
                fits = many
            else:
                most = many
            many = (fits + most) // 2
        return fits, *self._with(path, fits)

    def _fits(self, path: Path, threads: int) -> bool:
        taken, _ = self._with(path, threads)
        fits = self.problem.whole(taken) <= self.problem.memory
        return fits and path.worker_bytes <= _each(self.problem)

    def _with(self, path: Path, threads: int) -> tuple[int, float]:
        """Return bytes and seconds of a path of one thread, shared by so many."""
        one, many = (self._priced(count, path) for count in (1, threads))
        if threads == 1 or one is None or many is None:
            return path.bytes, path.seconds
        idle = BLAS_EACH * (self.all - threads)  # BLAS does not take fewer where lanes do
        more = max(0, many.bytes - one.bytes) + int(idle)
        share = many.seconds / one.seconds if one.seconds else 1.0
        return path.bytes + more, share * path.seconds

    def _priced(self, threads: int, path: Path) -> Path | None:
        key = threads, path.products
        if key not in self.priced:
            asked = dataclasses.replace(self.problem, itemsize=path.products)
            self.priced[key] = _candidates(_with_threads(asked, threads))
        for found in self.priced[key]:
            if found.name == path.name:
                return found
        return None


def _candidates(problem: Problem) -> list[Path]:
    """Return the paths of the kind of problem this is."""
    if problem.inverse:
        return inverse_paths(problem)
    if problem.graph is not None:
        return graph_candidates(problem)
    return candidates(problem) if problem.kernel is None else kernel_candidates(problem)


def _fits(path: Path, problem: Problem) -> bool:
    fits = problem.whole(path.bytes) <= problem.memory
    return fits and path.worker_bytes <= _each(problem)


def _each(problem: Problem) -> float:
    """Return the bytes that a worker may take."""
    return (problem.workers or Workers()).memory


def _best(fits: list[Path], problem: Problem) -> Path:
    if "stored" in [path.name for path in fits]:  # no use in making tiles again
        fits = [path for path in fits if path.name != "tiles"]
    quickest = min(fits, key=lambda path: path.seconds)
    # A matrix of float32 products misses many a tolerance, and is then made again.
    direct = [p for p in fits if p.digits != "tol" and p.products == 8]
    plain = problem.kernel is None and problem.graph is None and not problem.inverse
    others = [p for p in fits if p.name == "krylov"]
    if plain and problem.nnz is not None and others:
        direct = [p for p in direct if p.seconds <= _SPARSE * others[0].seconds]
        quickest = min([*direct, *others], key=lambda path: path.seconds)
    direct = [p for p in direct if p.seconds <= _PREFER * quickest.seconds]
    return min(direct, key=lambda path: path.seconds) if direct else quickest


def _with_fallbacks(best: Path, paths: list[Path], problem: Problem) -> Path:
    """Chain the paths that give more digits behind the chosen one, where they fit."""
    if problem.inverse:
        return best
    if problem.graph is not None:
        return graph_fallbacks(best, paths, problem)
    if problem.kernel is not None:
        return kernel_fallbacks(best, paths, problem)
    order = ["sketch", "krylov", "gram", "dual", "svd"]
    wide = _in_float64(paths, problem)
    if best.name == "krylov":
        wide = [settled(p, problem) for p in wide]
    later = [p for p in wide if order.index(p.name) > order.index(best.name)]
    later = [p for p in later if _fits(p, problem)]
    later = [p for p in later if best.passes + p.passes <= problem.max_passes]
    if problem.time is not None:
        later = [p for p in later if best.seconds + p.seconds <= problem.time]
    if best.name == "krylov":
        direct = [p for p in later if p.name in ("gram", "dual")]
        later = direct[:1] + [p for p in later if p.name == "svd"]
    if best.name in ("gram", "dual"):
        later = [p for p in later if p.name == "svd"]
    if best.name == "krylov" and later:  # not longer than the direct path would take
        worth = later[0].seconds * best.passes / best.seconds
        # Rows that are read again for every pass are not walked twice as often as foreseen.
        least = best.passes + 2 if problem.block_bytes else 2 * best.passes
        assert isinstance(best.solver, BlockKrylov)
        best = best.within(max(least, min(best.solver.max_passes, int(worth))), worth)
    chain: Path | None = None
    for path in reversed(later):
        chain = dataclasses.replace(path, then=chain)
    if best.name in ("gram", "dual", "krylov") and best.products == 4:
        held = next(path.bytes for path in wide if path.name == best.name)
        again = dataclasses.replace(best, products=8, bytes=held, then=chain)
        again = dataclasses.replace(again, note="float64 products")
        twice = 2 * best.passes <= problem.max_passes and _fits(again, problem)
        chain = again if problem.time is None and twice else chain
    return dataclasses.replace(best, then=chain)


def _in_float64(paths: list[Path], problem: Problem) -> list[Path]:
    """Return the paths as they follow another: with float64 products, which take more."""
    if all(path.products == 8 for path in paths):
        return paths
    wide = {path.name: path for path in _candidates(dataclasses.replace(problem, itemsize=8))}
    return [
        dataclasses.replace(path, products=8, bytes=max(path.bytes, wide[path.name].bytes))
        for path in paths
    ]


def _hurry(path: Path, fits: list[Path], time: float) -> tuple[Path, str]:
    text = f"{path.seconds:.2g} s are foreseen where {time:g} s are allowed"
    bounded = [p for p in fits if p.digits == "bound"]
    if bounded and path not in bounded:
        kept = "leading directions" if bounded[0].name == "sketch" else "landmarks"
        return bounded[0], f"time: {text}; {kept} are taken and may miss tol"
    if path.name == "krylov":
        passes = max(3, int(path.passes * time / path.seconds))
        path = path.with_passes(min(passes, path.passes))
    return path, f"time: {text}; the quickest path is taken and may miss tol"


def _reason(path: Path, best: Path, problem: Problem) -> str:
    if problem.whole(path.bytes) > problem.memory:
        return f"needs more than the {show_bytes(problem.memory)} allowed"
    if path.passes > problem.max_passes:
        return f"the rows can be read only {_times(problem.max_passes)}"
    if path.worker_bytes > _each(problem):
        return f"needs {show_bytes(path.worker_bytes)} of a worker"
    if path.digits == "bound":
        return "cannot promise tol"
    if best.digits == "bound" and problem.time is not None:
        return f"slower, {path.seconds:.2g} s where {problem.time:g} s are allowed"
    if path.name == "tiles" and best.name == "stored":
        return "the matrix fits, and is made once"
    if path.seconds > best.seconds:
        return _SLOWER
    return "fewer digits for little time" if best.digits == "all" else "not exact"


def _refusal(problem: Problem, paths: list[Path]) -> BudgetError:
    possible = [path for path in paths if path.passes <= problem.max_passes]
    if not possible:
        raise InputError(
            "the rows cannot be read as often as every path needs",
            got=f"{_times(problem.max_passes)}; {paths[0].name} makes {paths[0].passes} passes",
            fix="write the rows to a file, or pass a function that makes the iterator anew",
        )
    if all(path.worker_bytes > _each(problem) for path in possible):
        return refused_workers(problem, possible)
    least = min(possible, key=lambda path: path.bytes)
    # Blocks grow with the memory, to a 24th of it: twelve of them are half.
    beside = problem.held + least.bytes if problem.block_bytes else 0.0
    grown = dataclasses.replace(problem, before=(1.4 if beside else 1.0) * problem.before)
    enough = 1.05 * grown.whole(least.bytes + beside)
    fix = f'allow memory="{show_bytes(enough)}"'
    if problem.components > 16:
        fix += ", or ask for fewer components"
    return BudgetError(
        "no path fits the memory allowed; the fit was not begun",
        got=f"{show_bytes(problem.memory)} allowed;"
        f" {least.name} needs {show_bytes(problem.whole(least.bytes))}"
        f" for {problem.components:,} components of {_size(problem)}",
        fix=fix,
    )


def _size(problem: Problem) -> str:
    """Return rows and columns; rows that nobody has counted yet are about so many."""
    return f"{'' if problem.counted else 'about '}{problem.rows:,} x {problem.cols:,}"


def _times(number: float) -> str:
    return "once" if number == 1 else f"{number:g} times"
