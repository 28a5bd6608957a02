"""The coded table of categories against its definition: an indicator of zeros and ones."""

import numpy as np
import pandas as pd
import pytest

from mercer.errors import DataWarning, InputError
from mercer.estimators.categories._category_cells import columns_of
from mercer.estimators.categories._category_codes import Variable, coded, coded_again


def table(rng, n=60, sizes=(2, 5, 3), gaps=0.0):
    cells = np.stack([rng.integers(0, size, n) for size in sizes], axis=1).astype(object)
    cells[rng.random(cells.shape) < gaps] = None
    return cells


def written(found):
    """Z by its definition, cell by cell."""
    dense = np.zeros((found.shape[0], len(found.labels)))
    for i, row in enumerate(found.codes):
        for q, code in enumerate(row):
            if code >= 0:
                dense[i, found.offsets[q] + code] = 1
    return dense


@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_the_indicator_and_the_burt_table_by_their_definitions(gaps):
    rng = np.random.default_rng(1)
    found = coded(table(rng, gaps=gaps), missing="passive")
    z = written(found)
    np.testing.assert_array_equal(found.indicator().toarray(), z)
    np.testing.assert_array_equal(found.burt(), z.T @ z)
    weights = rng.random(60)
    np.testing.assert_allclose(found.burt(weights), z.T @ (weights[:, None] * z), rtol=1e-13)
    np.testing.assert_allclose(found.shares(weights), weights @ z, rtol=1e-13)
    kept = rng.random(z.shape[1]) < 0.5
    np.testing.assert_array_equal(found.indicator(kept).toarray(), z[:, kept])
    np.testing.assert_array_equal(found.take([3, 1]).codes, found.codes[[3, 1]])
    assert found.owner.tolist() == [0, 0, 1, 1, 1, 1, 1, 2, 2, 2]


def test_missing_cells_by_each_policy():
    X = [["a", 1], [None, 2], ["b", 1]]
    with pytest.raises(InputError, match=r"1 of 6 cells.*row 1, column 0; by column: 'x0' 1"):
        coded(X)
    level = coded(X, missing="level")
    assert level.labels == ["x0=a", "x0=b", "x0=missing", "x1=1", "x1=2"]
    assert level.codes.tolist() == [[0, 0], [2, 1], [1, 0]]
    passive = coded(X, missing="passive")
    assert passive.labels == ["x0=a", "x0=b", "x1=1", "x1=2"]
    assert passive.codes.tolist() == [[0, 0], [-1, 1], [1, 0]]


@pytest.mark.parametrize("missing", ["level", "passive"])
def test_training_rows_have_the_same_codes_again(missing):
    X = table(np.random.default_rng(2), gaps=0.2)
    found = coded(X, missing=missing)
    again = coded_again(X, found.variables, missing=missing)
    np.testing.assert_array_equal(found.codes, again.codes)
    assert again.labels == found.labels


def test_unseen_values_are_named_or_passive():
    found = coded([["a", 1], ["b", 2]])
    new = [["a", 1.0], ["b", 3]]
    with pytest.raises(InputError, match=r"3 at row 1, column 1 \('x1'\); known are 1, 2"):
        coded_again(new, found.variables)
    again = coded_again(new, found.variables, unseen="passive")
    assert again.codes.tolist() == [[0, 0], [1, -1]]
    with pytest.raises(InputError, match="missing"):
        coded_again([["a", None]], found.variables)
    with pytest.raises(InputError, match="'missing' at row 0, column 1"):
        coded_again([["a", None]], found.variables, missing="level")
    with pytest.raises(InputError, match=r"'1' at row 0, column 1[\s\S]*of the same type"):
        coded_again([["a", "1"]], found.variables)


def test_unused_levels_are_dropped_by_name():
    frame = pd.DataFrame({"v": pd.Categorical(["a", "b"], ["a", "b", "gone"])})
    with pytest.warns(DataWarning, match="v=gone"):
        found = coded(frame)
    assert found.labels == ["v=a", "v=b"]
    assert coded(frame, quiet=True).labels == ["v=a", "v=b"]


def test_columns_may_be_handed_over_one_by_one():
    columns, _ = columns_of([["a", 1, "z"], ["b", 2, "z"]])
    found = coded([columns[0], columns[2]])
    assert found.labels == ["x0=a", "x0=b", "x2=z"]
    assert found.names == ["x0", "x2"]


def test_names_of_levels():
    assert Variable("v", np.array([1.0, 2.5])).labels == ["v=1", "v=2.5"]
    assert len(Variable("v", np.array([True]), gap=True)) == 2
    assert Variable("v", np.array([True]), gap=True).labels == ["v=True", "v=missing"]
