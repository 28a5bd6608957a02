import numpy as np
import pytest

import mercer
from mercer.report._axis_words import axis_in_words
from mercer.report._rows import extremes_of
from mercer.report._seen import seen_from
from mercer.report._verdict import verdict

RNG = np.random.default_rng(5)


def said(X, **options):
    model = mercer.PCA("auto").fit(X)
    seen = seen_from(model, X, **options)
    return " ".join(verdict(seen, extremes_of(seen)))


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0, 0.1, 0.0], "is mostly a"),
        ([0.7, 0.7, 0.0], "grows with a and b"),
        ([0.7, -0.6, 0.1], "sets a against b"),
        ([-0.7, -0.6, -0.1], "falls with a and b"),
    ],
)
def test_an_axis_in_words(weights, words):
    assert axis_in_words(np.array(weights), ("a", "b", "c")) == words


def test_noise_is_called_noise():
    X = RNG.normal(size=(200, 10))
    with pytest.warns(mercer.DataWarning):
        assert said(X).startswith("No component is beyond noise")


def test_an_outlying_row_is_named():
    X = RNG.normal(size=(200, 2)) @ RNG.normal(size=(2, 10)) * 3 + RNG.normal(size=(200, 10))
    X[31] += 40 * RNG.normal(size=10)
    assert "The farthest: row 31" in said(X)


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
