"""Processors: on which of them threads begin."""

import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

_PROCESSOR = 36  # field of /proc/…/stat after the name: the processor last run on


def move_apart(threads: Iterable[threading.Thread]) -> None:
    """Move threads that have just begun off the processor of the calling thread.

    Some kernels begin a thread on the processor of the one that starts it, and spread the two
    only milliseconds later: a short pass is over by then. The move binds nothing: threads may
    run afterwards where they could before. Elsewhere than on Linux, or where this is not
    allowed, nothing happens.
    """
    if sys.platform != "linux":
        return
    try:
        allowed = os.sched_getaffinity(0)
        others = allowed - {_processor()}
        for thread in threads if others else ():
            if thread.native_id is not None:
                os.sched_setaffinity(thread.native_id, others)
                os.sched_setaffinity(thread.native_id, allowed)
    except (OSError, ValueError, IndexError):
        return  # a thread has ended, or where it begins is the kernel's choice alone


def _processor() -> int:
    """Return the processor on which the calling thread runs."""
    told = Path("/proc/thread-self/stat").read_bytes()
    return int(told.rpartition(b")")[2].split()[_PROCESSOR])  # any name stands in brackets
