"""Peak anonymous memory of one fit, measured in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

NUMERICS = Path(__file__).resolve().parents[1] / "numerics"

PROGRAM = """
import json, re, sys, threading, time, warnings
sys.path.insert(0, {numerics!r})
warnings.simplefilter("ignore")
import numpy as np
from forced import FORCED, scattered

def anonymous():
    with open("/proc/self/status") as status:
        return int(re.search(r"RssAnon:\\s+(\\d+) kB", status.read())[1]) * 1024

rng = np.random.default_rng(0)
if {density} is None:
    X = rng.standard_normal({shape}, dtype=np.{dtype})
    X *= {decay} ** np.arange(X.shape[1], dtype=X.dtype)
    X += {offset}
    size = X.nbytes
else:
    X = scattered(*{shape}, {density}, 0, np.{dtype})
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
# Libraries, thread stacks and BLAS buffers are there before the measurement begins.
for path in ("svd", "gram", "krylov"):
    FORCED[path](2).fit(rng.standard_normal((600, 120)))
FORCED["dual"](2).fit(rng.standard_normal((120, 600)))
big = rng.standard_normal((700, 700))
np.linalg.eigh(big @ big.T)
del big
model = FORCED[{path!r}]({k}, **{options})
peak, stop = [0], threading.Event()

def watch():
    while not stop.is_set():
        peak[0] = max(peak[0], anonymous())
        time.sleep(0.001)

before = anonymous()
watcher = threading.Thread(target=watch)
watcher.start()
start = time.perf_counter()
model.fit(X)
seconds = time.perf_counter() - start
stop.set()
watcher.join()
print(json.dumps(dict(
    peak=peak[0] - before, data=size, path=model.plan_.chosen.name, seconds=seconds,
    bytes=model.plan_.chosen.bytes, foreseen=model.plan_.chosen.seconds,
    met=bool(model.certificate_.met), rest=anonymous() - before,
)))
"""


def measure(
    path, shape, k, *, dtype="float64", density=None, offset=0, decay=0.98, options=None
):
    """Return the measurements of one fit of random data."""
    text = PROGRAM.format(
        numerics=str(NUMERICS), path=path, shape=shape, k=k, dtype=dtype, density=density,
        offset=offset, decay=decay, options=options or {},
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
