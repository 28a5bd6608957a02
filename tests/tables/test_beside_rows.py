"""Other columns stay beside the rows that were kept."""

import numpy as np
import polars as pl
import pytest

from mercer.tables.preparing._unanalysed_columns import coded, kept_frames, texts

NAMES = [f"n{i}" for i in range(23)]


@pytest.fixture(params=["csv", "parquet"])
def path(request, tmp_path):
    frame = pl.DataFrame({"x": range(23), "name": NAMES, "y": [0.5] * 23})
    file = tmp_path / f"a.{request.param}"
    getattr(frame, f"write_{request.param}")(file)
    return file


@pytest.mark.parametrize("rows", [1, 4, 23, 100])
@pytest.mark.parametrize(
    ("out", "stop"), [((), None), ((0, 5, 6, 22), None), ((1, 20), 10), (range(23), None)]
)
def test_frames_are_even_and_aligned(path, rows, out, stop):
    out = np.asarray(out, np.int64)
    frames = list(kept_frames(path, ["name", "x"], rows, {}, out=out, stop=stop))
    assert all(frame.height == rows for frame in frames[:-1])
    expected = [NAMES[i] for i in range(stop or 23) if i not in out]
    assert [cell for frame in frames for cell in texts(frame, "name")] == expected
    numbers = [int(cell) for frame in frames for cell in texts(frame, "x")]
    assert [NAMES[i] for i in numbers] == expected


def test_names_come_as_they_are_written(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("code,x\nNA,1\nDE,2\n007,3\n,4\n")
    frames = kept_frames(path, ["code"], 9, {}, out=np.empty(0, np.int64), stop=None)
    assert texts(next(frames), "code") == ["NA", "DE", "007", ""]


def test_codes_of_blocks_give_back_the_texts():
    cells = ["b", None, "a", "b", "é", "", "a"]
    frames = [pl.DataFrame({"c": cells[:3]}), pl.DataFrame({"c": cells[3:]})]
    at, levels = coded(frames, "c")
    assert levels[at].tolist() == [cell or "" for cell in cells]
    assert len(levels) == 4
    assert coded([], "c")[0].shape == (0,)
