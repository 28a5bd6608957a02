"""Fields are counted on the bytes as the csv module counts them."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import InputError
from mercer.sources.text._text_fields import find_fields, single_spaced
from mercer.sources.text._text_lines import Lines

CELLS = st.lists(st.text(st.sampled_from('ab1 ,;"\n€'), max_size=5), min_size=1, max_size=6)


@given(st.lists(CELLS, min_size=1, max_size=8), st.sampled_from(",;"))
def test_counts_and_cells_are_those_of_csv(rows, mark):
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=mark, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    text = out.getvalue()
    fields = find_fields(Lines(text.encode(), 1), mark, "x.csv")
    assert fields.counts.tolist() == [len(row) for row in rows]
    for i, row in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=mark)):
        assert fields.cells(i) == [cell.strip(" \t") for cell in row]
        assert fields.cells(i, 2) == [cell.strip(" \t") for cell in row][:2]
        before = text.encode()[: fields.start(i)]
        assert fields.starts[i] == len(before)
        assert fields.line(i) == 1 + before.count(b"\n")


@pytest.mark.parametrize(
    ("text", "width", "words"),
    [
        ("1,2\n3\n", 2, "line 8: 1 field, expected 2: '3'"),
        ("1,2\n3,4,5\n", 2, "line 8: 3 fields, expected 2"),
        # As many fields as two even lines together have.
        ("1\n2,3,4\n", 2, "line 7: 1 field, expected 2"),
        ("1,2\n\n3,4\n", 2, "empty line.*\n.*line 8"),
        ("1\n\n3\n", 1, "empty line.*\n.*line 8"),
        ("\n1\n", 1, "empty line.*\n.*line 7"),
        ('"a\nb",2\n3\n', 2, "line 9"),
        ("x" * 99 + "\n", 2, "x" * 40 + r"\.\.\."),
    ],
)
def test_ragged_lines_are_named(text, width, words):
    fields = find_fields(Lines(text.encode(), 7), ",", "x.csv")
    with pytest.raises(InputError, match=words):
        fields.refuse_ragged(width, "x.csv")


@pytest.mark.parametrize("text", ['5" a\n6" b\n', '"a"b\n', '1,2"3"\n', '""a\n', 'a "b"\n'])
def test_stray_quotes_are_refused(text):
    with pytest.raises(InputError, match="line 3"):
        find_fields(Lines(b"1,2\n" + text.encode(), 2), ",", "x.csv")


def test_spaces_around_quotes_do_no_harm():
    fields = find_fields(Lines(b'1, "a,b" ,2\n  "c"\n', 1), ",", "x.csv")
    assert fields.cells(0) == ["1", "a,b", "2"]
    assert fields.cells(1) == ["c"]


def test_many_spaces_are_one():
    lines = single_spaced(Lines(b"  1   2 \n3 4\n 5     6  \n", 1))
    assert lines.data == b"1 2\n3 4\n5 6\n"
