"""Filling a source: what is refused, what is said, and the way from a sample to all rows."""

import numpy as np
import pytest
from tests.estimators.missing_oracles import iterated, table

from mercer.errors import AccuracyWarning, DataWarning, InputError
from mercer.estimators.linear._pca_recipe import PCARecipe
from mercer.estimators.missing import _filling as filling
from mercer.operators import CompletionRule
from mercer.sources import ArrayBlocks, in_memory, scan


def blocks_of(X, names=None):
    return ArrayBlocks(in_memory(X), names)


def surveyed(X, weights=None):
    return filling.surveyed(blocks_of(X), weights, 1e6, None)


def filled(X, rule, weights=None, block_bytes=1e6):
    source = blocks_of(X)
    survey = filling.surveyed(source, weights, block_bytes, None)
    return filling.CellFilling(source, survey, weights, rule, block_bytes).run()


def test_rows_that_are_read_once_are_refused_before_they_are():
    source = scan(iter([table()]))
    with pytest.raises(InputError, match="several passes"):
        filling.surveyed(source, None, 1e6, None)
    assert source.walks == 0


def test_a_column_with_nothing_is_named():
    X = table()
    X[:, 2] = np.nan
    survey = surveyed(X)
    with pytest.raises(InputError, match="columns with nothing observed") as error:
        filling.check_survey(survey, blocks_of(X), list("abcdefg"), None)
    assert "'c'" in error.value.got


def test_a_column_with_nothing_in_rows_that_count_is_named():
    X, w = table(), np.ones(60)
    X[1:, 2], X[0, 2], w[0] = np.nan, 1.0, 0.0
    with pytest.raises(InputError, match="nothing observed"):
        filling.check_survey(surveyed(X, w), blocks_of(X), None, w)


def test_empty_rows_are_named_and_count_no_more():
    X = table()
    X[[3, 5, 8, 10, 11, 40]] = np.nan
    w = np.full(60, 2.0)
    with pytest.warns(DataWarning, match="3, 5, 8, 10, 11 and 1 more"):
        counts = filling.check_survey(surveyed(X, w), blocks_of(X), None, w)
    assert counts[3] == 0
    assert counts[0] == 2
    assert w[3] == 2  # the caller's own are as they were


def test_nothing_but_empty_rows():
    X = np.full((4, 2), np.nan)
    X[0] = 1.0
    with pytest.raises(InputError, match="fewer than two rows"):
        filling.check_survey(surveyed(X), blocks_of(X), None, None)


def test_infinity_is_named_behind_missing_cells():
    X = table()
    X[0, 0], X[30, 1] = np.nan, -np.inf
    with pytest.raises(InputError, match="-infinity at row 30, column 1"):
        filling.check_survey(surveyed(X), blocks_of(X), None, None)


def test_too_few_weights_are_refused():
    with pytest.raises(InputError, match="one number per row"):
        surveyed(table(), np.ones(10))
    with pytest.raises(InputError, match="one number per row"):
        surveyed(table(), np.ones(70))


def test_a_sample_begins_and_all_rows_end():
    X = table(rows=20_000, columns=20, share=0.3)
    rule = CompletionRule(3, tol=1e-8)
    whole = filled(X, rule)
    assert whole.passes <= 10
    np.testing.assert_allclose(
        whole.completion.filled(X[:2000]),
        filled(X, CompletionRule(3, tol=1e-10), block_bytes=1e5).completion.filled(X[:2000]),
        rtol=0,
        atol=1e-6,
    )


@pytest.mark.parametrize("block_bytes", [1e3, 1e6])
def test_blocks_of_any_size_fill_alike(block_bytes):
    X = table()
    found = filled(X, CompletionRule(2, tol=1e-11), block_bytes=block_bytes)
    np.testing.assert_allclose(found.completion.filled(X), iterated(X, 2), rtol=0, atol=1e-8)


def test_where_the_steps_end():
    X = table(rows=20_000, columns=60)
    source = blocks_of(X)
    survey, recipe = surveyed(X), PCARecipe(1, 1e-6, 0, False, None)
    many = filling.rule_of(source, survey, recipe, 2)
    assert many.tol == pytest.approx(0.1 / np.sqrt(20_000))
    assert many.rate == pytest.approx(0.2, abs=0.01)
    assert filling.rule_of(source, survey, recipe, 2, given=True).tol == pytest.approx(3e-7)
    few = filling.rule_of(blocks_of(X[:100]), surveyed(X[:100]), recipe, 2)
    assert few.tol == pytest.approx(3e-7)
    coarse = PCARecipe(1, 0.5, 0, False, None)
    assert filling.rule_of(source, survey, coarse, 2).tol == 1e-3


def test_cells_that_have_not_settled_are_said():
    rule = CompletionRule(2, tol=1e-12, most=3)
    with pytest.warns(AccuracyWarning, match="have not settled"):
        filling.warn_unsettled(filled(table(), rule), rule)
