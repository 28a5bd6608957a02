import numpy as np
import pytest

import mercer
from mercer.diagnostics import Finding
from mercer.report.facts._linear_summary import seen_from
from mercer.report.pages._axes_page import verdict
from mercer.report.panels._rows_panels import extremes_of
from mercer.selection import Choice, Rule

RNG = np.random.default_rng(5)


def said(X, **options):
    model = mercer.PCA("auto").fit(X)
    seen = seen_from(model, X, **options)
    return " ".join(verdict(seen, extremes_of(seen)))


def test_noise_is_called_noise():
    X = RNG.normal(size=(200, 10))
    with pytest.warns(mercer.DataWarning):
        assert said(X).startswith("No component is beyond noise")


def test_an_outlying_row_is_named():
    X = RNG.normal(size=(200, 2)) @ RNG.normal(size=(2, 10)) * 3 + RNG.normal(size=(200, 10))
    X[31] += 40 * RNG.normal(size=10)
    assert "The farthest: row 32" in said(X)


def test_groups_apart_and_groups_by_chance():
    X = RNG.normal(size=(200, 2)) @ RNG.normal(size=(2, 10)) * 3 + RNG.normal(size=(200, 10))
    random = RNG.choice(["a", "b"], 200)
    assert "do not lie apart on the map beyond chance" in said(X, colours={"g": random})
    X[:100] += 20
    real = np.repeat(["a", "b"], 100)
    assert "The 2 groups of g lie far apart" in said(X, colours={"g": real})


def test_the_share_is_that_of_the_fit():
    X = RNG.normal(size=(300, 1)) * 5 @ RNG.normal(size=(1, 6)) + RNG.normal(size=(300, 6))
    share = 100 * mercer.PCA(1).fit(X).explained_variance_ratio_[0]
    assert said(X).startswith(f"1 component carries more than noise, and {share:.1f} %")


@pytest.mark.parametrize(
    ("first", "k", "others", "words"),
    [
        (
            "bi-cross-validation",
            4,
            (1, 2),
            ["Up to 4 components", "only 1 to 2: PC3 and PC4 help"],
        ),
        ("bi-cross-validation", 4, (3, 3), ["it is only 3: PC4 helps", "is no larger"]),
        ("noise edge", 4, (3,), ["Other rules of noise say 3: take PC4 with care"]),
        ("bi-cross-validation", 2, (4, 5), ["2 components carry", "By size there are 4 to 5"]),
        ("bi-cross-validation", 3, (1, 20), ["3 components carry", "from 1 to 20"]),
    ],
    ids=["fewer", "one fewer", "not crossed", "more", "anything"],
)
def test_rules_that_differ_are_told(first, k, others, words):
    X = RNG.normal(size=(100, 12))
    model = mercer.PCA(5).fit(X)
    names = ("parallel, normal", "Gavish-Donoho")
    rules = [
        Rule(first, k, ""),
        *(Rule(*pair, "") for pair in zip(names, others, strict=False)),
    ]
    seen = seen_from(model, X, choice=Choice(k, tuple(rules), np.ones(9), "all rows"))
    text = " ".join(verdict(seen, extremes_of(seen)))
    assert all(word in text for word in words), text


def test_what_asks_for_care_is_in_the_verdict():
    X = RNG.normal(size=(20, 1)) * 5 @ RNG.normal(size=(1, 6)) + RNG.normal(size=(20, 6))
    seen = seen_from(mercer.PCA(2).fit(X), X)
    near = Finding("M106", "PC2 and PC3: read the plane, not the axes", "", "")
    far = Finding("M106", "PC4 and what follows cannot be told apart", "", "")
    text = " ".join(verdict(seen, extremes_of(seen), (near, far), ["year has few values"]))
    assert "Read with care: there are only 20 rows; PC2 and PC3" in text
    assert "(M106); year has few values." in text
    assert "PC4 and what follows" not in text


def test_rows_called_by_bare_numbers_are_said_to_be_names():
    X = RNG.normal(size=(200, 2)) @ RNG.normal(size=(2, 10)) * 3 + RNG.normal(size=(200, 10))
    X[31] += 40 * RNG.normal(size=10)
    names = [str(1000 + i) for i in range(200)]
    seen = seen_from(mercer.PCA(2).fit(X), X, row_names=names)
    assert "named 1031" in " ".join(verdict(seen, extremes_of(seen)))
