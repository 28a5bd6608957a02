"""What a walk adds up can be kept and restored."""

import numpy as np

from mercer.operators import RunningMoments, rows_of
from mercer.operators._rounding import Rounding
from mercer.operators.rows._block_rows import FirstWalk, MatrixSums, PanelSums
from mercer.sources import in_memory


def test_the_sample_of_a_first_walk_is_evenly_spaced_and_thinned() -> None:
    rows = np.arange(40.0)[:, None]
    sums = FirstWalk(RunningMoments(), Rounding(np.dtype(np.float64)), 2, 8)
    for start in (0, 15, 30):
        part = slice(start, min(start + 15, 40))
        sums.sample(part, rows[part])
    found = sums.rows
    assert found is not None
    assert len(found) <= 16
    assert len(set(np.diff(found[:, 0]))) <= 2


def test_a_first_walk_comes_back_as_it_was_kept() -> None:
    x = np.random.default_rng(0).standard_normal((30, 3)) + 1e6
    sums = FirstWalk(RunningMoments(), Rounding(np.dtype(np.float32)), 3, 100)
    sums.running.add(rows_of(in_memory(x)))
    sums.sample(slice(0, 30), x)
    sums.charged = 0.5
    again = FirstWalk(RunningMoments(), Rounding(np.dtype(np.float32)), 0, 100)
    assert again.restore(sums.keep(), ended=False)
    np.testing.assert_array_equal(again.running.scatter, sums.running.scatter)
    np.testing.assert_array_equal(again.rows, sums.rows)
    assert (again.charged, again.step) == (0.5, 3)


def test_a_panel_is_of_use_only_when_it_has_ended() -> None:
    full = np.arange(25.0).reshape(5, 5)
    full = full + full.T
    kept = PanelSums(full.copy(), slice(0, 2)).keep()
    gram = np.zeros((5, 5))
    assert not PanelSums(gram, slice(0, 2)).restore(kept, ended=False)
    assert not gram.any()
    assert PanelSums(gram, slice(0, 2)).restore(kept, ended=True)
    np.testing.assert_array_equal(gram[:2], full[:2])
    np.testing.assert_array_equal(gram[:, :2], full[:, :2])


def test_a_matrix_is_kept_whole() -> None:
    matrix = MatrixSums(np.zeros((0, 2)))
    assert matrix.restore(MatrixSums(np.eye(2)).keep(), ended=False)
    np.testing.assert_array_equal(matrix.matrix, np.eye(2))
