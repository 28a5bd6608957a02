"""scan opens by type and by the end of a file's name."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse

from mercer.errors import InputError
from mercer.sources import DenseSource, Source, SparseSource, is_scannable, scan
from mercer.sources._scan import kind_of


# scan opens by type and by the end of a file's name.
def test_arrays_stay_where_they_are():
    X = np.eye(3)
    assert scan(X).array is X
    assert isinstance(scan(scipy.sparse.coo_array(X)), SparseSource)
    source = scan(X)
    assert isinstance(source, DenseSource)
    assert scan(source) is source


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("absent.csv", "no such file"),
        ("model.pkl", "run code"),
        ("model.joblib", "run code"),
        ("absent", "no such file"),
    ],
)
def test_names_that_cannot_be_opened(name, words):
    with pytest.raises(InputError, match=words):
        scan(name)


def test_an_unknown_kind_is_refused(tmp_path):
    path = tmp_path / "table.xyz"
    path.write_text("1,2\n")
    with pytest.raises(InputError, match=r"'\.xyz'"):
        scan(path)


def test_options_belong_to_files():
    with pytest.raises(InputError, match="an array takes no options"):
        scan(np.eye(3), columns=[0])


def test_the_kind_of_packed_files():
    assert kind_of(Path("a.b.CSV.gz")) == ".csv"
    assert kind_of(Path("plain")) == ""


def test_what_only_scan_can_open():
    assert is_scannable("table.csv")
    assert is_scannable(iter([np.eye(2)]))
    assert not is_scannable(np.eye(2))
    assert not is_scannable([[1, 2]])


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        ([np.eye(2)], {}, "list"),
        (5, {}, "int"),
        (np.zeros(3), {}, "ndarray"),
        (pl.DataFrame({"a": [1.0]}), {"colums": ["a"]}, "did you mean 'columns'"),
        (pl.DataFrame({"a": [1.0]}), {"columns": slice(0, 1)}, "slice"),
        (np.eye(2), {"columns": [0]}, "an array takes no options"),
    ],
    ids=["list", "number", "vector", "misspelt", "slice", "array"],
)
def test_what_cannot_be_scanned(data, options, words):
    with pytest.raises(InputError, match=words):
        scan(data, **options)


def test_a_misspelt_option_of_a_file(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(InputError, match="did you mean 'columns'"):
        scan(tmp_path / "a.csv", colums=["a"])


@pytest.mark.parametrize(
    ("columns", "drop", "words"),
    [
        (["hieght"], None, "did you mean 'height'"),
        ([7], None, "no column number 7"),
        ([1.5], None, "name or its position"),
        (["id"], None, "'id' holds text"),
        (["height"], ["height"], "no column of numbers"),
        ([], None, "no column of numbers"),
    ],
)
def test_columns_that_cannot_be_had_are_refused(tmp_path, columns, drop, words):
    path = tmp_path / "t.csv"
    path.write_text("id,height,weight,when\n" + "a,1,2,2024-01-01\nb,2,5,2024-01-02\n" * 9)
    with pytest.raises(InputError, match=words):
        scan(path, columns=columns, drop=drop)


def test_arrays_and_sparse_matrices_find_their_source(xp):
    assert isinstance(scan(xp.asarray(np.ones((3, 2)))), DenseSource)
    for kind in (scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array):
        assert isinstance(scan(kind(np.eye(3))), SparseSource)


def test_a_source_is_its_own_source():
    source = scan(np.ones((3, 2)))
    assert scan(source) is source


@pytest.mark.parametrize(
    ("dtype", "products"),
    [
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.float16, np.float64),
        (np.int8, np.float64),
        (np.uint64, np.float64),
        (np.bool_, np.float64),
    ],
)
def test_only_float32_is_multiplied_as_float32(dtype, products):
    assert scan(np.ones((3, 2), dtype)).products == products
    if dtype != np.float16:
        assert scan(scipy.sparse.csr_array(np.ones((3, 2), dtype))).products == products


def test_memory_may_be_walked_as_often_as_one_likes():
    assert scan(np.ones((3, 2))).max_passes == float("inf")


def test_a_source_must_say_everything():
    with pytest.raises(TypeError, match="abstract"):
        Source()
