"""Handwritten digits: neighbours found in ten kernel axes, and pictures that come back."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from mercer import PCA, KernelPCA


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
