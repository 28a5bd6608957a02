import numpy as np
import pytest
import scipy.stats

from mercer.diagnostics.health_checks._column_checks import _f_tests, _independent

from .fits import found, parts


def chosen(rng, n=40, columns=5000, kept=50, groups=2, real=0, effect=0.0):
    """Rows, and the columns that tell the groups apart best."""
    labels = np.arange(n) % groups
    X = rng.standard_normal((n, columns))
    X[:, :real] += effect * labels[:, None]
    best = np.argsort(_f_tests(X - X.mean(axis=0), labels, groups)[1])[:kept]
    return X[:, best], labels


def alarms(draws, make):
    count = 0
    for seed in range(draws):
        X, labels = make(np.random.default_rng(seed))
        count += "M105" in found(X, 2, groups=labels)
    return count / draws


def test_columns_chosen_by_the_groups():
    X, labels = chosen(np.random.default_rng(0))
    scores, _, _ = parts(X, 1)
    a, b = scores[labels == 0, 0], scores[labels == 1, 0]
    apart = abs(a.mean() - b.mean()) / np.sqrt((a.var() + b.var()) / 2)
    assert apart > 3.5  # groups of nothing, far apart on PC1
    finding = found(X, 1, groups=np.array(["x", "y"])[labels])["M105"]
    assert "all 50 columns" in finding.got
    assert f"{apart:.1f} sd apart on PC1" in finding.got
    assert "M105" not in found(X, 1)  # nothing is said of groups that are not given


@pytest.mark.parametrize(
    "case",
    [
        {},
        {"n": 20},
        {"n": 60, "groups": 3},
        {"columns": 500, "kept": 20},
        {"real": 20, "effect": 2.0},
    ],
    ids=["two groups", "few rows", "three groups", "fewer columns", "some are real"],
)
def test_most_choices_are_seen(case):
    assert alarms(20, lambda rng: chosen(rng, **case)) >= 0.9


def effects(rng, n, p, size, shared=0.0):
    labels = np.arange(n) % 2
    X = rng.standard_normal((n, p)) + shared * rng.standard_normal((n, 1))
    return X + np.outer(labels, size * rng.standard_normal(p)), labels


@pytest.mark.parametrize("size", [0.0, 0.5, 1.0, 3.0])
@pytest.mark.parametrize(("n", "p"), [(40, 30), (300, 10), (40, 200)])
def test_columns_that_were_not_chosen(n, p, size):
    assert alarms(40, lambda rng: effects(rng, n, p, size)) <= 0.025


def test_the_same_effect_in_every_column():
    def same(rng):
        labels = np.arange(60) % 2
        return rng.standard_normal((60, 20)) + labels[:, None], labels

    assert alarms(100, same) <= 0.02


def test_spectra_move_together():
    def spectra(rng):
        labels = np.arange(60) % 2
        t = np.linspace(0, 1, 120)
        bands = np.exp(-((t - np.linspace(0, 1, 6)[:, None]) ** 2) / 0.02)
        amounts = rng.standard_normal((60, 6)) + labels[:, None]
        return amounts @ bands + 0.01 * rng.standard_normal((60, 120)), labels

    assert alarms(30, spectra) == 0


def test_f_tests_are_those_of_scipy():
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((30, 4)), np.arange(30) % 3
    X = X - X.mean(axis=0)
    want = scipy.stats.f_oneway(*[X[labels == g] for g in range(3)]).pvalue
    np.testing.assert_allclose(_f_tests(X, labels, 3)[1], want)


def test_correlated_columns_count_for_fewer():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 30))
    assert _independent(X, 199) > 25
    assert _independent(np.repeat(X[:, :3], 10, axis=1), 199) < 4


@pytest.mark.parametrize("groups", [np.arange(12), np.zeros(12), np.arange(12) % 7])
def test_groups_of_one_row_say_nothing(groups):
    X = np.random.default_rng(0).standard_normal((12, 20))
    assert "M105" not in found(X, 1, groups=groups)
