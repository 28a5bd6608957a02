import numpy as np

from mercer.arrays import as_numpy, gaussian


def test_numbers_are_the_same_in_every_library(xp):
    like = xp.asarray(np.zeros((0, 0)))
    found = gaussian((50, 4), like, seed=7, stream=2)
    assert type(found) is type(like)
    np.testing.assert_array_equal(as_numpy(found), gaussian((50, 4), np.zeros((0, 0)), 7, 2))


def test_numbers_are_float64_even_beside_float32(xp):
    found = gaussian((3, 2), xp.asarray(np.zeros((0, 0), np.float32)), seed=0)
    assert as_numpy(found).dtype == np.float64


def test_streams_and_seeds_are_independent():
    like = np.zeros((0, 0))
    draws = [gaussian((4000, 1), like, s, t) for s in range(3) for t in range(3)]
    correlation = np.corrcoef(np.hstack(draws), rowvar=False) - np.eye(9)
    assert np.max(np.abs(correlation)) < 6 / np.sqrt(4000)
    assert abs(np.mean(draws)) < 6 / np.sqrt(36_000)
    assert abs(np.std(draws) - 1) < 6 / np.sqrt(72_000)
