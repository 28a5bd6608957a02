import pytest

from mercer.errors import InputError
from mercer.tables import Asked
from mercer.tables.looking._table_request import by_name, groups_of

NAMES = ["id", "q1", "q2", "q3", "age"]


def test_groups_and_categories_become_names_and_say_what_is_analysed():
    asked = Asked(groups=(("a", ("q1-q2",)), ("b", ("age", "4"))), category=("q*",))
    found = by_name(asked, NAMES, "t.csv")
    assert found.groups == (("a", ("q1", "q2")), ("b", ("q3", "age")))
    assert found.columns == ("q1", "q2", "q3", "age")
    assert found.category == ("q1", "q2", "q3")


def test_columns_go_before_groups_and_without_either_nothing_changes():
    asked = Asked(groups=(("a", ("q1", "q2")),), columns=("q1",))
    assert by_name(asked, NAMES, "t.csv").columns == ("q1",)
    assert by_name(Asked(), NAMES, "t.csv") == Asked()


def test_a_column_in_two_groups_is_refused_by_name():
    with pytest.raises(InputError, match="one group") as refused:
        by_name(Asked(groups=(("a", ("q1",)), ("b", ("q*",)))), NAMES, "t.csv")
    assert "'q1' is in 'a' and in 'b'" in refused.value.got


def test_groups_hold_what_is_left_and_an_empty_one_is_refused():
    asked = Asked(groups=(("a", ("q1", "q2")), ("b", ("age",))))
    assert groups_of(asked, ["q1", "age"], "t.csv") == {"a": ["q1"], "b": ["age"]}
    assert groups_of(Asked(), ["q1"], "t.csv") is None
    with pytest.raises(InputError, match="no column of a group") as refused:
        groups_of(asked, ["q1"], "t.csv")
    assert "'b'" in refused.value.got
