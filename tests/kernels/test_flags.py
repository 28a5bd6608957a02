import numpy as np
import pytest

from mercer.kernels import (
    RBF,
    Constant,
    Flag,
    Function,
    Linear,
    NegativeDistance,
    Sigmoid,
    evidence,
    exp,
    mapped,
    normalize,
    warp,
)
from mercer.kernels._definiteness import (
    of_ends,
    of_exponential,
    of_map,
    of_multiple,
    of_power,
    of_product,
    of_sum,
)

PD, CPD, BAD, UNKNOWN = Flag.PD, Flag.CPD, Flag.INDEFINITE, Flag.UNKNOWN
ALL = (PD, CPD, BAD, UNKNOWN)


def test_every_flag_has_a_sentence():
    assert len({flag.sentence for flag in Flag}) == 4
    assert str(PD) == "pd: every kernel matrix K is positive semidefinite"
    assert [flag.centred for flag in ALL] == [True, True, False, False]


SUMS = {(PD, PD): PD, (PD, CPD): CPD, (CPD, PD): CPD, (CPD, CPD): CPD}


@pytest.mark.parametrize("left", ALL)
@pytest.mark.parametrize("right", ALL)
def test_sums_and_products(left, right):
    assert of_sum(left, right) is SUMS.get((left, right), UNKNOWN)
    assert of_product(left, right) is (PD if left is right is PD else UNKNOWN)


@pytest.mark.parametrize("flag", ALL)
def test_changes_of_one_kernel(flag):
    assert of_multiple(flag, 2.0) is flag
    assert of_multiple(flag, 0.0) is PD
    assert of_multiple(flag, -1.0) is UNKNOWN
    assert of_exponential(flag) is (PD if flag in (PD, CPD) else UNKNOWN)
    assert of_power(flag, 1) is flag
    assert of_power(flag, 0) is PD
    assert of_power(flag, 2) is (PD if flag is PD else UNKNOWN)
    assert of_ends(flag) is (PD if flag is PD else UNKNOWN)
    assert of_map(flag) is (flag if flag in (PD, CPD) else UNKNOWN)


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
OPEN = [
    NegativeDistance() * NegativeDistance(),
    NegativeDistance() * RBF(1.0),
    NegativeDistance() ** 2,
    -1.0 * RBF(1.0),
    -1.0 * NegativeDistance(),
    exp(-1.0 * RBF(1.0)),
    exp(-1.0 * NegativeDistance()),
    warp(NegativeDistance(), first),
    normalize(NegativeDistance()),
    Sigmoid(1.0) + RBF(1.0),
    mapped(Sigmoid(1.0), sines),
    Sigmoid(1.0).on([0]),
    Function(np.dot) + RBF(1.0),
    RBF(1.0) * Constant(-2.0),
]


@pytest.mark.parametrize(("kernel", "flag"), CLOSED, ids=lambda v: str(v)[:60])
def test_closure_rules_hold_on_data(kernel, flag, rng):
    assert kernel.flag is flag
    X = rng.standard_normal((60, 3))
    found = evidence(kernel, X)
    assert not found.contradicts, found.words
    assert not found.not_cpd


@pytest.mark.parametrize("kernel", OPEN, ids=str)
def test_everything_else_is_unknown(kernel):
    assert kernel.flag is UNKNOWN


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
