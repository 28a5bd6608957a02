import dataclasses

import pytest

from mercer.planning import Problem


def test_a_dense_pass_reads_every_cell():
    problem = Problem(rows=100, cols=30, components=5, itemsize=4, memory=10**9)
    assert problem.smaller == 30
    assert problem.data_bytes == 12_000


def test_a_sparse_pass_reads_values_and_indices():
    problem = Problem(rows=100, cols=300, components=5, itemsize=8, memory=10**9, nnz=50)
    assert problem.smaller == 100
    assert problem.data_bytes == 50 * 12


def test_a_problem_is_a_value():
    problem = Problem(rows=1, cols=1, components=1, itemsize=8, memory=1)
    assert problem == dataclasses.replace(problem)
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.rows = 2
