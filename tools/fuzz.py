"""Everything on everything: each method, on each kind of input, asked for all that it can do.

    ./run test-fuzz [--seed S] [--count N]       N cases (20,000), drawn from a seed (0)
    ./run test-fuzz [--method M] [--kind K]      of a method, of a kind of input
    ./run test-fuzz --case METHOD/KIND/NUMBER    one of them again

Prints what is wrong, each with the command that shows it again; exits 1 where anything is.
tests/fuzz says what is tried and what is right.
"""

import argparse
import signal
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path[:0] = [str(TESTS / "fuzz"), str(TESTS / "numerics")]

from fuzzed_case import drawn, run  # noqa: E402

_EVERY = 500  # cases, after which it is said how far this is
_SECONDS = 60  # after which a case is one that does not end


def _endless(*_: object) -> None:
    raise TimeoutError(f"no end after {_SECONDS} s")


def main(args: list[str]) -> int:
    """Run the cases, print what they find, and return the exit code."""
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("test-fuzz", description=__doc__, formatter_class=shown)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=20_000)
    for name in ("--case", "--method", "--kind"):
        parser.add_argument(name, default="")
    asked = parser.parse_args(args)
    names = drawn(asked.seed, asked.count, asked.method, asked.kind)
    names = [asked.case] if asked.case else names
    start, findings = time.perf_counter(), 0
    signal.signal(signal.SIGALRM, _endless)
    for number, name in enumerate(names, 1):
        signal.alarm(_SECONDS)
        for finding in run(name):
            findings += 1
            print(f"{finding}\n    ./run test-fuzz --case {name!r}", flush=True)
        if number % _EVERY == 0:
            took = time.perf_counter() - start
            print(f"{number:,} of {len(names):,} cases, {took:.0f} s", file=sys.stderr)
    print(f"{len(names):,} cases, {findings:,} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
