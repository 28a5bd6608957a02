"""A plan with default rates; where much time is at stake, again with measured ones."""

import dataclasses

from mercer import planning
from mercer.arrays import rates
from mercer.planning import Machine, Plan, Problem

_LONG = 5.0  # seconds of a forecast above which the machine is measured first
_SHARE = 0.2  # of `time`, likewise
_WORTH = 5.0  # seconds allowed below which the self-test would be much of them
_SPACE, _EACH = 80e6, 8e6  # bytes that the self-test takes for a moment, in all and per thread


def planned(problem: Problem) -> Plan:
    """Return the plan of a fit; only a long one is worth the second of the self-test."""
    made = planning.plan(problem)
    if not _at_stake(made):
        return made
    machine = Machine.of(rates(problem.threads))
    return planning.plan(dataclasses.replace(problem, machine=machine))


def _at_stake(made: Plan) -> bool:
    problem, seconds = made.problem, made.chosen.seconds
    if problem.machine is not None or problem.memory < _SPACE + _EACH * problem.threads:
        return False
    if problem.time is None or problem.time < _WORTH:
        return seconds > _LONG
    return seconds > min(_LONG, _SHARE * problem.time)
