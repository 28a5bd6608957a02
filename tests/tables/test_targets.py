import numpy as np
import pytest

from mercer.errors import InputError
from mercer.tables import Asked, look, prepared

LINES = ["g,x,y", "a,1.5,2", "b,2.5,3", ",3.5,4", "a,4.5,", "NA,5.5,6", "b,6.5,1"]


def written(tmp_path, lines=LINES):
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "t.csv"


def made_of(path, **asked):
    given = {"table": "groups", "target": "g", "missing": "rows"} | asked
    return prepared(look(path, Asked(**given)), fills=(), scales="none")


def test_rows_without_a_group_or_a_cell_are_set_aside(tmp_path):
    made = made_of(written(tmp_path))
    assert made.y.tolist() == ["a", "b", "b"]
    assert made.rows["x"].to_list() == [1.5, 2.5, 6.5]
    assert made.kept.tolist() == [0, 1, 5]
    assert made.target == "g"
    assert made.color == ("g",)
    said = "\n".join(made.said)
    assert "2 of 6 rows have no group in 'g' and are left out: rows 3, 5" in said
    assert "2 groups in 'g': a 1, b 2" in said
    assert made.labels("g").tolist() == ["a", "b", "b"]


def test_codes_are_groups_too_and_other_words_can_mean_missing(tmp_path):
    path = written(tmp_path, ["g,x", "1,0.5", "2,1.5", "1,2.5", "9,3.5"])
    assert made_of(path).y.tolist() == ["1", "2", "1", "9"]
    made = made_of(path, reading={"na": ("", "9")})
    assert made.y.tolist() == ["1", "2", "1"]


def test_one_group_alone_is_refused(tmp_path):
    path = written(tmp_path, ["g,x,y", "a,1.5,1", "a,2.5,2", "b,,3"])
    with pytest.raises(InputError, match="two groups are needed") as refused:
        made_of(path)
    assert "'g' has 1" in refused.value.got


def test_only_the_first_rows_are_read(tmp_path):
    made = made_of(written(tmp_path), rows=4, missing="columns")
    assert np.array_equal(made.y, ["a", "b", "a"])
