"""The cost model of a cluster, with the constants of this machine.

``python -m benchmarks cluster --case forecast``
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.scale import Cell

_PART = 128e6  # bytes of a part
_THREADS, _MEMORY, _NETWORK = 4, 12.8e9, 1.25e9  # of a worker; 10 Gbit/s
_TASKS, _SENT = 400, 64_000_000


def forecast() -> Cell:
    """10⁹ rows of 100 and of 2,000 columns on 16 and 64 workers, as the plan sees them."""
    from benchmarks.cluster import two_workers
    from mercer.arrays import rates
    from mercer.planning import Machine

    start = time.perf_counter()
    machine = Machine.of(rates(1))
    with two_workers() as client:
        task, network = task_seconds(), network_rate(client)
    cells = [
        foreseen(10**9, columns, workers, machine)
        for columns in (100, 2_000)
        for workers in (16, 64)
    ]
    return {
        "seconds": time.perf_counter() - start,
        "task_seconds": task,
        "network_bytes_per_second": network,
        "symmetric_gflops": [rate / 1e9 for rate in machine.symmetric],
        "thin_gflops": [rate / 1e9 for rate in machine.thin],
        "assumed": {
            "threads_of_a_worker": _THREADS,
            "memory_of_a_worker": _MEMORY,
            "network_bytes_per_second": _NETWORK,
            "read_bytes_per_second_of_a_thread": 5e8,
            "part_bytes": _PART,
        },
        "forecasts": cells,
        "holds": bool(task <= 3e-3),
        "target": "a task costs 3 ms or less, where the plan says 1",
    }


def foreseen(rows: int, columns: int, workers: int, machine: Any) -> Cell:
    """Return the plan of one table on so many workers, as numbers."""
    from mercer.planning import Problem, Workers, plan

    size = 8.0 * rows * columns
    made = plan(
        Problem(
            rows=rows,
            cols=columns,
            components=20,
            itemsize=8,
            memory=16 * 10**9,
            threads=_THREADS,
            machine=machine,
            block_bytes=_PART,
            read_seconds=size / 5e8,
            parts=int(size // _PART),
            workers=Workers(
                count=workers,
                threads=workers * _THREADS,
                most=_THREADS,
                memory=_MEMORY,
                network=_NETWORK,
                local=False,
            ),
        )
    )
    paths = [made.chosen, *(path for path, _ in made.rejected)]
    return {
        "rows": rows,
        "columns": columns,
        "workers": workers,
        "parts": made.problem.parts,
        "paths": [
            {
                "path": path.name,
                "chosen": path is made.chosen,
                "passes": path.passes,
                "seconds": path.seconds,
                "worker_bytes": path.worker_bytes,
                "network_bytes_a_pass": path.network,
                "client_bytes": path.bytes,
            }
            for path in paths
        ],
    }


def block(result: Cell) -> list[str]:
    """Return the lines of the table of forecasts, from a result file."""
    from mercer.arrays import show_bytes

    cell = next((c for c in result["cells"] if c["case"] == "forecast"), {})
    lines = [
        "| columns | workers | parts | path | passes | time | memory of a worker |"
        " network a pass |",
        "|--:|--:|--:|---|--:|--:|--:|--:|",
    ]
    for each in cell.get("forecasts", ()):
        for path in each["paths"]:
            name = f"**{path['path']}**" if path["chosen"] else path["path"]
            lines.append(
                f"| {each['columns']:,} | {each['workers']} | {each['parts']:,} | {name}"
                f" | {path['passes']} | {_time(path['seconds'])}"
                f" | {show_bytes(path['worker_bytes'])}"
                f" | {show_bytes(path['network_bytes_a_pass'])} |"
            )
    if cell:
        gram, thin = cell["symmetric_gflops"][1], cell["thin_gflops"][1]
        lines += [
            "",
            f"Measured on one thread: {gram:.0f} GF/s of symmetric products, {thin:.0f} GF/s of"
            f" thin ones; {1e3 * cell['task_seconds']:.2g} ms a task;"
            f" {cell['network_bytes_per_second'] / 1e9:.2g} GB/s from one worker process to"
            " another of the same machine.",
        ]
    return lines


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"


def task_seconds() -> float:
    """Return what one task costs beyond its work, from a tree of parts without rows."""
    import dask

    from mercer.sources.parts._dask_graph import run_tree

    chunks = [[[dask.delayed(number)]] for number in range(_TASKS)]
    run_tree(_Nothing(), chunks[:8], None, None, "warm")
    start = time.perf_counter()
    run_tree(_Nothing(), chunks, None, None, "tasks")
    return (time.perf_counter() - start) / (_TASKS * 4 / 3)


class _Nothing:
    def part(self, number: int, first: int | None, chunks: Any, weights: Any) -> int:
        return 1

    def merge(self, one: int, other: int) -> int:
        return one + other


def network_rate(client: Any) -> float:
    """Return the bytes per second from one worker to another."""
    one, other = sorted(client.ncores())
    taken = []
    for seed in range(3):
        there = client.submit(_numbers, seed, workers=[one], pure=False)
        client.gather(client.submit(len, there, workers=[one], pure=False))
        start = time.perf_counter()
        client.gather(client.submit(len, there, workers=[other], pure=False))
        taken.append(time.perf_counter() - start)
    return _SENT / min(taken)


def _numbers(seed: int) -> Any:
    return np.full(_SENT // 8, float(seed))
