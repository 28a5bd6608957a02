"""Groups: the share of the map's variance, and chance."""

import re

import numpy as np
import pytest

import mercer
from mercer.report._grouping import separation
from mercer.report._seen import seen_from

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


def test_groups_of_one_row_are_no_groups_apart():
    twelve = np.array([f"g{i}" for i in range(12)])
    words = said(X[:12], g=twelve)
    assert "beyond chance" in words
    assert "p = 1" in words


@pytest.mark.parametrize(
    "labels",
    [np.full(90, "a"), np.arange(90).astype(str), np.full(90, None), np.full(90, np.nan)],
    ids=["one", "ninety", "none", "nan"],
)
def test_what_makes_no_groups_gets_no_sentence(labels):
    assert said(X, g=labels) == ""


def test_every_column_has_its_sentence_and_missing_labels_are_no_group():
    labels = [None if i % 3 == 0 else "ab"[i % 2] for i in range(90)]
    words = said(X, size=RNG.normal(size=90), g=labels, h=LABELS)
    assert "size does not follow the map" in words
    assert "The 2 groups of g" in words
    assert "The 3 groups of h" in words


def test_of_very_many_rows_some_tell():
    rows = np.tile(X, (300, 1))
    labels = np.tile(LABELS, 300)
    few = re.search(r"explain ([\d.]+) %", said(X, g=LABELS))[1]
    many = re.search(r"explain ([\d.]+) %", said(rows, g=labels))[1]
    assert float(many) == pytest.approx(float(few), abs=0.5)
