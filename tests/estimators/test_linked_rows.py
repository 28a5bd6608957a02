import numpy as np
import pytest

from mercer.errors import DataWarning, InputError
from mercer.estimators.manifold._row_graph import linked

LINE = np.arange(10.0)[:, None]
PIECES = np.concatenate([LINE, LINE[:6] + 1000, LINE[:5] + 5000])


def test_one_piece_is_taken_as_it_is():
    rows = np.concatenate([LINE, LINE[:2]])
    found = linked(rows, 3, "raise")
    assert found.rows is rows
    assert found.kept is None
    assert (found.facts.points, found.facts.pieces, found.facts.duplicates) == (12, (12,), 4)
    assert found.facts.fewest >= 3
    own = np.zeros((12, 1))
    assert found.spread(own, rows, None) is own


def test_pieces_are_refused_with_their_sizes():
    with pytest.raises(InputError, match="pieces") as caught:
        linked(PIECES, 2, "raise")
    assert "3 pieces of 10, 6, 5" in caught.value.got
    assert "largest" in caught.value.fix


@pytest.mark.parametrize(("policy", "said"), [("largest", "have NaN"), ("place", "are placed")])
def test_the_largest_piece_is_kept_and_said(policy, said):
    rows = PIECES[np.random.default_rng(0).permutation(len(PIECES))]
    with pytest.warns(DataWarning, match=f"11 rows {said}"):
        found = linked(rows, 2, policy)
    np.testing.assert_array_equal(np.sort(found.rows[:, 0]), LINE[:, 0])
    np.testing.assert_array_equal(rows[found.kept], found.rows)
    assert found.graph.pieces.count == 1
    assert (found.facts.pieces, found.facts.left_out) == ((10, 6, 5), 11)
    own = found.rows * 2
    left = found.spread(own, rows, None)
    np.testing.assert_array_equal(left[found.kept], own)
    assert np.isnan(left).sum() == 11
    np.testing.assert_array_equal(found.spread(own, rows, lambda r: 2 * r), 2 * rows)


@pytest.mark.parametrize("k", [10, 11, 500])
def test_more_neighbours_than_rows_are_refused(k):
    with pytest.raises(InputError, match="only 9 others") as caught:
        linked(LINE, k, "raise")
    assert f"neighbours = {k}, n_samples = 10" in caught.value.got
    assert linked(LINE, 9, "raise").facts.edges == 45  # the complete graph
