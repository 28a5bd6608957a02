import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import mercer
from mercer.errors import DataWarning
from mercer.estimators.counts._count_facts import (
    TableFacts,
    arch_of,
    pieces_of,
    totals_of,
    warn_facts,
)

NONE = np.zeros(0, int)


def test_a_parabola_is_found_and_noise_is_not(rng):
    x = np.linspace(-1, 1, 40)
    masses = np.full(40, 1 / 40)
    bent = np.column_stack([x, x**2 - np.mean(x**2) + 0.02 * rng.standard_normal(40)])
    assert arch_of(bent, masses) > 0.95
    assert arch_of(1e-150 * bent, masses) > 0.95
    assert arch_of(rng.standard_normal((40, 2)), masses) < 0.5
    assert arch_of(np.column_stack([x, x**3 - 0.6 * x]), masses) < 0.3


def test_few_points_and_few_axes_tell_nothing(rng):
    points = rng.standard_normal((5, 2))
    assert arch_of(points, np.ones(5)) is None
    assert arch_of(points[:, :1], np.ones(5)) is None
    assert arch_of(np.zeros((9, 2)), np.ones(9)) is None
    assert arch_of(np.column_stack([np.arange(9.0), np.zeros(9)]), np.ones(9)) is None


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_pieces_are_counted_by_rows_and_columns(kind):
    table = np.zeros((7, 6))
    table[:3, :2], table[3:6, 2:5] = 1, 2  # the last row and column are empty
    assert pieces_of(kind(table), 1.0) == ((3, 3), (3, 2))
    table[0, 4] = 1e-9
    assert pieces_of(kind(table), 1.0) == ()
    assert pieces_of(kind(table), 0.5) == ()  # not looked at


def test_stored_zeros_join_nothing():
    csr = scipy.sparse.csr_array(np.eye(3) + 1)
    csr.data[csr.data == 1] = 0
    assert len(pieces_of(csr, 1.0)) == 3


def test_what_misleads_is_said():
    quiet = TableFacts(NONE, NONE, True, False, 0.5, ())
    warn_facts(quiet)
    with pytest.warns(DataWarning, match="axis 1 explains 93% of axis 2"):
        warn_facts(TableFacts(NONE, NONE, True, False, 0.93, ()))
    with pytest.warns(DataWarning, match="7 blocks .*\n.*blocks of 2 x 2, .* and 2 more"):
        warn_facts(TableFacts(NONE, NONE, True, False, None, ((2, 2),) * 7))
    with pytest.warns(DataWarning, match="independent: there are no axes"):
        warn_facts(TableFacts(NONE, NONE, True, True, None, ()))


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("sides", [(True, True), (True, False), (False, True), (False, False)])
def test_totals_inside_a_table_are_found(rng, kind, sides):
    table = rng.poisson(4, size=(6, 7)) / 10
    if sides[0]:
        table = np.vstack([table, table.sum(axis=0)])
    if sides[1]:
        table = np.column_stack([table, table.sum(axis=1)])
    assert totals_of(kind(table), table.sum(axis=1), table.sum(axis=0)) == sides


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_totals_that_twice_are_beyond_the_type_are_found(rng, kind, dtype):
    table = rng.integers(8, 16, (6, 7))
    table = np.vstack([table, table.sum(axis=0)]).astype(dtype)  # 2 * 100 is 200 or -56
    assert 2 * int(table[-1].max()) > np.iinfo("int8").max
    wide = table.astype(float)
    assert totals_of(kind(table), wide.sum(axis=1), wide.sum(axis=0)) == (True, False)


def test_one_side_of_a_small_table_may_add_up_by_chance():
    table = np.outer([1, 2, 3], [4, 5, 6, 7])
    assert totals_of(table, table.sum(axis=1), table.sum(axis=0)) == (False, False)


def test_totals_of_a_crosstab_are_said(rng):
    a, b = rng.choice(list("uvw"), 200), rng.choice(list("xyz"), 200)
    with pytest.warns(DataWarning, match="its own totals"):
        mercer.CorrespondenceAnalysis(1).fit(pd.crosstab(a, b, margins=True))
    mercer.CorrespondenceAnalysis(1).fit(pd.crosstab(a, b))
