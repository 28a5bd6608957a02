"""Numbers and made columns side by side, held or read."""

import numpy as np
import pytest

from mercer.sources import BlockSource
from mercer.tables import Recipe
from mercer.tables.preparing._made_columns import wide

TEXT = "x,what,y\n1,b,5\n2,a,6\n3,,7\n4,b,8\n"
RECIPE = Recipe(
    columns=("y", "x", "what"),
    names=("y", "x", "what=a", "what=b"),
    levels={"what": ("a", "b")},
)
EXPECTED = np.array([[5, 1, 0, 1], [6, 2, 1, 0], [7, 3, 0, 0], [8, 4, 0, 1.0]])


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text(TEXT)
    return file


@pytest.mark.parametrize("stop", [None, 3, 9])
@pytest.mark.parametrize("rows", [None, 4])
@pytest.mark.parametrize("out", [[], [0, 2]])
def test_held_is_read(path, monkeypatch, stop, rows, out):
    out = np.asarray(out, np.int64)
    known = None if rows is None else min(rows, stop or rows)
    held = wide(path, RECIPE, stop=stop, rows=known).without(out)
    expected = np.delete(EXPECTED[:stop], out, axis=0)
    assert np.array_equal(held.to_numpy(), expected)
    assert tuple(held.columns) == RECIPE.names
    monkeypatch.setattr("mercer.tables._table_reading.HELD", 8)
    read = wide(path, RECIPE, stop=stop, rows=known).without(out)
    assert isinstance(read, BlockSource)
    assert read.names == RECIPE.names
    assert np.array_equal(np.concatenate(list(read.blocks(2))), expected)
    assert read.shape == expected.shape
    assert read.place(0, 1) == f"a.csv, line {3 if len(out) else 2}, column 'x'"


def test_numbers_alone_and_categories_alone(path):
    numbers = Recipe(columns=("x",), names=("x",))
    assert wide(path, numbers, stop=None, rows=None).held.tolist() == [[1], [2], [3], [4]]
    texts = Recipe(columns=("what",), names=("what=b",), levels={"what": ("b",)})
    found = wide(path, texts, stop=None, rows=None)
    assert found.held.tolist() == [[1], [0], [0], [1]]
    assert found.made.unseen["what"] == 1
