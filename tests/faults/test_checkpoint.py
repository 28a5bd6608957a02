"""Kills, a full disk and Ctrl-C: what was kept stays whole, and the bits are the same."""

import contextlib
import dataclasses
import errno
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from forced import FORCED, gapped
from killed import bits
from pieces import Pieces, in_blocks

from mercer import PCA, Checkpoint
from mercer.store import _file_writing as _write

# Ctrl-C between the opening of a file and its use leaves the closing to the collector.
pytestmark = pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"
)
PROGRAM = Path(__file__).resolve().parent / "killed.py"
X = gapped(60, 24, 3) + 7
WIDE = gapped(20, 24, 3) + 7
PATHS = {"gram": X, "svd": X, "krylov": X, "dual": WIDE}


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    """What is written outlives the process, if not a power cut."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def kill(folder, seed, kills):
    done = subprocess.run(
        [sys.executable, PROGRAM, folder, str(seed), str(kills)],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forks")
def test_killed_fits_end_with_the_same_bits(tmp_path):
    found = kill(tmp_path, 1, 12)
    assert sum(found["kills"].values()) >= 12
    assert found["spared"] > 0  # they went on; they did not begin anew


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forks")
@pytest.mark.parametrize("seed", range(4))
def test_killed_fits_at_length(tmp_path, seed):
    found = kill(tmp_path, 100 + seed, 50)
    assert sum(found["kills"].values()) >= 50
    assert found["spared"] > 0.05


def model_of(path, rows=7):
    return in_blocks(FORCED[path], rows)(2, tol=1e-9)


@pytest.fixture
def undisturbed():
    """Return the bits of a fit that nothing disturbs."""
    return {path: bits(model_of(path).fit(Pieces(rows))) for path, rows in PATHS.items()}


class Disk:
    """A disk whose n-th write fails, half done."""

    def __init__(self, monkeypatch, failure):
        self.left, self.failure, self.plain = None, failure, _write.write_all
        monkeypatch.setattr(_write, "write_all", self.write)

    def write(self, descriptor, data):
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.plain(descriptor, bytes(data)[: len(data) // 2])
                self.failure()
        self.plain(descriptor, data)


def full():
    raise OSError(errno.ENOSPC, "No space left on device")


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.parametrize("failure", [full, interrupt], ids=["full disk", "Ctrl-C"])
@pytest.mark.parametrize("path", PATHS)
def test_a_write_that_fails_loses_nothing(tmp_path, monkeypatch, undisturbed, path, failure):
    disk, kept = Disk(monkeypatch, failure), tmp_path / "fit.mercer"
    model, threads = model_of(path), threading.active_count()
    for count in itertools.count():
        # The first dozen writes one by one; then further and further into the fit.
        disk.left = count if count < 12 else int(12 * 1.3 ** (count - 12))
        with contextlib.suppress(OSError, KeyboardInterrupt):
            model.fit(Pieces(PATHS[path]), checkpoint=Checkpoint(kept, every=0))
            break
        assert not hasattr(model, "components_")
        assert {found.name for found in tmp_path.iterdir()} <= {"fit.mercer"}
        assert threading.active_count() == threads
    assert bits(model) == undisturbed[path]
    assert count > 8


def test_a_full_disk_leaves_the_last_checkpoint_and_it_is_used(tmp_path, monkeypatch):
    kept = tmp_path / "fit.mercer"
    disk = Disk(monkeypatch, full)
    disk.left = 40
    with pytest.raises(OSError, match="No space left"):
        model_of("gram").fit(Pieces(X), checkpoint=Checkpoint(kept, every=0))
    disk.left = None
    source = Pieces(X)
    model_of("gram").fit(source, checkpoint=kept)
    assert source.walks == 1
    state = kept.read_bytes()
    disk.left = 0  # nothing is written where nothing is new
    model_of("gram").fit(Pieces(X), checkpoint=kept)
    assert kept.read_bytes() == state


def test_a_full_disk_leaves_the_old_coordinates(tmp_path):
    """A real limit on the size of files, in a process of its own."""
    out = tmp_path / "Z.npy"
    np.save(out, X)
    program = """
import resource, sys
import numpy as np
from mercer import PCA
X = np.random.default_rng(0).standard_normal((20000, 4))
model = PCA(2).fit(X)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    model.transform(X, out=sys.argv[1])
except OSError as error:
    print(error.errno)
"""
    if sys.platform == "win32":
        pytest.skip("no such limits")
    done = subprocess.run(
        [sys.executable, "-c", program, out], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == str(errno.EFBIG), done.stderr
    assert "Exception ignored" not in done.stderr
    assert np.array_equal(np.load(out), X)
    assert list(tmp_path.iterdir()) == [out]


class Interrupting(Pieces):
    """Rows at whose n-th piece, over all walks, somebody presses Ctrl-C."""

    left = 0

    def _pieces(self, walk):
        for piece in super()._pieces(walk):
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGINT)
            yield piece


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("path", PATHS)
def test_ctrl_c_anywhere_in_a_walk(tmp_path, undisturbed, path, kept):
    checkpoint = Checkpoint(tmp_path / "fit.mercer", every=0) if kept else None
    rows, threads = PATHS[path], threading.active_count()
    model = model_of(path).fit(rows * 2)
    before = dict(vars(model))
    met = 0
    for count in (1, 2, 3, 6, 11, 12, 15):
        source = Interrupting(rows, nap=0.0005)
        source.left = count
        try:
            model.fit(source, checkpoint=checkpoint)
        except KeyboardInterrupt:
            met += 1
            assert threading.active_count() == threads
            assert vars(model).keys() == before.keys()
            assert all(vars(model)[name] is before[name] for name in before)
        else:
            model.__dict__.clear()
            model.__dict__.update(before)
    assert met >= 2
    source = Pieces(rows)
    model.fit(source, checkpoint=checkpoint)
    assert bits(model) == undisturbed[path]
    assert not kept or source.begun == [] or sum(source.begun) <= len(rows) * source.walks


class Chained(PCA):
    """The Gram matrix first; where that cannot see an axis, the rows themselves."""

    def _allowed(self):
        return ("gram", "svd")

    def _settle_plan(self, made):
        paths = {path.name: path for path, _ in made.rejected} | {made.chosen.name: made.chosen}
        behind = dataclasses.replace(paths["svd"], then=None)
        return dataclasses.replace(made, chosen=dataclasses.replace(paths["gram"], then=behind))


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_the_path_behind_the_first_goes_on_as_well(tmp_path):
    rows = gapped(60, 6, 1)
    rows[:, 2] *= 1e-7
    model = in_blocks(Chained, 10)
    source = Pieces(rows, 10)
    truth = model(6).fit(source)
    assert source.walks == 3
    for count in range(1, 18):
        kept = tmp_path / f"{count}.mercer"
        source = Interrupting(rows, 10, nap=0.0005)
        source.left = count
        with pytest.raises(KeyboardInterrupt):
            model(6).fit(source, checkpoint=Checkpoint(kept, every=0))
        source = Pieces(rows, 10)
        assert bits(model(6).fit(source, checkpoint=kept)) == bits(truth)
        assert source.walks <= 3 - (count - 2) // 6  # the last block is one ahead


def test_a_file_that_changes_between_two_attempts_is_refused(tmp_path):
    data, kept = tmp_path / "X.npy", tmp_path / "fit.mercer"
    np.save(data, X)
    PCA(2).fit(data, checkpoint=kept)
    np.save(data, X + 1)
    os.utime(data, (1, 1))
    with pytest.raises(ValueError, match="belongs to another fit") as caught:
        PCA(2).fit(data, checkpoint=kept)
    assert "other rows" in str(caught.value)
    assert str(caught.value).count("\n") == 2
