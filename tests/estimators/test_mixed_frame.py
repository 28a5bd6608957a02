import numpy as np
import pandas as pd
import pytest
from mixed_tables import by_hand, mixed_frame

from mercer.errors import DataWarning, InputError
from mercer.estimators.mixed import _mixed_frame
from mercer.estimators.mixed._mixed_filling import operated
from mercer.estimators.mixed._mixed_frame import framed, stored_cells, table_of_cells
from mercer.estimators.mixed._mixed_table import mixed


def uniform(n):
    return np.full(n, 1 / n)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_operator_is_what_the_formula_says(monkeypatch, sparse):
    monkeypatch.setattr(_mixed_frame, "stored_cells", lambda *_: 1 if sparse else None)
    given = mixed_frame(50)
    table = mixed(given)
    r = np.random.default_rng(0).dirichlet(np.ones(50))
    frame = framed(table, r)
    cells = table_of_cells(frame, table, frame.codes(table))
    assert hasattr(cells, "tocsr") is sparse
    asked = operated(cells, frame, r, np.ones(frame.width))
    # Columns of a variable may stand in another order than by hand: their Gram is the same.
    expected, found = by_hand(given, r), asked.op.dense()
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, rtol=0, atol=1e-10)
    np.testing.assert_allclose(asked.trace, np.sum(expected**2), rtol=1e-12)
    np.testing.assert_allclose(asked.found, np.sum(found**2, axis=0), rtol=1e-10, atol=1e-13)


def test_large_means_and_huge_numbers_cost_no_digits():
    x = np.array([0.0, 1, 2, 5])
    given = pd.DataFrame({"far": x + 1e14, "huge": x * 3e307, "tiny": x * 1e-300, "x": x})
    frame = framed(mixed(given), uniform(4))
    z = frame.standard(given.to_numpy())
    expected = (x - x.mean()) / x.std()
    for column in z.T:
        np.testing.assert_allclose(column, expected, rtol=1e-12, atol=1e-15)
    at = np.array([0, 1, 2, 3])
    np.testing.assert_allclose(frame.back(z[3], at), given.iloc[3], rtol=1e-14)


def test_constant_columns_are_named_and_stand_at_zero():
    given = pd.DataFrame({"x": [1.0, 2, 4], "flat": [0.1] * 3, "one": ["a"] * 3})
    with pytest.warns(DataWarning, match="2 of 3 columns: 'flat', 'one'"):
        frame = framed(mixed(given), uniform(3))
    assert frame.rank == 1
    assert (frame.standard(given[["x", "flat"]].to_numpy())[:, 1] == 0).all()
    with pytest.raises(InputError, match="no variance"):
        framed(mixed(given[["flat", "one"]]), uniform(3))


def test_a_level_of_rows_without_mass_has_no_share():
    given = pd.DataFrame({"u": ["a", "a", "b", "c"]})
    frame = framed(mixed(given), np.array([0.25, 0.25, 0.5, 0.0]))
    assert frame.shares.tolist() == [0.5, 0.5, 0.0]
    assert frame.rank == 1


def test_the_smaller_table_is_made():
    assert stored_cells(50, [2]) is None
    assert stored_cells(2, [50, 50]) == 4
    assert stored_cells(3, []) is None


@pytest.mark.parametrize("sparse", [False, True])
def test_gaps_stand_at_their_means(monkeypatch, sparse):
    monkeypatch.setattr(_mixed_frame, "stored_cells", lambda *_: 1 if sparse else None)
    given = pd.DataFrame(
        {"x": [1.0, None, 3.0], "u": ["a", "b", None], "v": [None, "p", "q"], "w": list("rst")}
    )
    table = mixed(given)
    frame = framed(table, uniform(3))
    made = table_of_cells(frame, table, frame.codes(table))
    made = made.toarray() if sparse else made
    half = [0.5, 0.5]
    expected = [
        [-1, 1, 0, *half, 1, 0, 0],
        [0, 0, 1, 1, 0, 0, 1, 0],
        [1, *half, 0, 1, 0, 0, 1],
    ]
    np.testing.assert_allclose(made, expected)
    assert frame.labels[:3] == ["x", "u=a", "u=b"]
    assert frame.owner.tolist() == [0, 1, 1, 2, 2, 3, 3, 3]
