import dataclasses

import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition
from tests.claims import agree, hold, refuses, warned

from mercer.dropin import TruncatedSVD
from mercer.solvers import BlockKrylov

THEIRS = sklearn.decomposition.TruncatedSVD


def counts(n=120, p=60, seed=0):
    rng = np.random.default_rng([seed, n, p])
    return scipy.sparse.csr_array(rng.poisson(0.3 * rng.random(p) + 0.02, (n, p)) * 1.0)


class Forced(TruncatedSVD):
    """Takes one path only."""

    path = "gram"

    def _problem(self, source, weights=None):
        return dataclasses.replace(super()._problem(source, weights), allowed=(self.path,))


FORCED = {name: type(name, (Forced,), {"path": name}) for name in ("svd", "gram", "krylov")}


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("shape", [(120, 60), (40, 90)], ids=str)
@pytest.mark.parametrize("path", FORCED)
def test_every_path_gives_the_pairs_of_the_data_as_it_is(path, shape, sparse):
    X = counts(*shape) + 0.0
    X = X if sparse else X.toarray() + 3.0
    dense = X.toarray() if sparse else X
    s, vt = np.linalg.svd(dense, full_matrices=False)[1:]
    model = FORCED[path](4).fit(X)
    assert model.plan_.chosen.name == path
    np.testing.assert_allclose(model.singular_values_, s[:4], rtol=1e-6)
    overlap = np.abs(np.sum(model.components_ * vt[:4], axis=1))
    agree(overlap, 1.0, 1e-5)
    Z = model.transform(X)
    agree(Z, dense @ model.components_.T, 1e-9 * s[0])
    np.testing.assert_allclose(model.explained_variance_, Z.var(0), rtol=1e-9)
    np.testing.assert_allclose(
        model.explained_variance_ratio_, Z.var(0) / dense.var(0).sum(), rtol=1e-9
    )
    certificate = model.certificate_
    assert certificate.met
    hold(certificate, s[:4] ** 2, 1e-12)


def test_signs_and_numbers_are_scikit_learns():
    X = counts()
    ours, theirs = TruncatedSVD(3).fit(X), THEIRS(3, algorithm="arpack").fit(X)
    for name in (
        "components_",
        "singular_values_",
        "explained_variance_",
        "explained_variance_ratio_",
    ):
        agree(getattr(ours, name), getattr(theirs, name), 1e-6)
    agree(ours.transform(X), theirs.transform(X), 1e-6)
    Z = theirs.transform(X)
    agree(ours.inverse_transform(Z), theirs.inverse_transform(Z), 1e-5)


@pytest.mark.parametrize("offset", [1e4, 1e6])
def test_variances_keep_their_digits_far_from_the_origin(offset):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5)) * [3, 2, 1, 1, 1] + offset
    model = TruncatedSVD(2).fit(X)
    v = model.components_.T
    exact = ((X - X[0]) @ v).var(0)
    np.testing.assert_allclose(model.explained_variance_, exact, rtol=1e-8)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_scales_at_the_ends_of_the_range(scale):
    X = np.random.default_rng(0).standard_normal((30, 5)) + 2
    s = np.linalg.svd(X, compute_uv=False)[:2]
    model = warned("variances leave the range", TruncatedSVD(2).fit, X * scale)
    np.testing.assert_allclose(model.singular_values_ / scale, s, rtol=1e-10)
    np.testing.assert_allclose(model.transform(X * scale) / scale, X @ model.components_.T)


def test_few_rows_float32_and_zero_axes():
    X = np.ones((4, 3), np.float32)
    model = TruncatedSVD(3).fit(X)
    assert model.components_.dtype == model.transform(X).dtype == np.float32
    agree(model.components_ @ model.components_.T, np.eye(3), 1e-6)
    agree(model.singular_values_, [np.sqrt(12), 0, 0], 1e-6)
    np.testing.assert_allclose(model.explained_variance_ratio_, 0)
    model = TruncatedSVD(2).fit([[3.0, 4.0]])
    np.testing.assert_allclose(model.components_, [[0.6, 0.8]])
    np.testing.assert_allclose(model.singular_values_, [5.0])


def test_few_of_many_are_iterated_on():
    X = np.random.default_rng(0).standard_normal((1500, 1400))
    X[:, :3] *= 60
    model = TruncatedSVD(3).fit(X)
    assert isinstance(model.plan_.chosen.solver, BlockKrylov)
    s = np.sqrt(np.linalg.eigvalsh(X.T @ X)[::-1][:3])
    np.testing.assert_allclose(model.singular_values_, s, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "X", "words"),
    [
        ({"n_components": 4}, np.eye(5, 3), r"n_components\(4\) must be <= n_features\(3\)"),
        ({"n_components": 3, "algorithm": "arpack"}, np.eye(5, 3), "must be < min"),
        ({}, [[1.0, np.nan], [0.0, 1.0]], "row 0, column 1"),
        ({"n_components": 0}, np.eye(3), "n_components"),
    ],
)
def test_refusals(options, X, words):
    refuses(words, TruncatedSVD(**options).fit, X)
    model = TruncatedSVD(1).fit(np.eye(3, 2))
    refuses("row 1, column 0", model.transform, [[0.0, 1.0], [np.inf, 0.0]])
