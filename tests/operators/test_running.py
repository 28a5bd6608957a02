"""Sums that merge are those of all rows at once, whatever the parts and their order."""

from fractions import Fraction

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.operators import RunningMoments, rows_of
from mercer.sources import scan


def part(X, w=None, whole=True):
    rows = rows_of(scan(np.asarray(X)), w)
    return RunningMoments.of(rows, rows.scatter() if whole else rows.moments())


def exact(X, w=None):
    """Return Σw, mean (p,) and scatter (p, p) without any rounding, as fractions."""
    n, p = X.shape
    weights = [Fraction(1)] * n if w is None else [Fraction(float(c)) for c in w]
    cells = [[Fraction(float(x)) for x in row] for row in X]
    total = sum(weights)
    mean = [
        sum(c * r[j] for c, r in zip(weights, cells, strict=True)) / total for j in range(p)
    ]
    away = [[r[j] - mean[j] for j in range(p)] for r in cells]
    scatter = [
        [sum(c * r[i] * r[j] for c, r in zip(weights, away, strict=True)) for j in range(p)]
        for i in range(p)
    ]
    return total, mean, scatter


def check(found, X, w=None, most=1e-13):
    """The sums are right to `most` of the trace, and `error` is a bound on what is wrong."""
    total, mean, scatter = exact(X, w)
    p = X.shape[1]
    unit = Fraction(2) ** found.exponent
    size = sum(scatter[j][j] for j in range(p))
    assert abs(Fraction(found.total) - total) <= total * Fraction(1, 10**14)
    held = found.scatter if found.whole else np.diag(found.scatter)
    wrong = np.zeros((p, p))
    for i in range(p):
        for j in range(p) if found.whole else [i]:
            wrong[i, j] = float(Fraction(float(held[i, j])) - scatter[i][j] / unit**2)
    norm = np.linalg.norm(wrong, 2)
    assert norm <= found.error, (norm, found.error)
    assert norm <= most * float(size / unit**2) + 1e-300
    deviation = np.sqrt(float(size / unit**2 / total))
    for j in range(p):
        here = Fraction(float(found.origin[j])) / unit + Fraction(float(found.offset[j]))
        assert abs(float(here - mean[j] / unit)) <= most * deviation + 1e-300


def tree(parts, rng):
    """Merge neighbours and strangers in a random tree."""
    parts = list(parts)
    while len(parts) > 1:
        i, j = rng.choice(len(parts), 2, replace=False)
        one, two = parts[i], parts[j]
        parts = [q for k, q in enumerate(parts) if k not in (i, j)]
        parts.append(one.merge(two))
    return parts[0]


def spans(n, sizes):
    at, out = 0, []
    while at < n:
        size = sizes[len(out) % len(sizes)]
        out.append(slice(at, min(at + size, n)))
        at += size
    return out


def table(kind, n=60, p=3):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((n, p)) * [1.0, 0.1, 30.0]
    if kind == "far":
        return X + 1e8
    if kind == "drift":
        return X + np.linspace(0, 1e8, n)[:, None]
    if kind == "sorted":
        return np.sort(X, axis=0) + np.array([1e8, -1e6, 0])
    if kind == "huge":
        return X * 1e200
    if kind == "tiny":
        return X * 1e-200
    if kind == "mixed":  # one block a hundred decades above the next
        return X * np.repeat(10.0 ** np.array([150, -150, 0, 200, -200, 60]), n // 6)[:, None]
    if kind == "outlier":
        X[0] = 1e8
    if kind == "plateaus":  # nothing varies inside a block
        return np.repeat([[1e160, 1.0, -1e160], [-1e160, 1.0, 1e160]], n // 2, axis=0)
    return X


KINDS = ["plain", "far", "drift", "sorted", "huge", "tiny", "mixed", "outlier", "plateaus"]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("sizes", [[1], [7], [1, 20, 3], [30], [100]], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_in_order(kind, sizes, whole):
    X = table(kind)
    found = RunningMoments(whole)
    for rows in spans(len(X), sizes):
        found.merge(part(X[rows], whole=whole))
    assert found.rows == len(X)
    check(found, X)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_in_any_tree(kind, seed):
    X, rng = table(kind), np.random.default_rng(seed)
    w = rng.integers(0, 4, len(X)) * 0.37
    cuts = [rows for rows in spans(len(X), [4, 1, 9]) if w[rows].any()]
    order = rng.permutation(len(cuts))
    found = tree([part(X[cuts[i]], w[cuts[i]]) for i in order], rng)
    check(found, X, w)


@pytest.mark.parametrize("light", [1e-12, 1e-6, 1e6, 1e12])
@pytest.mark.parametrize("place", [0, 10, 19])
def test_a_far_block_of_another_weight(place, light):
    """A mean kept about a far origin that weighs nothing would lose its digits."""
    X, w = np.random.default_rng(0).standard_normal((60, 3)), np.ones(60)
    rows = slice(3 * place, 3 * place + 3)
    X[rows] += 1e8
    w[rows] = light
    found = RunningMoments()
    for span in spans(60, [3]):
        found.merge(part(X[span], w[span]))
    check(found, X, w)


def test_blocks_without_weight_and_without_rows():
    X = table("far")
    nothing = part(X[:5])
    nothing.fade(0.0)
    found = RunningMoments().merge(RunningMoments()).merge(nothing).merge(part(X[5:30]))
    found.merge(RunningMoments())
    again = part(X[:5])
    found.merge(again.fade(0.0)).merge(part(X[30:]))
    assert found.rows == 65
    check(found, X[5:])
    one = part(X[:30])
    other = one.copy()
    other.merge(part(X[30:]))  # a copy is its own
    check(one, X[:30])
    check(other, X)
    wide = np.random.default_rng(0).standard_normal((8, 1500)) + np.repeat([0, 50], 4)[:, None]
    found = part(wide[:4]).merge(part(wide[4:]))  # whose correction is made by strips
    away = wide - wide.mean(0)
    assert np.abs(found.scatter - away.T @ away).max() <= 1e-12 * np.sum(away**2)


@pytest.mark.parametrize("value", [0.1, 1e8 + 0.1, -1e300, 5e-324])
def test_a_constant_column_stays_exactly_zero(value):
    X = table("plain")
    X[:, 1] = value
    found = RunningMoments()
    for rows in spans(60, [1, 8, 3]):
        found.merge(part(X[rows]))
    assert np.all(found.scatter[1] == 0)
    assert np.all(found.scatter[:, 1] == 0)
    assert found.offset[1] == 0
    assert found.recentred(np.float64).offset[1] == 0


@pytest.mark.parametrize("kind", ["plain", "far", "sorted", "huge", "tiny"])
def test_what_was_added_can_be_taken_out(kind):
    X = table(kind)
    found = RunningMoments()
    for rows in spans(60, [10]):
        found.merge(part(X[rows]))
    for rows in spans(60, [10])[1:3]:
        found.remove(part(X[rows]))
    assert found.rows == 40
    check(found, np.concatenate([X[:10], X[30:]]), most=1e-12)


def test_digits_lost_by_taking_out_are_in_the_error():
    X = table("plain")
    loud = X[:10] * 1e6
    found = part(loud).merge(part(X[10:])).remove(part(loud))
    check(found, X[10:], most=1e-3)
    assert found.error > 1e-16 * np.trace(found.scatter) * 1e6


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2]])
def test_taking_everything_out_leaves_nothing(order):
    X, weights = table("far"), [0.1, 0.2, 0.3]
    parts = [(X[i : i + 20], np.full(20, w)) for i, w in zip((0, 20, 40), weights, strict=True)]
    found = RunningMoments()
    for rows, w in parts:
        found.merge(part(rows, w))
    for i in order:
        found.remove(part(*parts[i]))
    assert (found.rows, found.total, found.origin) == (0, 0.0, None)
    check(found.merge(part(X[:7])), X[:7])


def test_rows_that_were_never_there_are_refused():
    X = table("plain")
    with pytest.raises(InputError, match="more rows are taken out"):
        part(X[:5]).remove(part(X[:9]))
    with pytest.raises(InputError, match="more rows are taken out"):
        RunningMoments().remove(part(X[:9]))
    with pytest.raises(InputError, match="never put in") as caught:
        part(X).remove(part(X[:10] * 100))
    assert str(caught.value).count("\n") == 2
    w = np.full(1, 0.1)
    with pytest.raises(InputError, match="more rows"):
        part(X[:1], w).remove(part(X[:1], 0.5 * w))
    with pytest.raises(InputError, match=r"3 columns .* and 2 columns"):
        part(X).merge(part(X[:, :2]))
    with pytest.raises(InputError, match="cannot be added"):
        part(X).merge(part(X, whole=False))


@pytest.mark.parametrize("kind", ["plain", "far", "huge"])
def test_fading_is_a_weight(kind):
    X = table(kind)
    found = part(X[:20]).fade(0.5).merge(part(X[20:40])).fade(0.25).merge(part(X[40:]))
    check(found, X, np.repeat([0.125, 0.25, 1.0], 20))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["drift", "far", "tiny"])
def test_a_nearer_origin_changes_no_mean(kind, dtype):
    X = table(kind).astype(dtype) if kind != "tiny" or dtype == np.float64 else table("far")
    found = RunningMoments()
    for rows in spans(60, [6]):
        found.merge(part(X[rows].astype(np.float64)))
    scatter = found.scatter.copy()
    narrow = RunningMoments()
    for rows in spans(60, [20]):
        narrow.add(rows_of(scan(X[rows])))
    check(narrow, X.astype(np.float64), most=1e-13 if dtype == np.float64 else 1e-6)
    found.recentred(dtype)
    assert np.array_equal(found.scatter, scatter)
    assert np.array_equal(found.origin.astype(dtype).astype(np.float64), found.origin)
    check(found, X.astype(np.float64))


@pytest.mark.parametrize("whole", [True, False])
def test_what_is_kept_goes_on_with_the_same_bits(whole):
    X = table("mixed")
    cuts = spans(60, [7])
    undisturbed = RunningMoments(whole)
    for rows in cuts:
        undisturbed.merge(part(X[rows], whole=whole))
    for stop in range(len(cuts) + 1):
        found = RunningMoments(whole)
        for rows in cuts[:stop]:
            found.merge(part(X[rows], whole=whole))
        kept = {name: array.copy() for name, array in found.keep().items()}
        again = RunningMoments(whole)
        assert again.restore(kept)
        for rows in cuts[stop:]:
            again.merge(part(X[rows], whole=whole))
        for name, array in undisturbed.keep().items():
            assert np.array_equal(again.keep()[name], array), (stop, name)


def test_rows_that_are_equal_have_no_unit():
    X = np.array([[1.0], [3.0], [2.0], [7.0]]) * 1e-150
    single = [part(X[i : i + 1]) for i in range(4)]
    found = single[0].merge(single[1]).merge(single[2].merge(single[3]))
    assert found.exponent < -240
    exact_scatter = 4.0 * np.var([1, 3, 2, 7])
    assert np.ldexp(found.scatter / 1e-300, 2 * found.exponent) == pytest.approx(exact_scatter)
    near, far = np.array([[0.0], [1.0]]), np.array([[0.0], [2.0]]) + 1e150
    found = part(near).merge(part(far))  # the unit holds the distance of quiet parts
    assert found.moments().in_range
    assert np.ldexp(np.sqrt(found.scatter), found.exponent) == pytest.approx(1e150)


@pytest.mark.parametrize("trend", [0.0, 1.0, 100.0])
@pytest.mark.parametrize("sizes", [(5, 2), (8, 3), (14, 7)], ids=str)
def test_the_error_of_a_long_window_stays_true_and_small(trend, sizes):
    size, length = sizes
    n = 400 * size
    X = np.random.default_rng(4).standard_normal((n, 3)) * [1, 10, 0.1] + 1e6
    X += trend * np.arange(n)[:, None]
    cuts, found = spans(n, [size]), RunningMoments()
    for i, rows in enumerate(cuts):
        found.merge(part(X[rows]))
        if i >= length:
            found.remove(part(X[cuts[i - length]]))
    last = X[-size * length :]
    check(found, last, most=1e-9)
    assert found.error < 1e-8 * np.sum((last - last.mean(0)) ** 2)
    assert found.raw_trace < 6 * np.sum((last - last.mean(0)) ** 2)
