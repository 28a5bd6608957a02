"""Groups of columns: RV by hand, partial points, words."""

import re

import numpy as np
import pandas as pd
from tests.report.family_tables import groups_of_poison, parts, poison, said, section

import mercer
from mercer.report import report
from mercer.report.panels._categories_panels import groups_words

FULL = poison()
MODEL = mercer.MFA(groups_of_poison(), 3).fit(FULL)
PAGE = report(MODEL, FULL).page


def rv_of(a, b):
    """Return RV of two tables from their n×n products."""
    A, B = a @ a.T, b @ b.T
    return np.sum(A * B) / np.sqrt(np.sum(A * A) * np.sum(B * B))


def test_rv_is_that_of_the_products():
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(40, 1))
    X = pd.DataFrame(shared + rng.normal(size=(40, 6)), columns=list("abcdef"))
    groups = {"left": ["a", "b"], "middle": ["c", "d"], "right": ["e", "f"]}
    model = mercer.MFA(groups, 2).fit(X)
    table = parts(report(model, X).page, "groups", "Table")[0]
    Z = (X - X.mean()) / X.std(ddof=0)
    by_hand = [[rv_of(Z[a].to_numpy(), Z[b].to_numpy()) for b in groups.values()] for a in
               groups.values()]  # fmt: skip
    assert np.allclose([row[1:] for row in table.rows], by_hand, atol=6e-4)
    best = max((by_hand[i][j], i, j) for i in range(3) for j in range(i))
    words = " ".join(groups_words(model))
    names = list(groups)
    assert f"Most alike are {names[best[2]]} and {names[best[1]]} (RV {best[0]:.2f})" in words


def test_the_first_eigenvalue_is_told_of_how_many():
    line = next(line for line in PAGE.verdict if line.startswith("The first eigenvalue"))
    weakest = int(np.argmin(MODEL.group_coordinates_[:, 0]))
    assert f"is {MODEL.eigenvalues_[0]:.2f} of at most 3" in line
    assert f"least {MODEL.groups_[weakest]}" in line


def test_rows_that_groups_see_differently_are_drawn_with_their_partial_points():
    partial = MODEL.partial_coordinates(FULL)[:, :, :2]
    Z = MODEL.transform(FULL)[:, :2]
    assert np.allclose(partial.mean(axis=0), Z)
    apart = np.sum((partial - Z) ** 2, axis=(0, 2))
    top = np.argsort(-apart, kind="stable")[:6]
    panel = parts(PAGE, "groups", "Picture")[1].panel
    drawn = np.array([panel.marks[0].x, panel.marks[0].y]).T
    assert np.allclose(drawn, Z[top])
    assert np.allclose(np.array([panel.marks[1].x, panel.marks[1].y]).T, partial[0, top])
    words = section(PAGE, "groups").words[0]
    # An index that counts from 1 is a range for pandas 3, and names rows for pandas 2.
    a, b, c = (rf"(row )?{i + 1}" for i in top[:3])
    assert re.match(f"Groups differ most about {a}, {b} and {c}\\.", words)
    within = apart.sum() / np.sum(partial**2)
    assert f"{100 * within:.1f} %" in words


def test_groups_are_drawn_between_zero_and_one():
    panel = parts(PAGE, "groups", "Picture")[0].panel
    assert np.allclose(np.array([panel.marks[0].x, panel.marks[0].y]).T,
                       MODEL.group_coordinates_[:, :2])  # fmt: skip
    assert panel.axes.x_range == panel.axes.y_range


def test_one_group_is_nothing_to_compare():
    numbers = FULL[["Age", "Time"]].astype(float)
    page = report(mercer.MFA(None, 2).fit(numbers), numbers).page
    assert "one group of columns" in said(page)
    assert "groups" not in [s.key for s in page.sections]


def test_groups_that_share_nothing_are_called_so():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 6))
    model = mercer.MFA({"a": [0, 1, 2], "b": [3, 4, 5]}, 2).fit(X)
    assert re.search("hardly share an axis", " ".join(groups_words(model)))
