"""The factors of columns, and weights of features that cannot be."""

from typing import Any

import numpy as np
import pytest

from mercer import PCA, KernelPCA, RobustPCA
from mercer.errors import InputError
from mercer.estimators.linear._pca_recipe import PCARecipe, root_feature_weight
from mercer.operators import is_constant


def test_a_constant_column_is_not_divided() -> None:
    recipe = PCARecipe(
        1, 1e-6, 0, standardize=True, root_feature_weight=np.array([1.0, 2.0, 3.0])
    )
    variances = np.array([4.0, 0.0, 1e-34])
    step = np.array([1e-16, 0.0, 1e-16])
    factor = recipe.factor_of(variances, step)
    np.testing.assert_allclose(factor, [0.5, 2.0, 3.0])
    np.testing.assert_array_equal(is_constant(variances, step), [False, True, True])


def test_the_factors_of_later_columns_are_their_own() -> None:
    recipe = PCARecipe(
        1, 1e-6, 0, standardize=False, root_feature_weight=np.array([1.0, 2.0, 3.0])
    )
    np.testing.assert_array_equal(recipe.factor_of(np.ones(2), np.zeros(2), 1), [2.0, 3.0])
    plain = PCARecipe(1, 1e-6, 0, standardize=False, root_feature_weight=None)
    assert plain.factor_of(np.ones(2), np.zeros(2)) is None


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
def test_weights_of_features_are_positive_and_one_for_each(weights: list[object]) -> None:
    with pytest.raises(InputError, match="one positive number") as caught:
        root_feature_weight(weights, 2)
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
def test_every_estimator_says_which_weight_is_odd(model: Any, weights: Any, got: str) -> None:
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
