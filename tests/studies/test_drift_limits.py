import math

import numpy as np
import pytest
from tests.studies.drift_tables import tables

import mercer
from mercer.diagnostics import held_out
from mercer.errors import InputError
from mercer.sources import scan
from mercer.studies.drifting._drift_limits import kept_limits, lawful, reference_of, tail
from mercer.studies.drifting._rows_after import after
from mercer.studies.drifting._rows_before import before


@pytest.mark.parametrize(("n", "p"), [(60, 6), (100, 100), (1000, 20)])
def test_limits_by_law_are_exceeded_as_often_as_they_say(n, p):
    rates = []
    for seed in range(40):
        X, Y, _ = tables(n, 200, p=p, seed=seed)
        known = before(mercer.PCA(2).fit(X))
        new = after(known, scan(Y), Y.mean(axis=0), 200)
        expected, least, _ = known.expected(new.rest_squares)
        limits = lawful(known, new, expected, least, 0.95)
        rates.append([np.mean(new.t2 > limits.t2), np.mean(new.q > limits.q)])
    assert np.allclose(np.mean(rates, axis=0), 0.05, atol=0.015)


def test_a_reference_gives_limits_of_rows_left_out():
    X, _, _ = tables(200, 2, heavy=4)
    known = before(mercer.PCA(2).fit(X))
    found = reference_of(known, X - known.mean, 0.9)
    assert (found.limits.t2, found.limits.q) == held_out(X - known.mean, 2).limits(0.9)
    assert np.allclose(found.deviations, X.std(axis=0, ddof=1))
    assert 0.5 < found.inside < 1 - known.rest / known.total


def test_few_rows_give_deviations_alone():
    X, _, _ = tables(200, 2)
    known = before(mercer.PCA(5).fit(X))
    found = reference_of(known, (X - known.mean)[:6], 0.95)
    assert found.limits is None
    assert found.inside is None
    assert found.deviations.shape == (6,)


def test_limits_of_the_model_are_read_and_checked():
    X, _, _ = tables(50, 2)
    model = mercer.PCA(2).fit(X)
    known = before(model)
    assert kept_limits(model, known, 0.95) is None
    for notes in ({"recipe": {}}, {"limits": None}, {"limits": {"0.9": [1, 2]}}):
        model.notes_ = notes
        assert kept_limits(model, known, 0.95) is None
    model.notes_ = {"limits": {"0.95": [7, None]}}
    found = kept_limits(model, known, 0.95)
    assert (found.t2, found.q, found.level, found.rows) == (7.0, math.inf, 0.95, 50.0)
    for wrong in ("high", [1], ["a", 2], 3):
        model.notes_ = {"limits": {"0.95": wrong}}
        with pytest.raises(InputError, match="are not understood"):
            kept_limits(model, known, 0.95)


def test_models_without_axes_or_without_a_rest_have_one_limit():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((100, 4)), rng.standard_normal((60, 4))
    known = before(mercer.PCA().fit(X))
    new = after(known, scan(Y), Y.mean(axis=0), 60)
    expected, least, _ = known.expected(new.rest_squares)
    assert math.isinf(lawful(known, new, expected, least, 0.95).q)


def test_tails_are_read_from_quartiles():
    rng = np.random.default_rng(0)
    heavy = rng.f(10, 5, size=20_000)
    assert tail(heavy, 10) == pytest.approx(5, rel=0.1)
    normal = rng.chisquare(10, size=20_000)
    assert tail(normal, 10) > 200
    normal[:1000] *= 100  # rows far off are not tails
    assert tail(normal, 10) > 30
    assert tail(np.zeros(9), 10) > 1e6


def test_heavy_tails_do_not_mean_alarms():
    rates = []
    for seed in range(30):
        X, Y, _ = tables(500, 300, p=12, seed=seed, heavy=6)
        known = before(mercer.PCA(2).fit(X))
        new = after(known, scan(Y), Y.mean(axis=0), 300)
        expected, least, _ = known.expected(new.rest_squares)
        limits = lawful(known, new, expected, least, 0.95)
        rates.append([np.mean(new.t2 > limits.t2), np.mean(new.q > limits.q)])
    assert np.all(np.mean(rates, axis=0) < 0.08)
