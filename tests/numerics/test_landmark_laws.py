"""Landmarks are drawn by the law that is promised, and the law is worth having."""

import itertools

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_swiss_roll,
)

from mercer.kernels import RBF, Laplacian
from mercer.operators import choose
from mercer.operators.kernel_matrices import _landmark_samplers as _pivots

FALSE_ALARM = 1e-6


def exact_law(K, w, length, sampler):
    """Return {ordered pivots: probability}, from the definition, one pivot at a time."""
    n = len(K)
    law = {}
    for sequence in itertools.permutations(range(n), length):
        left, nearest, probability = K.copy(), np.full(n, np.inf), 1.0
        for step, s in enumerate(sequence):
            if sampler == "uniform":
                share = 1.0 / (n - step)
            elif sampler == "pivoted":
                share = w[s] * left[s, s] / (w @ np.diag(left))
            else:
                weight = w if step == 0 else w * nearest
                share = weight[s] / weight.sum()
            probability *= share
            left = left - np.outer(left[:, s], left[s]) / left[s, s]
            nearest = np.minimum(nearest, np.diag(K) - 2 * K[:, s] + K[s, s])
        law[sequence] = probability
    return law


SLOW = [
    (sampler, weighted, width)
    for sampler in ("pivoted", "kmeans++", "uniform")
    for weighted in (False, True)
    for width in ((16, 8, 256), (1, 1, 1), (2, 2, 3))
    if not (weighted and sampler == "uniform")  # which looks at no weight above zero
]


@pytest.mark.parametrize(
    ("sampler", "weighted", "width", "draws"),
    [
        ("pivoted", True, (16, 8, 256), 400),
        ("pivoted", False, (2, 2, 3), 400),
        ("kmeans++", True, (16, 8, 256), 400),
        *(pytest.param(*case, 4000, marks=pytest.mark.slow) for case in SLOW),
    ],
    ids=str,
)
def test_pivots_have_the_law_of_drawing_one_by_one(
    sampler, weighted, width, draws, monkeypatch
):
    """Drawn in blocks with rejection or singly: the same law.

    Of ordered pivots; of the set where a list is put into a steady order afterwards.
    """
    for name, value in zip(("_FIRST", "_LEAST", "_MOST"), width, strict=True):
        monkeypatch.setattr(_pivots, name, value)
    X = np.array([[0.0], [0.3], [1.0], [1.1], [3.0]])
    w = np.array([1.0, 3.0, 0.5, 2.0, 1.0]) if weighted else np.ones(5)
    kernel = RBF(1.0)

    def drawn(pivots):
        return tuple(pivots) if sampler == "pivoted" else tuple(sorted(pivots))

    law = {}
    for pivots, chance in exact_law(kernel.block(X), w, 3, sampler).items():
        law[drawn(pivots)] = law.get(drawn(pivots), 0.0) + chance
    assert sum(law.values()) == pytest.approx(1.0)
    counts = dict.fromkeys(law, 0)
    rng = np.random.default_rng(0)
    for _ in range(draws):
        found = choose(kernel, X, 3, sampler=sampler, weights=w, seed=rng)
        counts[drawn(found.indices.tolist())] += 1
    # Cells that are expected less than five times are taken together.
    rare = [s for s in law if law[s] * draws < 5]
    cells = [(counts[s], law[s]) for s in law if s not in rare]
    cells.append((sum(counts[s] for s in rare), sum(law[s] for s in rare)))
    seen, expected = np.array(cells).T
    used = expected > 0
    statistic = np.sum((seen[used] - draws * expected[used]) ** 2 / (draws * expected[used]))
    assert statistic < chi2.isf(FALSE_ALARM, int(used.sum()) - 1)


def standardised(X):
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def clusters():
    """Return 4800, 150 and 50 rows about three centres."""
    rng = np.random.default_rng(0)
    parts = [((0, 0), 0.5, 4800), ((8, 0), 1.0, 150), ((0, 9), 1.5, 50)]
    return np.concatenate([rng.normal(c, s, (n, 2)) for c, s, n in parts])


SETS = {
    "digits": lambda: standardised(load_digits().data),
    "iris": lambda: standardised(load_iris().data),
    "breast cancer": lambda: standardised(load_breast_cancer().data),
    "wine": lambda: standardised(load_wine().data),
    "swiss roll": lambda: standardised(make_swiss_roll(1500, random_state=0)[0]),
}


def median_trace(kernel, X, m, sampler):
    return np.median([choose(kernel, X, m, sampler=sampler, seed=s).trace for s in range(10)])


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("kernel", [RBF(), Laplacian()], ids=str)
def test_pivots_leave_no_more_than_uniform_draws(name, kernel):
    X = SETS[name]()
    kernel = kernel.resolve(X)
    for m in (20, 60):
        pivoted = median_trace(kernel, X, m, "pivoted")
        assert pivoted <= 1.05 * median_trace(kernel, X, m, "uniform")


def test_pivots_do_not_miss_small_groups():
    X = clusters()
    kernel = RBF().resolve(X)
    pivoted, uniform = (
        np.median([choose(kernel, X, 200, sampler=s, seed=i).trace for i in range(3)])
        for s in ("pivoted", "uniform")
    )
    assert pivoted < 0.1 * uniform
