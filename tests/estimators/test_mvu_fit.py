"""From rows to an unfolding: units, repeats and axes come back as those of the data."""

import dataclasses

import numpy as np
import pytest

from mercer.estimators.manifold._unfolding_fit import UnfoldingTask, laid, units_of

WANTED = UnfoldingTask(
    components=2,
    neighbours=5,
    landmarks=None,
    slack=1e-6,
    reg=1e-3,
    pieces="raise",
    tol=1e-4,
    seconds=None,
    seed=0,
)


@pytest.fixture(scope="module")
def sheet():
    rng = np.random.default_rng(4)
    t, u = np.divmod(np.arange(84), 6)
    t, u = t / 5 + rng.uniform(0, 0.1, 84), u / 5 + rng.uniform(0, 0.1, 84)
    return np.column_stack([np.cos(t), u, np.sin(t)]), t


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_units_are_powers_of_two(scale):
    rows = np.array([[1.0, 2.0], [4.0, 2.0], [2.0, -3.0]]) * scale
    found, exponent = units_of(rows)
    assert 0.25 <= np.abs(found).max() <= 2
    np.testing.assert_array_equal(
        np.ldexp(np.diff(found, axis=0), exponent), np.diff(rows, axis=0)
    )


def test_kernel_of_all_rows_has_the_eigenvalues_of_the_spectrum(sheet):
    rows, _ = sheet
    repeated = np.vstack([rows, rows[:20]])
    found = laid(*units_of(repeated), WANTED)
    values = np.linalg.eigvalsh(found.factor @ found.factor.T)[::-1]
    np.testing.assert_allclose(found.spectrum.values, values[:2], rtol=1e-9)
    np.testing.assert_allclose(found.factor.mean(axis=0), 0, rtol=0, atol=1e-9)
    cross = found.factor.T @ found.factor
    np.testing.assert_allclose(cross, np.diag(np.diag(cross)), rtol=0, atol=1e-8 * values[0])
    assert found.certificate.variance == pytest.approx(values.sum(), rel=1e-6)
    assert found.spectrum.total == pytest.approx(values.sum(), rel=1e-9)


def test_units_of_the_data(sheet):
    rows, t = sheet
    plain = laid(*units_of(rows), WANTED)
    large = laid(*units_of(rows * 1000), WANTED)
    assert large.certificate.bound == pytest.approx(1e6 * plain.certificate.bound, rel=1e-3)
    np.testing.assert_allclose(np.ptp(plain.factor[:, 0]), np.ptp(t), rtol=0.05)


def test_more_axes_than_there_are_are_zero():
    line = np.array([[0.0], [1.0], [2.5]])
    found = laid(*units_of(line), dataclasses.replace(WANTED, neighbours=2))
    assert found.factor.shape[1] >= 2
    np.testing.assert_allclose(found.spectrum.values[1], 0, rtol=0, atol=1e-2)
