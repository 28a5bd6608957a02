from house_values import FORMS, Point

from mercer.store._plain_data import SCALARS


def test_a_form_takes_a_dataclass_apart_and_together():
    form = FORMS["Point"]
    assert form.apart(Point(1, [2])) == {"x": 1, "y": [2]}
    assert form.together({"x": 1}) == Point(1)
    assert form.needed == {"x"}
    assert form.known == {"x", "y"}


def test_numbers_are_named_as_numpy_names_them():
    assert {"bool", "float32", "float64", "int64"} <= set(SCALARS)
    assert all(kind.__name__ == name for name, kind in SCALARS.items())
