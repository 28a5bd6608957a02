import numpy as np
import pytest

from mercer import PCA
from mercer.diagnostics import sampling_error


def test_it_is_the_standard_error_of_the_mean_square(rng):
    z = rng.standard_normal((50, 3))
    truth = np.std(z**2, axis=0, ddof=1) / np.sqrt(50)
    np.testing.assert_allclose(sampling_error(z), truth)


def test_it_foretells_how_far_variances_move():
    rng = np.random.default_rng(3)
    sd = np.array([3.0, 1.0])
    samples = rng.standard_normal((400, 200, 2)) * sd
    samples -= samples.mean(axis=1, keepdims=True)
    variances = np.sum(samples**2, axis=1) / 199
    claimed = np.mean([sampling_error(z) for z in samples], axis=0)
    np.testing.assert_allclose(claimed, np.std(variances, axis=0), rtol=0.15)


def test_it_reads_the_coordinates_of_a_model(rng):
    x = rng.standard_normal((300, 5)) * [5, 4, 3, 2, 1]
    model = PCA(2).fit(x)
    found = sampling_error(model.transform(x))
    np.testing.assert_allclose(found, model.explained_variance_ * np.sqrt(2 / 300), rtol=0.4)


def test_float32_scores_are_squared_in_float64():
    z = np.array([[1.0], [2.0], [4.0]], np.float32) * np.float32(1e15)
    found = sampling_error(z)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, sampling_error(z.astype(np.float64)))


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_it_scales_with_the_variance(rng, scale):
    z = rng.standard_normal((30, 2))
    np.testing.assert_allclose(sampling_error(scale * z), scale**2 * sampling_error(z))
