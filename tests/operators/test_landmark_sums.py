import numpy as np
import pytest
import scipy.sparse

from mercer.errors import InputError
from mercer.kernels import RBF, Function, Linear, NegativeDistance
from mercer.operators import Landmarks, LandmarkSums, choose

KERNELS = [RBF(2.0), NegativeDistance(), Linear()]


def table(n=700, p=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p))


def plain(marks, X, w=None):
    """Return ν and mean of f by plain algebra on all features."""
    f, r = marks.features(X)
    w = np.ones(len(f)) if w is None else w
    mean = w @ f / w.sum()
    g = np.sqrt(w)[:, None] * (f - mean)
    return np.linalg.eigvalsh(g.T @ g)[::-1], mean, float(w @ r)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("form", ["plain", "far", "weighted", "sparse"])
def test_sums_are_those_of_all_features(kernel, form):
    X = table() + (1e6 if form == "far" else 0.0)
    w = np.random.default_rng(1).integers(0, 4, len(X)).astype(float)
    w = w if form == "weighted" else None
    rows = scipy.sparse.csr_array(X) if form == "sparse" else X
    marks = Landmarks.of(kernel, rows[:50])
    sums = LandmarkSums(marks).add(rows, w)
    nu, vectors, mean, t = sums.pairs()
    exact, middle, left = plain(marks, rows, w)
    np.testing.assert_allclose(nu, np.maximum(exact, 0), rtol=0, atol=1e-9 * exact[0])
    np.testing.assert_allclose(mean, middle, rtol=0, atol=1e-12 * max(1, np.abs(middle).max()))
    assert t == pytest.approx(left, rel=1e-9, abs=1e-9 * exact[0])
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(marks.m), rtol=0, atol=1e-12)
    z = (marks.features(rows)[0] - mean) @ vectors
    weight = np.ones(len(X)) if w is None else w
    np.testing.assert_allclose((z.T * weight) @ z, np.diag(nu), rtol=0, atol=1e-8 * exact[0])
    assert sums.count == weight.sum()
    assert sums.rows == len(X)
    again = LandmarkSums(marks).add(rows, w)
    np.testing.assert_array_equal(again.p, sums.p)
    np.testing.assert_array_equal(again.q, sums.q)
    if form == "weighted":
        two = LandmarkSums(marks).add(np.repeat(X, w.astype(int), axis=0))
        np.testing.assert_allclose(two.pairs()[0], nu, rtol=0, atol=1e-11 * w.sum())
        assert sums.t == pytest.approx(two.t, rel=1e-12)
        assert sums.raw_trace == pytest.approx(two.raw_trace, rel=1e-12)


@pytest.mark.parametrize("apart", [0.0, 3.0])
@pytest.mark.parametrize("first", [1, 5, 350, 699])
def test_parts_merge_to_the_whole(first, apart):
    """The parts have shifts of their own, and may lie far from each other."""
    X = table()
    X[:first] += apart
    marks = Landmarks.of(RBF(2.0), X[::14])
    whole = LandmarkSums(marks).add(X)
    parts = LandmarkSums(marks).add(X[:first]), LandmarkSums(marks).add(X[first:])
    merged = parts[0].merge(parts[1])
    nu = whole.pairs()[0]
    np.testing.assert_allclose(merged.pairs()[0], nu, rtol=0, atol=1e-12 * nu[0])
    np.testing.assert_allclose(merged.pairs()[2], whole.pairs()[2], rtol=0, atol=1e-13)
    for name in ("count", "rows", "t", "raw_trace"):
        assert getattr(merged, name) == pytest.approx(getattr(whole, name), rel=1e-12)
    stream = LandmarkSums(marks)
    for start in range(0, 700, 93):
        stream.add(X[start : start + 93])
    np.testing.assert_allclose(stream.pairs()[0], nu, rtol=0, atol=1e-12 * nu[0])


def test_an_empty_part_changes_nothing():
    X = table()
    marks = Landmarks.of(RBF(2.0), X[:40])
    sums = LandmarkSums(marks).add(X)
    nu = sums.pairs()[0]
    for empty in (LandmarkSums(marks), LandmarkSums(marks).add(X[:0])):
        np.testing.assert_array_equal(LandmarkSums(marks).merge(sums).pairs()[0], nu)
        np.testing.assert_array_equal(sums.merge(empty).pairs()[0], nu)
    nothing = LandmarkSums(marks).add(X[:9], np.zeros(9))
    with pytest.raises(InputError, match="no row"):
        nothing.pairs()
    np.testing.assert_allclose(nothing.add(X).pairs()[0], nu, rtol=0, atol=1e-12 * nu[0])


def test_one_row_and_equal_rows_have_no_variance():
    marks = Landmarks.of(RBF(1.0), table(5))
    for rows in (table(1), np.repeat(table(1), 300, axis=0)):
        nu, _, mean, t = LandmarkSums(marks).add(rows).pairs()
        np.testing.assert_allclose(nu, 0, rtol=0, atol=1e-12)
        np.testing.assert_allclose(mean, marks.features(rows[:1])[0][0], rtol=0, atol=1e-14)
        assert t == pytest.approx(len(rows) * marks.features(rows[:1])[1][0], rel=1e-12)


def test_float32_rows_keep_float64_sums():
    X = table(3000).astype(np.float32)
    marks = Landmarks.of(RBF(3.0), X[:20]).subset(10)
    assert marks.steady
    narrow, wide = LandmarkSums(marks, np.float32).add(X), LandmarkSums(marks).add(X)
    nu = wide.pairs()[0]
    assert narrow.p.dtype == np.float64
    np.testing.assert_allclose(narrow.pairs()[0], nu, rtol=0, atol=2e-6 * nu[0])
    rough = Landmarks.of(RBF(30.0), X[:200])  # pivots below the rounding of float32
    assert not rough.steady
    assert LandmarkSums(rough, np.float32).dtype == np.float64


def test_other_landmarks_and_odd_weights_are_refused():
    X = table()
    sums = LandmarkSums(Landmarks.of(RBF(2.0), X[:40])).add(X)
    with pytest.raises(InputError, match="landmarks are the same"):
        sums.merge(LandmarkSums(Landmarks.of(RBF(2.0), X[1:41])).add(X))
    with pytest.raises(InputError, match="not negative"):
        sums.add(X, np.full(700, -1.0))
    with pytest.raises(InputError, match="each row"):
        sums.add(X, np.ones(3))
    odd = Function(lambda x, y: 2 * np.exp(-((x - y.T) ** 2)) - 1.5 * (x == y.T))
    marks = Landmarks.of(odd, np.array([[0.0]]))
    with pytest.raises(InputError, match="not positive definite"):
        LandmarkSums(marks).add(np.array([[1e-3], [2.0]]))
    none = LandmarkSums.of(choose(RBF(1.0), X[:20], 5, weights=np.zeros(20)))
    assert (none.rows, none.shift) == (20, None)


def test_an_interrupted_call_adds_nothing():
    X, asked = table(3000), []

    def wearing_out(x, y):
        asked.append(len(y))
        if sum(asked) > 2500 + 40:
            raise KeyboardInterrupt
        return np.exp(-np.sum((x[:, None] - y[None]) ** 2, axis=2) / 8)

    marks = Landmarks.of(Function(wearing_out), X[:20])
    sums = LandmarkSums(marks).add(X[:100])
    before = sums.p.copy(), sums.q.copy(), sums.count, sums.t, sums.rows
    with pytest.raises(KeyboardInterrupt):
        sums.add(X)
    np.testing.assert_array_equal(sums.p, before[0])
    np.testing.assert_array_equal(sums.q, before[1])
    assert (sums.count, sums.t, sums.rows) == before[2:]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", [RBF(1.0), NegativeDistance(), Linear()], ids=repr)
def test_the_features_of_a_choice_are_summed_as_those_of_its_rows(kernel, weighted, dtype):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((700, 4)) * [5, 1, 1, 0.1] + 3
    w = rng.integers(0, 3, 700).astype(float) if weighted else None
    factor = choose(kernel, X, 40, weights=w, dtype=dtype)
    one, two = LandmarkSums.of(factor), LandmarkSums(factor.landmarks).add(X, w)
    allowed = (1e-12 if dtype == "float64" else 1e-5) * two.raw_trace
    assert one.rows == two.rows == 700
    assert one.count == two.count
    np.testing.assert_allclose(one.raw_trace, two.raw_trace, rtol=1e-12)
    np.testing.assert_allclose(one.t, two.t, rtol=0, atol=allowed)
    (nu, a, mean, _), (also, b, middle, _) = one.pairs(), two.pairs()
    np.testing.assert_allclose(nu, also, rtol=0, atol=allowed)
    np.testing.assert_allclose((a * nu) @ a.T, (b * also) @ b.T, rtol=0, atol=allowed)
    np.testing.assert_allclose(mean, middle, rtol=0, atol=allowed / 700)


def test_sums_travel_without_their_landmarks():
    X = np.random.default_rng(4).standard_normal((90, 3))
    marks = Landmarks.of(RBF(2.0), X[:9])
    sums = LandmarkSums(marks).add(X)
    bare = sums.bare()
    assert not any(isinstance(value, Landmarks) for value in bare.values())
    again = LandmarkSums.through(marks, bare)
    for one, other in zip(again.pairs(), sums.pairs(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (again.rows, again.raw_trace) == (90, sums.raw_trace)
