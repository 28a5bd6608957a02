import numpy as np
import pytest
import scipy.sparse

from mercer.estimators.walk._operated_estimator import Operated, pairs
from mercer.operators import Framed
from mercer.planning import Problem
from mercer.planning._principal_paths import candidates


def asked(rng, shape):
    table = rng.poisson(2.0, shape).astype(float)
    total = table.sum()
    r, c = table.sum(axis=1) / total, table.sum(axis=0) / total
    op = Framed(table / total, left=r**-0.5, right=c**-0.5, level=r, profile=c)
    exact = op.dense()
    return Operated(op, float(np.sum(exact**2)), None, 1.0), exact


@pytest.mark.parametrize(
    ("shape", "name"),
    [((90, 70), name) for name in ("svd", "gram", "krylov")]
    + [((70, 90), name) for name in ("svd", "dual", "krylov")],
)
def test_every_path_finds_the_pairs_of_lapack(rng, shape, name):
    problem, exact = asked(rng, shape)
    wish = Problem(*shape, 4, 8, 10**9, allowed=(name,))
    paths = {path.name: path for path in candidates(wish)}
    found = pairs(problem, paths[name], 4, 1e-9)
    _, s, vt = np.linalg.svd(exact)
    np.testing.assert_allclose(found.values, s[:4] ** 2, rtol=1e-8)
    cosines = np.linalg.svd(vt[:4] @ found.right, compute_uv=False)
    np.testing.assert_allclose(cosines, 1, rtol=0, atol=1e-10)
    lower, upper = found.certificate.lower, found.certificate.upper
    assert np.all((lower <= s[:4] ** 2) & (s[:4] ** 2 <= upper))


def test_a_sparse_table_is_the_same(rng):
    problem, exact = asked(rng, (80, 60))
    op = problem.op
    sparse = Framed(
        scipy.sparse.csr_array(op.table),
        left=op.left,
        right=op.right,
        level=op.level,
        profile=op.profile,
    )
    wish = Problem(80, 60, 3, 8, 10**9, nnz=op.table.size, allowed=("krylov",))
    found = pairs(Operated(sparse, problem.trace, None, 1.0), candidates(wish)[0], 3, 1e-8)
    np.testing.assert_allclose(found.values, np.linalg.svd(exact)[1][:3] ** 2, rtol=1e-7)


def paths_of(shape, k, *names):
    wish = Problem(*shape, k, 8, 10**9, allowed=names)
    return {path.name: path for path in candidates(wish)}


@pytest.mark.parametrize(
    ("shape", "name"), [((90, 70), n) for n in ("svd", "gram", "krylov")] + [((70, 90), "dual")]
)
def test_a_matrix_of_nothing_has_no_axes(shape, name):
    m, n = shape
    op = Framed(
        np.ones(shape), left=np.ones(m), right=np.ones(n), level=np.ones(m), profile=np.ones(n)
    )
    found = pairs(Operated(op, 0.0, None, 1.0), paths_of(shape, 3, name)[name], 3, 1e-6)
    assert not found.values.any()
    assert not found.right.any()
    assert found.certificate.met


@pytest.mark.parametrize("name", ["svd", "gram", "krylov"])
def test_rounding_of_the_level_is_no_axis(rng, name):
    """A table of rank one but for rounding: whatever is left lies below the zero level."""
    r, c = rng.dirichlet(np.ones(90)), rng.dirichlet(np.ones(70))
    op = Framed(np.outer(r, c), left=r**-0.5, right=c**-0.5, level=r, profile=c)
    trace = float(np.sum(op.dense() ** 2)) + 1e-40
    found = pairs(Operated(op, trace, None, 1.0), paths_of((90, 70), 2, name)[name], 2, 1e-6)
    assert np.all(found.values <= found.certificate.zero_level)


def test_a_stored_matrix_gives_digits_for_nothing(rng):
    """A tolerance of a tenth is met by far; the certificate still speaks of a tenth."""
    problem, exact = asked(rng, (900, 700))
    path = paths_of((900, 700), 4, "gram")["gram"]
    assert type(path.solver).__name__ == "Stored"
    found = pairs(problem, path, 4, 0.1)
    assert (found.certificate.tol, found.certificate.met) == (0.1, True)
    s = np.linalg.svd(exact, compute_uv=False)
    np.testing.assert_allclose(found.values, s[:4] ** 2, rtol=1e-9)
