import numpy as np
import pytest
import scipy.sparse

from mercer.errors import InputError, NotSupportedError
from mercer.kernels import (
    RBF,
    Cosine,
    FeatureMap,
    Function,
    Laplacian,
    Linear,
    Multiquadric,
    NegativeDistance,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from mercer.operators import SAMPLERS, choose, select

KERNELS = [RBF(1.5), Laplacian(2.0), Polynomial(2, gamma=0.5, coef0=1.0), NegativeDistance()]


def table(n=400, p=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p))


def plain(kernel, X, origin=None):
    """Return the kernel matrix in float64, from the origin where there is one."""
    X = np.asarray(X, np.float64)
    K = kernel.block(X)
    if origin is not None:
        o = np.asarray(
            origin.toarray() if scipy.sparse.issparse(origin) else origin, np.float64
        )
        to = kernel.block(X, o)
        K = K - to - to.T + kernel.block(o)
    return K


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_is_left_of_the_matrix_is_not_negative(kernel, sampler, dtype):
    X = table().astype(dtype)
    kept = X.copy()
    found = choose(kernel, X, 40, sampler=sampler, dtype=dtype)
    marks = found.landmarks
    np.testing.assert_array_equal(X, kept)
    assert not any(np.shares_memory(part, X) for part in (marks.rows, marks.origin))
    same, other = (choose(kernel, X, 40, sampler=sampler, dtype=dtype, seed=s) for s in (0, 4))
    np.testing.assert_array_equal(same.f, found.f)
    assert not np.array_equal(same.indices, other.indices)
    K = plain(kernel, X, marks.origin)
    rounding = np.abs(K).max() * (1e-12 if dtype == np.float64 else 2e-4)
    assert found.f.dtype == dtype
    f = found.f.astype(np.float64)
    N = K - f @ f.T
    np.testing.assert_allclose(np.diag(N), found.residual, rtol=0, atol=rounding)
    assert np.all(found.residual >= 0)
    assert np.linalg.eigvalsh(N)[0] > -rounding * len(X)
    assert found.trace == pytest.approx(found.residual.sum())
    assert len(np.unique(found.indices)) == marks.m <= 40
    np.testing.assert_array_equal(marks.rows, X[found.indices])
    L = marks.triangle
    assert L.dtype == np.float64
    np.testing.assert_array_equal(L, np.tril(L))
    S = np.ix_(found.indices, found.indices)
    np.testing.assert_allclose(L @ L.T, K[S], rtol=0, atol=1e-12 * np.abs(K).max())
    again, left = marks.features(X)
    np.testing.assert_allclose(again, f, rtol=0, atol=np.sqrt(rounding))
    np.testing.assert_allclose(left, found.residual, rtol=0, atol=30 * rounding)


WRONG = {3: [400], 10: [0.5]}


@pytest.mark.parametrize("sampler", [*SAMPLERS, "listed"])
@pytest.mark.parametrize(
    ("kernel", "rank"), [(Linear(), 3), (Polynomial(2, gamma=1.0, coef0=1.0), 10)], ids=str
)
def test_landmarks_end_at_the_rank(sampler, kernel, rank):
    X = table()
    with pytest.raises(InputError, match="landmark"):
        choose(kernel, X, 5, sampler=WRONG[rank])
    listed = choose(RBF(1.0), X, 400, sampler=[7, 3, -1, 7])
    np.testing.assert_array_equal(listed.indices, [7, 3, 399])  # in their order
    found = choose(kernel, X, 100, sampler=np.arange(400) if sampler == "listed" else sampler)
    assert found.landmarks.m == rank
    K = plain(kernel, X)
    np.testing.assert_allclose(found.f @ found.f.T, K, rtol=0, atol=1e-10 * K.max())
    assert found.trace < 1e-10 * np.trace(K)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_duplicates_are_taken_once(sampler):
    X = np.repeat(table(12), 30, axis=0)
    found = choose(RBF(0.7), X, 200, sampler=sampler)
    assert found.landmarks.m == 12
    assert len(np.unique(found.indices // 30)) == 12
    assert found.trace < 1e-10 * len(X)
    for n in (1, 2, 3):  # one, two, three rows
        for kernel, m in ((RBF(1.0), n), (NegativeDistance(), n - 1)):
            few = choose(kernel, table(n), 5, sampler=sampler)
            assert few.landmarks.m == m
            np.testing.assert_allclose(few.residual, 0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_rows_of_weight_zero_are_neither_drawn_nor_counted(sampler):
    X = table()
    w = (np.arange(400) % 4 == 0).astype(float)
    X[w == 0] *= 50
    found = choose(RBF(1.5), X, 60, sampler=sampler, weights=w)
    assert np.all(w[found.indices] > 0)
    assert found.residual.shape == (400,)
    assert found.trace == pytest.approx(w @ found.residual)
    assert choose(Linear(), X, 3, sampler=sampler, weights=np.zeros(400)).landmarks.m == 0


@pytest.mark.parametrize("form", ["far", "small", "large", "sparse"])
def test_hard_inputs(form):
    X = table()
    X[:5] = X[5]
    if form == "far":
        X += 1e6
    X *= {"small": 1e-8, "large": 1e8}.get(form, 1.0)
    kernel = RBF().resolve(X)
    rows = scipy.sparse.csr_array(X) if form == "sparse" else X
    found = choose(kernel, rows, 50)
    K = plain(kernel, X)
    np.testing.assert_allclose(
        np.diag(K - found.f @ found.f.T), found.residual, rtol=0, atol=1e-9
    )
    assert scipy.sparse.issparse(found.landmarks.rows) == (form == "sparse")


def test_it_stops_when_the_rest_is_small_enough():
    X = table()
    found = choose(RBF(2.0), X, 400, stop=0.05)
    assert found.trace <= 0.05 * 400
    assert 10 < found.landmarks.m < 200
    assert choose(RBF(2.0), X, 400, stop=1.0).landmarks.m == 0
    assert choose(RBF(2.0), X, 400, stop=0.05, sampler="uniform").landmarks.m < 400


def test_selecting_among_fewer_rows():
    X, w = table(), np.ones(400)
    w[::2] = 0
    marks, picked = select(RBF(1.0), X, 20, among=50, weights=w)
    assert marks.m == 20
    assert np.all(picked % 2 == 1)
    np.testing.assert_array_equal(marks.rows, X[picked])
    whole, same = select(RBF(1.0), X, 20), choose(RBF(1.0), X, 20)
    np.testing.assert_array_equal(whole[1], same.indices)
    for wrong in ("greedy", [[1]], None):
        with pytest.raises(InputError, match="landmark"):
            choose(RBF(1.0), X, 5, sampler=wrong)


def test_a_kernel_that_is_not_positive_is_found_out():
    odd = Function(lambda x, y: np.maximum(0, x[:, :1] + y[:, :1].T) ** 0.1 + (x @ y.T) ** 3)
    with pytest.raises(InputError, match="not positive definite"):
        choose(odd, table(), 100)
    below = Function(lambda x, y: -np.ones((len(x), len(y))))
    with pytest.raises(InputError, match="not positive definite"):
        choose(below, table(), 5)


def test_what_cannot_have_landmarks_is_refused_and_rounding_is_no_proof():
    nothing = Function(lambda x, y: np.full((len(x), len(y)), np.nan))
    for kernel, error, said in (
        (2.0 * Precomputed(), NotSupportedError, "kernel of two rows"),
        (Sigmoid(gamma=1.0, coef0=0.0), InputError, "indefinite"),
        (nothing, InputError, "finite"),
    ):
        with pytest.raises(error, match=said):
            choose(kernel, table(), 5)
    assert choose(Function(lambda x, y: x @ y.T), table(), 100).landmarks.m == 3


COMPOSED = [
    0.5 * RBF(1.0) + Linear(),
    RBF(1.0) * Polynomial(2, gamma=1.0, coef0=1.0),
    RBF((1.0, 2.0, 0.5)),
    RBF(1.0).on((0, 2)) + Laplacian(1.0).on((1,)),
    NegativeDistance() + RBF(1.0),
    NegativeDistance() + 1e3,
    FeatureMap(lambda X: np.concatenate([X, np.sin(X)], axis=1)),
    Cosine(),
    Multiquadric(1.0),
]


@pytest.mark.parametrize("kernel", COMPOSED, ids=[f"kernel {i}" for i in range(len(COMPOSED))])
@pytest.mark.parametrize("sparse", [False, True])
def test_composed_kernels(kernel, sparse):
    if sparse and (not kernel.takes_sparse or isinstance(kernel, FeatureMap)):
        pytest.skip("needs all zeros")
    X = table(150)
    X[3] = X[4] = 0.0
    rows = scipy.sparse.csr_array(X) if sparse else X
    found = choose(kernel, rows, 30)
    origin = found.landmarks.origin
    K = plain(kernel, X, origin.toarray() if sparse and origin is not None else origin)
    N = K - found.f @ found.f.T
    size = np.abs(kernel.block(X)).max()
    np.testing.assert_allclose(np.diag(N), found.residual, rtol=0, atol=1e-11 * size)
    assert np.linalg.eigvalsh(N)[0] > -1e-10 * size
    f, r = found.landmarks.features(rows)
    np.testing.assert_allclose(f, found.f, rtol=0, atol=1e-5 * np.sqrt(size))
    np.testing.assert_allclose(r, found.residual, rtol=0, atol=1e-9 * size)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("spread", "seed"), [(1e-3, 18), (5e-4, 8), (5e-4, 14)])
def test_a_row_at_the_edge_of_rounding_is_not_drawn_for_ever(spread, seed):
    """Two ways to a residual differ by rounding: one may be above the floor, one below."""
    rng = np.random.default_rng(seed)
    centres = 3 * rng.standard_normal((5, 4))
    X = centres[rng.integers(0, 5, 500)] + spread * rng.standard_normal((500, 4))
    found = choose(RBF(0.2), X, 250, seed=seed)
    assert 50 < found.landmarks.m < 250
    assert found.trace <= 1e-9 * 500
