"""What a fit passes through: how many files of the package, and how deep calls nest."""

import sys
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer.cli.app import commands

PACKAGE = str(Path(mercer.__file__).parent)
PENGUINS = Path(__file__).parents[1] / "data" / "penguins.csv"
RNG = np.random.default_rng(0)
TALL, FEW = RNG.normal(size=(5000, 200)), RNG.normal(size=(1000, 20))
COUNTS = RNG.integers(1, 50, (40, 12))


def report():
    with pytest.raises(SystemExit) as ended:
        commands.main(["report", str(PENGUINS), "-o", "page.html", "--force"])
    assert ended.value.code == 0


# Distinct files and deepest call at most. They only go down.
WALKS = {
    "PCA": (lambda: mercer.PCA(10).fit(TALL), 30, 15),
    "KernelPCA": (lambda: mercer.KernelPCA(5).fit(FEW[:300]), 38, 18),
    "Isomap": (lambda: mercer.Isomap(2).fit(FEW[:300]), 37, 14),  # compiled loops for paths
    "CorrespondenceAnalysis": (lambda: mercer.CorrespondenceAnalysis(2).fit(COUNTS), 27, 14),
    "mercer report": (report, 120, 30),
}


def walked(call):
    """Return the files of the package that `call` enters, and its deepest nest of frames."""
    files, frames, deepest = set(), [], []

    def follow(frame, event, _argument):
        nonlocal deepest
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return
        if event == "call":
            frames.append(frame)
            files.add(frame.f_code.co_filename.removeprefix(PACKAGE))
            if len(frames) > len(deepest):
                deepest = [each.f_code.co_qualname for each in frames]
        elif event == "return" and frame in frames:
            del frames[frames.index(frame) :]

    before = sys.getprofile()
    sys.setprofile(follow)
    try:
        call()
    finally:
        sys.setprofile(before)
    return sorted(files), deepest


@pytest.mark.parametrize("name", WALKS)
def test_a_walk_stays_short(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, files, depth = WALKS[name]
    call()  # imports and caches are no part of the walk
    entered, deepest = walked(call)
    assert len(entered) <= files, "\n".join(entered)
    assert len(deepest) <= depth, "\n".join(deepest)
