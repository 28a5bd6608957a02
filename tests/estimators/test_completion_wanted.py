import pickle

import numpy as np
import pytest

from mercer.estimators.linear._pca_recipe import PCARecipe
from mercer.estimators.missing._filling import FillingTask
from mercer.operators import Survey
from mercer.sources import in_memory


def asked(components=3, standardize=False, tol=1e-6, **given):
    recipe = PCARecipe(1, tol, 0, standardize, None)
    return FillingTask(
        components, recipe, given.get("expected", False), given.get("given", True)
    )


def surveyed(X):
    survey = Survey(X.shape[1], 1000)
    survey.add(X)
    return survey


def rows(n=40, p=6):
    X = np.random.default_rng(0).standard_normal((n, p)) * np.arange(1, p + 1)
    X[::5, 1] = np.nan
    return X


@pytest.mark.parametrize(("n", "rank"), [(40, 3), (4, 2), (2, 0)])
def test_the_rank_is_the_components_while_rows_allow(n, rank):
    X = rows()
    assert asked().rule(in_memory(X), surveyed(X), n).rank == rank


def test_a_rank_that_was_not_given_is_found_on_the_sample():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 2)) @ rng.standard_normal((2, 6))
    X += 0.01 * rng.standard_normal(X.shape)
    X[::5, 1] = np.nan
    assert asked(None).rule(in_memory(X), surveyed(X), 400).rank == 2


def test_a_rank_that_was_found_is_kept():
    X = rows()
    assert asked(None).rule(in_memory(X), surveyed(X), 40, 4).rank == 4


def test_the_rule_says_what_was_asked_for():
    X = rows()
    rule = asked(expected=True, standardize=True, tol=1e-7).rule(in_memory(X), surveyed(X), 40)
    assert rule.expected
    assert rule.tol == pytest.approx(3e-8)
    variances = np.arange(1.0, 7.0) ** 2
    np.testing.assert_allclose(rule.factor_of(variances, np.zeros(6)), 1 / np.arange(1, 7))
    assert asked().rule(in_memory(X), surveyed(X), 40).factor_of is None


def test_it_may_travel():
    assert pickle.loads(pickle.dumps(asked())) == asked()
