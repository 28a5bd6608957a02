import numpy as np
import polars as pl
import pytest

from mercer.tables import Asked, Column, look, prepared
from mercer.tables.preparing._prepared_rows import pixels_of


def columns(names, blank=(), low=0.0):
    return [
        Column(
            name,
            "integer",
            "out" if i in blank else "active",
            "constant 0" if i in blank else "",
            low=low,
            high=low if i in blank else 200.0 + i,
        )
        for i, name in enumerate(names)
    ]


def active(found):
    return [c.name for c in found if c.role == "active"]


@pytest.mark.parametrize(
    "names",
    [
        [f"x{i}" for i in range(64)],
        [f"pixel{i}" for i in range(1, 65)],
        [f"{i}x{j}" for i in range(1, 9) for j in range(1, 9)],
        [f"p{i:02d}_{j:02d}" for i in range(8) for j in range(8)],
    ],
)
def test_names_that_count_are_pixels_and_blank_ones_keep_their_place(names):
    found = columns(names, blank=(0, 63))
    made = pixels_of(found, active(found))
    assert made is not None
    assert made.side == 8
    assert made.places == tuple(range(1, 63))
    assert (made.low, made.high) == (0.0, 262.0)
    assert made.line().startswith("columns are the pixels of pictures, 8 x 8, 0 to 262")


@pytest.mark.parametrize(
    "found",
    [
        columns([f"x{i}" for i in range(63)]),  # no square
        columns([f"x{i}" for i in range(49)]),  # small
        columns([f"x{i}" for i in range(63)] + ["y63"]),  # two stems
        columns([f"x{2 * i}" for i in range(64)]),  # numbers left out
        columns([f"x{i}" for i in range(63)]) + columns(["x63"], low=-1.0),  # another least
        columns([f"x{i}" for i in range(64)], blank=range(10, 64)),  # mostly blank
        columns([f"{j}x{i}" for i in range(1, 9) for j in range(1, 9)]),  # by columns
        columns(["a", *[f"x{i}" for i in range(63)]]),
    ],
)
def test_other_columns_are_not(found):
    assert pixels_of(found, active(found)) is None


def test_pictures_in_a_file_are_not_standardised(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (40, 64))
    X[0] = 0
    X[:, [0, 7]] = 0
    X[:, 5] = rng.integers(0, 2, 40)  # varies a hundred times less than the others
    path = tmp_path / "digits.csv"
    pl.from_numpy(X, [f"x{i}" for i in range(64)]).write_csv(path)
    made = prepared(look(path, Asked()))
    assert made.shape == (40, 62)
    assert not made.standardize
    assert made.pixels is not None
    assert any("pixels of pictures, 8 x 8" in line for line in made.said)
    asked = prepared(look(path, Asked(standardize="yes")))
    assert asked.standardize
    assert not any("pixels of pictures" in line for line in asked.said)
