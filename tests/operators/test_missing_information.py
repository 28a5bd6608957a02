"""The rate that missing cells foretell is that at which plain steps come nearer."""

import itertools

import numpy as np
import pytest

from mercer.operators import CompletionRule, complete, first_completion, missing_information
from mercer.operators.completion import _expectation_maximisation as completing


def rows_of(kind, n=4000, p=12, k=2, seed=0):
    """Return rows with gaps at random, or in one column where a group of rows lacks it."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, k)) @ rng.standard_normal((k, p)) * 2
    X += 0.5 * rng.standard_normal((n, p))
    gaps = rng.random((n, p)) < 0.1
    if kind == "group":
        group = rng.random(n) < 0.25
        X[group] += 5 * rng.standard_normal(p)
        gaps[group, 3] = True
    if kind == "column":
        gaps[:, 3] = rng.random(n) < 0.8
    X[gaps] = np.nan
    return X


def steps(X, completion, rule, count):
    """Return completions of plain steps, beginning at one."""
    out = [completion]
    for _ in range(count):
        out.append(completing._maximised(rule.sums(out[-1]).add(X), rule)[0])
    return out


def rate_of_plain_steps(X, rule):
    """Return by how much two filled tables, far from the end, come nearer in late steps."""
    start = first_completion(np.nanmean(X, axis=0), 0)
    begun = complete(
        lambda sums, _: sums.add(X), start, None, CompletionRule(rule.rank, tol=1e-2)
    )
    tables = [c.filled(X) for c in steps(X, begun.completion, rule, 40)[-3:]]
    moved = [np.linalg.norm(b - a) for a, b in itertools.pairwise(tables)]
    return moved[1] / moved[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["group", "column"])
def test_the_rate_is_that_of_plain_steps(kind, seed):
    X, rule = rows_of(kind, seed=seed), CompletionRule(3 if kind == "group" else 2)
    end = complete(
        lambda sums, _: sums.add(X), first_completion(np.nanmean(X, axis=0), 0), None, rule
    ).completion
    told, seen = missing_information(end, X, None), rate_of_plain_steps(X, rule)
    assert 1 - told == pytest.approx(1 - seen, rel=0.25)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_at_random_it_is_the_share_that_is_missing(share):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3000, 3)) @ rng.standard_normal((3, 40)) * 2
    X += rng.standard_normal(X.shape)
    X[rng.random(X.shape) < share] = np.nan
    end = complete(
        lambda sums, _: sums.add(X),
        first_completion(np.nanmean(X, axis=0), 0),
        None,
        CompletionRule(3),
    ).completion
    for some in (X, X[::4]):
        assert missing_information(end, some, None) == pytest.approx(share, rel=0.25)


def test_weights_are_repeats():
    X = rows_of("group", n=600)
    w = np.random.default_rng(2).integers(0, 4, len(X))
    start = first_completion(np.nanmean(X, axis=0), 0)
    end = complete(lambda sums, _: sums.add(X), start, None, CompletionRule(2)).completion
    once = missing_information(end, X, w.astype(float))
    often = missing_information(end, np.repeat(X, w, axis=0), None)
    assert 1 - once == pytest.approx(1 - often, rel=0.05)  # chance counts rows, not weights


def test_without_axes_it_is_the_share_of_the_emptiest_column():
    X = rows_of("column")
    mean = first_completion(np.nanmean(X, axis=0), 0)
    assert missing_information(mean, X, None) == pytest.approx(0.8, abs=0.03)


def test_rows_that_do_not_show_an_axis_are_no_error():
    X = rows_of("column", n=3)
    full = rows_of("plain")
    start = first_completion(np.nanmean(full, axis=0), 0)
    end = complete(lambda sums, _: sums.add(full), start, None, CompletionRule(5)).completion
    assert 0 <= missing_information(end, X, None) <= 1
