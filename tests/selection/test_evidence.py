import math

import numpy as np
import pytest
from sklearn.decomposition import _pca

from mercer.selection import minka


def evidence(values, k, n):
    """Minka's equation (77), written out term by term."""
    p = len(values)
    m = p * k - k * (k + 1) / 2
    prior = -k * math.log(2)
    for i in range(1, k + 1):
        half = (p - i + 1) / 2
        prior += math.lgamma(half) - half * math.log(math.pi)
    noise = sum(values[k:]) / (p - k)
    hat = list(values[:k]) + [noise] * (p - k)
    curvature = 0.0
    for i in range(k):
        for j in range(i + 1, p):
            curvature += math.log(values[i] - values[j]) + math.log(n)
            curvature += math.log(1 / hat[j] - 1 / hat[i])
    return (
        prior
        - n / 2 * sum(math.log(v) for v in values[:k])
        - n * (p - k) / 2 * math.log(noise)
        + (m + k) / 2 * math.log(2 * math.pi)
        - curvature / 2
        - k / 2 * math.log(n)
    )


def spectra():
    rng = np.random.default_rng(0)
    for p in (2, 3, 5, 12, 40):
        for true in {1, p // 2, p - 1} - {0}:
            for n in (p + 1, 10 * p, 1000 * p):
                signal = np.zeros(p)
                signal[:true] = rng.exponential(5, true)
                x = rng.standard_normal((n, p)) * np.sqrt(1 + signal)
                yield n, np.linalg.eigvalsh(np.cov(x.T))[::-1]


SPECTRA = list(spectra())


@pytest.mark.parametrize("case", range(len(SPECTRA)))
def test_it_is_the_formula(case):
    n, values = SPECTRA[case]
    scores = [evidence(values, k, n) for k in range(1, len(values))]
    assert minka(values, n) == 1 + int(np.argmax(scores))


@pytest.mark.parametrize("case", range(len(SPECTRA)))
def test_scikit_learn_agrees(case):
    n, values = SPECTRA[case]
    scores = [_pca._assess_dimension(values, k, n) for k in range(1, len(values))]
    assert minka(values, n) == 1 + int(np.argmax(scores))


@pytest.mark.parametrize("true", [1, 3, 8])
def test_it_finds_the_dimension_it_was_given(true):
    rng = np.random.default_rng(true)
    x = rng.standard_normal((2000, true)) @ rng.standard_normal((true, 12)) * 3
    x += 0.1 * rng.standard_normal((2000, 12))
    assert minka(np.linalg.eigvalsh(np.cov(x.T))[::-1], 2000) == true


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1e8, 1e200])
def test_scale_does_not_matter(scale):
    n, values = SPECTRA[20]
    assert minka(values * scale, n) == minka(values, n)


def test_zero_eigenvalues_are_no_components():
    values = np.array([5.0, 3.0, 1.0, 0.0, 0.0, 0.0])
    assert minka(values, 100) == 3
    assert minka(np.array([5.0, 3.0, 1.0, 1e-18, 1e-19, -1e-18]), 100) == 3


def test_equal_eigenvalues_give_a_number():
    assert 1 <= minka(np.ones(6), 100) <= 5
    assert 1 <= minka(np.array([3.0, 3.0, 1.0, 1.0]), 50) <= 3
