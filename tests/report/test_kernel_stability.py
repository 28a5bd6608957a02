import numpy as np
import pandas as pd
import polars as pl
import pytest

import mercer
from mercer.kernels import RBF
from mercer.report.pages._kernel_page import kernel_stability

RNG = np.random.default_rng(0)


def rings(n=400):
    rng = np.random.default_rng(1)
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = np.where(np.arange(n) % 2, 1.0, 3.0)
    return np.c_[2 * radius * np.cos(angle), radius * np.sin(angle)]


@pytest.mark.parametrize(
    "kind", [np.asarray, pd.DataFrame, lambda x: pl.from_numpy(x, ["a", "b"])]
)
def test_structure_is_found_in_both_halves(kind):
    X = kind(rings())
    section = kernel_stability(mercer.KernelPCA(2).fit(X), X)
    assert min(row[2] for row in section.parts[0].rows) > 0.95


def test_axes_of_noise_are_found_in_neither():
    X = RNG.normal(size=(300, 30))
    section = kernel_stability(mercer.KernelPCA(4, kernel=RBF(30.0)).fit(X), X)
    assert "agree on none" in section.words[0]


def test_few_rows_and_kernels_without_rows_are_left_alone():
    X = rings(12)
    assert kernel_stability(mercer.KernelPCA(2).fit(X), X) is None
    K = X @ X.T
    assert kernel_stability(mercer.KernelPCA(2, kernel="precomputed").fit(K), K) is None
