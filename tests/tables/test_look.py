"""look(): one walk over files of every kind, and the tables that people have."""

import datetime as dt
import json
import pathlib

import numpy as np
import polars as pl
import pytest
import scipy.sparse

from mercer.errors import InputError
from mercer.sources.text._delimited_text import TextSource
from mercer.tables import Asked, look
from mercer.tables.looking import _table_look as looking

DATA = pathlib.Path(__file__).parent.parent / "data"


def write(path, text):
    path.write_text(text)
    return path


def by_name(seen):
    return {column.name: column for column in seen.columns}


def test_penguins():
    seen = look(DATA / "penguins.csv")
    assert seen.rows == 344
    assert seen.named("color") == ("species",)
    assert seen.named("out") == ("island", "sex")
    assert seen.named("active") == (
        "bill_length_mm",
        "bill_depth_mm",
        "flipper_length_mm",
        "body_mass_g",
        "year",
    )
    columns = by_name(seen)
    frame = pl.read_csv(DATA / "penguins.csv", null_values="NA")
    for name in seen.named("active"):
        column = columns[name]
        assert column.missing == frame[name].null_count()
        assert column.mean == pytest.approx(frame[name].mean(), rel=1e-14)
        assert column.deviation == pytest.approx(frame[name].std(), rel=1e-13)
        assert (column.low, column.high) == (frame[name].min(), frame[name].max())
    assert columns["body_mass_g"].kind == "integer"
    assert columns["sex"].missing == frame["sex"].null_count()
    assert columns["year"].distinct == 3
    missing = "8 of 1,720 cells missing (0.47 %), in 4 columns, most in bill_length_mm (2)"
    assert seen.said()[-1] == missing
    assert seen.said(missing=False) == seen.said()[:-1]


@pytest.mark.parametrize(
    ("file", "role", "names"),
    [
        ("iris.csv", "id", ("id",)),
        ("iris.csv", "color", ("Species",)),
        ("USArrests.csv", "id", ("state",)),
        ("USArrests.csv", "out", ()),
        ("decathlon.csv", "id", ("athlete",)),
        ("decathlon.csv", "color", ("Competition",)),
    ],
)
def test_other_tables(file, role, names):
    assert look(DATA / file).named(role) == names


def frame_of_all(n=40):
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "name": [f"row {i}" for i in range(n)],
            "x": rng.standard_normal(n) + 1e9,
            "count": rng.integers(2, 9, n),
            "yes": rng.integers(0, 2, n) == 1,
            "day": [dt.date(2024, 1, 1) + dt.timedelta(i) for i in range(n)],
            "group": [("a", "b", None)[i % 3] for i in range(n)],
            "same": [7.0] * n,
        }
    ).with_columns(
        gap=pl.when(pl.col("count") > 4).then(pl.col("x")),
        nothing=pl.lit(None, pl.Float64),
    )


WRITERS = {
    "t.csv": lambda frame, path: frame.write_csv(path),
    "t.parquet": lambda frame, path: frame.write_parquet(path),
    "t.arrow": lambda frame, path: frame.write_ipc(path),
    "t.ndjson": lambda frame, path: frame.with_columns(
        pl.col("day").cast(pl.String)
    ).write_ndjson(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_of_every_kind_of_file(tmp_path, name):
    frame = frame_of_all()
    WRITERS[name](frame, tmp_path / name)
    seen = look(tmp_path / name)
    assert [(c.name, c.kind, c.role) for c in seen.columns] == [
        ("name", "text", "id"),
        ("x", "number", "active"),
        ("count", "integer", "active"),
        ("yes", "flag", "active"),
        ("day", "date", "out"),
        ("group", "text", "color"),
        ("same", "integer", "out"),
        ("gap", "number", "active"),
        ("nothing", "empty", "out"),
    ]
    columns = by_name(seen)
    assert seen.rows == 40
    assert columns["gap"].missing == frame["gap"].null_count()
    assert columns["gap"].deviation == pytest.approx(frame["gap"].std(), rel=1e-9)
    assert columns["group"].missing == 13
    assert columns["same"].why == "constant 7"
    assert columns["day"].words in ("", "iso")


def test_numbers_alone(tmp_path, rng):
    X = rng.integers(0, 5, (30, 4)).astype(float)
    np.save(tmp_path / "x.npy", X)
    scipy.sparse.save_npz(tmp_path / "x.npz", scipy.sparse.csr_array(X))
    for name in ("x.npy", "x.npz"):
        seen = look(tmp_path / name)
        assert seen.named("active") == ("0", "1", "2", "3")
        assert np.allclose([c.mean for c in seen.columns], X.mean(axis=0))
        assert np.allclose([c.deviation for c in seen.columns], X.std(axis=0, ddof=1))
    assert look(tmp_path / "x.npy", Asked(drop=("2",))).named("out") == ("2",)
    assert look(tmp_path / "x.npy", Asked(columns=("1", "4"))).named("active") == ("1", "3")


def test_blocks_of_any_length_give_the_same(tmp_path, monkeypatch):
    frame = frame_of_all(300)
    frame.write_parquet(tmp_path / "t.parquet")
    whole = look(tmp_path / "t.parquet")
    monkeypatch.setattr(looking, "_BLOCK_CELLS", 6 * 64)
    parts = look(tmp_path / "t.parquet")
    for one, other in zip(whole.columns, parts.columns, strict=True):
        assert (one.role, one.missing, one.low) == (other.role, other.missing, other.low)
        if one.mean is not None:
            assert one.mean == pytest.approx(other.mean, rel=1e-15)
            assert one.deviation == pytest.approx(other.deviation, rel=1e-9)


def test_only_some_rows(tmp_path):
    path = write(tmp_path / "t.csv", "k,x\n" + "".join(f"a{i},{i * 0.5}\n" for i in range(500)))
    seen = look(path, Asked(rows=100))
    assert seen.rows == 100
    assert by_name(seen)["x"].high == 49.5
    assert by_name(seen)["k"].distinct == 100


def test_long_text_is_judged_by_its_head(tmp_path, monkeypatch):
    monkeypatch.setattr(looking, "HEAD", 50)
    path = tmp_path / "t.csv"
    path = write(path, "k,x\n" + "".join(f"w{i % 60},{i * 0.5}\n" for i in range(200)))
    column = by_name(look(path))["k"]
    assert column.distinct == 50
    path = write(path, "k,x\n" + "".join(f"w{i % 20},{i * 0.5}\n" for i in range(200)))
    assert by_name(look(path))["k"].why == "text of 20 or more values"


def test_columns_that_are_dropped_may_hold_anything(tmp_path):
    rows = "".join(f"{i},{i * 0.5}\n" for i in range(3000))
    path = write(tmp_path / "t.csv", "a,b\n" + rows + "oops,1.5\n")
    with pytest.raises(InputError, match="a cell holds text"):
        look(path)
    assert look(path, Asked(drop=("a",))).named("active") == ("b",)


def test_columns_not_asked_for_may_too(tmp_path):
    rows = "".join(f"n,{i * 0.25},{i * 0.5}\n" for i in range(3000))
    path = write(tmp_path / "t.csv", "n,a,b\n" + rows + "n,oops,1.5\n")
    seen = look(path, Asked(columns=("b",)))
    assert seen.named("active") == ("b",)
    assert by_name(seen)["a"].why == "not asked for"


def test_how_the_file_is_read(tmp_path):
    path = write(tmp_path / "t.txt", "k;x\na;-\nb;2\nc;4\n")
    seen = look(path, Asked(reading={"delimiter": ";", "na": ("-",)}))
    assert by_name(seen)["x"].missing == 1


def test_a_table_without_numbers(tmp_path):
    path = write(tmp_path / "t.csv", "one,two\nx,y\nu,v\nu,y\n")
    reading = {"header": True}
    with pytest.raises(InputError, match="no column of numbers") as caught:
        look(path, Asked(reading=reading))
    assert "--categorical encode" in caught.value.fix
    seen = look(path, Asked(reading=reading, categorical="encode"))
    assert seen.named("active") == ("one", "two")
    assert seen.rows == 3


def test_a_table_with_decimal_commas(tmp_path):
    path = write(tmp_path / "t.csv", "name;x;y\na;1,5;2,5\nb;2,5;3,25\nc;3,5;3,75\n")
    with pytest.raises(InputError, match="no column of numbers") as caught:
        look(path)
    assert "'name' all different; 'x' numbers" in caught.value.got
    assert caught.value.fix == "numbers with decimal commas are not read: write 3.5 for 3,5"


def test_infinite_cells_are_refused_by_name(tmp_path):
    path = write(tmp_path / "t.csv", "a,b\n1,2.5\n2,inf\n3,-inf\n")
    with pytest.raises(InputError, match="'b' 2"):
        look(path)
    assert look(path, Asked(drop=("b",))).named("active") == ("a",)


def test_warnings_about_the_data_become_notes(tmp_path):
    path = write(tmp_path / "t.csv", "a,b\n1,2.5\n2,3.5\n3,4")
    (note,) = look(path).notes
    assert note.startswith("the last line does not end with a newline")
    assert "line 4" in note


def test_transposed(tmp_path):
    rows = "".join(f"gene{i},{i}.5,3,{i}\n" for i in range(9))
    path = write(tmp_path / "t.csv", "gene,s1,s2,s3\n" + rows)
    (note,) = look(path).notes
    assert note == "rows are named by gene: if they are the variables, --transpose"
    seen = look(path, Asked(transpose=True))
    assert seen.named("id") == ("gene",)
    assert seen.named("active") == ("s1", "s2", "s3")  # s2 is constant, and stays
    assert seen.notes == ()


def test_a_wide_table_that_may_be_turned(tmp_path):
    names = ",".join(f"v{i}" for i in range(40))
    rows = "".join(
        f"s{i}," + ",".join(f"{i * j}.5" for j in range(40)) + "\n" for i in range(9)
    )
    (note, *_) = look(write(tmp_path / "t.csv", f"s,{names}\n{rows}")).notes
    assert "41 columns and 9 rows" in note
    assert note.endswith("--transpose")


def test_the_result_is_plain(tmp_path):
    import dataclasses

    path = write(tmp_path / "t.csv", "a,b\n1,2.5\n2,3.5\n3,4\n")
    seen = look(path)
    assert json.loads(json.dumps(dataclasses.asdict(seen)))["rows"] == 3
    assert seen.label == "t.csv"
    assert seen.path == str(path)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "the file is empty"),
        ("a,b\n", "there is no row below the header"),
        ("a,a\n1,2\n", "column names must be unique"),
        ("a,b\n1,2\n3\n", "every line must have the same number of fields"),
    ],
)
def test_files_that_are_no_tables(tmp_path, text, what):
    with pytest.raises(InputError, match=what) as caught:
        look(write(tmp_path / "t.csv", text))
    assert str(caught.value).count("\n") == 2


def test_there_is_no_such_file(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        look(tmp_path / "nothing.csv")


def test_names_are_settled_before_the_walk(tmp_path, monkeypatch):
    path = write(tmp_path / "t.csv", "a,b\n1,2.5\n2,3.5\n3,4\n")
    monkeypatch.setattr(TextSource, "blocks", None)
    with pytest.raises(InputError, match="there is no column 'c'"):
        look(path, Asked(columns=("c",)))
