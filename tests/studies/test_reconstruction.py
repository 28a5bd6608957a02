from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import KFold, cross_val_score

from mercer import KernelPCA
from mercer.kernels import RBF, FeatureMap, Linear, Sigmoid
from mercer.studies import Candidate
from mercer.studies.tuning._tune import look, reason, rebuild, simplest


@pytest.fixture
def rows(rng):
    return rng.normal(size=(60, 3)) @ rng.normal(size=(3, 5)) + 1e3


def folds_of(rows, count=3):
    return list(KFold(count, shuffle=True, random_state=1).split(rows))


def test_effective_rank_is_that_of_the_centred_matrix(rows):
    found = look(KernelPCA(2, kernel=RBF(3.0)), rows)
    apart = np.sum((rows[:, None] - rows[None]) ** 2, axis=2)
    k = np.exp(-apart / 18)
    k = k - k.mean(0) - k.mean(1)[:, None] + k.mean()
    assert found.effective_rank == pytest.approx(np.trace(k) ** 2 / np.sum(k * k), rel=1e-8)
    assert found.admitted


def test_kernels_are_admitted_by_what_they_see(rows, rng):
    found = look(KernelPCA(2, kernel=RBF(0.01)), rows)
    assert found.verdict == "effective rank 59 is above a quarter of 60 rows"
    found = look(KernelPCA(2, kernel=Linear()), rng.normal(size=(12, 30)))
    assert found.effective_rank > 3
    assert found.admitted
    found = look(KernelPCA(2, kernel=Sigmoid(gamma=0.1)), rows - 1e3)
    assert "negative eigenvalues" in found.verdict
    assert found.effective_rank is None


def test_linear_coordinates_go_back_as_those_of_other_kernels_do(rows):
    folds, other = folds_of(rows), FeatureMap(lambda x: x - 1e3)  # linear by another name
    model = KernelPCA(2, kernel=other)
    expected = rebuild(Candidate(other, 2.0), model, rows, folds).by_fold
    found = rebuild(Candidate(Linear(), 2.0), KernelPCA(2, kernel=Linear()), rows, folds)
    assert found.by_fold == pytest.approx(expected, rel=1e-6)
    assert found.score == pytest.approx(np.mean(expected), rel=1e-6)
    assert found.error == pytest.approx(np.std(expected, ddof=1) / 3**0.5, rel=1e-6)


def test_scores_are_those_of_scikit_learns_cross_validation(rows):
    folds, model = folds_of(rows), KernelPCA(2, kernel=RBF(4.0))
    expected = cross_val_score(model, rows, cv=folds)
    found = rebuild(Candidate(RBF(4.0), 3.0), model, rows, folds)
    assert found.score == pytest.approx(expected.mean(), rel=1e-12)
    fold = [(np.zeros(5, int), np.arange(5))] * 2
    found = rebuild(Candidate(RBF(1.0), 3.0), KernelPCA(2, kernel=RBF(1.0)), rows, fold)
    assert found.score is None
    assert "constant" in found.verdict


def curve(*scores, error=0.02):
    kernels = [Linear(), *(RBF(length) for length in (8.0, 4.0, 2.0))]
    ranks = [1.5, 3.0, 6.0, 12.0]
    return [
        Candidate(kernel, rank, score, error)
        for kernel, rank, score in zip(kernels, ranks, scores, strict=True)
    ]


@pytest.mark.parametrize(
    ("scores", "chosen"),
    [
        ((0.50, 0.80, 0.81, 0.70), RBF(8.0)),  # within one error: the longer lengthscale
        ((0.50, 0.70, 0.81, 0.80), RBF(4.0)),
        ((0.80, 0.79, 0.81, 0.80), Linear()),  # linear first
        ((0.785, 0.79, 0.81, 0.80), RBF(8.0)),
        ((0.90, 0.79, 0.81, 0.80), Linear()),
    ],
)
def test_the_simplest_within_one_standard_error_is_chosen(scores, chosen):
    found, best = simplest(curve(*scores))
    assert found.kernel == chosen
    assert best.score == max(scores)


def test_folds_are_compared_one_by_one():
    rows = curve(0.780, 0.79, 0.80, 0.70)  # within the error of a mean, but worse in each fold
    by_fold = [(0.68, 0.78, 0.88), (0.695, 0.79, 0.885), (0.70, 0.80, 0.90), (0.6, 0.7, 0.8)]
    rows = [replace(one, by_fold=own) for one, own in zip(rows, by_fold, strict=True)]
    assert simplest(rows)[0].kernel == RBF(4.0)
    assert simplest(curve(0.785, 0.79, 0.80, 0.70))[0].kernel == Linear()


def test_what_is_not_admitted_is_not_chosen():
    rows = curve(0.5, 0.6, 0.7, 0.8)
    out = Candidate(RBF(1.0), 30.0, 0.99, 0.0, verdict="no")
    assert simplest([*rows, out])[0].kernel == RBF(2.0)


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ((0.80, 0.79, 0.81, 0.80), "within one standard error, and is the simplest"),
        ((0.90, 0.79, 0.81, 0.80), "No other kernel rebuilds them better."),
        ((0.50, 0.80, 0.81, 0.70), "rbf(lengthscale=8.0) is the simplest within one"),
        ((0.50, 0.70, 0.81, 0.70), "with rbf(lengthscale=4.0). Linear reaches 0.500."),
    ],
)
def test_the_reason_is_in_plain_sentences(scores, words):
    rows = curve(*scores)
    assert words in reason(*simplest(rows), rows, 2)
