"""Kernels on rows that are no numbers: texts, sets, graphs, series of different lengths.

The reference is the matrix itself: k of all pairs by a plain loop over the functions, and
LAPACK's eigenvalues of HKH.
"""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics.pairwise import rbf_kernel

import mercer
from mercer import KernelDiscriminantAnalysis, KernelPCA, LandmarkFeatures, tune
from mercer.errors import InputError, MercerError, NotSupportedError
from mercer.kernels import (
    RBF,
    FeatureMap,
    Function,
    Linear,
    NegativeDistance,
    as_kernel,
    evidence,
    exp,
    mapped,
    mmd,
    neighbourhoods,
    ngrams,
    normalize,
    warp,
)
from mercer.report import report
from mercer.testing import check_kernel

DRAWN = np.random.default_rng(7)
STEMS = ["banana", "apple", "pear", "cherry", "damson"]
WORDS = ["".join(DRAWN.choice(list(STEMS[i % 5]), 5)) + STEMS[i % 5][:4] for i in range(40)]
CLASSES = np.arange(40) % 5
SETS = [set(map(int, DRAWN.integers(0, 9, 4))) for _ in range(25)]
SERIES = [DRAWN.normal(size=DRAWN.integers(3, 8)) for _ in range(25)]
GRAPHS = [
    ("".join(DRAWN.choice(list("CON"), 5)), [(i, (i + 1) % 5) for i in range(k % 4 + 1)])
    for k in range(25)
]


def runs(a, n=2):
    return Counter(a[i : i + n] for i in range(len(a) - n + 1))


def shared(a, b, n=2):
    one, two = runs(a, n), runs(b, n)
    return float(sum(one[g] * two[g] for g in one))


def alike(a, b):
    return len(set(a) & set(b)) / len(set(a) | set(b))


def near(a, b):
    return float(np.exp(-((np.mean(a) - np.mean(b)) ** 2)))


def sizes(words):
    return np.array([[len(w), w.count("a")] for w in words], float)


def inverse(words):
    assert isinstance(words, list)  # whatever the sequence was
    return np.array([1 / len(w) for w in words])


TWO, THREE = (FeatureMap(ngrams(n, width=9001)) for n in (2, 3))  # none collide
# name: (kernel, the same number for two words by hand)
KERNELS = {
    "normalize": (
        normalize(TWO),
        lambda a, b: shared(a, b) / (shared(a, a) * shared(b, b)) ** 0.5,
    ),
    "multiple": (2 * TWO, lambda a, b: 2 * shared(a, b)),
    "sum": (TWO + THREE, lambda a, b: shared(a, b) + shared(a, b, 3)),
    "constant": (TWO + 3, lambda a, b: shared(a, b) + 3),
    "product": (TWO * THREE, lambda a, b: shared(a, b) * shared(a, b, 3)),
    "power": (TWO**2, lambda a, b: shared(a, b) ** 2),
    "exp": (exp(0.1 * TWO), lambda a, b: np.exp(0.1 * shared(a, b))),
    "warp": (warp(TWO, inverse), lambda a, b: shared(a, b) / len(a) / len(b)),
    "map": (
        mapped(RBF(1.0), sizes),
        lambda a, b: np.exp(-0.5 * np.sum((sizes([a]) - sizes([b])) ** 2)),
    ),
    "cpd": (
        mapped(NegativeDistance(), sizes),
        lambda a, b: -np.linalg.norm(sizes([a]) - sizes([b])),
    ),
    "pairs": (Function.pairwise(alike), alike),
    "of pairs": (0.5 * normalize(Function.pairwise(alike)) + 0.5 * TWO**2, None),
    "mixed": (
        0.5 * normalize(TWO) + mapped(Linear(), sizes),
        lambda a, b: (
            0.5 * shared(a, b) / (shared(a, a) * shared(b, b)) ** 0.5
            + float(sizes([a])[0] @ sizes([b])[0])
        ),
    ),
    "map alone": (TWO, shared),
    "a function": (alike, alike),
}


def by_hand(name):
    f = KERNELS[name][1]
    if f is None:
        return 0.5 * by_hand("pairs") + 0.5 * by_hand("power")
    return np.array([[f(a, b) for b in WORDS] for a in WORDS])


def leading(K, k=3):
    H = np.eye(len(K)) - 1 / len(K)
    return np.linalg.eigvalsh(H @ K @ H)[::-1][:k]


def fitted(kernel, rows=WORDS, **options):
    return KernelPCA(
        **{"n_components": 3, "kernel": kernel, "indefinite": "clip"} | options
    ).fit(rows)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")  # ranks are high, by design
def test_the_whole_algebra_sees_words(name):
    kernel, K = KERNELS[name][0], by_hand(name)
    settled = as_kernel(kernel).resolve(WORDS)
    np.testing.assert_allclose(settled(WORDS), K, rtol=1e-12)
    check_kernel(settled, WORDS, rtol=1e-12)
    model, values = fitted(kernel), leading(K)
    bounds = model.certificate_
    assert np.all((bounds.lower <= values) & (values <= bounds.upper))
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=2e-6)
    np.testing.assert_allclose(model.transform(WORDS), model.fit_transform(WORDS), atol=1e-7)
    assert mercer.plan(KernelPCA(3, kernel=kernel, indefinite="clip"), WORDS).chosen
    counts = DRAWN.integers(0, 4, 40)
    repeated = [word for word, count in zip(WORDS, counts, strict=True) for _ in range(count)]
    weighted = KernelPCA(3, kernel=kernel, indefinite="clip")
    np.testing.assert_allclose(
        weighted.fit(WORDS, sample_weight=counts).eigenvalues_,
        fitted(kernel, repeated).eigenvalues_,
        rtol=1e-5,  # of an iteration
    )
    assert model.prototypes(2).largest.shape == (3, 2)
    assert isinstance(evidence(kernel, WORDS).not_cpd, bool)
    assert np.isfinite(mmd(kernel, WORDS[:20], WORDS[20:]))
    told = KernelDiscriminantAnalysis(kernel=kernel, shrinkage=0.1, indefinite="clip")
    assert told.fit(WORDS, CLASSES).predict(WORDS).shape == (40,)


@pytest.mark.parametrize("name", ["normalize", "constant", "exp", "warp", "cpd"])
@pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")
@pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning")  # of few landmarks
def test_landmarks_streams_and_shortcuts_of_words(name):
    kernel, values = KERNELS[name][0], leading(by_hand(name))
    for landmarks in (25, "uniform", "kmeans++", WORDS[:25], np.array(WORDS[:25])):
        bounds = fitted(kernel, landmarks=landmarks).certificate_
        assert np.all((bounds.lower <= values * (1 + 1e-12)) & (values <= bounds.upper))
    model = fitted(kernel, landmarks=15).refine(WORDS)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-6)
    short = fitted(kernel, tol_transform=float("inf"))
    apart = np.abs(short.transform(WORDS[:9]) - fitted(kernel).transform(WORDS[:9]))
    assert np.all(apart <= short.transform_bound(WORDS[:9]) + 1e-6)
    assert np.all(fitted(kernel).novelty(WORDS[:9]) >= 0)
    stream = KernelPCA(3, kernel=kernel).partial_fit(WORDS[:1]).partial_fit(WORDS[1:])
    np.testing.assert_allclose(
        stream.eigenvalues_, KernelPCA(3, kernel=kernel).fit(iter([WORDS])).eigenvalues_
    )
    table = LandmarkFeatures(40, kernel=kernel).fit(WORDS)
    K = np.asarray(table.kernel_(WORDS), float)
    H = np.eye(40) - 1 / 40
    np.testing.assert_allclose(H @ table.factor_ @ table.factor_.T @ H, H @ K @ H, atol=1e-6)
    assert table.transform(WORDS[:2]).shape == (2, table.n_landmarks_)


SEQUENCES = {
    "tuple": tuple,
    "text array": np.array,
    "object array": lambda words: np.array(words, object),
    "column": lambda words: np.array(words)[:, None],
    "pandas": lambda words: pd.Series(words, index=range(5, 45)),
    "pandas strings": lambda words: pd.Series(words, dtype="string"),
    "categories": lambda words: pd.Series(words).astype("category"),
    "polars": pl.Series,
    "arrow": pa.array,
}


@pytest.mark.parametrize("kernel", [normalize(TWO), TWO, alike], ids=["unit", "map", "pairs"])
@pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")
def test_any_sequence_is_the_same_rows(kernel):
    expected = fitted(kernel).transform(WORDS)
    for made in SEQUENCES.values():
        rows = made(WORDS)
        model = fitted(kernel, rows)
        np.testing.assert_allclose(model.transform(rows), expected, atol=1e-12)
        np.testing.assert_allclose(model.transform(WORDS[:1]), expected[:1], atol=1e-12)


@pytest.mark.parametrize(
    ("rows", "kernel"),
    [
        (SETS, Function.pairwise(alike)),
        ([frozenset(one) for one in SETS], alike),
        (SERIES, near),
        ([one.tolist() for one in SERIES], near),
        (
            [one.tolist() for one in SERIES],
            mapped(RBF(1.0), lambda x: [[np.mean(y)] for y in x]),
        ),
        (GRAPHS, normalize(FeatureMap(neighbourhoods(2)))),
        (GRAPHS, FeatureMap(neighbourhoods(1)) + 1),
        (np.asarray(DRAWN.normal(size=(12, 3, 4))), near),  # pictures
    ],
    ids=["sets", "frozen", "series", "lists", "map", "graphs", "sum", "pictures"],
)
@pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")
def test_sets_graphs_series_and_pictures(rows, kernel):
    K = np.asarray(as_kernel(kernel).resolve(rows)(list(rows)), float)
    model = fitted(kernel, rows, n_components=2)
    np.testing.assert_allclose(model.eigenvalues_, leading(K, 2), rtol=1e-9)
    assert model.transform(rows[:1]).shape == (1, 2)


ROWS = {p: DRAWN.normal(size=(30, p)) for p in (1, 2, 3)}
BY_PAIR = {
    "xᵀy": lambda x, y: x @ y,
    "float": lambda x, y: float(x @ y),
    "dot": np.dot,
    "gauss": lambda x, y: np.exp(-np.sum((x - y) ** 2)),
    "least": lambda x, y: float(np.minimum(x, y).sum()) if x.ndim == 1 else None,
}
BY_BLOCK = {
    "XYᵀ": lambda x, y: x @ y.T,
    "gauss": rbf_kernel,
    "inner": np.inner,
}


@pytest.mark.parametrize("p", ROWS)
def test_functions_of_two_rows_are_told_from_functions_of_blocks(p):
    X = ROWS[p]
    for f in BY_PAIR.values():
        K = np.array([[f(x, y) for y in X] for x in X])
        for rows in (X, X[:2]):
            assert as_kernel(f).resolve(rows) == Function.pairwise(f)
        np.testing.assert_allclose(
            fitted(f, X, n_components=1).eigenvalues_, leading(K, 1), rtol=1e-9
        )
    for f in BY_BLOCK.values():
        assert as_kernel(f).resolve(X) == Function(f)
        np.testing.assert_allclose(
            fitted(f, X, n_components=1).eigenvalues_, leading(f(X, X), 1), rtol=1e-9
        )


def test_the_choice_of_a_kernel_and_of_axes_for_words():
    kernels = [normalize(FeatureMap(ngrams(n))) for n in (1, 3)]
    found = tune(WORDS, [*kernels, Function.pairwise(alike)], 4)
    assert found.criterion == "held-out variance"
    assert found.best == max(found.curve, key=lambda one: one.score).kernel
    assert found.estimator().fit(WORDS).n_components_ == 4
    assert all(0 < one.score < 1 for one in found.curve)
    lengths = tune(pd.Series(WORDS), mapped(RBF(), sizes))
    assert len(lengths.curve) == 7
    # With the linear kernel on ψ it is the R² of held-out rows of PCA of ψ.
    linear = tune(WORDS, mapped(Linear(), sizes), 1, cv=2, random_state=0).curve[0]
    from sklearn.decomposition import PCA
    from sklearn.model_selection import KFold

    Z, scores = sizes(WORDS), []
    for kept, held in KFold(2, shuffle=True, random_state=0).split(Z):
        pca = PCA(1).fit(Z[kept])
        left = Z[held] - pca.inverse_transform(pca.transform(Z[held]))
        scores.append(1 - np.sum(left**2) / np.sum((Z[held] - pca.mean_) ** 2))
    np.testing.assert_allclose(linear.score, np.mean(scores), rtol=1e-9)
    assert KernelPCA("auto", kernel=normalize(TWO)).fit(WORDS).choice_.k >= 1


def test_models_of_objects_are_saved_where_their_kernel_is_data(tmp_path):
    kernel = 0.5 * normalize(TWO) + THREE**2
    for rows, k in (
        (WORDS, kernel),
        (GRAPHS, normalize(FeatureMap(neighbourhoods(2)))),
    ):
        for options in ({}, {"landmarks": 10}):
            model = KernelPCA(2, kernel=k, tol=1e3, **options).fit(rows)
            mercer.save(model, tmp_path / "model.mercer")
            again = mercer.load(tmp_path / "model.mercer")
            np.testing.assert_array_equal(again.transform(rows), model.transform(rows))
    model = KernelDiscriminantAnalysis(kernel=kernel, shrinkage=0.1).fit(WORDS, CLASSES)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_array_equal(again.predict(WORDS), model.predict(WORDS))
    with pytest.raises(InputError, match="no code"):
        mercer.save(fitted(warp(TWO, inverse)), tmp_path / "model.mercer")


def test_reports_of_objects_have_no_columns():
    assert "columns" not in str(report(KernelPCA(2, kernel=normalize(TWO)).fit(WORDS), WORDS))


UNIT = normalize(TWO)
REFUSED = {
    "a text": (lambda: fitted(UNIT).transform("banana"), "sequence of things"),
    "a set": (lambda: fitted(UNIT, {"a", "b"}), "sequence of things"),
    "a mapping": (lambda: fitted(UNIT, {"a": 1}), "sequence of things"),
    "nothing": (lambda: fitted(UNIT, []), "0 sample"),
    "one": (lambda: fitted(UNIT, ["a"]), "one row"),
    "no dimension": (lambda: fitted(UNIT, np.array("a")), "sequence of things"),
    "a number among words": (
        lambda: fitted(UNIT, ["a", 1, "b"]),
        "n-grams are counted in texts",
    ),
    "a gap": (
        lambda: fitted(UNIT, pd.Series(["a", "b", None])),
        "n-grams are counted in texts",
    ),
    "numbers only": (lambda: fitted(RBF(1.0), WORDS), "every cell must be a number"),
    "a part": (lambda: fitted(UNIT + RBF(1.0), WORDS), "every cell must be a number"),
    "columns": (lambda: UNIT.on([0])(WORDS), "rows of numbers"),
    "the kernel alone": (lambda: RBF(1.0)(WORDS), "rows of numbers"),
    "scales": (lambda: fitted(UNIT, standardize=True), "cannot be standardised"),
    "weights of columns": (lambda: fitted(UNIT, feature_weight=[1.0]), "columns of numbers"),
    "way back": (lambda: fitted(UNIT).denoise(WORDS), "no rows of numbers"),
    "attributions": (lambda: fitted(UNIT).attributions(WORDS), "no columns of numbers"),
    "short map": (lambda: fitted(mapped(RBF(1.0), lambda w: w[:1]), WORDS), "as many rows"),
    "odd φ": (lambda: fitted(2 * FeatureMap(lambda w: [1.0] * len(w))), "table of numbers"),
    "odd pairs": (lambda: fitted(Function.pairwise(lambda *_: [1, 2])), "return one number"),
    "one way": (lambda: fitted(Function.pairwise(lambda a, b: float(a > b))), "symmetric"),
    "neither": (lambda: fitted(lambda *_: [1.0, 2.0]), "takes two blocks of rows"),
    "unlike": (lambda: fitted(lambda x, y: x.T if isinstance(x, list) else y + 1), "blocks"),
    "tuned by scales": (lambda: tune(WORDS, UNIT, standardize=True), "no columns"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_in_three_lines(name):
    call, words = REFUSED[name]
    with pytest.raises(MercerError, match=words) as caught:
        call()
    assert len(str(caught.value).splitlines()) == 3
    assert isinstance(caught.value, InputError | NotSupportedError)
    if name in ("neither", "unlike"):
        assert "Function.pairwise" in caught.value.fix
