"""How many axes a completion has."""

import pytest

from mercer.estimators._completion_rank import completion_rank


@pytest.mark.parametrize(
    ("wanted", "shape", "rank"),
    [
        (3, (100, 10), 3),
        (10, (100, 10), 9),  # as many as columns: one less, or there is no noise
        (12, (5, 30), 3),
        (None, (100, 10), 5),
        (0.9, (100, 4), 3),
        ("mle", (100, 10), 5),
        (2, (100, 1), 0),
        (2, (2, 10), 0),
    ],
)
def test_rank(wanted, shape, rank):
    assert completion_rank(wanted, shape) == rank
