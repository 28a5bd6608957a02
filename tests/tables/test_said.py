"""A table in words."""

from mercer.tables import Column
from mercer.tables.looking._table_notes import alike, said_lines, table_lines


def column(name, kind="number", role="active", why="", **more):
    return Column(name, kind, role, why, **more)


def lines(*columns, rows=100, notes=()):
    return said_lines("t.csv", rows, columns, notes)[1:]


def test_the_first_line_says_what_it_is():
    assert said_lines("t.csv", 12_345, [column("a")] * 2, ())[0] == (
        "t.csv: 12,345 rows, 2 columns"
    )


def test_neighbours_that_are_alike_share_a_line():
    many = [column(f"q{i}", "integer") for i in range(1, 26)]
    assert lines(column("name", "text", "id", "all different"), *many, column("x")) == (
        "name: text, names the rows (all different)",
        "q1..q25: 25 whole numbers, analysed",
        "x: number, analysed",
    )
    assert lines(column("a"), column("b")) == ("a, b: 2 numbers, analysed",)


def test_reasons_keep_neighbours_apart():
    groups = alike([column("a"), column("b", why="asked for"), column("c", why="asked for")])
    assert [[one.name for one in group] for group in groups] == [["a"], ["b", "c"]]


def test_notes_come_last():
    assert lines(column("a"), notes=("2 rows are odd",))[-1] == "2 rows are odd"


def test_a_table_is_aligned():
    columns = [
        column("name", "text", "id", "all different", missing=3),
        column("x", mean=1.23456, deviation=0.5, low=-1.0, high=1e9),
    ]
    assert table_lines(columns, 60) == (
        "column  kind    use     missing   mean   sd  least  largest",
        "name    text    id            3                              all different",
        "x       number  active           1.235  0.5     -1    1e+09",
    )


def test_many_columns_are_grouped():
    columns = [column(f"x{i}", missing=1, mean=2.0) for i in range(100)]
    assert len(table_lines(columns, 100)) == 101
    _, line = table_lines(columns, 99)
    assert line.startswith("x0..x99 (100 columns)  number  active      100")
