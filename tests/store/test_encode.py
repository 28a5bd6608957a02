import json
import math

import numpy as np
import pytest
import scipy.sparse
from house_values import FORMS, Point, Stranger, same, there_and_back
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from mercer.errors import InputError
from mercer.store import DataDecoder, DataEncoder

numbers = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**40), 10**40),
    st.floats(),
    st.text(st.characters(), max_size=6),  # lone surrogates too
    st.builds(np.float32, st.floats(width=32)),
    st.builds(np.float64, st.floats()),
    st.builds(np.int16, st.integers(-9, 9)),
    st.sampled_from([np.float32, np.dtype("f8"), np.dtype(bool), np.bool_(True)]),
)
tables = arrays_of.arrays(
    st.sampled_from(["f8", "f4", ">f8", "i8", "u2", "?", ">i4"]),
    arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
names = arrays_of.arrays(
    object, st.integers(0, 4), elements=st.text(st.characters(), max_size=5)
)
keys = st.one_of(st.text(max_size=3), st.integers(), st.tuples(st.integers(), st.none()))
values = st.recursive(
    st.one_of(numbers, tables, names),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(keys, inner, max_size=3),
        st.builds(Point, inner, inner),
    ),
    max_leaves=8,
)


def native(value):
    """The byte order of this machine is the one that comes back."""
    if isinstance(value, np.ndarray):
        return value.astype(value.dtype.newbyteorder("="))
    if isinstance(value, list | tuple):
        return type(value)(native(item) for item in value)
    if isinstance(value, dict):
        return {key: native(inner) for key, inner in value.items()}
    return Point(native(value.x), native(value.y)) if isinstance(value, Point) else value


@settings(max_examples=80, deadline=None)
@given(values)
def test_values_come_back_with_their_types_and_bits(value):
    encoder = DataEncoder(FORMS)
    json.dumps(encoder.encoded(value, "value"), allow_nan=False)
    assert same(native(there_and_back(value)), native(value))


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        -0.0,
        np.float64("nan"),
        {"a/b": np.arange(3), "a": {"b": np.arange(4)}},
        {"__metadata__": np.arange(3)},
        np.array(["ä", "", "\ud800"], dtype=object).reshape(3, 1),
        np.array(["ab", "c"]),
        np.zeros((0, 3)),
        scipy.sparse.csr_array(np.eye(3)),
        scipy.sparse.csr_matrix((3, 4)),
        scipy.sparse.csc_array(np.eye(3, dtype=np.float32)),
        {1, "two"},
        np.array([("CO", [(0, 1)]), frozenset({2, (3,)}), None, 0.5], dtype=object),
        np.array([1, "a"], dtype=object),
    ],
    ids=range(14),
)
def test_awkward_values_come_back(value):
    assert same(there_and_back(value), value)


def test_the_order_of_memory_and_missing_parts():
    wide = np.arange(24.0).reshape(4, 6)
    for array in (wide, wide.T, np.asfortranarray(wide), np.asfortranarray(wide)[:3, :3]):
        found = there_and_back(array)
        assert np.array_equal(found, array)
        assert (found.strides[0] < found.strides[1]) == (array.strides[0] < array.strides[1])
    assert decoded({"=": "Point", "x": 1}) == Point(1, 0)


def test_arrays_are_written_once_and_not_taken_for_each_other():
    a = np.arange(6.0).reshape(2, 3)
    encoder = DataEncoder(FORMS)
    encoder.encoded([a, a, a[:], a.T, Point(a)], "v")
    assert len(encoder.arrays) == 1
    one, two, turned = there_and_back([a, a, a.T])
    assert one is two
    assert np.shares_memory(one, turned)
    encoder = DataEncoder(FORMS)
    for number in range(50):
        encoder.encoded(np.full(7, number), f"a{number}")
    assert [int(array[0]) for array in encoder.arrays.values()] == list(range(50))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda x: x, "the function"),
        (len, "the function len"),
        (Stranger(1), "Stranger"),
        (Stranger, "the class"),
        (b"bytes", "builtins.bytes"),
        (1j, "complex"),
        (np.complex128(1j), "complex"),
        (np.zeros(2, complex), "complex"),
        (np.array([len], object), "the function len"),
        (np.array([[1, "a"]], object), "object"),
        (np.ma.masked_array([1.0]), "MaskedArray"),
        (np.dtype("M8[s]"), "dtype"),
        (scipy.sparse.coo_array(np.eye(2)), "coo_array"),
    ],
    ids=range(13),
)
def test_what_is_not_data_is_refused_with_its_place(value, words):
    with pytest.raises(InputError, match=words) as caught:
        DataEncoder(FORMS).encoded({"here": [value]}, "model")
    assert caught.value.got.startswith("model/here/0")


def test_values_inside_each_other_are_refused():
    endless = []
    endless.append(endless)
    with pytest.raises(InputError, match="values inside each other"):
        DataEncoder(FORMS).encoded(endless, "model")
    deep = 1
    for _ in range(300):
        deep = [deep]
    with pytest.raises(InputError, match="inside each other"):
        decoded(deep)


A = {"a": np.arange(3.0), "i": np.array([0, 9, 1], np.int32), "p": np.array([0, 1, 2, 3])}


def decoded(given, arrays=()):
    return DataDecoder(FORMS, {name: A[name] for name in arrays}, "f.mercer").whole(given)


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
