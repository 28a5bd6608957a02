"""One part: its blocks, the places of its cells, and its repeat counts."""

import math

import dask.array as da
import numpy as np
import pytest
import scipy.sparse

from mercer import PCA, KernelPCA, RandomFeatures, RobustPCA
from mercer.errors import InputError
from mercer.sources import PartBlocks, refuse_sum, scan, sum_of
from mercer.sources._repeat_counts import joined_sums
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


def test_a_part_knows_its_place_its_print_and_its_counts():
    assert PartBlocks(X, 4, 100, None).place(2, 1) == "row 102, column 1"
    names = ("a", "b", "c")
    assert PartBlocks(X, 4, None, names).place(2, 1) == "part 4, row 2, column 1 ('b')"
    prints = {PartBlocks(X[:n], k, 0, None).fingerprint() for n in (4, 5) for k in (0, 1)}
    assert len(prints) == 4
    found = checked_counts([np.array([1, 2]), np.array([3, 0, 1])], PartBlocks(X, 0, 0, None))
    assert found.dtype == np.float64
    assert found.tolist() == [1, 2, 3, 0, 1]
    assert checked_counts(None, PartBlocks(X, 0, 0, None)) is None


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


@pytest.mark.usefixtures("every_chunk")
def test_samples_and_bad_cells_of_parts():
    da = pytest.importorskip("dask.array")
    rows = np.arange(100.0)[:, None] * np.ones(2)
    found = scan(da.from_array(rows, chunks=(10, 2))).sample(20)
    assert 10 <= len(found) <= 20
    assert len(np.unique(found[:, 0] // 10)) == 10
    assert len(scan(da.from_array(rows, chunks=(10, 2))).sample(5)) <= 5
    da = pytest.importorskip("dask.array")
    rows = np.ones((100, 2))
    source = scan(da.from_array(rows, chunks=(10, 2)))
    assert source.first_bad_cell() is None
    rows[37, 1] = np.inf
    with pytest.raises(InputError, match="infinity at row 37, column 1"):
        scan(da.from_array(rows, chunks=(10, 2))).first_bad_cell()


# Sums of repeat counts are right to the last bit however they are cut, or refused.


@pytest.mark.parametrize("n", [0, 1, 2, 3, 100, 10_001])
@pytest.mark.parametrize("low", [0, 15])
def test_a_sum_is_that_of_exact_arithmetic(rng, n, low):
    counts = 10.0 ** rng.uniform(-low, 3, n)
    assert sum_of(counts)[0] == math.fsum(counts)


@pytest.mark.parametrize(
    "cuts", [[], [30, 60, 90], range(1, 100)], ids=["whole", "four", "each"]
)
def test_shares_add_up_to_one_however_they_are_cut(cuts):
    found = (0.0, 0.0)
    for part in np.split(np.full(100, 0.01), cuts):
        found = joined_sums(found, sum_of(part))
    assert found[0] == 1.0


def test_sums_at_the_ends():
    many = sum_of(np.array([1.0, 1e307, 1e307]))
    assert many == (2e307, 0.0)
    assert joined_sums(many, sum_of(np.ones(3))) == joined_sums((1.0, 0.0), many) == many
    assert sum_of(np.full(400, 1e308)) == (np.inf, 0.0)
    refuse_sum(0.0, "7 rows", few=True)
    with pytest.raises(InputError, match="cannot be counted"):
        refuse_sum(np.inf, "7 rows", few=True)


@pytest.mark.parametrize(
    ("total", "said"),
    [
        (0.0, "all sample weights are zero\n  got: 7 rows, every weight zero"),
        (1.0, "their sum must exceed 1\n  got: sum 1 over 7 rows"),
        (2.0**53 + 2, "cannot be counted\n  got: sum 9.01e\\+15 over 7 rows; the most is"),
        (np.inf, "cannot be counted\n  got: a sum above 1.8e"),
    ],
    ids=["zero", "one", "many", "infinite"],
)
def test_sums_that_count_no_rows_are_refused(total, said):
    with pytest.raises(InputError, match=said):
        refuse_sum(total, "7 rows")


NORMAL = np.random.default_rng(0).normal(size=(400, 3))


def parts(table):
    return da.from_array(table, chunks=(100, *table.shape[1:]))


PATHS = {
    "pca": lambda w: PCA(2).fit(NORMAL, sample_weight=w),
    "blocks": lambda w: PCA(2).fit(iter(np.array_split(NORMAL, 4)), sample_weight=w),
    "stream": lambda w: PCA(2).partial_fit(NORMAL, sample_weight=w),
    "dask": lambda w: PCA(2).fit(parts(NORMAL), sample_weight=w),
    "dask weights": lambda w: PCA(2).fit(parts(NORMAL), sample_weight=parts(w)),
    "robust": lambda w: RobustPCA(2).fit(NORMAL, sample_weight=w),
    "kernel": lambda w: KernelPCA(2).fit(NORMAL, sample_weight=w),
    "kernel blocks": lambda w: KernelPCA(2).fit(
        iter(np.array_split(NORMAL, 4)), sample_weight=w
    ),
    "kernel dask": lambda w: KernelPCA(2).fit(parts(NORMAL), sample_weight=parts(w)),
    "features": lambda w: RandomFeatures(8).fit(NORMAL, sample_weight=w),
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("weight", "got"),
    [(3e13, "sum 1.2e+16 over"), (1e100, "e+102 over"), (1e308, "a sum above 1.8e+308 over")],
)
def test_every_path_gives_the_sum_and_the_limit(path, weight, got):
    with pytest.raises(InputError, match="so many rows cannot be counted") as caught:
        PATHS[path](np.full(400, weight))
    assert got in caught.value.got
    assert "the most is 2**53, 9.01e+15" in caught.value.got


@pytest.mark.parametrize("weight", [3e13, 1e100, 1e308])
def test_the_advice_helps(weight):
    w = np.full(400, weight)
    with pytest.raises(InputError) as caught:
        PCA(2).fit(NORMAL, sample_weight=w)
    first, _, last = caught.value.fix.partition("rescale: ")
    w = w / w.max() if "w / w.max()" in first else w
    np.testing.assert_allclose(eval(last, {"w": w, "len": len}), 1.0)
