"""A checkpoint is read by the fit that wrote it, and by no other."""

import numpy as np
import pytest

import mercer
from mercer import store
from mercer.errors import InputError
from mercer.estimators.walk._checkpoint import Checkpoint

OWNER = {
    "method": "PCA",
    "rows": "abc",
    "parameters": {"k": "3", "tol": "None"},
    "weights": "None",
}


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


def test_it_is_public():
    assert mercer.Checkpoint is Checkpoint


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


def test_names_that_begin_alike_are_told_apart(path):
    checkpoint = begun(path)
    for i in range(12):
        checkpoint.note(f"gram8 {i}", Sums(float(i)), i, ended=True)
    again = begun(path)
    for i in range(12):
        arrays, rows, _ = again.kept(f"gram8 {i}")
        assert set(arrays) == {"array", "count"}
        assert (arrays["array"][0, 0], rows) == (i, i)


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
    monkeypatch.setattr("mercer.estimators.walk._checkpoint.time.monotonic", lambda: now[0])
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

    monkeypatch.setattr("mercer.estimators.walk._checkpoint.time.monotonic", lambda: now[0])
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


def test_of_a_path_and_of_another():
    assert Checkpoint.of("a.mercer").every == 30
    given = Checkpoint("a.mercer", every=5)
    given._walks["old"] = ({}, 0, True)
    fresh = Checkpoint.of(given)
    assert (fresh.path, fresh.every, fresh._walks) == ("a.mercer", 5, {})
    with pytest.raises(InputError, match="must name a file") as caught:
        Checkpoint.of(7)
    three_lines(caught)


@pytest.mark.parametrize("every", [-1, float("nan"), "often", None, True])
def test_an_interval_that_is_no_time(every):
    with pytest.raises(InputError, match="every") as caught:
        Checkpoint("a.mercer", every=every)
    three_lines(caught)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rows": "other"}, "other rows"),
        ({"weights": "other"}, "other weights"),
        ({"method": "Other"}, "another method"),
        ({"parameters": {"k": "4", "tol": "None"}}, "k = 3, now 4"),
    ],
    ids=["rows", "weights", "method", "parameters"],
)
def test_another_fit_is_refused_and_the_file_left_alone(path, change, words):
    begun(path).note("one", Sums(1.0), 5, ended=True)
    before = path.read_bytes()
    with pytest.raises(InputError, match="belongs to another fit") as caught:
        begun(path, owner=OWNER | change)
    text = three_lines(caught)
    assert words in text
    assert "fit.mercer" in text
    assert "delete" in text
    assert path.read_bytes() == before


def test_another_version_of_mercer_is_refused(path, monkeypatch):
    begun(path).note("one", Sums(1.0), 5, ended=True)
    here = mercer.__version__
    monkeypatch.setattr(mercer, "__version__", "9.9")
    with pytest.raises(InputError, match="belongs to another fit") as caught:
        begun(path)
    assert f"mercer {here}, now 9.9" in three_lines(caught)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="folder of the checkpoint") as caught:
        begun(tmp_path / "none" / "fit.mercer")
    three_lines(caught)


def damaged(path, kind):
    begun(path).note("one", Sums(1.0), 5, ended=True)
    data = bytearray(path.read_bytes())
    if kind == "flipped":
        data[-9] ^= 1
    elif kind == "flipped header":
        data[150] ^= 1
    elif kind == "truncated":
        data = data[:-5]
    elif kind == "stub":
        data = data[:20]
    elif kind == "longer":
        data += b"\0"
    elif kind == "text":
        data = b"a,b\n1,2\n"
    path.write_bytes(bytes(data))
    if kind == "model":
        path.unlink()
        store.write(path, {"kind": "model"}, {})
    if kind == "folder":
        path.unlink()
        path.mkdir()
    if kind == "strange":  # sound, but not ours inside
        path.unlink()
        store.write(path, {"kind": "checkpoint", "walks": [{"walk": 3}]}, {})


@pytest.mark.parametrize(
    "kind",
    [
        "flipped",
        "flipped header",
        "truncated",
        "stub",
        "longer",
        "text",
        "model",
        "folder",
        "strange",
    ],
)
def test_a_file_that_is_no_checkpoint_is_refused_with_what_to_do(path, kind):
    damaged(path, kind)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(InputError) as caught:
        begun(path)
    text = three_lines(caught)
    assert "fit.mercer" in text
    assert "another file" in text
    assert "delete this one if it was one" in text
    assert (path.read_bytes() if path.is_file() else None) == before
