"""One part: its blocks, the places of its cells, and its repeat counts."""

import numpy as np
import pytest
import scipy.sparse

from mercer.errors import InputError
from mercer.sources import PartBlocks, scan
from mercer.sources.parts._distributed_source import checked_counts

X = np.arange(15.0).reshape(5, 3)


@pytest.mark.parametrize("held", [X, np.asfortranarray(X), scipy.sparse.csr_array(X)])
@pytest.mark.parametrize("rows", [1, 2, 5, 9])
def test_blocks_are_the_rows(held, rows):
    part = PartBlocks(held, 0, 0, None)
    blocks = [b.toarray() if scipy.sparse.issparse(b) else b for b in part.blocks(rows)]
    np.testing.assert_array_equal(np.concatenate(blocks), X)
    assert (part.nnz is None) == (not scipy.sparse.issparse(held))
    assert part.nbytes > 0


def test_a_cell_is_placed_among_all_rows_or_in_its_part():
    assert PartBlocks(X, 4, 100, None).place(2, 1) == "row 102, column 1"
    names = ("a", "b", "c")
    assert PartBlocks(X, 4, None, names).place(2, 1) == "part 4, row 2, column 1 ('b')"


def test_parts_are_told_apart():
    prints = {PartBlocks(X[:n], k, 0, None).fingerprint() for n in (4, 5) for k in (0, 1)}
    assert len(prints) == 4


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (np.ones(4), "part 4: 4 weights, 5 rows"),
        ([np.ones(3), np.ones(1)], "part 4: 4 weights, 5 rows"),
        (np.array([1, 1, -1, 1, 1]), "-1.0 at part 4, row 2"),
        (np.array([1, 1, 1, np.nan, 1]), "nan at part 4, row 3"),
        (np.array([1, 1, 1, 1e300, 1]), "sum 1e\\+300 over 5 rows of part 4"),
        (np.full(5, 2.0**52), "cannot be counted"),
        (np.array(list("abcde")), "weights must be numbers"),
        (np.array(list("12345")), "weights must be numbers"),
        (np.array(list("12345"), object), "weights must be numbers"),
        (np.ones(5) + 1j, "weights must be numbers"),
    ],
    ids=[
        "short",
        "short pieces",
        "negative",
        "nan",
        "huge",
        "many",
        "text",
        "digits",
        "objects",
        "complex",
    ],
)
def test_bad_weights_are_named(weights, said):
    with pytest.raises(InputError, match=said):
        checked_counts(weights, PartBlocks(X, 4, None, None))


def test_good_weights_are_float64():
    found = checked_counts([np.array([1, 2]), np.array([3, 0, 1])], PartBlocks(X, 0, 0, None))
    assert found.dtype == np.float64
    assert found.tolist() == [1, 2, 3, 0, 1]
    assert checked_counts(None, PartBlocks(X, 0, 0, None)) is None


@pytest.mark.usefixtures("every_chunk")
def test_a_sample_is_spread_over_all_parts():
    da = pytest.importorskip("dask.array")
    rows = np.arange(100.0)[:, None] * np.ones(2)
    found = scan(da.from_array(rows, chunks=(10, 2))).sample(20)
    assert 10 <= len(found) <= 20
    assert len(np.unique(found[:, 0] // 10)) == 10
    assert len(scan(da.from_array(rows, chunks=(10, 2))).sample(5)) <= 5


@pytest.mark.usefixtures("every_chunk")
def test_the_first_bad_cell_raises_where_it_lies():
    da = pytest.importorskip("dask.array")
    rows = np.ones((100, 2))
    source = scan(da.from_array(rows, chunks=(10, 2)))
    assert source.first_bad_cell() is None
    rows[37, 1] = np.inf
    with pytest.raises(InputError, match="infinity at row 37, column 1"):
        scan(da.from_array(rows, chunks=(10, 2))).first_bad_cell()
