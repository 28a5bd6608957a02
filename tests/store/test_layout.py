import numpy as np
import pytest
from forged_files import entry, forged, some_arrays

from mercer.errors import InputError
from mercer.store import _file_layout as layout


def test_arrays_lie_one_behind_the_other_and_aligned():
    end = 0
    for place in layout.placed(some_arrays()):
        assert place.start == end
        assert place.start % place.dtype.itemsize == 0
        end += place.nbytes
    assert end == sum(array.nbytes for array in some_arrays().values())


def test_a_header_comes_back_as_it_was_packed():
    places = layout.placed(some_arrays())
    head = layout.packed_header('{"a": "\\ud800 ü"}', places)
    assert len(head) % 8 == 0
    assert head[8 : layout.SHA_AT] == layout.OPENING
    assert head[layout.SHA_AT : layout.PREFIX] == layout.NO_SHA
    room = sum(place.nbytes for place in places)
    text, found = layout.unpacked_header("f", head[8:], room)
    assert text == '{"a": "\\ud800 ü"}'
    assert {place.name: place for place in found} == {place.name: place for place in places}


HOSTILE = {
    "more than the file": (entry("a", "F64", [1 << 40], 0, 1 << 43), 0),
    "sizes that wrap": (entry("a", "F64", [1 << 61, 8], 0, 0), 0),
    "negative sizes": (entry("a", "F64", [-1], 0, -8), 0),
    "overlap": (entry("a", "U8", [8], 0, 8) + "," + entry("b", "U8", [8], 4, 12), 12),
    "a gap": (entry("a", "U8", [4], 0, 4) + "," + entry("b", "U8", [4], 8, 12), 12),
    "bytes left over": (entry("a", "U8", [4], 0, 4), 8),
    "an unknown type": (entry("a", "F8_E4M3", [4], 0, 4), 4),
    "no type": ('"a":{"shape":[4],"data_offsets":[0,4]}', 4),
    "one field more": (
        '"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"class":"os.system"}',
        4,
    ),
    "a size in quotes": (entry("a", "U8", ["4"], 0, 4), 4),
    "a size that is true": (entry("a", "U8", [True], 0, 1), 1),
    "half a size": (entry("a", "U8", [4.0], 0, 4), 4),
    "forty dimensions": (entry("a", "U8", [1] * 40, 0, 1), 1),
    "the same name twice": (entry("a", "U8", [4], 0, 4) + "," + entry("a", "U8", [4], 4, 8), 8),
    "metadata twice": ('"__metadata__":{}', 0),
    "not an object": ('"a":7', 0),
    "deep lists": ('"a":' + "[" * 50_000 + "]" * 50_000, 0),
    "not JSON": ('"a":', 0),
    "a number of 5,000 digits": (f'"a":{{"dtype":"U8","shape":[{"9" * 5000}]}}', 0),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_table_is_refused(case):
    table, room = HOSTILE[case]
    whole = forged(table)
    with pytest.raises(InputError, match=r"damaged|too long") as caught:
        layout.unpacked_header("some file", whole[8:], room)
    assert "some file" in str(caught.value)


def test_a_hundred_thousand_names_fit_and_ten_times_as_many_do_not():
    names = ",".join(
        f'"a column with a name of quite some length {i:06d}"' for i in range(10**5)
    )
    layout.small_enough("f", names.encode())
    with pytest.raises(InputError, match="too long"):
        layout.small_enough("f", b"0," * (layout.MARKS + 1))
    with pytest.raises(InputError, match="too long"):
        layout.small_enough("f", b" " * (layout.HEADER_BYTES + 1))


def test_every_type_has_one_name():
    assert len(layout.NAMES) == len(layout.DTYPES)
    assert all(np.dtype(text).byteorder in "<|=" for text in layout.DTYPES.values())
