"""Weights follow from lengths by their formulas; scales that leave nothing are said."""

import numpy as np
import pytest

from mercer.errors import DataWarning, InputError
from mercer.operators import Searcher, graph, neighbours, whole_graph


@pytest.fixture
def x():
    return np.random.default_rng(0).standard_normal((80, 3))


def test_heat(x):
    found = graph(x, 6, weights="heat", scale=0.7, self_loops=False)
    lengths = found.lengths.toarray()
    expected = np.where(lengths > 0, np.exp(-(lengths**2) / (2 * 0.7**2)), 0)
    np.testing.assert_allclose(found.weights.toarray(), expected, rtol=1e-13)


def test_the_automatic_scale_is_the_median_length(x):
    found = graph(x, 6, weights="heat")
    assert found.weighing.scale == np.median(found.lengths.data)
    whole = whole_graph(Searcher(x))
    apart = np.sort(np.linalg.norm(x[:, None] - x, axis=2), axis=1)[:, 10]
    np.testing.assert_allclose(whole.weighing.scale, np.median(apart), rtol=1e-12)


def test_self_tuning(x):
    found = graph(x, 6, weights="self-tuning", self_loops=False)
    sigma = neighbours(x, 6).distances[:, -1]
    lengths = found.lengths.toarray()
    expected = np.where(lengths > 0, np.exp(-(lengths**2) / np.outer(sigma, sigma)), 0)
    np.testing.assert_allclose(found.weights.toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize("weights", ["heat", "self-tuning"])
def test_rows_that_stand_many_times_have_weights(weights):
    x = np.repeat(np.random.default_rng(0).standard_normal((10, 2)), 8, axis=0)
    found = graph(x, 6, weights=weights)
    assert np.all(np.isfinite(found.weights.data))
    assert found.neighbours.duplicates == 80


def test_extreme_scales_are_said(x):
    with pytest.warns(DataWarning, match="all edges weigh the same"):
        graph(x, 6, weights="heat", scale=1e10)
    with pytest.warns(DataWarning, match="without weight"):
        found = graph(x, 6, weights="heat", scale=1e-4)
    assert found.pieces.count == 80
    with pytest.warns(DataWarning, match="without weight"):
        whole = whole_graph(Searcher(x), scale=1e-4)
    assert whole.pieces.count == 80


def test_unknown_weights(x):
    with pytest.raises(InputError, match="one of three ways"):
        graph(x, 6, weights="cosine")
    with pytest.raises(InputError, match="fall with the distance"):
        whole_graph(Searcher(x), weights="binary")
