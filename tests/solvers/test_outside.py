import numpy as np
import pytest

from mercer.solvers import PROBES, Outside
from mercer.solvers._eigenvalue_bounds import products_needed
from mercer.testing import matrices


def outside(a, q, xp=None, seed=0, stream=1):
    hold = np.asarray if xp is None else xp.asarray
    matrix = hold(a)
    return Outside(lambda v: matrix @ v, hold(q), hold(np.zeros((0, 0))), seed, stream)


def norm_outside(a, q):
    project = np.eye(len(a)) - q @ q.T
    return float(np.linalg.norm(project @ a @ project, 2))


SPECTRA = ["even", "graded", "clustered", "repeated", "flat", "low rank"]


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("held", [0, 3, 20])
def test_the_bound_holds_at_every_step(name, held):
    values = matrices.spectra(64)[name]
    for seed in range(6):
        a = matrices.symmetric(values, seed)
        q = matrices.rotation(64, seed + 1)[:, :held]
        truth = norm_outside(a, q)
        probe = outside(a, q, seed=seed)
        bounds = [probe.bound]
        for _ in range(8):
            if probe.block.shape[1] == 0:
                break
            probe.step()
            assert truth <= probe.bound * (1 + 1e-12)
            bounds.append(probe.bound)
        assert bounds == sorted(bounds, reverse=True)
        assert bounds[-1] <= 3 * truth


def test_every_library_agrees(xp):
    a = matrices.symmetric(matrices.spectra(64)["even"])
    q = matrices.rotation(64)[:, :5]
    here, there = outside(a, q), outside(a, q, xp)
    for _ in range(4):
        here.step()
        there.step()
    assert there.bound == pytest.approx(here.bound, rel=1e-10)


def test_a_space_that_closes_tells_the_norm_itself():
    values = np.concatenate([[10.0, 9.0], np.full(98, 1.0)])
    a = matrices.symmetric(values)
    probe = outside(a, np.linalg.eigh(a)[1][:, -2:])
    steps = 0
    while not probe.exhausted:
        probe.step()
        steps += 1
    assert steps <= 3
    assert 1.0 <= probe.bound * (1 + 1e-12) < 1.001
    values = np.full(200, 1e-6)
    values[0] = 1.0
    a = matrices.symmetric(values)  # of which all but the first axis are known
    probe = outside(a, np.linalg.eigh(a)[1][:, :50])
    for _ in range(4):
        probe.step()
    assert 1.0 <= probe.bound < 3.0
    values = matrices.spectra(32)["low rank"]
    a = matrices.symmetric(values)  # of which nothing is left outside
    probe = outside(a, np.linalg.eigh(a)[1][:, -8:])
    probe.step()
    assert 0 <= probe.bound <= 1e-11 * values[0]
    a, q = matrices.symmetric([5.0, 4.0, 3.0, 2.0, 1.0]), matrices.rotation(5, 3)[:, :2]
    probe = outside(a, q)  # with fewer directions than probes
    for _ in range(3):
        if probe.block.shape[1]:
            probe.step()
    assert PROBES > 3
    assert norm_outside(a, q) <= probe.bound * (1 + 1e-12)


def test_products_come_to_an_end():
    a = matrices.symmetric(np.linspace(1, 0, 300))
    probe = outside(a, matrices.rotation(300)[:, :5])
    for _ in range(100):
        if probe.exhausted:
            break
        probe.step()
    assert probe.exhausted
    assert norm_outside(a, matrices.rotation(300)[:, :5]) <= probe.bound < 1.2


def test_few_probes_need_the_products_that_are_foreseen():
    a = np.diag(np.r_[np.linspace(1.0, 0.99, 6), np.linspace(0.9, 0.0, 294)])
    probe = Outside(lambda v: a @ v, np.eye(300)[:, :5], np.zeros((0, 0)), 3, 1, probes=4)
    needed = products_needed(0.02, 4, 295)
    while probe.products < needed:
        probe.step()
    assert 0.99 <= probe.bound <= 0.99 * 1.021
    assert products_needed(0.0, 4, 295) == np.inf
    assert products_needed(0.02, 16, 295) < needed
