"""look(): one walk over files of every kind, and the tables that people have."""

import datetime as dt
import pathlib

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import InputError
from mercer.sources import Held
from mercer.sources.text._delimited_text import TextSource
from mercer.tables import Asked, Column, look
from mercer.tables.looking import _column_numbers as _numbers
from mercer.tables.looking import _table_look as looking
from mercer.tables.looking._column_facts import (
    Facts,
    date_order,
    days,
    number_facts,
    other_facts,
)
from mercer.tables.looking._column_numbers import Numbers
from mercer.tables.looking._table_notes import said_lines, table_lines

DATA = pathlib.Path(__file__).parent.parent / "data"


def write(path, text):
    path.write_text(text)
    return path


def by_name(seen):
    return {column.name: column for column in seen.columns}


def test_penguins():
    seen = look(DATA / "penguins.csv")
    assert seen.rows == 344
    assert seen.named("color") == ("species", "island", "sex", "year")
    assert seen.named("out") == ()
    assert seen.named("active") == (
        "bill_length_mm",
        "bill_depth_mm",
        "flipper_length_mm",
        "body_mass_g",
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
    missing = "8 of 1,376 cells missing (0.58 %), in 4 columns, most in bill_length_mm (2)"
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
        gap=pl.when(pl.col("count") > 4).then(pl.col("x")), nothing=pl.lit(None, pl.Float64)
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
        ("yes", "flag", "color"),
        ("day", "date", "color"),
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


def test_numbers_alone_and_blocks_of_any_length(tmp_path, rng, monkeypatch):
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


def test_some_rows_read_in_some_way(tmp_path):
    path = write(tmp_path / "t.csv", "k,x\n" + "".join(f"a{i},{i * 0.5}\n" for i in range(500)))
    seen = look(path, Asked(rows=100))
    assert seen.rows == 100
    assert by_name(seen)["x"].high == 49.5
    assert by_name(seen)["k"].distinct == 100
    path = write(tmp_path / "t.txt", "k;x\na;-\nb;2\nc;4\n")
    seen = look(path, Asked(reading={"delimiter": ";", "na": ("-",)}))
    assert by_name(seen)["x"].missing == 1
    path = write(tmp_path / "t.csv", "a,b\n1,2.5\n2,inf\n3,-inf\n")
    with pytest.raises(InputError, match="'b' 2"):
        look(path)
    assert look(path, Asked(drop=("b",))).named("active") == ("a",)
    path = write(tmp_path / "t.csv", "a,b\n1,2.5\n2,3.5\n3,4")
    (note,) = look(path).notes
    assert note.startswith("the last line does not end with a newline")
    assert "line 4" in note


def test_files_that_are_no_tables(tmp_path):
    for text, what in (("", "the file is empty"), ("a,b\n", "no row below the header")):
        with pytest.raises(InputError, match=what):
            look(write(tmp_path / "t.csv", text))


def test_long_text_and_names_are_settled_before_the_walk(tmp_path, monkeypatch):
    monkeypatch.setattr(looking, "HEAD", 50)
    path = tmp_path / "t.csv"
    path = write(path, "k,x\n" + "".join(f"w{i % 60},{i * 0.5}\n" for i in range(200)))
    column = by_name(look(path))["k"]
    assert column.distinct == 50
    path = write(path, "k,x\n" + "".join(f"w{i % 20},{i * 0.5}\n" for i in range(200)))
    assert by_name(look(path))["k"].why == "text of 20 or more values"
    path = write(tmp_path / "t.csv", "a,b\n1,2.5\n2,3.5\n3,4\n")
    monkeypatch.setattr(TextSource, "blocks", None)
    with pytest.raises(InputError, match="there is no column 'c'"):
        look(path, Asked(columns=("c",)))


def test_columns_that_nobody_asked_for_may_hold_anything(tmp_path):
    rows = "".join(f"{i},{i * 0.5}\n" for i in range(3000))
    path = write(tmp_path / "t.csv", "a,b\n" + rows + "oops,1.5\n")
    with pytest.raises(InputError, match="a cell holds text"):
        look(path)
    assert look(path, Asked(drop=("a",))).named("active") == ("b",)
    rows = "".join(f"n,{i * 0.25},{i * 0.5}\n" for i in range(3000))
    path = write(tmp_path / "t.csv", "n,a,b\n" + rows + "n,oops,1.5\n")
    seen = look(path, Asked(columns=("b",)))
    assert seen.named("active") == ("b",)
    assert by_name(seen)["a"].why == "not asked for"


def test_tables_without_numbers(tmp_path):
    path = write(tmp_path / "t.csv", "one,two\nx,y\nu,v\nu,y\n")
    reading = {"header": True}
    with pytest.raises(InputError, match="no column of numbers") as caught:
        look(path, Asked(reading=reading))
    assert "--categorical encode" in caught.value.fix
    seen = look(path, Asked(reading=reading, categorical="encode"))
    assert seen.named("active") == ("one", "two")
    assert seen.rows == 3
    path = write(tmp_path / "t.csv", "name;x;y\na;1,5;2,5\nb;2,5;3,25\nc;3,5;3,75\n")
    assert look(path).named("active") == ("x", "y")


def test_tables_that_may_be_turned(tmp_path):
    rows = "".join(f"gene{i},{i}.5,3,{i}\n" for i in range(9))
    path = write(tmp_path / "t.csv", "gene,s1,s2,s3\n" + rows)
    (note,) = look(path).notes
    assert note == "rows are named by gene: if they are the variables, --transpose"
    seen = look(path, Asked(transpose=True))
    assert seen.named("id") == ("gene",)
    assert seen.named("active") == ("s1", "s2", "s3")  # s2 is constant, and stays
    assert seen.notes == ()
    names = ",".join(f"v{i}" for i in range(40))
    rows = "".join(
        f"s{i}," + ",".join(f"{i * j}.5" for j in range(40)) + "\n" for i in range(9)
    )
    (note, *_) = look(write(tmp_path / "t.csv", f"s,{names}\n{rows}")).notes
    assert "41 columns and 9 rows" in note
    assert note.endswith("--transpose")


# What else is noticed in a table, and what is no wonder.
def notes(tmp_path, frame, **asked):
    path = tmp_path / "t.parquet"
    pl.DataFrame(frame).write_parquet(path)
    return look(path, Asked(**asked)).notes


def test_rows_that_are_there_twice(tmp_path, rng):
    X = rng.random((30, 2))
    X[7], X[9] = X[3], X[3]
    X[12, 0] = X[3, 0]
    frame = {"id": np.arange(30), "a": X[:, 0], "b": X[:, 1], "k": [f"n{i}" for i in range(30)]}
    assert notes(tmp_path, frame) == ("2 rows with the same numbers as an earlier one",)
    assert notes(tmp_path, frame, columns=("a",)) == ()  # one column says little
    frame = {f"q{i}": rng.integers(1, 5, 500) for i in range(3)}
    assert notes(tmp_path, frame) == ()
    X = rng.random((30, 2))
    X[5] = np.nan
    frame = {"id": np.arange(30) + 1, "a": X[:, 0], "b": X[:, 1]}
    assert notes(tmp_path, frame) == ("1 row without a number",)
    frame = {"x": [1, 2, 3, 4], "y": [None, 1.5, None, 2.5]}
    assert notes(tmp_path, frame) == ()


@pytest.mark.parametrize("gap", [False, True])
def test_copies_of_columns(tmp_path, rng, gap):
    x = rng.random(50)
    if gap:
        x[3] = np.nan
    frame = {"a": x, "b": rng.permutation(x), "c": x, "d": -x, "e": x, "f": np.ones(50)}
    found = [line for line in notes(tmp_path, frame) if "cop" in line]
    assert found == ["2 columns are copies of another: c of a, e of a"]


def test_tables_are_aligned_and_disguises_told(tmp_path):
    columns = [
        column("name", "text", "id", "all different", missing=3),
        column("x", mean=1.23456, deviation=0.5, low=-1.0, high=1e9),
    ]
    assert table_lines(columns, 60) == (
        "column  kind    use     missing   mean   sd  least  largest",
        "name    text    id            3                              all different",
        "x       number  active           1.235  0.5     -1    1e+09",
    )
    frame = {
        "x": [1.5, 2.5, 4.0],
        "price": ["1,5", "2,5", "3,25"],
        "people": ["1,500", "2,500", "13,250"],
    }
    assert notes(tmp_path, frame) == (
        "people: numbers with commas between thousands, not read; write 1234 for 1,234",
        "price: numbers with decimal commas, not read; write 3.5 for 3,5",
    )


# A table in words.
def column(name, kind="number", role="active", why="", **more):
    return Column(name, kind, role, why, **more)


def lines(*columns, rows=100, notes=()):
    return said_lines("t.csv", rows, columns, notes)[1:]


def test_neighbours_that_are_alike_share_a_line():
    assert said_lines("t.csv", 12_345, [column("a")] * 2, ())[0] == (
        "t.csv: 12,345 rows, 2 columns"
    )
    many = [column(f"q{i}", "integer") for i in range(1, 26)]
    assert lines(column("name", "text", "id", "all different"), *many, column("x")) == (
        "name: text, names the rows (all different)",
        "q1..q25: 25 whole numbers, analysed",
        "x: number, analysed",
    )
    assert lines(column("a"), column("b")) == ("a, b: 2 numbers, analysed",)
    columns = [column(f"x{i}", missing=1, mean=2.0) for i in range(100)]
    assert len(table_lines(columns, 100)) == 101
    _, line = table_lines(columns, 99)
    assert line.startswith("x0..x99 (100 columns)  number  active      100")


# Facts of columns: numbers by the walk, text and dates by the head.


NA = frozenset(["", "NA"])


def facts_of(X, kinds=None, kept=()):
    X = np.asarray(X, float)
    numbers = Numbers(X.shape[1], kept, np.arange(X.shape[1]))
    numbers.add(X)
    names = [f"c{j}" for j in range(X.shape[1])]
    held = [Held(kind) for kind in kinds or ["number"] * X.shape[1]]
    return number_facts(names, held, numbers, X[:10])


def test_kinds_of_numbers():
    n = np.arange(12.0)
    columns = [n / 2, n * 3, n % 2, np.full(12, 7), np.full(12, np.nan), n, n + 1]
    columns[5] = np.where(n % 2 == 0, np.inf, np.nan)
    found = facts_of(np.column_stack(columns), kept=[1])
    kinds = ["number", "integer", "flag", "integer", "empty", "number", "integer"]
    assert [one.kind for one in found] == kinds
    assert found[0].distinct is None
    assert found[1].unique
    assert found[1].distinct == 12
    assert found[3].constant
    assert found[3].deviation == 0
    assert (found[4].missing, found[5].missing, found[5].infinite) == (12, 6, 6)
    assert found[6].counts
    assert not found[1].counts
    assert (found[0].low, found[0].high, found[0].mean) == (0, 5.5, 2.75)


@pytest.mark.parametrize(
    ("cells", "kind", "words", "missing", "distinct", "unique"),
    [
        (["a", "b", "a"], "text", "", 0, 2, False),
        (["a", "b", "c"], "text", "", 0, 3, True),
        (["a", "", "NA", "b"], "text", "", 2, 2, False),
        (["DE", "NA", "FR"], "text", "", 1, 2, True),  # Namibia
        (["", "NA", ""], "empty", "", 3, None, False),
        (["2024-01-01", "2024-01-02", ""], "date", "iso", 1, 2, False),
        (["31.12.2024", "01.12.2024"], "date", "day", 0, 2, True),
        (["01/02/2024", "01/02/2024"], "date", "unclear", 0, 1, False),
        (["1,5", "2,25", "3"], "text", "with decimal commas", 0, 3, True),
        (["1,500", "22,250", "3"], "text", "with commas between thousands", 0, 3, True),
        (["1,234.5", "1,000,000"], "text", "with commas between thousands", 0, 2, True),
        (["1.5", "2", "2"], "text", "that spells numbers", 0, 2, False),
        (["$1,200", "$ 3.50", "12"], "text", "with signs", 0, 3, True),
        (["12 %", "3.5%", "-4%"], "text", "with signs", 0, 3, True),
        (["1", "2.5", "N/A", "N/A"], "text", "such as 'N/A'", 0, 3, False),
        (["1", "2.5", "low", "high"], "text", "", 0, 4, True),
        (["1", "none", "none", "none"], "text", "", 0, 2, False),
        (["-", "%"], "text", "", 0, 2, True),
        (["x" * 101, "y"], "text", "long", 0, 2, True),
    ],
)
def test_text_by_its_head(cells, kind, words, missing, distinct, unique):
    expected = Facts("c", kind, words, missing, distinct=distinct, unique=unique)
    assert other_facts(pl.Series("c", cells, pl.String), "text", "", NA) == expected


def test_typed_columns():
    days = pl.Series("d", [dt.date(2024, 1, 1), None, dt.date(2024, 1, 1)])
    assert other_facts(days, "date", "", NA) == Facts("d", "date", missing=1, distinct=1)
    nothing = pl.Series("n", [None, None], pl.String)
    assert other_facts(nothing, "text", "", NA) == Facts("n", "empty", missing=2)


# What a walk finds of numbers: NumPy's own answers, however the rows are cut.


def walked(X, cuts=(), kept=(), compared=None):
    compared = np.arange(X.shape[1]) if compared is None else np.asarray(compared)
    numbers = Numbers(X.shape[1], kept, compared)
    for part in np.split(X, cuts) if isinstance(X, np.ndarray) else [X]:
        numbers.add(part)
    return numbers


def test_long_tables_keep_no_rows_and_no_digits_cancel(rng, monkeypatch):
    noise = rng.standard_normal(5000)
    X = np.column_stack([noise + 1e12, noise * 1e-3 + 1e8, noise + 2.0**52])
    exact = np.array([np.std(X[:, j] - X[0, j], ddof=1) for j in range(3)])
    assert np.allclose(walked(X, (7, 1000)).deviations, exact, rtol=1e-9)
    monkeypatch.setattr(_numbers, "_MOST_MARKS", 100)
    X = np.zeros((70_000, 2))
    found = walked(X, (50_000,), kept=[1])
    assert found.repeated() == 0
    assert found.distinct(1) is None
    assert found.counts.tolist() == [70_000, 70_000]


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp < 2000, reason="no longer numbers")
@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e170, 1e300])
def test_numbers_whose_squares_do_not_fit(rng, size):
    plain = rng.standard_normal((500, 2))
    plain[::9, 1] = np.nan
    expected = walked(plain).deviations * size
    assert np.allclose(walked(plain * size, (99,)).deviations, expected, rtol=1e-12, atol=0)


def test_rows_of_a_csr_array_count_zeros(rng):
    dense = rng.standard_normal((300, 6)) * (rng.random((300, 6)) < 0.3) + 0.0
    dense[:, 3] = 0
    dense[:, 4] = np.arange(300) + 1
    dense[5, 0] = np.nan
    one, other = walked(dense), Numbers(6, [], np.arange(0))
    for part in np.split(dense, (100, 101)):
        other.add(scipy.sparse.csr_array(part))
    for name in ("counts", "infinite", "low", "high", "whole"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert np.allclose(one.mean, other.mean, rtol=1e-13)
    assert np.allclose(one.deviations, other.deviations, rtol=1e-12)


# Dates as text: told apart from text, and counted in days as datetime does.


@pytest.mark.parametrize(
    ("cells", "order"),
    [
        (["2024-03-01", "2024-12-31"], "iso"),
        (["2024-03-01 12:30", "2024-03-01T12:30:05Z", "2024-03-01 12:30:05.25"], "iso"),
        (["2024-03-01T12:30:05+01:00"], "iso"),
        (["31.12.2024", "1.2.2024"], "day"),
        (["12/31/2024", "1/2/2024"], "month"),
        (["01/03/2024", "12/03/2024"], "unclear"),
        (["13/01/2024", "01/13/2024"], None),
        (["32.01.2024"], None),
        (["1.2.2024", "soon"], None),
        (["00.01.2024"], None),
        (["2024-03-01x"], None),
        (["20240301"], None),
        (["1.2.3"], None),
        (["12:30"], None),
        ([], None),
    ],
)
def test_which_way_dates_are_written(cells, order):
    assert date_order(cells) == order


moments = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1))
EPOCH = dt.datetime(1970, 1, 1)


@given(st.lists(moments, min_size=1, max_size=5))
def test_days_are_those_of_datetime(times):
    exact = [(time - EPOCH) / dt.timedelta(days=1) for time in times]
    typed = days(pl.Series(times)).to_list()
    written = days(pl.Series([time.isoformat(" ") for time in times]), "iso").to_list()
    assert typed == pytest.approx(exact, rel=1e-15, abs=1e-11)
    assert written == pytest.approx(exact, rel=1e-15, abs=1e-10)
    dates = [time.date() for time in times]
    whole = [(date - EPOCH.date()).days for date in dates]
    assert days(pl.Series(dates)).to_list() == whole
    for order, form in (("iso", "%Y-%m-%d"), ("day", "%d.%m.%Y"), ("month", "%m/%d/%Y")):
        cells = pl.Series([date.strftime(form) for date in dates])
        assert days(cells, order).to_list() == whole


def test_zones_short_years_and_what_is_no_date():
    cells = pl.Series(["1970-01-02T00:00:00+02:00", "1970-01-01 18:00-0600", "x", None, ""])
    assert days(cells, "iso").to_list() == [1 - 2 / 24, 1.0, None, None, None]
    assert days(pl.Series(["2024-02-30"]), "iso").to_list() == [None]
    assert days(pl.Series(["1.2.70", "1.2.24"]), "day").to_list() == [31.0, 19754.0]
