import json

import numpy as np
import pytest

import mercer
from mercer.errors import InputError, NotSupportedError
from mercer.kernels import Linear
from mercer.studies.drifting._drift_kernel import left_out, seen


def rings(n, seed=0):
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0, 2 * np.pi, n), rng.choice([1.0, 3.0], n)
    circle = np.c_[np.cos(angle), np.sin(angle)]
    return radius[:, None] * circle + 0.15 * rng.standard_normal((n, 2))


def model(n=150, **options):
    return mercer.KernelPCA(3, kernel="rbf(lengthscale=1)", **options).fit(rings(n))


def test_distances_of_the_linear_kernel_are_those_of_pca():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((60, 5)) * [5, 3, 1, 1, 1], rng.standard_normal((20, 5))
    kernel, plain = mercer.KernelPCA(2, kernel=Linear()).fit(X), mercer.PCA(2).fit(X)
    found = seen(kernel, kernel._admit(Y, reset=False))
    away = np.sum((Y - plain.inverse_transform(plain.transform(Y))) ** 2, axis=1)
    assert np.allclose(found.rest, away)
    far = np.sum(plain.transform(Y) ** 2 / plain.explained_variance_, axis=1)
    assert np.allclose(found.t2, far)


def test_rows_left_out_lie_farther_from_the_axes_than_rows_of_the_fit():
    fitted = model(100)
    inside = seen(fitted, fitted._admit(rings(100), reset=False))
    without = left_out(fitted, fitted.X_fit_)
    assert len(without.t2) == 100
    assert without.rest.mean() > inside.rest.mean()
    assert left_out(fitted, rings(20)) is None


def test_rows_like_those_of_the_fit_do_not_change():
    fitted = model()
    verdicts = [mercer.drift(fitted, rings(120, seed)).changed for seed in range(1, 9)]
    assert sum(verdicts) <= 2
    result = mercer.drift(fitted, rings(120, 1))
    assert result.columns is None
    assert result.turns == ()
    assert result.captured.expected < result.captured.fit
    assert json.loads(json.dumps(result.document()))["columns"] is None


def test_other_rings_raise_alarms():
    fitted = model()
    wider = mercer.drift(fitted, 1.5 * rings(120, 1))
    assert wider.changed
    assert "Q limit" in wider.verdict
    moved = rings(120, 1)
    moved[:, 0] = np.abs(moved[:, 0])
    half = mercer.drift(fitted, moved)
    assert "mean within the plane" in {one.what for one in half.comparisons if one.changed}


def test_standardised_rows_and_a_reference_are_taken():
    fitted = model(standardize=True)
    result = mercer.drift(fitted, rings(100, 1), reference=rings(150))
    assert not result.changed
    assert result.limits.source.startswith("from 150 rows of the reference")


def test_landmarks_have_no_distances_and_need_a_reference():
    with pytest.warns(mercer.AccuracyWarning):
        fitted = model(300, landmarks=20)
    result = mercer.drift(fitted, rings(100, 1))
    assert result.t2.limit is None
    assert result.q.limit is None
    assert result.limits.source == "none; a reference gives them"
    given = mercer.drift(fitted, rings(100, 1), reference=rings(200))
    assert given.t2.limit is not None
    assert given.q.limit is None


def test_what_cannot_be_compared_is_refused():
    fitted = model()
    with pytest.raises(InputError, match="too few rows"):
        mercer.drift(fitted, rings(4))
    X = rings(40)
    given = mercer.KernelPCA(2, kernel="precomputed").fit(X @ X.T)
    with pytest.raises(NotSupportedError, match="rows of numbers"):
        mercer.drift(given, X @ X.T)


def test_a_model_without_an_axis_is_refused():
    X = np.random.default_rng(0).normal(size=(9, 4))
    with pytest.warns(mercer.DataWarning):
        bare = mercer.KernelPCA("auto").fit(X)
    assert bare.n_components_ == 0
    with pytest.raises(InputError, match="without an axis"):
        mercer.drift(bare, X)
