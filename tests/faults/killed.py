"""Fits that are killed again and again: a program that forks, kills and compares.

python killed.py FOLDER SEED KILLS writes one line of JSON. Libraries are imported once; each
attempt is a fork, killed with SIGKILL at a random moment. The folders numerics and sources
beside this one must be on Python's path.
"""

import hashlib
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse
from forced import FORCED, gapped
from pieces import Pieces, in_blocks

import mercer

NAP = 0.001
CASES = {  # path, rows, columns, rows of a block, weighted, kind
    "gram": ("gram", 240, 12, 10, False, "dense"),
    "gram sparse": ("gram", 200, 12, 10, True, "sparse"),
    "krylov": ("krylov", 160, 24, 20, True, "dense"),
    "svd": ("svd", 160, 10, 10, True, "dense"),
    "dual": ("dual", 36, 50, 3, False, "dense"),
    "krylov sparse": ("krylov", 150, 30, 30, False, "sparse"),
    "krylov float32": ("krylov", 160, 24, 20, False, "float32"),
}


def rows(name):
    _, n, p, _, _, kind = CASES[name]
    X = gapped(n, p, 1) + 20
    X = X.astype(np.float32) if kind == "float32" else X
    return scipy.sparse.csr_array(np.where(X > 20, X, 0)) if kind == "sparse" else X


def fitted(name, checkpoint=None, nap=0.0):
    """Return the model and the rows that were read for it."""
    path, n, _, block, weighted, kind = CASES[name]
    source = Pieces(rows(name), block, nap=nap)
    weights = np.arange(n) % 3 + 1.0 if weighted else None
    kept = None if checkpoint is None else mercer.Checkpoint(checkpoint, every=0)
    model = in_blocks(FORCED[path], block)(2, tol=1e-9 if kind != "float32" else 1e-3)
    return model.fit(source, sample_weight=weights, checkpoint=kept), sum(source.begun)


def bits(model):
    """Return a digest of everything that was learned."""
    c = model.certificate_
    arrays = [model.components_, model.explained_variance_, model.mean_]
    arrays += [model.explained_variance_ratio_, c.lower, c.upper, c.residual]
    arrays += [np.array([model.noise_variance_, model.n_samples_, model.rank_])]
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def attempt(name, checkpoint, told):
    """Fork a fit; return the number of the process."""
    child = os.fork()
    if child:
        return child
    try:
        model, read = fitted(name, checkpoint, NAP)
        half = told.with_name(f"half-{told.name}")  # a kill may come while it is written
        half.write_text(json.dumps([bits(model), read]))
        half.replace(told)
        os._exit(0)
    except BaseException as error:
        sys.stderr.write(f"{name}: {error!r}\n")
        os._exit(1)


def lasting(name, folder):
    """Return the seconds of an undisturbed fit with a checkpoint, and the rows it reads."""
    start = time.perf_counter()
    told = folder / "told"
    _, status = os.waitpid(attempt(name, folder / "timed.mercer", told), 0)
    assert status == 0
    seconds = time.perf_counter() - start
    (folder / "timed.mercer").unlink()
    return seconds, json.loads(told.read_text())[1]


def main(folder, seed, kills):
    os.fsync = lambda _: None  # a kill, unlike a power cut, loses nothing that was written
    draw = random.Random(seed)
    found = dict.fromkeys(CASES, 0)
    ends = spared = total = 0
    truth, known = {}, {}
    while sum(found.values()) < kills:
        name = list(CASES)[ends % len(CASES)]
        if name not in truth:
            truth[name], known[name] = bits(fitted(name)[0]), lasting(name, folder)
        seconds, whole = known[name]
        checkpoint, told = folder / f"{ends}.mercer", folder / f"{ends}.json"
        restarts = 0
        while not told.exists():
            child = attempt(name, checkpoint, told)
            time.sleep(draw.uniform(0, 1.1 * seconds))
            done, status = os.waitpid(child, os.WNOHANG)
            if not done:
                os.kill(child, signal.SIGKILL)
                _, status = os.waitpid(child, 0)
                killed = os.WIFSIGNALED(status)
                found[name] += killed
                restarts += killed
            assert os.WIFSIGNALED(status) or status == 0, name
        digest, read = json.loads(told.read_text())
        assert digest == truth[name], f"{name} after {restarts} kills: other bits"
        ends, spared, total = ends + 1, spared + max(whole - read, 0), total + whole
        checkpoint.unlink()
        assert sorted(p.suffix for p in folder.iterdir() if p.suffix != ".json") == [""]
    sys.stdout.write(json.dumps({"kills": found, "fits": ends, "spared": spared / total}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
