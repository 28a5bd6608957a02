"""Bad text files: each is refused in three lines that name file, line, column and value."""

import gzip
import io
import zipfile

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.sources import scan
from mercer.sources.text import _text_bytes as _bytes
from mercer.sources.text import _text_lines as _lines


def zipped(*names):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, "1,2\n" * 50)
    return out.getvalue()


GOOD = b"a,b,c\n" + b"1,2,3\n" * 5000
LATE = b"a,b\n" + b"10,20\n" * 3000
PACKED = gzip.compress(np.random.default_rng(0).integers(48, 58, 9000).tobytes() + b"\n" + GOOD)
EVEN_LINES = b"a,b\n1,2\n3,4\n"


def case(content, *words, name="x.csv", **options):
    """Name of the file, content, options, words of the refusal."""
    return name, content, options, words


BAD = {
    "ragged-short": case(b"a,b\n1,2\n3\n4,5\n", "line 3", "1 field, expected 2"),
    "ragged-long": case(b"a,b\n1,2\n3,4,5\n", "line 3", "3 fields, expected 2"),
    "ragged-late": case(GOOD + b"1,2\n" + GOOD[6:], "line 5002", "2 fields"),
    "ragged-by-quotes": case(b'a,b\n"1,2"\n3,4\n', "line 2", "1 field, expected 2"),
    "ragged-after-a-quoted-newline": case(
        b'a,b,t\n1,2,"x\ny"\n3,4\n', "line 4", "2 fields, expected 3", "'3,4'"
    ),
    "comma-in-a-number": case(b"a,b\n1,2\n1,000,3\n", "line 3", "'1,000,3'"),
    "empty-line": case(b"a,b\n1,2\n\n3,4\n", "line 3", "empty line"),
    "empty-line-one-column": case(b"1\n2\n\n\n3\n", "line 3", "empty line"),
    "empty-first-line": case(b"\na,b\n1,2\n3,4\n", "line 1"),
    "utf-16-without-mark": case(
        EVEN_LINES.decode().encode("utf-16-le"), "UTF-16", "line 1", "encoding='utf-16-le'"
    ),
    "utf-16-cut-in-a-character": case(
        EVEN_LINES.decode().encode("utf-16") + b"1", "UTF-16", "line 4", "character 1"
    ),
    "utf-16-wanted-without-order": case(
        EVEN_LINES, "needs a mark", "utf-16-le", encoding="utf-16"
    ),
    "latin-1": case("a,ü\n1,x\n2,caf".encode() + b"\xe9\n", "line 3", "6", "e9", "latin-1"),
    "broken-utf-8-late": case(
        "b,ü\n".encode() + LATE[4:] + b"1,2\xc3\n", "line 3002", "character 4", "c3", block=100
    ),
    "no-such-encoding": case(EVEN_LINES, "utf-9", encoding="utf-9"),
    "no-text-encoding": case(EVEN_LINES, "'zip'", encoding="zip"),
    "nul": case(LATE + b"1,\x002\n", "line 3002", "NUL", block=100),
    "cut-in-a-line": case(b"a,b\n1,2\n3", "line 3", "last line is cut", "1 field"),
    "cut-in-quotes": case(b'a,t\n1,"x"\n2,"y', "line 3", "never closed"),
    "header-one-short": case(b"a,b\n1,2,3\n4,5,6\n", "line 1", "2 names", "3 fields"),
    "header-one-long": case(b"a,b,c\n1,2\n3,4\n", "line 1", "3 names", "2 fields"),
    "header-short-by-trailing-commas": case(
        b"a,b\n1,2,\n3,4,\n", "line 1", "2 names", "3 fields", header=True
    ),
    "half-a-header": case(b"id,1990,1991\n7,1,2\n8,3,4\n", "line 1", "'id'", "'1990'"),
    "years-for-names": case(
        b"land,1990,1991\nDE,7,2\nFR,8,4\n", "line 1", "names or numbers", "'1990'"
    ),
    "positions-for-names": case(b"0,1\n.5,.6\n.7,.8\n", "line 1", "header=True"),
    "text-late": case(
        LATE + b"30,oops\n" + LATE[4:],
        "line 3002",
        "column 'b'",
        "'oops'",
        "drop='b'",
        block=1000,
    ),
    "text-late-beside-text": case(
        b"t,b,u\n" + b'"p,""q",20,v\n' * 3000 + b"r,2x,w\n",
        "line 3002",
        "column 'b'",
        "'2x'",
        block=1000,
        columns=["b"],
    ),
    "missing-that-is-not-declared": case(
        LATE + b"30,n/a\n", "line 3002", "column 'b'", "'n/a'", block=1000
    ),
    "empty-cell-that-is-not-declared": case(
        LATE + b"30,\n", "line 3002", "column 'b'", "''", na=["NA"]
    ),
    "decimal-comma-late": case(
        b"a;b\n" + b"1;2\n" * 3000 + b"1;2,5\n",
        "line 3002",
        "column 'b'",
        "'2,5'",
        "decimal=','",
    ),
    "truth-value-late": case(
        b"a,f\n" + b"1,true\n" * 1500 + b"2,7\n",
        "line 1502",
        "column 'f'",
        "'7'",
        "neither true nor false",
    ),
    "number-that-Python-alone-reads": case(
        LATE + b"1_000,2\n", "line 3002", "column 'a'", "'1_000'"
    ),
    "arabic-digits": case(LATE + "١,2\n".encode(), "line 3002", "column 'a'", "'١'"),
    "text-asked-for": case(b"a,t\n1,x\n", "'t' holds text", columns=["t"]),
    "no-such-column": case(EVEN_LINES, "no column 'bb'", columns=["bb"]),
    "only-text": case(b"u,v\nx,y\nz,w\n", "no column of numbers"),
    "empty": case(b"", "is empty"),
    "empty-but-for-lines": case(b"\n\r\n\n", "is empty", "4 bytes"),
    "empty-gz": case(b"", "is empty", name="x.csv.gz"),
    "header-only": case(b"a,b,c\n", "no row below the header", "line 1", "'a'"),
    "zip-in-disguise": case(zipped("x.csv"), "zip archive"),
    "workbook-in-disguise": case(
        zipped("[Content_Types].xml", "xl/workbook.xml"), "Excel workbook"
    ),
    "parquet-in-disguise": case(b"PAR1" + bytes(99), "Parquet"),
    "gzip-in-disguise": case(gzip.compress(EVEN_LINES), "gzip", "x.csv.gz"),
    "gzip-twice": case(
        gzip.compress(gzip.compress(EVEN_LINES)), "inside its packing", "gzip", name="x.csv.gz"
    ),
    "web-page": case(b"<!DOCTYPE html><html><body>404", "web page"),
    "not-gzip": case(EVEN_LINES, "not packed by gzip", name="x.csv.gz"),
    "gzip-cut": case(gzip.compress(GOOD)[:-12], "ends too early", name="x.csv.gz"),
    "gzip-cut-early": case(PACKED[:40], "ends too early", name="x.csv.gz"),
    "gzip-corrupt": case(
        PACKED[:300] + bytes(b ^ 255 for b in PACKED[300:340]) + PACKED[340:],
        "damaged",
        name="x.csv.gz",
    ),
    "gzip-wrong-sum": case(
        gzip.compress(GOOD)[:-8] + bytes(8), "damaged", "CRC", name="x.csv.gz"
    ),
    "quote-behind-a-digit": case(b'a,t\n1,5"x\n2,y\n3,"z"\n', "line 2", "never closed"),
    "quote-never-closed": case(b'a,t\n1,"x\n2,y\n3,z\n', "line 2", "never closed"),
    "quote-in-a-field": case(b'a,t\n1,5" pipe\n2,6" pipe\n', "line 2", '5" pipe'),
    "quote-before-text": case(b'a,t\n1,"x" y\n2,z\n', "line 2", "quote"),
    "old-line-ends": case(b"a,b\r1,2\r3,4\r", "carriage return"),
    "too-many-columns": case(
        b",".join([b"1"] * 100_001) + b"\n", "line 1", "100,001 fields", "100,000"
    ),
    "delimiter-of-two": case(EVEN_LINES, "one ASCII character", delimiter=", "),
    "delimiter-that-is-a-quote": case(EVEN_LINES, "no quote", delimiter='"'),
}


def refusal(path, content, options):
    """Return the error of opening and walking a file."""
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        walk(path, **options)
    return caught.value


def walk(path, block=8 << 20, **options):
    source = scan(path, **options)
    source.block_bytes = block
    for _ in source.blocks(512):
        pass


@pytest.mark.filterwarnings("ignore:columns that do not hold numbers")
@pytest.mark.parametrize("case", sorted(BAD))
def test_bad_files_are_refused_by_place(tmp_path, case):
    name, content, options, words = BAD[case]
    error = refusal(tmp_path / name, content, dict(options))
    said = str(error)
    assert [line[:7] for line in said.split("\n")[1:]] == ["  got: ", "  fix: "]
    assert name in said or "=" in error.got
    for word in words:
        assert word in said
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None


def test_endless_lines_and_bombs_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_lines, "LONGEST", 1 << 16)
    error = refusal(tmp_path / "x.csv", b"1,2\n" + b"7" * (1 << 17), {"block": 1000})
    assert "longer than" in str(error)
    assert "x.csv, line 2" in error.got
    error = refusal(tmp_path / "x.csv", b'1,"2\n' + b"7,8\n" * (1 << 15), {"block": 1000})
    assert "never closed" in str(error)
    assert "x.csv, line 1" in error.got
    monkeypatch.setattr(_bytes, "_BOMB_BYTES", 3_000_000)
    content = gzip.compress(b"1,2\n" * 2_000_000, 9)
    monkeypatch.setattr(_bytes, "_BOMB_RATIO", 0.5 * 8_000_000 / len(content))
    error = refusal(tmp_path / "x.csv.gz", content, {})
    assert "unpacks to far more" in str(error)
    assert "bytes out of" in error.got


@pytest.mark.parametrize("case", ["text-late", "ragged-late", "nul", "broken-utf-8-late"])
@pytest.mark.parametrize("block", [11, 1 << 12, 1 << 20])
def test_the_line_does_not_depend_on_the_blocks(tmp_path, case, block):
    name, content, options, words = BAD[case]
    said = str(refusal(tmp_path / name, content, {**options, "block": block}))
    for word in words:
        assert word in said
    packed = str(refusal(tmp_path / (name + ".gz"), gzip.compress(content), dict(options)))
    assert packed == said.replace("x.csv", "x.csv.gz")
