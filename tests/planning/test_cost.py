import pytest

from mercer.planning import Machine


@pytest.mark.parametrize("name", ["symmetric", "thin", "sparse"])
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
