"""Seconds of several rivals on the same data, interleaved in one process."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median

from benchmarks.rivals import Fit

REPEATS = 3
LONG_SECONDS = 10.0
# Thread pools spin for a while after their last task; let them go to sleep.
PAUSE_SECONDS = 0.1


@dataclass
class Timed:
    """Times of one rival, its last fit, or why it failed."""

    seconds: list[float] = field(default_factory=list)
    fit: Fit | None = None
    failed: str | None = None

    @property
    def median(self) -> float | None:
        """Median of the repeats."""
        return median(self.seconds) if self.seconds else None


def interleaved(
    fits: Mapping[str, Callable[[], Fit]], *, repeats: int = REPEATS
) -> dict[str, Timed]:
    """Run every fit once, then every fit again in reverse order, `repeats` rounds in all.

    A fit that took 10 s or more is not repeated: its noise is small beside it. Interleaving
    spreads a slow spell of the machine over all rivals; turning the order round spreads the
    state of the caches.
    """
    timed = {name: Timed() for name in fits}
    order = list(fits)
    for turn in range(repeats):
        for name in order if turn % 2 == 0 else reversed(order):
            record = timed[name]
            if record.failed or (record.seconds and record.seconds[0] >= LONG_SECONDS):
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
