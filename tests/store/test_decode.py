import numpy as np
import pytest
from house_values import FORMS, Point

from mercer.errors import InputError
from mercer.store import DataDecoder

A = {"a": np.arange(3.0), "i": np.array([0, 9, 1], np.int32), "p": np.array([0, 1, 2, 3])}


def decoded(given, arrays=()):
    return DataDecoder(FORMS, {name: A[name] for name in arrays}, "f.mercer").whole(given)


def test_a_missing_part_with_a_default_takes_it():
    assert decoded({"=": "Point", "x": 1}) == Point(1, 0)


def ref(name):
    return {"=": "array", "name": name}


@pytest.mark.parametrize(
    ("given", "arrays", "words"),
    [
        ({"=": "os.system", "x": "true"}, "", "not known"),
        ({"=": "Stranger", "x": 1}, "", "not known"),
        ({"=": ["Point"]}, "", "cannot be made"),
        ({"x": 1}, "", "'None' is not known"),
        ({"=": "Point", "x": 1, "z": 2}, "", r"no place for, \['z'\]"),
        ({"=": "Point", "y": 1}, "", r"\['x'\]"),
        ({"=": "array", "name": "b"}, "", "cannot be made"),
        ({"=": "array"}, "", "has the parts"),
        ({"=": "tuple", "items": [], "more": 1}, "", "has the parts"),
        ({"=": "tuple", "items": 7}, "", "cannot be made"),
        ({"=": "dict", "items": [[1]]}, "", "cannot be made"),
        ({"=": "dict", "items": [[[], 1]]}, "", "cannot be made"),
        ({"=": "float", "value": "__import__('os')"}, "", "cannot be made"),
        ({"=": "number", "type": "object_", "value": 1}, "", "cannot be made"),
        ({"=": "type", "value": "str"}, "", "cannot be made"),
        (1, "a", "belongs to no value"),
        (
            {"=": "texts", "bytes": "a", "ends": "p", "fixed": False},
            "ap",
            "one behind the other",
        ),
        (
            {"=": "csr_array", "shape": [3, 3], "data": ref("a"), "indices": ref("i"),
             "indptr": ref("p")},
            "aip",
            "cannot be made",
        ),
        ({"=": "csr_array", "shape": [3, 3]}, "", "cannot be made"),
    ],
    ids=range(19),
)  # fmt: skip
def test_what_was_not_written_by_us_is_refused(given, arrays, words):
    with pytest.raises(InputError, match=words) as caught:
        decoded(given, arrays)
    assert caught.value.got.startswith("f.mercer:")


def test_many_values_inside_each_other_are_refused():
    deep = 1
    for _ in range(300):
        deep = [deep]
    with pytest.raises(InputError, match="inside each other"):
        decoded(deep)
