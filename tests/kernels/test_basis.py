from collections import Counter

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.kernels import FeatureMap, Flag, neighbourhoods, ngrams, normalize
from mercer.testing import check_kernel

TEXTS = ["banana", "bandana", "", "apple", "pineapple", "an", "αβγαβ"]


def grams(text, n):
    return Counter(text[i : i + n] for i in range(len(text) - n + 1))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_ngrams_are_counted(n):
    truth = [
        [sum(grams(s, n)[g] * grams(t, n)[g] for g in grams(s, n)) for t in TEXTS]
        for s in TEXTS
    ]
    found = FeatureMap(ngrams(n))(TEXTS)
    np.testing.assert_array_equal(found, truth)


def test_rows_of_texts_in_any_form():
    phi = ngrams(2)
    truth = phi(TEXTS).toarray()
    np.testing.assert_array_equal(phi(np.array(TEXTS)).toarray(), truth)
    np.testing.assert_array_equal(phi(np.array(TEXTS, dtype=object)[:, None]).toarray(), truth)
    assert phi(TEXTS).shape == (7, 2**16)
    assert ngrams(2, width=32)(TEXTS).shape == (7, 32)


def test_laws_on_texts():
    k = FeatureMap(ngrams(2))
    assert k.flag is Flag.PD
    check_kernel(k, TEXTS)
    check_kernel(normalize(k), TEXTS)
    assert repr(k) == "FeatureMap(phi=ngrams(2, width=65536))"
    assert ngrams(2) == ngrams(2)


PATH = ("CCO", [(0, 1), (1, 2)])
RING = ("CCO", [(0, 1), (1, 2), (2, 0)])
SAME = ("OCC", [(1, 0), (2, 1)])  # the path with its vertices renamed


def test_neighbourhoods_do_not_know_names():
    found = FeatureMap(neighbourhoods(3))([PATH, RING, SAME])
    np.testing.assert_array_equal(found[0], found[2])
    assert found[0, 1] < min(found[0, 0], found[1, 1])


def test_neighbourhoods_by_hand():
    # Labels: 2·2 + 1·1. One round: "C beside C and O" occurs once and twice.
    found = FeatureMap(neighbourhoods(0))([PATH, RING])
    np.testing.assert_array_equal(found, [[5, 5], [5, 5]])
    found = FeatureMap(neighbourhoods(1))([PATH, RING])
    np.testing.assert_array_equal(found, [[8, 7], [7, 10]])


def test_laws_on_graphs():
    check_kernel(FeatureMap(neighbourhoods()), [PATH, RING, SAME, ("N", []), ("", [])])


def test_wrong_parameters():
    for make in (
        lambda: ngrams(0),
        lambda: ngrams(1.5),
        lambda: ngrams(2, width=0),
        lambda: neighbourhoods(-1),
        lambda: ngrams(2)([1, 2]),
    ):
        with pytest.raises(InputError) as caught:
            make()
        assert len(str(caught.value).splitlines()) == 3
