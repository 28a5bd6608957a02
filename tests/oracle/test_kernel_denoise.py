"""Noisy digits: kernel PCA against PCA with the number of axes that suits PCA best.

Noise of standard deviation 4 or 8 is drawn with seed 0, first for the training rows, then for
the test rows; pixels run from 0 to 16. The lengthscale is half the median. The number of axes
is the one of {10, 20, 40, 80, 160} with the least unbiased estimate of the error [Stein1981],
made from noisy test rows and the standard deviation of the noise; nothing clean is looked at.
"""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from mercer import PCA, KernelPCA
from mercer.errors import DataWarning
from mercer.kernels import RBF

AXES = {4: 160, 8: 20}


def noisy(sd):
    """Return training and test rows with noise, and the clean test rows."""
    train, test = train_test_split(load_digits().data, test_size=0.3, random_state=0)
    rng = np.random.default_rng(0)
    spoiled = train + sd * rng.standard_normal(train.shape)
    return spoiled, test + sd * rng.standard_normal(test.shape), test


def fitted(k, train):
    half = RBF().resolve(train).lengthscale / 2
    with pytest.warns(DataWarning, match="lengthscale is too short"):  # most of it is noise
        return KernelPCA(k, kernel=RBF(half)).fit(train)


def estimated(model, rows, sd):
    """Return ‖f(y) - y‖²/p - σ² + 2σ²·div f/p, the divergence by one difference of each row."""
    signs = np.random.default_rng(1).choice([-1.0, 1.0], rows.shape)
    step = 0.05 * sd
    found = model.denoise(rows)
    slope = np.mean(signs * (model.denoise(rows + step * signs) - found)) / step
    return np.mean((found - rows) ** 2) - sd**2 + 2 * sd**2 * slope


@pytest.mark.parametrize(("sd", "below"), [(4, 0.33), (8, 0.18)])
def test_below_pca(sd, below):
    train, rows, clean = noisy(sd)

    def error(found):
        return np.mean((found - clean) ** 2)

    pca = PCA(30).fit(train)
    scores = pca.transform(rows)
    parts = [scores[:, :k] @ pca.components_[:k] + pca.mean_ for k in range(1, 31)]
    best = min(map(error, parts))
    assert best == pytest.approx({4: 7.3, 8: 14.3}[sd], abs=0.1)
    assert error(fitted(AXES[sd], train).denoise(rows)) <= (1 - below) * best


@pytest.mark.slow
@pytest.mark.parametrize("sd", AXES)
def test_how_the_number_of_axes_was_chosen(sd):
    train, rows, clean = noisy(sd)
    guessed, true = {}, {}
    for k in (10, 20, 40, 80, 160):
        model = fitted(k, train)
        guessed[k] = estimated(model, rows, sd)
        true[k] = np.mean((model.denoise(rows) - clean) ** 2)
        assert guessed[k] == pytest.approx(true[k], rel=0.05)
    assert min(guessed, key=guessed.get) == AXES[sd]
    assert true[AXES[sd]] <= 1.01 * min(true.values())


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


def test_neighbours(digits):
    """Defaults on raw pixels: the lengthscale must suit the data by itself."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = make_pipeline(KernelPCA(10), KNeighborsClassifier(5))
    assert cross_val_score(model, *digits, cv=folds).mean() >= 0.970


@pytest.mark.parametrize(("k", "bound", "linear"), [(10, 0.16, 0.276), (50, 0.02, None)])
def test_pictures_come_back(digits, k, bound, linear):
    train, test = train_test_split(digits[0], test_size=0.3, random_state=0)
    spread = np.sum((test - train.mean(axis=0)) ** 2)

    def left(model):
        back = model.inverse_transform(model.fit(train).transform(test))
        return np.sum((test - back) ** 2) / spread

    assert left(KernelPCA(k)) <= bound
    assert linear is None or left(PCA(k)) == pytest.approx(linear, abs=5e-3)
    assert left(KernelPCA(k, kernel="linear")) == pytest.approx(left(PCA(k)), rel=1e-9)
