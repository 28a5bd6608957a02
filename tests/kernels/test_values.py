import numpy as np
import pytest

from mercer.errors import InputError
from mercer.kernels import RBF
from mercer.kernels._parameter_checks import inverse, lengths, number, whole


def test_numbers_become_plain():
    for value in (2, 2.0, np.float32(2), np.int64(2)):
        found = number(RBF, "x", value)
        assert type(found) is float
        assert found == 2.0
        assert type(whole(RBF, "x", value)) is int


@pytest.mark.parametrize("bad", [None, "2", True, np.nan, np.inf, [2.0], 0.0, -1.0])
def test_numbers_above_a_bound(bad):
    with pytest.raises(InputError, match="must be a finite number above 0") as caught:
        number(RBF(1.0), "lengthscale", bad, least=0.0)
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize("bad", [1.5, -1, None, "2", True, np.nan])
def test_whole_numbers(bad):
    with pytest.raises(InputError, match="must be a whole number from 0 on"):
        whole(RBF(1.0), "x", bad)


def test_lengths():
    assert lengths(RBF, "x", "median") == "median"
    assert lengths(RBF, "x", 2) == 2.0
    assert lengths(RBF, "x", np.float32(2)) == 2.0
    assert lengths(RBF, "x", [1, 2]) == (1.0, 2.0)
    assert lengths(RBF, "x", np.array([1, 2])) == (1.0, 2.0)
    assert lengths(RBF, "x", np.array([3.0])) == (3.0,)


@pytest.mark.parametrize(
    "bad", ["mean", [0.0], [1.0, -1.0], 0, -1, None, [[1.0]], np.ones((2, 2))]
)
def test_other_lengths_are_refused(bad):
    with pytest.raises(InputError) as caught:
        RBF(bad)
    assert len(str(caught.value).splitlines()) == 3
    with pytest.raises(InputError):
        lengths(RBF(1.0), "period", "median", median=False)


def test_inverse():
    assert inverse(4.0) == 0.25
    assert inverse((4.0, 0.5)) == (0.25, 2.0)
