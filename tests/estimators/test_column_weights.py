"""Weights of columns that cannot be, and columns that differ too much in size."""

import numpy as np
import pytest

from mercer import PCA, KernelPCA, RobustPCA
from mercer.errors import InputError


@pytest.mark.parametrize(
    "weights",
    [
        [1.0],
        [1.0, 0.0],
        [1.0, -1.0],
        [1.0, np.nan],
        [1.0, 1e101],
        ["a", "b"],
        [1.0, "2"],
        ["1", "2"],
        [1.0, None],
        [1.0, 2j],
        [[1.0], [1.0, 2.0]],
    ],
)
def test_weights_of_features_are_positive_and_one_for_each(weights):
    with pytest.raises(InputError, match="one positive number") as caught:
        PCA(1, feature_weight=weights).fit(np.eye(3, 2))
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("weights", "got"),
    [
        (["a"] * 24, "'a' at column 0"),
        ([1.0, *["b"] * 23], "'b' at column 1"),
        (np.r_[np.ones(23), 1e-320], "1e-320 at column 23"),
        (np.ones((24, 1)), "an array of shape (24, 1)"),
    ],
)
@pytest.mark.parametrize("model", [PCA, RobustPCA, KernelPCA])
def test_every_estimator_says_which_weight_is_odd(model, weights, got):
    X = np.random.default_rng(0).normal(size=(60, 24))
    with pytest.raises(InputError, match="one positive number") as caught:
        model(2, feature_weight=weights).fit(X)
    assert caught.value.got == got


@pytest.mark.parametrize("missing", ["raise", "em", "ppca"])
def test_columns_whose_squares_leave_the_range_beside_others_are_refused(missing):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((120, 2)) @ rng.standard_normal((2, 6))
    rows += 0.3 * rng.standard_normal(rows.shape)
    if missing != "raise":
        rows[rng.random(rows.shape) < 0.1] = np.nan
    size = np.ones(6)
    plain = PCA(2, standardize=True, missing=missing).fit(rows)
    size[[1, 4]] = 1e-74, 1e74
    apart = PCA(2, standardize=True, missing=missing).fit(rows * size)
    np.testing.assert_allclose(apart.explained_variance_, plain.explained_variance_, rtol=1e-9)
    size[[1, 4]] = 1e-79, 1e79
    with pytest.raises(InputError, match=r"too much in size(.|\n)*column 1,(.|\n)*fix: "):
        PCA(2, standardize=True, missing=missing).fit(rows * size)
