"""Peak anonymous memory of one fit, measured in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SLOW = pytest.mark.slow
TESTS = Path(__file__).resolve().parents[1]
PROGRAM = """
import json, re, sys, threading, time, warnings
sys.path[:0] = [{tests!r} + "/" + place for place in ("numerics", "sources")]
warnings.simplefilter("ignore")
import numpy as np

def anonymous():
    with open("/proc/self/status") as status:
        return int(re.search(r"RssAnon:\\s+(\\d+) kB", status.read())[1]) * 1024

rng = np.random.default_rng(0)
{setup}
# Libraries, thread stacks and BLAS buffers are there before the measurement begins.
big = rng.standard_normal((700, 700))
np.linalg.eigh(big @ big.T)
del big
peak, stop = [0], threading.Event()

def watch():
    while not stop.is_set():
        peak[0] = max(peak[0], anonymous())
        time.sleep(0.001)

before = anonymous()
watcher = threading.Thread(target=watch, daemon=True)
watcher.start()
start = time.perf_counter()
{fit}
seconds = time.perf_counter() - start
stop.set()
watcher.join()
rest = anonymous() - before
path, most = model.plan_.chosen, 0
while path is not None:  # what float32 does not settle may have to be made again in float64
    path, most = path.then, max(most, path.bytes)
chosen = model.plan_.chosen
print(json.dumps(dict(
    peak=peak[0] - before, rest=rest, seconds=seconds, path=chosen.name, chosen=chosen.bytes,
    most=most, whole=model.plan_.bytes, foreseen=chosen.seconds, passes=chosen.passes,
    met=bool(model.certificate_.met), {told}
)))
"""


def measured(setup, *, fit="model.fit(X)", told="data=X.nbytes", **values):
    """Return the measurements of one fit: `setup` makes `model` and `X` of these values."""
    text = PROGRAM.format(tests=str(TESTS), setup=setup.format(**values), fit=fit, told=told)
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def each_peak(cases, ordinary):
    """Return marks for a test of every case on Linux; those that are not ordinary are slow."""
    names = [name if name in ordinary else pytest.param(name, marks=SLOW) for name in cases]
    linux = pytest.mark.skipif(sys.platform != "linux", reason="RssAnon is Linux's")
    return lambda test: linux(pytest.mark.parametrize("name", names)(test))
