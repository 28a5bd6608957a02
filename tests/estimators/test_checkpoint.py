"""A checkpoint is read by the fit that wrote it, and by no other."""

import time

import numpy as np
import pytest

import mercer
from mercer import PCA, Checkpoint, store
from mercer.errors import InputError

X = np.random.default_rng(0).standard_normal((30, 4))
OWNER = {
    "method": "PCA", "rows": "abc", "parameters": {"k": "3", "tol": "None"}, "weights": "None",
}  # fmt: skip


class Sums:
    def __init__(self, value=0.0):
        self.array = np.full((2, 3), value)

    def keep(self):
        return {"array": self.array, "count": np.array([1.0])}


def begun(path, every=0, owner=OWNER, block=10):
    return Checkpoint(path, every).begin(owner, block)


def three_lines(caught):
    text = str(caught.value)
    assert text.count("\n") == 2
    return text


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.mercer"


def test_nothing_yet_is_fine(path):
    checkpoint = begun(path)
    assert checkpoint.kept("pass 1") is None
    assert not path.exists()
    path.touch()  # as a temporary file is made
    assert begun(path).kept("pass 1") is None


def test_what_is_noted_is_read_again(path):
    checkpoint = begun(path)
    checkpoint.note("pass 1", Sums(1.5), 100, ended=True)
    checkpoint.note("pass 2", Sums(2.5), 40, ended=False)
    again = begun(path)
    arrays, rows, ended = again.kept("pass 1")
    assert np.array_equal(arrays["array"], np.full((2, 3), 1.5))
    assert (rows, ended) == (100, True)
    assert again.kept("pass 2")[1:] == (40, False)
    assert again.kept("pass 20") is None
    assert again.kept("pass") is None
    assert list(path.parent.iterdir()) == [path]


def test_the_length_of_blocks_is_that_of_the_first_attempt(path):
    first = begun(path, block=10)
    assert first.block == 10
    first.note("one", Sums(), 20, ended=False)
    assert begun(path, block=25).block == 10


def test_what_is_handed_out_is_a_copy(path):
    checkpoint = begun(path)
    sums = Sums(1.0)
    checkpoint.note("one", sums, 5, ended=True)
    sums.array[:] = 9  # a solver may destroy the matrix
    checkpoint.kept("one")[0]["array"][:] = 9
    checkpoint.note("two", Sums(2.0), 5, ended=True)
    assert begun(path).kept("one")[0]["array"][0, 0] == 1.0


def test_a_block_is_written_when_the_time_has_come(path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    checkpoint = begun(path, every=30)
    checkpoint.note("one", Sums(), 10, ended=False)
    assert not path.exists()
    now[0] += 31
    checkpoint.note("one", Sums(), 20, ended=False)
    assert begun(path).kept("one")[1] == 20
    now[0] += 29
    checkpoint.note("one", Sums(), 30, ended=False)
    assert begun(path).kept("one")[1] == 20
    checkpoint.note("one", Sums(), 40, ended=True)  # an end is always written
    assert begun(path).kept("one")[1:] == (40, True)


@pytest.mark.parametrize(("every", "pause"), [(0, 0), (1, 90), (30, 90), (200, 200)])
def test_writing_takes_a_tenth_of_the_time(path, monkeypatch, every, pause):
    now, plain = [100.0], store.write

    def slow(*arguments):
        plain(*arguments)
        now[0] += 10

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(store, "write", slow)
    checkpoint = begun(path, every=every)
    now[0] += every
    checkpoint.note("one", Sums(), 1, ended=False)
    assert begun(path).kept("one")[1] == 1
    now[0] += max(pause - 1, 0)
    checkpoint.note("one", Sums(), 2, ended=False)
    assert begun(path).kept("one")[1] == (2 if pause == 0 else 1)
    now[0] += 1
    checkpoint.note("one", Sums(), 3, ended=False)
    assert begun(path).kept("one")[1] == 3


def test_a_checkpoint_names_a_file():
    with pytest.raises(InputError, match="must name a file") as caught:
        PCA(2).fit(X, checkpoint=7)
    three_lines(caught)


@pytest.mark.parametrize("every", [-1, float("nan"), "often", None, True])
def test_an_interval_that_is_no_time(every):
    with pytest.raises(InputError, match="every") as caught:
        Checkpoint("a.mercer", every=every)
    three_lines(caught)


def test_another_version_and_a_folder_that_is_not_there(path, monkeypatch, tmp_path):
    PCA(2).fit(X, checkpoint=path)
    here = mercer.__version__
    monkeypatch.setattr(mercer, "__version__", "9.9")
    with pytest.raises(InputError, match="belongs to another fit") as caught:
        PCA(2).fit(X, checkpoint=path)
    assert f"mercer {here}, now 9.9" in three_lines(caught)
    with pytest.raises(InputError, match="folder of the checkpoint") as caught:
        PCA(2).fit(X, checkpoint=tmp_path / "none" / "fit.mercer")
    three_lines(caught)


DAMAGES = {
    "flipped": lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
    "flipped header": lambda data: data[:150] + bytes([data[150] ^ 1]) + data[151:],
    "truncated": lambda data: data[:-5],
    "stub": lambda data: data[:20],
    "longer": lambda data: data + b"\0",
    "text": lambda _: b"a,b\n1,2\n",
}
OTHERS = {  # sound, but not ours inside
    "model": {"kind": "model"},
    "strange": {"kind": "checkpoint", "walks": [{"walk": 3}]},
}


@pytest.mark.parametrize("kind", [*DAMAGES, *OTHERS, "folder"])
def test_a_file_that_is_no_checkpoint_is_refused_with_what_to_do(path, kind):
    PCA(2).fit(X, checkpoint=path)
    if kind in DAMAGES:
        path.write_bytes(DAMAGES[kind](path.read_bytes()))
    else:
        path.unlink()
        path.mkdir() if kind == "folder" else store.write(path, OTHERS[kind], {})
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(InputError) as caught:
        PCA(2).fit(X, checkpoint=path)
    text = three_lines(caught)
    assert "fit.mercer" in text
    assert "another file" in text
    assert "delete this one if it was one" in text
    assert (path.read_bytes() if path.is_file() else None) == before
