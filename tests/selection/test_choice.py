import dataclasses

import numpy as np
import pytest

from mercer.selection import BiCross, Rule, Variances, choice_of, spectrum_rules


def cross(k, m=6):
    errors = 1 - 0.5 * np.exp(-((np.arange(m + 1.0) - k) ** 2)) * (np.arange(m + 1) > 0)
    return BiCross(k, errors, np.full(m + 1, 9.0), 1)


def known(r=8):
    values = np.array([30, 20, 10, 1.05, 1.02, 1, 0.97, 0.93])
    return Variances.of(values[:r], rows=500, columns=8, total=values.sum())


def test_whole_spectrum_answers_every_rule():
    rules = spectrum_rules(known(), np.ones(8) * 8)
    assert all(rule.k is not None for rule in rules)
    by = {rule.name: rule.k for rule in rules}
    assert by["BIC"] == by["Minka"] == by["90% of variance"] == 3
    assert by["Kaiser"] == 3
    assert by["noise edge"] == 2  # the large ones hide the third


def test_truncated_spectrum_says_what_it_cannot_answer():
    rules = {rule.name: rule for rule in spectrum_rules(known(2))}
    for name in ("Minka", "Gavish-Donoho", "Kaiser", "BIC", "90% of variance"):
        assert rules[name].k is None
        assert "needs eigenvalues" in rules[name].about
    assert "variances of the columns" in rules["noise edge"].about


@pytest.mark.parametrize(
    ("rows", "columns", "values", "words"),
    [
        (5, 8, [3.0, 2.0, 1.0, 0.5], "more rows"),
        (5, 1, [3.0], "two columns"),
        (9, 2, [0.0, 0.0], "two columns"),
    ],
)
def test_minka_says_why_it_is_silent(rows, columns, values, words):
    rules = spectrum_rules(Variances.of(values, rows=rows, columns=columns))
    minka = next(rule for rule in rules if rule.name == "Minka")
    assert minka.k is None
    assert words in minka.about


def test_agreement_and_disagreement_in_words():
    more = (Rule("here", 4, ""), Rule("low", 0, ""), Rule("silent", None, ""))
    choice = choice_of(cross(3), known(), None, "all 500 rows", more)
    assert choice.reason.startswith("3 components beyond noise")
    assert "all 500 rows" in choice.reason
    assert "In agreement within one: here" in choice.reason
    assert "Fewer: low 0" in choice.reason
    assert "silent" not in choice.reason
    assert "silent" in str(choice)
    assert str(choice).splitlines()[2].startswith("* bi-cross-validation")


def test_the_most_that_can_be_found_is_said_to_be_that():
    choice = choice_of(cross(6), known(), None, "all 500 rows")
    assert choice.reason.startswith("6 components or more (half as many as columns")


def test_none_and_one_are_not_alike():
    one = Rule("one", 1, "")
    empty = Variances.of([0.0], rows=9, columns=1)
    choice = choice_of(cross(0), empty, None, "all 9 rows", (one,))
    assert choice.reason.startswith("No component beyond noise")
    assert "More: one 1" in choice.reason


def test_a_choice_is_frozen_and_goes_into_a_frame():
    choice = choice_of(cross(1), known(), None, "all 500 rows")
    assert choice.reason.startswith("1 component beyond noise: with it")
    assert choice.columns()["k"][0] == 1
    assert len({len(column) for column in choice.columns().values()}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        choice.k = 2
