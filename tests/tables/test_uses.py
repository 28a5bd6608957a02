import pytest

from mercer.errors import InputError
from mercer.tables import Asked
from mercer.tables.looking._column_facts import Facts
from mercer.tables.looking._column_roles import (
    refuse_no_category,
    refuse_table,
    use_of,
)


def text(name="t", distinct=3, **more):
    return Facts(name, "text", distinct=distinct, **more)


def whole(name="w", distinct=3, low=1.0, high=3.0, **more):
    return Facts(name, "integer", distinct=distinct, low=low, high=high, **more)


def use(column, table, *, first=False, identifies=False, **asked):
    return use_of(column, Asked(table=table, **asked), first=first, identifies=identifies)


def test_of_counts_texts_name_the_rows_and_numbers_are_counts():
    assert use(text(unique=True), "counts")[0] == "id"
    assert use(text(), "counts", first=True) == ("id", "the first column")
    assert use(text(), "counts")[0] == "out"
    assert use(whole(), "counts") == ("active", "")
    assert use(whole(low=7.0, high=7.0), "counts")[0] == "active"  # a constant column counts
    assert use(whole(low=0.0, high=0.0), "counts") == ("out", "only zeros")
    assert use(Facts("d", "date"), "counts")[0] == "out"
    assert use(whole(), "counts", identifies=True) is None


def test_of_categories_few_values_are_taken():
    assert use(text(), "categories") == ("active", "3 categories")
    assert use(text(distinct=51), "categories")[0] == "out"
    assert use(text(distinct=1), "categories")[0] == "out"
    assert use(text(unique=True), "categories")[0] == "id"
    assert use(whole(distinct=12), "categories")[0] == "active"
    assert use(whole(distinct=13), "categories")[0] == "out"
    assert use(whole(distinct=13), "categories", category=("w",))[0] == "active"
    assert use(whole(low=2.0, high=2.0, distinct=1), "categories") == ("out", "constant 2")
    assert use(Facts("x", "number"), "categories")[0] == "out"
    assert use(Facts("d", "date"), "categories") is None


def test_a_long_table_uses_what_is_named_alone():
    assert use(text(), "counts", rows_by="a", columns_by="b") == ("out", "not asked for")


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (Facts("x", "number", low=0.5, high=2.5), "numbers with decimals"),
        (whole(distinct=40), "more than 12 values"),
        (Facts("e", "empty"), "must hold categories"),
        (Facts("d", "date"), "must hold categories"),
    ],
)
def test_a_column_that_is_named_and_no_category_is_refused(column, what):
    with pytest.raises(InputError, match=what) as refused:
        refuse_no_category(column, Asked(table="categories"), "t.csv")
    assert repr(column.name) in refused.value.got


def test_what_was_asked_for_as_a_category_is_not_refused():
    refuse_no_category(whole(distinct=40), Asked(table="categories", category=("w",)), "t.csv")
    refuse_no_category(Facts("x", "number"), Asked(table="mixed"), "t.csv")


TABLES = {
    "one": (Asked(table="categories"), [(text(), "active")], "two columns of categories"),
    "negative": (Asked(table="counts"), [(whole(low=-3.0), "active")], "not negative"),
    "sup": (Asked(table="counts"), [(whole(low=-3.0), "sup")], "not negative"),
    "half": (Asked(table="counts", rows_by="a"), [], "two columns are counted"),
    "no target": (Asked(table="groups"), [(text(), "out")], "needs to know the groups"),
    "decimals": (
        Asked(table="groups", target="x"),
        [(Facts("x", "number", low=0.0, high=1.5), "target")],
        "words or codes",
    ),
    "one group": (Asked(table="groups", target="t"), [(text(distinct=1), "target")], "words"),
    "many": (Asked(table="groups", target="t"), [(text(unique=True), "target")], "few diff"),
    "codes": (Asked(table="groups", target="w"), [(whole(distinct=99), "target")], "few diff"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_a_method_cannot_take_is_refused(name):
    asked, columns, what = TABLES[name]
    with pytest.raises(InputError, match=what) as refused:
        refuse_table(columns, asked, "t.csv")
    assert "t.csv" in refused.value.got


def test_a_column_that_could_be_the_target_is_named():
    columns = [(Facts("x", "number"), "active"), (text("species"), "out")]
    with pytest.raises(InputError) as refused:
        refuse_table(columns, Asked(table="groups"), "t.csv")
    assert refused.value.fix == "--target species"
