import io

import numpy as np
import polars as pl
import pytest

import mercer
from mercer.cli._coordinates_table import (
    Beside,
    coordinates,
    fit_coordinates,
    write_coordinates,
)
from mercer.tables import Asked, look, prepared

HARD = [0.1, -0.0, 5e-324, 1.7976931348623157e308, 1 / 3, -2.5e-17, np.nextafter(1, 2)]


@pytest.fixture
def made(tmp_path):
    rows = [f"{text},{i},{i * i % 7}" for i, text in enumerate(["=1+1", "-x", "@y", "d", "7"])]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["name,x,y", *rows]) + "\n", encoding="utf-8")
    return prepared(look(path, Asked(id="name")))


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "npy"])
def test_numbers_come_back_bit_for_bit(tmp_path, made, kind):
    Z = np.array([*HARD, 1.5, 2.5, 3.0]).reshape(5, 2)
    path = tmp_path / f"z.{kind}"
    parts = iter([Z[:2], Z[2:]])
    assert write_coordinates(path, parts, ["PC1", "PC2"], Beside(made), raw=False) == 5
    if kind == "npy":
        found = np.load(path)
    else:
        separator = {"csv": ",", "tsv": "\t"}
        read = (
            pl.read_parquet(path)
            if kind == "parquet"
            else pl.read_csv(path, separator=separator[kind])
        )
        assert read.columns == ["name", "PC1", "PC2"]
        quote = "" if kind == "parquet" else "'"
        assert read["name"].to_list() == [f"{quote}=1+1", f"{quote}-x", f"{quote}@y", "d", "7"]
        found = read.select("PC1", "PC2").to_numpy()
    assert found.tobytes() == Z.tobytes() or np.array_equal(
        np.ascontiguousarray(found).view(np.int64), Z.view(np.int64)
    )


def test_raw_text_stays(tmp_path, made):
    path = tmp_path / "z.csv"
    write_coordinates(path, iter([np.ones((5, 1))]), ["PC1"], Beside(made), raw=True)
    assert path.read_text(encoding="utf-8").splitlines()[1] == "=1+1,1.0"


def test_no_axis_leaves_the_names(tmp_path, made):
    path = tmp_path / "z.csv"
    write_coordinates(path, iter([np.ones((5, 0))]), [], Beside(made), raw=False)
    assert path.read_text(encoding="utf-8").splitlines() == [
        "name",
        "'=1+1",
        "'-x",
        "'@y",
        "d",
        "7",
    ]


def test_stdout_gets_text(made, monkeypatch):
    class Out:
        buffer = io.BytesIO()

        def flush(self):
            pass

    monkeypatch.setattr("sys.stdout", Out())
    write_coordinates(None, iter([np.ones((5, 1))]), ["PC1"], Beside(made), raw=False)
    assert Out.buffer.getvalue().decode().splitlines()[-1] == "7,1.0"


@pytest.mark.parametrize("model", [mercer.PCA(2), mercer.KernelPCA(2), mercer.RobustPCA(2)])
def test_blocks_are_what_transform_gives(tmp_path, model):
    X = np.random.default_rng(0).standard_normal((60, 4))
    frame = pl.DataFrame({f"c{i}": X[:, i] for i in range(4)})
    frame.write_parquet(tmp_path / "x.parquet")
    model.fit(frame)
    expected = model.transform(frame)
    for rows in (frame, mercer.scan(tmp_path / "x.parquet")):
        found = np.concatenate(list(coordinates(model, rows)))
        assert np.abs(found - expected).max() < 1e-12


def test_rows_of_the_fit_are_where_the_map_put_them():
    import types

    rows = pl.DataFrame({"a": [1.0, 2.0, 3.0]})
    places = np.arange(6.0).reshape(3, 2)
    kept = types.SimpleNamespace(embedding_=places)
    assert np.concatenate(list(fit_coordinates(kept, rows))) is not places
    assert np.array_equal(np.concatenate(list(fit_coordinates(kept, rows))), places)
    moved = types.SimpleNamespace(row_coordinates_=places[:2], transform=lambda _: places + 1)
    assert np.array_equal(np.concatenate(list(fit_coordinates(moved, rows))), places + 1)
