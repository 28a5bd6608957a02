"""The test suite as other processors would run it: OpenBLAS takes the loops of another core.

    ./run test-cores [ARGS]           every core, with 1 and 2 threads; ARGS go to pytest
    ./run test-cores --other [ARGS]   quick tests of the numerical rooms, under one other core

Results differ between processors by rounding only, but a rank, a tie or a constant column may
be judged by rounding. Prints a line for every run; exits 1 when one fails. Cores that this
machine cannot run are left out, and said.
"""

import os
import re
import subprocess
import sys
import time

CORES = ("Prescott", "Nehalem", "Haswell", "Zen", "SkylakeX")
THREADS = (1, 2)
# Where rounding decides, without the sweeps: some 50 s on two cores.
QUICK = (
    "tests/solvers",
    *(
        f"tests/numerics/test_{name}.py"
        for name in (
            "any_table",
            "ca_identities",
            "degenerate",
            "kernel_degenerate",
            "kernel_identities",
            "kernel_shift",
            "kernel_weights_everywhere",
            "landmark_laws",
            "metamorphic",
            "same_numbers",
            "shift",
            "streams",
            "two_surveys",
            "weights_everywhere",
        )
    ),
    "tests/estimators/test_probabilistic_pca.py",
    "tests/estimators/test_multiple_correspondence.py",
)
FEWEST = ("Katmai", "Prescott", "Banias", "Coppermine", "Northwood")  # those with SSE3 or less
PROBE = """
import numpy as np, threadpoolctl
a = np.random.default_rng(0).standard_normal((200, 200))
np.linalg.eigh(a @ a.T)
print(*{one.get("architecture") for one in threadpoolctl.threadpool_info()})
"""


def main(args: list[str]) -> int:
    """Run the suite under every core, or quick tests under another; return the exit code."""
    if args[:1] == ["--other"]:
        own = loops_of(None)
        if own is None:
            print("the linear algebra here is not OpenBLAS: there is one kind of core")
            return 0
        core = "Nehalem" if own in FEWEST else "Prescott"
        return run(core, 2, [*QUICK, *args[1:]])
    broken = 0
    for core in CORES:
        if loops_of(core) is None:
            print(f"{core:<9} left out: this machine cannot run it", flush=True)
            continue
        for threads in THREADS:
            broken |= run(core, threads, args)
    return broken


def loops_of(core: str | None) -> str | None:
    """Return the loops that OpenBLAS takes for a core (None: its own choice), if it runs."""
    env = os.environ | ({} if core is None else {"OPENBLAS_CORETYPE": core})
    done = subprocess.run(
        [sys.executable, "-c", PROBE], env=env, capture_output=True, text=True, check=False
    )
    found = done.stdout.split()
    return found[0] if done.returncode == 0 and found and found != ["None"] else None


def run(core: str, threads: int, args: list[str]) -> int:
    """Run pytest under one core, print a line and what failed; return 0 or 1."""
    count = str(threads)
    env = os.environ | {
        "OPENBLAS_CORETYPE": core,
        "OPENBLAS_NUM_THREADS": count,
        "OMP_NUM_THREADS": count,
    }
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider"]
    command += ["-n", "2", "--timeout", "300", "-m", "not slow and not browser", *args]
    start = time.monotonic()
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines() or done.stderr.strip().splitlines() or ["nothing"]
    said = re.sub(r" in [\d.]+s.*|=", "", lines[-1]).strip()
    words = "thread" if threads == 1 else "threads"
    seconds = time.monotonic() - start
    print(f"{core:<9} {threads} {words:<8} {said}, {seconds:.0f} s", flush=True)
    if done.returncode:
        print(*(line for line in lines if line.startswith(("FAILED", "ERROR"))), sep="\n")
    return int(done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
