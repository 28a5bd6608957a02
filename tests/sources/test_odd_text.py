"""Text as people have it: decimal commas, units, comments, twins, words for missing."""

import json
import warnings
import zipfile

import numpy as np
import pytest

import mercer
from mercer.errors import DataWarning, InputError
from mercer.sources.text._number_spelling import decimal_of, spelling_of

X = np.array(
    [[1234.5, 0.25, -3.0], [12.0, 100.75, 5.5], [1234567.25, 7.0, 0.5], [3.5, 1.0, 2.25]]
)


def read(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        source = mercer.scan(path, **options)
        return np.concatenate(list(source.blocks(3))), source.names


def german(v, gap="."):
    return f"{v:,.2f}".replace(",", "#").replace(".", ",").replace("#", gap)


def swiss(v):
    return f"{v:,.2f}".replace(",", "'")


WAYS = {
    "decimal commas and points": (";", german),
    "decimal commas and spaces": (";", lambda v: german(v, " ")),
    "decimal commas in tabs": ("\t", german),
    "apostrophes": (",", swiss),
    "quoted thousands": (",", lambda v: f'"{v:,.2f}"'),
    "dollars": (",", lambda v: f'"${v:,.2f}"' if v >= 0 else f'"-${-v:,.2f}"'),
    "percent": (";", lambda v: f"{v:.2f} %"),
    "kilograms": (",", lambda v: f"{v:.2f} kg"),
    "euros behind": (";", lambda v: german(v) + " €"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("names", ["a b c", "100m 50kg 7%"])
def test_numbers_are_read_however_they_are_written(tmp_path, way, names):
    mark, spell = WAYS[way]
    names = names.split()
    rows = [mark.join(map(spell, row)) for row in X]
    (tmp_path / "t.csv").write_text(
        "\n".join([mark.join(names), *rows]) + "\n", encoding="utf-8"
    )
    found, said = read(tmp_path / "t.csv")
    assert said == tuple(names)
    assert np.allclose(found, X, rtol=1e-15)
    if "comma" in way:
        with pytest.warns(DataWarning, match="a decimal comma"):
            mercer.scan(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("cells", "said", "mark"),
    [
        (["1.234", "5.678"], None, "."),
        (["1.234", "5.678"], ",", ","),
        (["1,234", "5,678"], None, "."),
        (["1,234", "5,67"], None, ","),
        (["1.234.567", "5.678"], None, ","),
        (["1,234.5"], ",", "."),
        (["1.234,5", "1,234.5"], None, None),
    ],
)
def test_the_whole_column_decides(cells, said, mark):
    assert decimal_of(cells, said) == mark


@pytest.mark.parametrize(
    "cells", [["s1", "s2"], ["1a", "2a"], ["12 kg", "3 m"], ["$5", "€5"], ["-"]]
)
def test_names_and_mixed_units_are_no_numbers(cells):
    assert spelling_of(cells, None) is None


def test_another_column_and_the_option_say_what_1_234_is(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "".join(f"{i}.{i}00;{i},5\n" for i in range(1, 9)))
    assert read(path)[0][0].tolist() == [1100.0, 1.5]
    path.write_text("a;b\n1.234;2.5\n5.678;3.5\n")
    assert read(path)[0][0].tolist() == [1.234, 2.5]
    path.write_text("a;b\n1.234;2\n5.678;3\n")
    assert read(path, decimal=",")[0][0].tolist() == [1234.0, 2.0]
    assert read(path, decimal=".")[0][0].tolist() == [1.234, 2.0]


def test_the_fix_of_a_late_comma_works(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "1;2\n" * 3000 + "1;2,5\n")
    with pytest.raises(InputError, match="decimal=','"):
        read(path)
    assert read(path, decimal=",")[0][-1].tolist() == [1.0, 2.5]


def test_comments_twins_quotes_and_an_empty_corner(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("# a lab, 2024\n#\na,b\n1,2\n3,4\n")
    assert read(path)[0].tolist() == [[1, 2], [3, 4]]
    path.write_text("#a,b\n1,2\n3,4\n")
    assert read(path)[1] == ("a", "b")
    path.write_text("a,a,a_2,'q'\n1,2,3,4\n5,6,7,8\n")
    assert read(path)[1] == ("a", "a_3", "a_2", "q")
    with pytest.warns(DataWarning, match="numbered"):
        mercer.scan(path)
    path.write_text(",1,2,3\n1,5,6,7\n2,8,9,0\n3,4,4,1\n")
    assert read(path)[1][1:] == ("1", "2", "3")


@pytest.mark.parametrize("word", ["?", "-", "unknown", "n/a", "."])
def test_words_for_missing_among_numbers(tmp_path, word):
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n1,2\n{word},4\n5,6\n7,1\n")
    found = read(path)[0]
    assert np.isnan(found[1, 0])
    with pytest.warns(DataWarning, match="missing"):
        mercer.scan(path)


def test_a_number_that_means_missing_is_met_however_it_is_written(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n-999.0,4\n5,-999\n7,-9.99e2\n")
    found = read(path, na=("", "-999"))[0]
    assert np.isnan(found).sum() == 3


def test_letters_of_windows_are_read_and_damage_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("größe,b\n1,2\n3,4\n".encode("latin-1"))
    assert read(path)[1] == ("größe", "b")
    path.write_bytes("größe,b\n".encode() + b"1,2\xf6\n")
    with pytest.raises(InputError, match="not UTF-8"):
        read(path)


# Tables in other files: written plainly, read as that.


ROWS = [{"n": f"x{i}", "a": i + 0.5, "b": None if i == 2 else i * i} for i in range(5)]


@pytest.mark.parametrize("shape", ["records", "columns", "inside", "lines"])
def test_json(tmp_path, shape):
    held = {
        "records": ROWS,
        "columns": {name: [row[name] for row in ROWS] for name in "nab"},
        "inside": {"made": "2024", "data": ROWS},
    }
    text = "\n".join(map(json.dumps, ROWS)) if shape == "lines" else json.dumps(held[shape])
    (tmp_path / "t.json").write_text(text + "\n")
    found, names = read(tmp_path / "t.json", columns=["a", "b"])
    assert names == ("a", "b")
    assert found[:, 0].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert np.isnan(found[2, 1])


def test_a_packed_table_several_files_and_a_folder(tmp_path):
    for i in range(2):
        (tmp_path / f"p{i}.csv").write_text(f"a,b\n{i},2\n3,4")
    assert read(tmp_path / "p*.csv")[0].tolist() == [[0, 2], [3, 4], [1, 2], [3, 4]]
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as packed:
        packed.write(tmp_path / "p0.csv", "p0.csv")
    assert read(tmp_path / "t.zip")[0].tolist() == [[0, 2], [3, 4]]
    with zipfile.ZipFile(tmp_path / "t.zip", "a") as packed:
        packed.write(tmp_path / "p1.csv", "p1.csv")
    with pytest.raises(InputError, match="one table, not 2"):
        read(tmp_path / "t.zip")
    with pytest.raises(InputError, match="a folder is no table") as refused:
        read(tmp_path)
    assert "p0.csv" in refused.value.fix
    (tmp_path / "p1.csv").write_text("a,c\n1,2\n")
    with pytest.raises(InputError, match="the same first line"):
        read(tmp_path / "p*.csv")


def test_a_workbook_and_a_table_of_statistics(tmp_path):
    pytest.importorskip("fastexcel")
    pandas = pytest.importorskip("pandas")
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pandas.DataFrame({"a": [1.5, 2.0, 4.0], "b": [3.0, 1.0, 2.0]})
    _workbook(tmp_path / "t.xlsx", frame)
    assert read(tmp_path / "t.xlsx")[0].tolist() == frame.to_numpy().tolist()
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"))
    pyreadstat.write_dta(frame, str(tmp_path / "t.dta"))
    for end in ("sav", "dta"):
        assert read(tmp_path / f"t.{end}")[0].tolist() == frame.to_numpy().tolist()
    (tmp_path / "bad.xlsx").write_bytes(b"no workbook")
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "bad.xlsx")


def _workbook(path, frame):
    """Write the least that a spreadsheet program opens."""
    rows = [list(frame.columns), *frame.to_numpy().tolist()]

    def cell(value):
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
        return f"<c><v>{value}</v></c>"

    lines = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    with zipfile.ZipFile(path, "w") as book:
        book.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="xml" ContentType='
            '"application/xml"/><Default Extension="rels" ContentType="application/vnd.'
            'openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" '
            'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.'
            'main+xml"/></Types>',
        )
        link = f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type='
        book.writestr(
            "_rels/.rels",
            f'{link}"{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        book.writestr(
            "xl/_rels/workbook.xml.rels",
            f'{link}"{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        )
        book.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="one" '
            'sheetId="1" r:id="r1"/></sheets></workbook>',
        )
        book.writestr(
            "xl/worksheets/sheet1.xml",
            f'<worksheet xmlns="{main}"><sheetData>{lines}</sheetData></worksheet>',
        )
