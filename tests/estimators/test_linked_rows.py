import numpy as np
import pytest

from mercer.errors import DataWarning, InputError
from mercer.estimators._linked_rows import graph_facts, linked
from mercer.operators import graph

LINE = np.arange(10.0)[:, None]
PIECES = np.concatenate([LINE, LINE[:6] + 1000, LINE[:5] + 5000])


def test_facts_are_counted():
    facts = linked(np.concatenate([LINE, LINE[:2]]), 3, "raise").facts
    assert (facts.points, facts.sizes, facts.duplicates) == (12, (12,), 4)
    assert facts.least_degree >= 3
    assert facts.isolated == ()
    assert facts.longest_edge >= facts.median_edge == 1.0
    assert "12 points" in str(facts)
    assert "one piece" in str(facts)


def test_isolated_points_are_named():
    found = graph(np.append(LINE, [[99.0]], axis=0), radius=1.5)
    facts = graph_facts(found)
    assert facts.isolated == (10,)
    assert facts.sizes == (10, 1)
    assert facts.least_degree == 0


def test_pieces_are_refused_with_their_sizes():
    with pytest.raises(InputError, match="pieces") as caught:
        linked(PIECES, 2, "raise")
    assert "3 pieces of 10, 6, 5" in caught.value.got
    assert "largest" in caught.value.fix


def test_the_largest_piece_is_kept_and_said():
    shuffled = np.random.default_rng(0).permutation(len(PIECES))
    with pytest.warns(DataWarning, match="11 rows are placed by it"):
        found = linked(PIECES[shuffled], 2, "largest")
    np.testing.assert_array_equal(np.sort(found.rows[:, 0]), LINE[:, 0])
    np.testing.assert_array_equal(PIECES[shuffled][found.kept], found.rows)
    assert found.graph.pieces.count == 1
    assert (found.facts.sizes, found.facts.left_out) == ((10, 6, 5), 11)


@pytest.mark.parametrize("k", [10, 11, 500])
def test_more_neighbours_than_rows_are_refused(k):
    with pytest.raises(InputError, match="only 9 others") as caught:
        linked(LINE, k, "raise")
    assert f"neighbours = {k}, n_samples = 10" in caught.value.got
    assert linked(LINE, 9, "raise").facts.edges == 45  # the complete graph
