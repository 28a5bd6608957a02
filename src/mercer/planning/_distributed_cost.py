"""What a path costs where rows lie in parts: on every worker, over the network, and here."""

import dataclasses
import math
from typing import TYPE_CHECKING

from mercer.arrays import show_bytes
from mercer.errors import BudgetError
from mercer.planning._problem import Problem, Workers
from mercer.solvers import BlockKrylov

if TYPE_CHECKING:
    from mercer.planning._principal_paths import Path

ARITY = 4  # results that one task merges
_READING = 2.5  # parts in memory while one is made or read: itself, and what it is made from
_JOINED = 64e6  # bytes up to which small neighbours may be one part, however they are cut
_BLOCK = 16e6  # bytes of the blocks in which a part is walked
_PROCESS = 220e6  # bytes of a worker process before it has done anything, libraries included
_TASK = 1e-3  # seconds that a scheduler and a worker spend on one task
_FEATURES = 4096  # rows whose landmark features are made at a time
_SPACE = 32e6  # bytes that BLAS and the allocator keep for each thread


def spread(path: "Path", p: Problem) -> "Path":
    """Return a path of rows in memory, priced for one thread, as one of rows in parts.

    A pass: every thread reads a part and works on it; results of R bytes are merged four at
    a time where they lie, and one comes back. With t threads in w workers and m parts

        seconds = passes · ((work + read)/t + network + tasks) + what is done here
        network = (4/3)·m·R·min(3/4, 1 - 1/w) + w·Q   bytes a pass
        worker  = process + data held + threads·(2.5·part + blocks) + (5 + log₄ m)·R   bytes

    Q are the bytes of the columns that every worker multiplies with.
    """
    workers = p.workers or Workers()
    result, columns, block = _sizes(path, p)
    share = 0.0 if workers.local else min(0.75, 1 - 1 / workers.count)
    levels = math.ceil(math.log(max(2, p.parts), ARITY))
    per_thread = _READING * p.block_bytes + min(_BLOCK, p.block_bytes) + block + _SPACE
    worker = workers.most * per_thread + (ARITY + 1 + levels) * result + 2 * columns
    network = 4 / 3 * p.parts * result * share
    network += 0.0 if workers.local else workers.count * columns
    busy = min(workers.threads, max(1, p.parts))
    each = ((path.seconds - path.alone) / path.passes + p.read_seconds) / busy
    each += 4 / 3 * p.parts * _TASK / (workers.threads if workers.local else 1)
    if not workers.local:
        each += network / (workers.count * workers.network)
        each += (result + columns) / workers.network
    held = path.bytes + result + _wide_side(path, p)
    return dataclasses.replace(
        path,
        bytes=int(held + (worker if workers.local else 0)),
        worker_bytes=0 if workers.local else int(_PROCESS + workers.held + worker),
        network=int(network),
        seconds=path.passes * each + path.alone / p.threads,
    )


def _sizes(path: "Path", p: Problem) -> tuple[float, float, float]:
    """Return the bytes of one result, of the columns sent out, and of a thread's own sums."""
    m = float(p.cols)
    if p.kernel is not None and p.kernel.landmarks is not None:
        k, few = float(p.kernel.landmarks), float(p.kernel.sampled)
        chosen = 16 * few * k + 8 * (ARITY + 1) * few * m  # one task has samples, and F of all
        return 8 * k * k, 8 * k * (k + m), max(8 * k * (2 * k + 3 * _FEATURES), chosen)
    if isinstance(path.solver, BlockKrylov) and path.name == "krylov":
        columns = 8 * m * path.solver.block
        return columns, columns, 3 * columns
    if path.name == "svd":  # a triangle, and two of them being made one
        return 8 * m * m, 0.0, 8 * m * (3 * max(256, 2 * m) + 4 * m)
    return 8 * m * m, 0.0, (8 + path.products) * m * m


def _wide_side(path: "Path", p: Problem) -> float:
    """Return what an iteration on the columns takes beyond one on fewer rows."""
    if not isinstance(path.solver, BlockKrylov) or path.name != "krylov":
        return 0.0
    return 8.0 * max(0, p.cols - p.rows) * path.solver.max_basis


def workers_line(path: "Path", p: Problem) -> str:
    """Return what a plan says of the workers."""
    workers = p.workers or Workers()
    parts = f"{_several(p.parts, 'part')} of {_size(p)}"
    if workers.local:
        kind = "process" if workers.processes else "thread"
        place = "machine" if workers.processes else "process"
        return f"{_several(workers.threads, kind)} of this {place}; {parts}"
    allowed = (
        "no limit" if math.isinf(workers.memory) else f"{show_bytes(workers.memory)} allowed"
    )
    return (
        f"{_several(workers.count, 'worker')} x {_several(workers.most, 'thread')},"
        f" {show_bytes(path.worker_bytes)} each at most"
        f" ({allowed}); {show_bytes(path.network)} over the network a pass; {parts}"
    )


def _size(p: Problem) -> str:
    """Return how large a part is, or what it is taken as where that is not known."""
    taken = show_bytes(p.block_bytes)
    if p.sized:
        return taken
    if p.nnz is None:
        return f"a size that is not known, taken as {taken}"
    share = 100 * p.nnz / max(1, p.rows * p.cols)
    return f"a size that is not known, taken as {taken} with {share:.2g} % of the cells stored"


def _several(count: int, noun: str) -> str:
    ending = "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}" + ("" if count == 1 else ending)


def refused_workers(p: Problem, paths: "list[Path]") -> BudgetError:
    """Return the error that no path fits a worker: what would."""
    assert p.workers is not None
    least = min(paths, key=lambda path: path.worker_bytes)
    spare = p.workers.memory - (least.worker_bytes - _READING * p.workers.most * p.block_bytes)
    row = p.block_bytes * p.parts / max(1, p.rows)
    rows = int(spare / (_READING * p.workers.most * max(row, 1e-9)))
    fix = f'start workers with memory_limit="{show_bytes(1.3 * least.worker_bytes)}"'
    if not p.sized and p.nnz is None:
        count = "X.compute_chunk_sizes(), of a frame X.to_dask_array(lengths=True)"
        fix = f"have the rows counted, {count}, or {fix}"
    elif rows >= 1 and (p.block_bytes > _JOINED or rows * row >= _JOINED):
        fix = f"cut the rows into parts of at most {rows:,} rows (X.rechunk), or {fix}"
    return BudgetError(
        "no path fits the memory of a worker; nothing was started",
        got=f"{show_bytes(p.workers.memory)} allowed a worker; {least.name} needs"
        f" {show_bytes(least.worker_bytes)} for parts of {_size(p)}",
        fix=fix,
    )
