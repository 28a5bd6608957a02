"""Files that change, go, or are not files at all."""

import os

import numpy as np
import polars as pl
import pytest

import mercer
from mercer import PCA
from mercer.errors import InputError

X = np.random.default_rng(0).standard_normal((60, 3))


def written(kind, folder, rows):
    path = folder / f"t.{kind}"
    frame = pl.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "c": rows[:, 2]})
    if kind == "npy":
        np.save(path, rows)
    elif kind == "csv":
        frame.write_csv(path)
    elif kind == "parquet":
        frame.write_parquet(path)
    else:
        frame.write_ipc(path)
    return path


@pytest.mark.parametrize("kind", ["npy", "csv", "parquet", "arrow"])
def test_a_file_written_again_is_refused(kind, tmp_path):
    source = mercer.scan(written(kind, tmp_path, X))
    model = PCA(1).fit(source)
    written(kind, tmp_path, np.concatenate([X, X + 1]))
    with pytest.raises(InputError, match="changed since it was opened"):
        model.transform(source)


@pytest.mark.parametrize("kind", ["npy", "csv", "parquet", "arrow"])
def test_a_file_that_is_gone_is_refused(kind, tmp_path):
    path = written(kind, tmp_path, X)
    source = mercer.scan(path)
    path.unlink()
    with pytest.raises(InputError, match="cannot be read any more"):
        PCA(1).fit(source)


def test_pipes_and_patterns_are_refused(tmp_path):
    os.mkfifo(tmp_path / "x.csv")
    with pytest.raises(InputError, match="a pipe or device"):
        mercer.scan(tmp_path / "x.csv")
    with pytest.raises(InputError, match="only Parquet files are read by a pattern"):
        mercer.scan(tmp_path / "*.csv")


def test_names_with_newlines_stay_on_their_line():
    with pytest.raises(InputError) as caught:
        PCA(1).fit("1,2\n3,4\n")
    assert len(str(caught.value).split("\n")) == 3


def test_rows_that_change_between_passes_are_refused():
    calls = []

    def rows():
        calls.append(1)
        return iter([X[:30], X[30:] * (1 if len(calls) < 4 else 3)])

    class Twice(PCA):
        def _allowed(self):
            return ("svd",)  # one pass for the mean, one for the rows

    source = mercer.scan(rows)
    calls[:] = [1, 1]
    with pytest.raises(InputError, match="not those of the pass before"):
        Twice(2).fit(source)


@pytest.mark.parametrize("kind", ["function", "lazy"])
def test_rows_that_cannot_be_recognised_have_no_checkpoint(kind, tmp_path):
    lazy = pl.LazyFrame({"a": X[:, 0], "b": X[:, 1]})
    source = mercer.scan(lambda: iter([X])) if kind == "function" else lazy
    with pytest.raises(InputError, match="rows that can be recognised"):
        PCA(1).fit(source, checkpoint=tmp_path / "c.mercer")


def test_another_frame_is_another_fit(tmp_path):
    frame = pl.DataFrame({"a": np.arange(9000.0), "b": np.arange(9000.0) ** 2})
    PCA(1).fit(mercer.scan(frame), checkpoint=tmp_path / "c.mercer")
    other = frame.with_columns(
        pl.when(pl.col("a") == 4500).then(0.0).otherwise(pl.col("b")).alias("b")
    )
    with pytest.raises(InputError, match="belongs to another fit"):
        PCA(1).fit(mercer.scan(other), checkpoint=tmp_path / "c.mercer")
