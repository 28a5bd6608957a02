"""Groups: the share of the map's variance, and chance."""

import re

import numpy as np
import pytest

import mercer
from mercer.report.facts._linear_summary import seen_from
from mercer.report.facts._map_groups import _differences, separation

RNG = np.random.default_rng(14)
X = RNG.normal(size=(90, 2)) @ RNG.normal(size=(2, 5)) * 3 + 0.1 * RNG.normal(size=(90, 5))
LABELS = np.repeat(["a", "b", "c"], 30)


def said(rows, **colours):
    model = mercer.PCA(2).fit(rows)
    return " ".join(separation(seen_from(model, rows, colours=colours)))


def eta_squared(Z, labels):
    """Return 1 - within/total over both coordinates, group by group."""
    labels = np.asarray(labels)
    within = sum(
        np.sum((Z[labels == g] - Z[labels == g].mean(axis=0)) ** 2) for g in set(labels)
    )
    return 1 - within / np.sum((Z - Z.mean(axis=0)) ** 2)


@pytest.mark.parametrize("apart", [0.0, 0.5, 3.0, 30.0])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_the_share_is_that_of_the_definition(apart, scale):
    rows = (X + apart * np.repeat([-1.0, 0.0, 1.0], 30)[:, None]) * scale
    Z = mercer.PCA(2).fit_transform(rows) / scale
    found = re.search(r"explain ([\d.]+) %", said(rows, g=LABELS))
    assert float(found[1]) == pytest.approx(100 * eta_squared(Z, LABELS), abs=0.06)


def test_chance_is_called_chance():
    words = [said(X, g=RNG.permutation(LABELS)) for _ in range(6)]
    assert sum("beyond chance" in sentence for sentence in words) >= 5
    rows = np.tile(X, (300, 1))
    labels = np.tile(LABELS, 300)
    few = re.search(r"explain ([\d.]+) %", said(X, g=LABELS))[1]
    many = re.search(r"explain ([\d.]+) %", said(rows, g=labels))[1]
    assert float(many) == pytest.approx(float(few), abs=0.5)


def test_groups_of_one_row_and_missing_labels():
    twelve = np.array([f"g{i}" for i in range(12)])
    words = said(X[:12], g=twelve)
    assert "beyond chance" in words
    assert "p = 1" in words
    labels = [None if i % 2 else str(g) for i, g in enumerate(LABELS)]
    assert "the 3 groups of g" in said(X, g=labels).lower()
    assert said(X, g=[None if i % 2 else "a" for i in range(90)]) == ""


@pytest.mark.parametrize(
    "labels",
    [np.full(90, "a"), np.arange(90).astype(str), np.full(90, 2.0), np.full(90, np.nan)],
    ids=["one", "ninety", "one number", "nothing"],
)
def test_what_makes_no_groups_gets_no_sentence(labels):
    assert said(X, g=labels) == ""


def test_numbers_follow_the_map_as_far_as_least_squares_says():
    Z = mercer.PCA(2).fit_transform(X)
    size = Z[:, 0] + 3 * RNG.normal(size=90)
    left = size - size.mean()
    left = left - Z @ np.linalg.lstsq(Z, left, rcond=None)[0]
    share = 100 * (1 - left @ left / np.sum((size - size.mean()) ** 2))
    words = said(X, size=np.where(np.arange(90) < 90, size, np.nan))
    assert words.startswith("size follows the map")
    assert f"explains {share:.1f} %" in words
    assert "beyond chance" in said(X, size=np.random.default_rng(3).normal(size=90))


def test_what_groups_differ_in_is_named():
    rows = RNG.normal(size=(90, 5))
    rows[:, 3] += 10 * np.repeat([0.0, 1.0, 2.0], 30)
    column = rows[:, 3]
    within = sum(np.sum((column[g == LABELS] - column[g == LABELS].mean()) ** 2) for g in "abc")
    share = 100 * (1 - within / np.sum((column - column.mean()) ** 2))
    assert f"They differ most in column 3 ({share:.0f} %)" in said(rows, g=LABELS)
    rows = RNG.normal(size=(90, 4)) * [9.0, 8.0, 0.1, 0.1]
    rows[:, 2] += np.repeat([-2.0, 0.0, 2.0], 30)
    words = said(rows, g=LABELS)
    assert "do not lie apart on the map beyond chance" in words
    assert "PC3 tells them apart better" in words


def test_columns_that_hardly_vary_are_not_what_groups_differ_in():
    rng = np.random.default_rng(0)
    at = np.repeat([0, 1], 50)
    rows = rng.normal(size=(100, 3)) + np.c_[3.0 * at, np.zeros(100), np.zeros(100)]
    rows[:, 1] = 0.1  # constant: what centring leaves of it is rounding
    rows[:, 2] = 0.0
    rows[0, 2] = 1e6  # one cell
    words = _differences(rows, at, 2, ["a", "b", "c"])
    assert words.startswith("They differ most in a (")
    assert "b (" not in words
    assert "c (" not in words
