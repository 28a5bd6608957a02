import numpy as np
import pytest
from benchmarks import reference
from benchmarks.factors import Factors
from scipy import sparse


def truth_by_svd(x, k):
    centred = x.astype(np.longdouble) - x.astype(np.longdouble).mean(axis=0)
    _, s, vt = np.linalg.svd(centred.astype(np.float64), full_matrices=False)
    return s[:k] ** 2 / (len(x) - 1), vt[:k]


@pytest.mark.parametrize("shape", [(400, 60), (60, 400), (80, 80)])
@pytest.mark.parametrize("offset", [0.0, 100.0, 1e6])
def test_exact_agrees_with_an_svd(shape, offset):
    x = Factors(*shape, offset).load()
    found = reference.exact(x, 5)
    values, components = truth_by_svd(x, 5)
    np.testing.assert_allclose(found.values, values, rtol=1e-9)
    assert reference.subspace_sine(components, found) < 1e-9
    np.testing.assert_allclose(found.total, x.var(axis=0, ddof=1).sum(), rtol=1e-9)


@pytest.mark.parametrize("shape", [(300, 40), (40, 300)])
def test_exact_takes_sparse_and_several_blocks(shape, monkeypatch):
    x = sparse.random(*shape, density=0.2, format="csr", random_state=0)
    whole = reference.exact(x.toarray(), 4)
    monkeypatch.setattr(reference, "BLOCK_BYTES", 8 * 40 * 7)
    found = reference.exact(x, 4)
    np.testing.assert_allclose(found.values, whole.values, rtol=1e-12)
    assert reference.subspace_sine(whole.components, found) < 1e-10


def test_errors_are_what_they_say():
    x = Factors(200, 30, 1.0).load()
    truth = reference.exact(x, 6)
    assert reference.value_error(truth.values[:3], truth) == 0.0
    assert reference.value_error(truth.values * [1, 1, 1.01, 1, 1, 1], truth) == pytest.approx(
        0.01
    )
    assert reference.value_error(truth.values * np.nan, truth) == np.inf
    turned = truth.components[:3].copy()
    turned[2] = np.cos(0.1) * turned[2] + np.sin(0.1) * truth.components[5]
    assert reference.subspace_sine(turned, truth) == pytest.approx(np.sin(0.1))
    # A rotation inside the subspace is no error.
    assert reference.subspace_sine(truth.components[[2, 0, 1]], truth) < 1e-12


def test_the_answer_is_remembered_by_the_digest_of_the_data(tmp_path, monkeypatch):
    x = Factors(50, 10, 1.0).load()
    first = reference.remembered(x, 3, tmp_path)
    monkeypatch.setattr(reference, "exact", lambda *_: pytest.fail("computed twice"))
    assert np.array_equal(reference.remembered(x, 3, tmp_path).values, first.values)
    other = x.copy()
    other[3, 4] += 1e-12
    assert reference.digest(other) != reference.digest(x)
