import numpy as np
import polars as pl
import pytest

from mercer.cli._coordinates_table import Beside, WithGroups
from mercer.tables import Asked, look, prepared


def made(path, **asked):
    return prepared(look(path, Asked(**asked)))


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "PC1": [f"r{i}" for i in range(30)],
            "group": ["=a", "b", "NA"] * 10,
            "size": range(30),
            "x": rng.standard_normal(30),
            "y": rng.standard_normal(30),
        }
    )
    frame.write_csv(tmp_path / "t.csv")
    return tmp_path / "t.csv"


def test_pieces_of_any_length_are_the_columns(table):
    rows = made(table, id="PC1", color=("group", "size"))
    beside = Beside(rows, rows.color, numbers=["size"], taken=["PC1"])
    parts = [beside.take(n) for n in (1, 0, 7, 22)]
    whole = pl.concat(parts)
    assert whole.columns == ["PC1_", "group", "size"]
    assert beside.id == "PC1_"
    assert whole["PC1_"].to_list() == [f"r{i}" for i in range(30)]
    assert whole["group"][:3].to_list() == ["=a", "b", "NA"]
    assert whole["size"].dtype == pl.Float64


def test_rows_without_names_are_numbered_from_one_in_the_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,2\n,\n3,5\n4,4\n", encoding="utf-8")
    rows = made(path, missing="rows")
    beside = Beside(rows)
    assert beside.id is None
    assert beside.take(3)["row"].to_list() == [1, 3, 4]
    assert rows.numbers_at(np.array([1])).tolist() == [3]


def test_columns_of_an_exchanged_table_name_the_rows(tmp_path):
    frame = pl.DataFrame({"gene": ["a", "b", "c"], "s1": [1.0, 2, 4], "s2": [2.0, 3, 3]})
    frame.with_columns(s3=pl.Series([9.0, 1, 5])).write_csv(tmp_path / "t.csv")
    beside = Beside(made(tmp_path / "t.csv", transpose=True, id="gene"))
    assert beside.take(3).to_dict(as_series=False) == {"name": ["s1", "s2", "s3"]}
    assert beside.id == "name"


def test_groups_stand_behind_the_names(tmp_path):
    import types

    class Model:
        def predict(self, rows):
            return np.asarray(["lo" if a < 2 else "hi" for a in rows["a"]])

    (tmp_path / "g.csv").write_text("group,a\nx,1\ny,2\nx,3\n", encoding="utf-8")
    rows = pl.DataFrame({"a": [1, 2, 3]})
    made = types.SimpleNamespace(
        row_names=("p", "q", "r"), id=None, recipe=types.SimpleNamespace(cross=("group", "b"))
    )
    beside = WithGroups(Beside(made), Model(), rows)
    first = beside.take(2)
    assert first.to_dict(as_series=False) == {"group": ["p", "q"], "group_": ["lo", "hi"]}
    assert beside.take(1)["group_"].to_list() == ["hi"]
