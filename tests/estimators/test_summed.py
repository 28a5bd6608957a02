import numpy as np
import pytest

from mercer.errors import InputError
from mercer.estimators.linear._summed_rows import Summed
from mercer.operators import RunningMoments, rows_of
from mercer.sources import scan

F8 = np.dtype(np.float64)


def sums(X):
    return RunningMoments().add(rows_of(scan(X)))


def test_sums_speak_for_their_rows_and_stay_as_they_are():
    X = np.random.default_rng(0).standard_normal((50, 4)) + 1e6
    kept = sums(X)
    before, origin = kept.scatter.copy(), kept.origin.copy()
    found = Summed(kept, F8, F8, 50, sparse=False)
    assert (found.shape, found.source, found.nbytes, found.max_passes) == ((50, 4), found, 0, 0)
    found.scatter().scatter[:] = 0
    np.testing.assert_array_equal(kept.scatter, before)
    np.testing.assert_array_equal(kept.origin, origin)
    np.testing.assert_allclose(found.origin, X.mean(0), rtol=1e-12)
    assert found.sample(3).shape == (0, 4)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_origin_of_sparse_rows_is_not_moved(sparse):
    kept = sums(np.ones((3, 2))).merge(sums(np.zeros((9, 2))))
    before = kept.origin.copy()
    found = Summed(kept, F8, F8, 12, sparse)
    np.testing.assert_array_equal(found.origin, before if sparse else [0.25, 0.25])


def test_sums_out_of_range_are_refused():
    with pytest.raises(InputError, match="too far apart"):
        Summed(sums(np.eye(3)), F8, F8, 3, sparse=False).first_bad_cell()
