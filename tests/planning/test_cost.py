import pytest

from mercer.arrays import Rates
from mercer.planning import Machine


@pytest.mark.parametrize("name", ["symmetric", "thin", "sparse", "exponentials"])
def test_threads_share_the_work_and_float32_is_faster(name):
    one, four = Machine(), Machine(threads=4)
    pair = getattr(one, name)
    assert four.rate(pair, 8) == 4 * one.rate(pair, 8)
    assert one.rate(pair, 4) == pair[0] > pair[1] == one.rate(pair, 8)


def test_rates_are_those_of_a_core_and_not_of_a_cluster():
    machine = Machine()
    rates = [*machine.symmetric, *machine.thin, *machine.sparse]
    rates += [machine.reflect, machine.eigen, machine.stream]
    assert all(1e8 < rate < 1e12 for rate in rates)


def test_measured_rates_replace_the_default_ones():
    given = Rates(3, (5e9, 4e9), (3e9, 2e9), (9e8, 8e8), 7e8, 6e8, 2 * Machine.stream, 1e8)
    machine = Machine.of(given)
    assert machine.measured
    assert not Machine().measured
    assert (machine.threads, machine.reflect, machine.eigen) == (3, 7e8, 6e8)
    assert machine.rate(machine.exponentials, 8) == 3 * 8e8
    assert machine.sparse == (2 * Machine.sparse[0], 2 * Machine.sparse[1])
