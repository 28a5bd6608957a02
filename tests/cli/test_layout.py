from mercer.cli._voice import aligned


def test_words_stand_left_and_numbers_right():
    rows = [("name", "n", ""), ("a", "1", "why"), ("long name", "1,000", "")]
    assert aligned(rows, words=1) == [
        "name           n",
        "a              1  why",
        "long name  1,000",
    ]


def test_no_rows_are_no_lines():
    assert aligned([], words=1) == []


def test_a_table_of_one_column():
    assert aligned([("a",), ("b",)], words=0) == ["a", "b"]
