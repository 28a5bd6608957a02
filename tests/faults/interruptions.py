"""Errors at any call of the package, Ctrl-C in a process of its own, and what stays."""

import signal
import subprocess
import sys
import time
import warnings

from mercer.errors import AccuracyWarning, DataWarning


class InjectedError(Exception):
    """Stands for anything that can go wrong."""


class AtCall:
    """Raise at the n-th call of any function of the package, in this thread."""

    def __init__(self, number, error):
        self.left, self.error, self.where = number, error, None

    def __call__(self, frame, event, _arg):
        name = frame.f_code.co_filename
        if event == "call" and "/mercer/" in name.replace("\\", "/"):
            self.left -= 1
            if self.left == 0:
                self.where = f"{name.rsplit('mercer', 1)[1]}:{frame.f_code.co_name}"
                raise self.error


def traced(tracer, call):
    """Return what a call returns while a tracer looks on; its warnings are no matter here."""
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            warnings.simplefilter("ignore", DataWarning)
            return call()
    finally:
        sys.settrace(before)


def untouched(model, old):
    """Tell whether every attribute is the object that it was."""
    found = vars(model)
    return found.keys() == old.keys() and all(found[name] is old[name] for name in old)


STAYED = """
    same = vars(model).keys() == old.keys() and all(vars(model)[k] is old[k] for k in old)
    print("untouched" if same else "touched"{more}, flush=True)
"""


def interrupted(program, wait, more=""):
    """Press Ctrl-C so many seconds after a program is ready; return its words and errors.

    The program makes `model` and `old`, prints "ready", and works on; it has two seconds.
    """
    text = program + "except KeyboardInterrupt:" + STAYED.format(more=more)
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", text],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout.readline().strip() == "ready", process.stderr.read()
            time.sleep(wait)
            assert process.poll() is None
            start = time.perf_counter()
            process.send_signal(signal.SIGINT)
            words = process.stdout.readline().split()
            reacted = time.perf_counter() - start
            process.wait(timeout=120)  # what LAPACK has begun it ends; it must not hang
        finally:
            process.kill()
        errors = process.stderr.read()
    assert words[:1] == ["untouched"], (words, errors)
    assert reacted <= 2.0, reacted
    assert process.returncode == 0, errors
    assert "Exception ignored" not in errors
    return words, errors
