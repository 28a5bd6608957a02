import numpy as np
import pytest
import scipy.sparse

from mercer.testing import matrices


def sine(a, b):
    """Return the largest sine between the row spaces of a and b."""
    return float(np.linalg.norm(b - (b @ a.T) @ a, 2))


def k_of(kind, shape):
    return 5 if "krylov" in kind.__name__ else min(shape[0] - 1, shape[1])


def test_every_path_finds_the_exact_components(form, exact_data):
    kind, shape = form
    x, mean, s, axes = exact_data(shape)
    k = k_of(kind, shape)
    model = kind(k, random_state=1).fit(x)
    loose = "krylov" in kind.__name__
    np.testing.assert_allclose(model.mean_, mean, rtol=1e-14)
    np.testing.assert_allclose(model.singular_values_, s[:k], rtol=1e-6 if loose else 1e-9)
    variances = s[:k] ** 2 / (shape[0] - 1)
    np.testing.assert_allclose(
        model.explained_variance_, variances, rtol=1e-6 if loose else 1e-8
    )
    np.testing.assert_allclose(
        model.explained_variance_ratio_, s[:k] ** 2 / np.sum(s**2), rtol=1e-6 if loose else 1e-8
    )
    cosines = np.abs(np.sum(model.components_ * axes[:k], axis=1))
    assert np.all(cosines > 1 - (1e-6 if loose else 1e-10))
    assert model.plan_.chosen.name in kind.__name__
    assert model.rank_ == k


@pytest.mark.parametrize("sparse", [False, True])
def test_every_certificate_holds(form, exact_data, sparse):
    kind, shape = form
    x, mean, s, axes = exact_data(shape)
    x = scipy.sparse.csr_array(x) if sparse else x
    k = k_of(kind, shape)
    model = kind(k).fit(x)
    c = model.certificate_
    truth = s[:k].astype(np.longdouble) ** 2 / (shape[0] - 1)
    assert np.all(c.lower <= truth)
    assert np.all(truth <= c.upper)
    assert c.met
    assert c.tol == 1e-6
    assert c.groups == ()
    centred = (x.toarray() if sparse else x) - mean
    covariance = centred.T.astype(np.longdouble) @ centred / (shape[0] - 1)
    v = model.components_.T.astype(np.longdouble)
    residual = np.sqrt(np.sum((covariance @ v - v * model.explained_variance_) ** 2, axis=0))
    assert np.all(residual <= c.residual)
    true = axes[:k].T.astype(np.longdouble)
    true = true / np.sqrt(np.sum(true**2, axis=0))
    sines = np.sqrt(np.sum((v - true * np.sum(true * v, axis=0)) ** 2, axis=0))
    assert np.all(sines <= c.sine)


def test_graded_spectra_are_certified_or_warned_of(form, exact_data):
    kind, shape = form
    values = 2.0 ** -np.arange(0, 24, 2.0)  # variances over seven decades
    x, mean, s, axes = exact_data(shape, values)
    x = x - mean
    k = 6
    model = kind(k).fit(x)
    c = model.certificate_
    truth = s[:k].astype(np.longdouble) ** 2 / (shape[0] - 1)
    assert np.all((c.lower <= truth) & (truth <= c.upper))
    covariance = x.T.astype(np.longdouble) @ x / (shape[0] - 1)
    v = model.components_.T.astype(np.longdouble)
    residual = np.sqrt(np.sum((covariance @ v - v * model.explained_variance_) ** 2, axis=0))
    assert np.all(residual <= c.residual)
    true = axes[:k].T.astype(np.longdouble)
    true = true / np.sqrt(np.sum(true**2, axis=0))
    sines = np.sqrt(np.sum((v - true * np.sum(true * v, axis=0)) ** 2, axis=0))
    assert np.all(sines <= c.sine)


def test_far_from_the_origin_every_path_agrees(form, exact_data):
    kind, shape = form
    x, _, s, axes = exact_data(shape)
    k = 5
    model = kind(k).fit(x + 2.0**26)
    np.testing.assert_allclose(model.singular_values_, s[:k], rtol=1e-6)
    assert sine(axes[:k], model.components_) < 1e-3


@pytest.mark.parametrize("power", [-500, -200, 200, 500])
def test_scale_does_not_matter(form, exact_data, power):
    kind, shape = form
    x, _, s, _ = exact_data(shape)
    base = kind(5).fit(x)
    model = kind(5).fit(np.ldexp(x, power))
    np.testing.assert_allclose(model.components_, base.components_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        model.explained_variance_ratio_, base.explained_variance_ratio_, rtol=1e-9
    )
    np.testing.assert_allclose(np.ldexp(model.singular_values_, -power), s[:5], rtol=1e-6)
    np.testing.assert_allclose(np.ldexp(model.mean_, -power), base.mean_, rtol=1e-13)


def test_sparse_and_dense_agree(form, rng):
    kind, shape = form
    x = rng.poisson(1, shape) * np.linspace(2, 0.5, shape[1])
    x[:, 0] += 1000  # a full column far from zero
    dense, sparse = kind(4).fit(x), kind(4).fit(scipy.sparse.csr_array(x))
    np.testing.assert_allclose(sparse.explained_variance_, dense.explained_variance_, rtol=1e-6)
    np.testing.assert_allclose(sparse.mean_, dense.mean_, rtol=1e-13)
    assert sine(dense.components_, sparse.components_) < 1e-2
    z = sparse.transform(scipy.sparse.csr_array(x))
    np.testing.assert_allclose(z, sparse.transform(x), rtol=0, atol=1e-9)


def test_standardised_paths_agree(form, rng):
    kind, shape = form
    x = rng.standard_normal(shape) * np.linspace(1, 100, shape[1])
    x[:, 1] = x[:, 0] + 0.1 * x[:, 1]
    x[:, 2] -= x[:, 0]
    scaled = (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)
    truth = np.linalg.svd(scaled, compute_uv=False)[:3] ** 2 / (shape[0] - 1)
    model = kind(3, standardize=True).fit(x)
    np.testing.assert_allclose(model.explained_variance_, truth, rtol=1e-6)
    np.testing.assert_allclose(model.scale_, x.std(axis=0, ddof=1), rtol=1e-12)
    c = model.certificate_
    assert np.all((c.lower <= truth) & (truth <= c.upper))


def test_weights_are_repeated_rows_on_every_path(form, rng):
    kind, shape = form
    x = rng.standard_normal(shape) * np.linspace(3, 0.1, shape[1]) + 50
    counts = rng.integers(0, 4, shape[0])
    repeated = kind(4, tol=1e-9).fit(np.repeat(x, counts, axis=0))
    weighted = kind(4, tol=1e-9).fit(x, sample_weight=counts)
    np.testing.assert_allclose(
        weighted.explained_variance_, repeated.explained_variance_, rtol=1e-8
    )
    np.testing.assert_allclose(weighted.mean_, repeated.mean_, rtol=1e-13)
    assert sine(repeated.components_, weighted.components_) < 1e-4
    np.testing.assert_allclose(
        weighted.explained_variance_ratio_, repeated.explained_variance_ratio_, rtol=1e-8
    )


def test_float32_on_every_path(form, rng):
    kind, shape = form
    scores = rng.standard_normal((shape[0], 6)) * np.linspace(5, 1, 6)
    x = (scores @ rng.standard_normal((6, shape[1])) + 300).astype(np.float32)
    y = x.astype(np.float64)
    y -= y[0]
    y -= y.mean(axis=0)
    truth = np.linalg.svd(y, compute_uv=False)[:4] ** 2 / (shape[0] - 1)
    model = kind(4).fit(x)
    assert model.components_.dtype == np.float32
    assert model.explained_variance_.dtype == model.mean_.dtype == np.float64
    assert model.certificate_.tol == 1e-5
    np.testing.assert_allclose(model.explained_variance_, truth, rtol=1e-5)
    c = model.certificate_
    assert np.all((c.lower <= truth) & (truth <= c.upper))


def test_rank_is_named_on_every_path(form, exact_data):
    kind, shape = form
    x, _, s, axes = exact_data(shape, [9.0, 5.0, 2.0])
    model = kind(6).fit(x)
    assert model.rank_ == 3
    np.testing.assert_allclose(model.singular_values_[:3], s, rtol=1e-6)
    np.testing.assert_array_equal(model.components_[3:], 0)
    assert np.all(model.explained_variance_[3:] <= 1e-12 * model.explained_variance_[0])
    assert sine(axes[:3], model.components_[:3]) < 1e-3
    assert model.certificate_.met


def test_equal_axes_are_named_on_every_path(form, exact_data):
    kind, shape = form
    x, _, _, axes = exact_data(shape, [9.0, 5.0, 5.0, 5.0, 2.0, 1.0])
    c = kind(5).fit(x).certificate_
    assert c.groups == ((1, 2, 3),)
    cut = kind(2).fit(x).certificate_
    assert cut.groups == ((1, 2),)
    assert sine(axes[:4], kind(4).fit(x).components_) < 1e-3


def test_the_same_call_gives_the_same_bits(form, exact_data):
    kind, shape = form
    x = exact_data(shape)[0] * np.linspace(1, 2, shape[1])
    first, second = kind(4).fit(x), kind(4).fit(x)
    np.testing.assert_array_equal(first.components_, second.components_)
    np.testing.assert_array_equal(first.explained_variance_, second.explained_variance_)
    np.testing.assert_array_equal(first.transform(x), second.transform(x))


@pytest.mark.filterwarnings(
    "ignore::mercer.errors.AccuracyWarning", "ignore::mercer.errors.DataWarning"
)
@pytest.mark.parametrize("number", [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 18, 21])
@pytest.mark.parametrize("name", ["svd", "gram"])
def test_lapack_types_as_data(name, number, forced):
    scale = {6: 511, 11: 511, 7: -511, 12: -511}.get(number, 0)
    x = matrices.lapack(number, 12)
    model = forced(name)(11).fit(x)
    y = np.ldexp(x.astype(np.longdouble), -scale)
    truth = matrices.singular_values(y - y.mean(axis=0))[:11]
    found = np.ldexp(model.singular_values_.astype(np.longdouble), -scale)
    c = model.certificate_
    if not scale:
        assert np.all((c.lower <= truth**2 / 11) & (truth**2 / 11 <= c.upper))
    np.testing.assert_allclose(found.astype(float), truth.astype(float), rtol=0, atol=3e-7)
