"""Ctrl-C in a fit that is followed by a callback and a bar: quick, clean, nothing changed."""

import signal
import subprocess
import sys
import time

import pytest

PROGRAM = """
import numpy as np, mercer

class Follower:
    words = []
    def setup(self, estimator, context): self.words.append("setup")
    def teardown(self, estimator, context): self.words.append("teardown")
    def on_fit_task_begin(self, estimator, context): pass
    def on_fit_task_end(self, estimator, context): pass

rng = np.random.default_rng(0)
model = mercer.KernelPCA(3).fit(rng.standard_normal((50, 4))).set_callbacks(Follower())
old = dict(vars(model))
X = rng.standard_normal((9000, 300))
print("ready", flush=True)
try:
    with mercer.progress(force=True):
        model.fit(X)
    print("finished", flush=True)
except KeyboardInterrupt:
    same = vars(model).keys() == old.keys() and all(vars(model)[k] is old[k] for k in old)
    print("untouched" if same else "touched", *Follower.words, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_ctrl_c():
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout.readline().strip() == "ready"
            time.sleep(0.5)
            start = time.perf_counter()
            process.send_signal(signal.SIGINT)
            words = process.stdout.readline().split()
            reacted = time.perf_counter() - start
            process.wait(timeout=60)
        finally:
            process.kill()
        errors = process.stderr.read()
    assert words == ["untouched", "setup", "teardown"], errors
    assert reacted <= 2.0
    assert process.returncode == 0
    assert "kernel matrix" in errors
