import numpy as np
import pytest
import scipy.sparse

from mercer.sources import DenseSource, Source, SparseSource, scan


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
