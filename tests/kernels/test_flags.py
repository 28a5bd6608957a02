import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import InputError
from mercer.kernels import (
    RBF,
    Constant,
    Flag,
    Function,
    Linear,
    NegativeDistance,
    Precomputed,
    Sigmoid,
    evidence,
    exp,
    mapped,
    normalize,
    warp,
)

PD, CPD, BAD, UNKNOWN = Flag.PD, Flag.CPD, Flag.INDEFINITE, Flag.UNKNOWN
ALL = (PD, CPD, BAD, UNKNOWN)


def test_every_flag_has_a_sentence():
    assert len({flag.sentence for flag in Flag}) == 4
    assert str(PD) == "pd: every kernel matrix K is positive semidefinite"
    assert [flag.centred for flag in ALL] == [True, True, False, False]


FLAGGED = {PD: RBF(1.0), CPD: NegativeDistance(), BAD: Sigmoid(1.0), UNKNOWN: Function(np.dot)}
SUMS = {(PD, PD): PD, (PD, CPD): CPD, (CPD, PD): CPD, (CPD, CPD): CPD}


@pytest.mark.parametrize("left", ALL)
@pytest.mark.parametrize("right", ALL)
def test_sums_and_products(left, right):
    a, b = FLAGGED[left], FLAGGED[right]
    assert (a.flag, b.flag) == (left, right)
    assert (a + b).flag is SUMS.get((left, right), UNKNOWN)
    assert (a * b).flag is (PD if left is right is PD else UNKNOWN)


@pytest.mark.parametrize("flag", ALL)
def test_changes_of_one_kernel(flag):
    k = FLAGGED[flag]
    sound, positive = (PD if good else UNKNOWN for good in (flag in (PD, CPD), flag is PD))
    assert (2.0 * k).flag is (k**1).flag is flag
    assert (0.0 * k).flag is (k**0).flag is PD
    assert (-1.0 * k).flag is UNKNOWN
    assert exp(k).flag is sound
    assert (k**2).flag is normalize(k).flag is warp(k, first).flag is positive
    assert mapped(k, sines).flag is k.on([0]).flag is (flag if flag in (PD, CPD) else UNKNOWN)


def sines(rows):
    return np.sin(3 * np.asarray(rows))


def first(rows):
    return np.asarray(rows)[:, 0]


# Every rule of closure, with kernels that stand for their flag.
CLOSED = [
    (2.0 * RBF(1.0), PD),
    (2.0 * NegativeDistance(), CPD),
    (0.0 * NegativeDistance(), PD),
    (RBF(1.0) + Linear(), PD),
    (RBF(1.0) + NegativeDistance(), CPD),
    (NegativeDistance() + NegativeDistance(1.5), CPD),
    (RBF(1.0) + 3.0, PD),
    (RBF(1.0) + -3.0, CPD),
    (NegativeDistance() + 3.0, CPD),
    (NegativeDistance() + -3.0, CPD),
    (RBF(1.0) * Linear(), PD),
    (RBF(1.0) * Constant(2.0), PD),
    (Constant(2.0) * NegativeDistance(), CPD),
    (exp(Linear()), PD),
    (exp(NegativeDistance()), PD),
    (exp(0.3 * NegativeDistance(1.7)), PD),
    (exp(NegativeDistance() + RBF(1.0)), PD),
    (2.0 * Linear() ** 3 + 0.5 * Linear() + 1.0, PD),
    (warp(RBF(1.0), first), PD),
    (normalize(Linear() + 1.0), PD),
    (mapped(RBF(1.0), sines), PD),
    (mapped(NegativeDistance(), sines), CPD),
    (RBF(1.0).on([0, 1]), PD),
    (NegativeDistance().on([1]), CPD),
]


@pytest.mark.parametrize(("kernel", "flag"), CLOSED, ids=lambda v: str(v)[:60])
def test_closure_rules_hold_on_data(kernel, flag, rng):
    assert kernel.flag is flag
    X = rng.standard_normal((60, 3))
    found = evidence(kernel, X)
    assert not found.contradicts, found.words
    assert not found.not_cpd


# That the rules stop where they must: each of these is not even conditionally positive.
@pytest.mark.parametrize(
    "kernel",
    [
        NegativeDistance() * NegativeDistance(),
        NegativeDistance() ** 2,
        -1.0 * RBF(1.0),
        exp(-1.0 * NegativeDistance()),
        exp(-1.0 * RBF(1.0)),
        warp(NegativeDistance(), first),
        NegativeDistance() * RBF(1.0),
        Sigmoid(1.0, -1.0) + 0.01 * RBF(1.0),
    ],
    ids=str,
)
def test_counter_examples_are_caught(kernel, rng):
    assert kernel.flag is UNKNOWN
    found = evidence(kernel, rng.standard_normal((60, 3)))
    assert found.not_cpd, found.words


def test_constants():
    assert Constant(2.0).flag is PD
    assert Constant(-2.0).flag is CPD
    assert (-1.0 * Constant(2.0)).flag is CPD
    assert (-1.0 * Constant(-2.0)).flag is PD
    assert (RBF(1.0) * Constant(-2.0)).flag is UNKNOWN


def test_a_negative_direction_is_a_proof(rng):
    X = rng.standard_normal((40, 3))
    found = evidence(Sigmoid(1.0, -1.0), X)
    K = Sigmoid(1.0, -1.0)(X)
    H = np.eye(40) - 1 / 40
    values = np.linalg.eigvalsh(H @ K @ H)
    assert found.smallest_centred == pytest.approx(values[0])
    assert found.smallest == pytest.approx(np.linalg.eigvalsh(K)[0])
    negative = -values[values < 0].sum() / np.abs(values).sum()
    assert found.negative_share == pytest.approx(negative, abs=1e-12)
    assert found.not_pd
    assert found.not_cpd
    assert "a proof" in found.words
    assert not found.contradicts  # it was never said to be positive


def test_a_sample_without_one_is_no_proof(rng):
    found = evidence("rbf", rng.standard_normal((40, 3)))
    assert not found.not_pd
    assert "no proof" in str(found)
    assert found.negative_share == 0


def test_conditional_kernels(rng):
    found = evidence(NegativeDistance(), rng.standard_normal((40, 3)))
    assert found.flag is Flag.CPD
    assert found.not_pd
    assert not found.not_cpd
    assert "kernel PCA of these rows is sound" in found.words
    assert not found.contradicts


@given(st.integers(0, 2**16), st.integers(2, 20), st.sampled_from([np.float32, np.float64]))
def test_rounding_is_no_evidence(seed, n, dtype):
    X = np.random.default_rng(seed).standard_normal((n, 2)).astype(dtype)
    X[n // 2 :] = X[: n - n // 2]  # singular on purpose
    for kernel in (RBF(3.0), Linear(), NegativeDistance(2.0), RBF(3.0) + 1e6):
        assert not evidence(kernel, 5 + X).contradicts


def test_precomputed_matrices():
    assert evidence(Precomputed(), np.diag([1.0, 2.0, -1.0])).not_pd
    assert not evidence("precomputed", np.eye(4)).not_pd
    big = np.broadcast_to(1.0, (4500, 4500))
    assert evidence(Precomputed(), big).rows == 1500
    assert evidence(Linear(), np.eye(5000, 2)).rows <= 2000


def test_matrices_that_are_not_finite_are_refused():
    with pytest.raises(InputError, match="missing or infinite"):
        evidence(Function(lambda x, y: np.full((len(x), len(y)), np.nan)), np.ones((3, 1)))
