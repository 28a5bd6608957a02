"""Repeat counts are cut like the rows, or refused in three lines."""

from types import SimpleNamespace

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.sources.parts._dask_chunks import PartedWeights, fitting_weights

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
GROUPS, LENGTHS = [slice(0, 2), slice(2, 3)], (5, 3)
W = np.arange(8.0)


def flat(weights, lengths):
    """Return the counts of every part, computed."""
    rows = da.from_array(np.ones((8, 2)), chunks=((2, 3, 3), (2,)))
    source = SimpleNamespace(groups=GROUPS, collection=rows, chunks=rows.to_delayed())
    fitting = fitting_weights(weights, GROUPS, lengths, "rows")
    found = []
    for part in PartedWeights(source, fitting).parts[1]:
        pieces = part if isinstance(part, list) else [part]
        pieces = [p.compute(scheduler="sync") if hasattr(p, "compute") else p for p in pieces]
        found.append(np.concatenate(pieces))
    return found


@pytest.mark.parametrize(
    "weights",
    [W, list(W), da.from_array(W, chunks=3), da.from_array(W, chunks=(5, 3))],
    ids=["array", "list", "other chunks", "same chunks"],
)
def test_known_lengths_take_any_weights(weights):
    first, second = flat(weights, LENGTHS)
    np.testing.assert_array_equal(first, W[:5])
    np.testing.assert_array_equal(second, W[5:])


def test_unknown_lengths_take_weights_with_the_same_pieces():
    weights = da.from_array(W, chunks=((2, 3, 3),))
    first, second = flat(weights[weights >= 0], None)
    np.testing.assert_array_equal(first, W[:5])
    np.testing.assert_array_equal(second, W[5:])


@pytest.mark.parametrize(
    ("weights", "lengths", "said"),
    [
        (W, None, "unknown length"),
        (W[1:], LENGTHS, "one number per row"),
        (da.from_array(W[1:], chunks=3), LENGTHS, "one number per row"),
        (da.from_array(W, chunks=4), None, "2 parts of weights, 3 of rows"),
        (da.ones((8, 1)), LENGTHS, "2 dimensions"),
        (dask.delayed(W), LENGTHS, "delayed object does not say"),
        (dask.delayed(W), None, "delayed object does not say"),
    ],
    ids=[
        "memory",
        "short",
        "short parts",
        "other parts",
        "table",
        "delayed",
        "unknown delayed",
    ],
)
def test_what_does_not_fit_is_refused(weights, lengths, said):
    with pytest.raises(InputError, match=said):
        fitting_weights(weights, GROUPS, lengths, "rows")
