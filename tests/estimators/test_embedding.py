"""What all maps of rows share."""

import numpy as np
import pytest
import scipy.sparse

import mercer
from mercer.errors import InputError

ROWS = np.random.default_rng(0).normal(size=(40, 3))
MAPS = [
    mercer.ClassicalMDS(2),
    mercer.Isomap(2, neighbours=20),
    mercer.LaplacianEigenmaps(2, neighbours=20),
    mercer.LocallyLinearEmbedding(2, neighbours=20),
]


@pytest.mark.parametrize("model", MAPS, ids=lambda m: type(m).__name__)
def test_what_a_caller_does_to_the_result_does_not_reach_the_model(model):
    Z = model.fit_transform(ROWS)
    np.testing.assert_array_equal(Z, model.embedding_)
    Z[:] = 7
    assert not np.any(model.embedding_ == 7)


@pytest.mark.parametrize("model", MAPS, ids=lambda m: type(m).__name__)
def test_bad_cells_are_named_and_tags_tell_the_truth_of_sparse_rows(model):
    bad = ROWS.copy()
    bad[3, 1] = np.nan
    with pytest.raises(InputError, match="row 3, column 1"):
        model.fit(bad)
    sparse = scipy.sparse.csr_array(ROWS)
    if model.__sklearn_tags__().input_tags.sparse:
        assert model.fit(sparse).embedding_.shape == (40, 2)
    else:
        with pytest.raises(InputError, match="Sparse rows"):
            model.fit(sparse)
