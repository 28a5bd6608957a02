"""Fields are counted on the bytes as the csv module counts them."""

import pytest

from mercer.errors import InputError
from mercer.sources.text._text_fields import find_fields, single_spaced
from mercer.sources.text._text_lines import Lines


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
