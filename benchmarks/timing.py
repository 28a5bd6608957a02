"""Seconds of several rivals on the same data, interleaved in one process."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median

from benchmarks.rivals import Fit

# (a first fit shorter than this many seconds, is run this many times)
REPEATS = ((1.0, 7), (10.0, 3), (float("inf"), 1))
# Thread pools spin after their last task, OpenBLAS's for 2^28 cycles, 0.11 s at 2.6 GHz: a
# rival that began before they sleep would have half of the machine.
PAUSE_SECONDS = 0.12


@dataclass
class Timed:
    """Times of one rival, its last fit, or why it failed."""

    seconds: list[float] = field(default_factory=list)
    fit: Fit | None = None
    failed: str | None = None

    @property
    def rounds(self) -> int:
        """How many times to run, judged by the first time."""
        first = self.seconds[0] if self.seconds else 0.0
        return next(count for below, count in REPEATS if first < below)

    @property
    def median(self) -> float | None:
        """Median of the repeats."""
        return median(self.seconds) if self.seconds else None


def interleaved(
    fits: Mapping[str, Callable[[], Fit]], *, once: bool = False
) -> dict[str, Timed]:
    """Run every fit once, then every fit again in reverse order, and so on.

    A fit under 1 s runs seven times, one under 10 s three times, a longer one once: its
    noise is small beside it. Interleaving
    spreads a slow spell of the machine over all rivals; turning the order round spreads the
    state of the caches.
    """
    timed = {name: Timed() for name in fits}
    order = list(fits)
    for turn in range(1 if once else REPEATS[0][1]):
        for name in order if turn % 2 == 0 else reversed(order):
            record = timed[name]
            if record.failed or turn >= record.rounds:
                continue
            gc.collect()
            time.sleep(PAUSE_SECONDS)
            start = time.perf_counter()
            try:
                record.fit = fits[name]()
            except Exception as error:  # a rival that fails is a result, not an end
                record.failed = f"{type(error).__name__}: {str(error).splitlines()[0]}"
                continue
            record.seconds.append(time.perf_counter() - start)
    return timed
