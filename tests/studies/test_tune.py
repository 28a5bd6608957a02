import logging

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.datasets import load_digits, load_iris, make_circles, make_moons, make_swiss_roll
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.errors import InputError, MercerError
from mercer.kernels import (
    RBF,
    FeatureMap,
    Function,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
)
from mercer.studies import Candidate, Tuning
from mercer.studies.tuning._tune import GAMMAS, at_the_edge, candidates, further, likeness
from mercer.studies.tuning._tuning_result import brief, left_out

LINEAR = "linear is enough"


def read_out(tuning, X, y, model):
    """Cross-validated score of a model on the coordinates of the tuned kernel, and on PCA's."""
    tuned = tuning.estimator()
    flat = mercer.KernelPCA(tuning.n_components, kernel="linear")
    return tuple(
        cross_val_score(
            make_pipeline(StandardScaler(), model), one.fit_transform(X), y, cv=KFold(5)
        ).mean()
        for one in (tuned, flat)
    )


def curved(n=120, seed=0):
    """A noisy parabola in five columns: one axis is not enough for PCA."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1, 1, n)
    rows = np.c_[t, t**2, np.zeros((n, 3))]
    return 3 * rows + 0.05 * rng.normal(size=rows.shape)


def ring(n=120, seed=0):
    """Nine tenths of a noisy ring in five columns: its ends are one place for PCA."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(-2.8, 2.8, n)
    rows = np.c_[np.cos(t), np.sin(t), np.zeros((n, 3))]
    return 3 * rows + 0.05 * rng.normal(size=rows.shape)


def test_two_rings_are_told_apart_by_a_line_in_two_coordinates():
    X, y = make_circles(200, factor=0.3, noise=0.05, random_state=0)
    found = mercer.tune(X, n_components=2)
    assert found.criterion == "parallel analysis"
    tuned, flat = read_out(found, X, y, LogisticRegression(C=100))
    assert tuned >= 0.95 > 0.6 > flat


def test_moons_and_rolls_are_read_along_a_line():
    X, y = make_moons(200, noise=0.1, random_state=0)
    tuned, flat = read_out(mercer.tune(X, n_components=4), X, y, LogisticRegression(C=100))
    assert tuned >= 0.95 > 0.9 > flat
    X, t = make_swiss_roll(200, noise=0.3, random_state=0)
    X = X[:, [0, 2]]
    tuned, flat = read_out(mercer.tune(X, n_components=6), X, t, LinearRegression())
    assert tuned >= 0.85 > 0.2 > flat


def test_digits_are_recognised_as_well_as_with_the_best_kernel_of_the_grid():
    X, y = load_digits(return_X_y=True)
    found = mercer.tune(X, n_components=10, max_rows=150)
    folds = KFold(5, shuffle=True, random_state=0)
    accuracy = {}
    for one in found.curve:
        if one.admitted:
            Z = mercer.KernelPCA(10, kernel=one.kernel).fit_transform(X)
            accuracy[one.kernel] = cross_val_score(
                KNeighborsClassifier(5), Z, y, cv=folds
            ).mean()
    assert accuracy[found.best] >= max(max(accuracy.values()) - 0.01, 0.95)


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("mixed", [False, True], ids=["independent", "correlated"])
@pytest.mark.parametrize("seed", range(3))
def test_linear_is_enough_for_gaussian_data(seed, mixed, k):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, 4))
    X = X @ rng.normal(size=(4, 4)) if mixed else X
    found = mercer.tune(X, n_components=k, cv=3, lengthscales=[1.0, 2.0, 4.0])
    assert (found.criterion, found.best) == (LINEAR, Linear())


def test_the_same_call_gives_the_same_answer_and_doubts_chance():
    X = curved(60)
    before = X.copy()
    one, two = (mercer.tune(X, RBF(8.0), 1, cv=3, random_state=1) for _ in range(2))
    assert one == two
    np.testing.assert_array_equal(X, before)
    X = np.random.default_rng(2).normal(size=(150, 4))
    found = mercer.tune(X, n_components=2, cv=3)
    linear, *others = found.curve
    assert max(one.score - one.error for one in others if one.admitted) > linear.score
    assert found.criterion == LINEAR
    assert "the gain is taken for chance" in found.reason


@pytest.mark.slow
def test_gaussian_data_are_called_curved_in_at_most_one_table_of_fifty():
    alarms = 0
    for seed in range(50):
        rng = np.random.default_rng(1000 + seed)
        p = int(rng.integers(2, 7))
        X = rng.normal(size=(120, p)) @ rng.normal(size=(p, p))
        found = mercer.tune(X, n_components=int(rng.integers(1, p + 1)))
        alarms += found.criterion != LINEAR
    assert alarms <= 1


def test_a_curve_is_rebuilt_better_by_a_kernel():
    found = mercer.tune(ring(80), n_components=1, cv=3)
    linear, best = found.curve[0], max(found.curve[1:], key=lambda one: one.score or 0)
    assert found.criterion == "reconstruction"
    assert best.score > linear.score + 0.05
    assert found.estimator().fit(ring()).score(ring(seed=1)) > linear.score


def test_a_bent_way_back_makes_no_kernel():
    # The first coordinate of a parabola tells both columns: a kernel adds nothing to it.
    assert mercer.tune(curved(80), n_components=1, cv=3).criterion == LINEAR
    iris = load_iris().data
    found = mercer.tune(iris, n_components=1)
    assert (found.criterion, found.best) == (LINEAR, Linear())


def test_a_map_that_is_that_of_pca_is_called_linear():
    X = np.random.default_rng(0).normal(size=(80, 3)) * [5, 2, 1]
    assert likeness(RBF(1e3), X, 2, 0) > 0.999
    assert likeness(RBF(1.0), X, 2, 0) < 0.95
    assert likeness(Linear(), X, 2, 0) == pytest.approx(1.0)


def test_the_grid_goes_on_beyond_the_end_that_would_be_chosen():
    tried = [RBF(4.0), RBF(2.0), RBF(1.0)]
    short = [one.lengthscale for one in further(RBF(1.0), tried)]
    assert short == pytest.approx([2**-0.5, 0.5])
    assert [one.lengthscale for one in further(RBF(4.0), tried)] == pytest.approx([32**0.5, 8])
    assert further(RBF(2.0), tried) == further(Linear(), tried) == []


def test_a_grid_search_over_the_same_folds_has_the_same_curve():
    X, lengths = curved(60) + 100, [1.0, 2.0, 4.0]
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(mercer.KernelPCA(1), {"kernel__lengthscale": lengths}, cv=folds).fit(
        X
    )
    found = mercer.tune(X, n_components=1, lengthscales=lengths, cv=folds)
    scores = [one.score for one in found.curve[1:]]
    np.testing.assert_allclose(scores, search.cv_results_["mean_test_score"], rtol=1e-10)
    errors = search.cv_results_["std_test_score"] / 2**0.5  # its spread divides by F
    np.testing.assert_allclose([one.error for one in found.curve[1:]], errors, rtol=1e-6)


def test_rows_looked_at_and_folds():
    one = mercer.tune(curved(60), "rbf(lengthscale=2)", 1, cv=3, random_state=5)
    folds = KFold(3, shuffle=True, random_state=5)
    two = mercer.tune(curved(60), [RBF(2.0)], 1, cv=folds, random_state=5)
    assert one.curve == two.curve
    found = mercer.tune(curved(200), n_components=1, max_rows=50, cv=3)
    assert found.rows == 50


def test_units_of_the_columns_do_not_matter_once_standardised():
    X = curved(60)
    one = mercer.tune(X, n_components=1, cv=3, standardize=True)
    two = mercer.tune(X * [1e-6, 1e6, 1, 1e3, 1] + 7, n_components=1, cv=3, standardize=True)
    assert one.criterion == two.criterion
    np.testing.assert_allclose(
        [row.score or 0 for row in one.curve], [row.score or 0 for row in two.curve], rtol=1e-3
    )
    assert two.estimator().standardize is True


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_the_unit_of_all_columns_does_not_matter(scale):
    one, two = (mercer.tune(curved(60) * unit, n_components=1, cv=2) for unit in (1.0, scale))
    assert [row.admitted for row in one.curve] == [row.admitted for row in two.curve]
    np.testing.assert_allclose(
        [row.score or 0 for row in one.curve], [row.score or 0 for row in two.curve], rtol=1e-3
    )


def test_float32_rows_far_from_the_origin_are_rebuilt():
    X = curved(60)
    far = (np.round(X * 64) / 64 + 4096).astype(np.float32)  # exact in float32
    near = mercer.tune(far.astype(np.float64) - 4096, n_components=1, cv=3)
    found = mercer.tune(far, n_components=1, cv=3)
    assert found.criterion == near.criterion
    np.testing.assert_allclose(
        [row.score or 0 for row in found.curve],
        [row.score or 0 for row in near.curve],
        rtol=1e-6,
    )


def test_sparse_rows_and_frames_give_what_arrays_give():
    X = np.maximum(curved(60), 0)
    wanted = mercer.tune(X, RBF(8.0), 1, cv=3)
    names = list("abcde")
    for same in (
        scipy.sparse.csr_array(X),
        scipy.sparse.coo_matrix(X),
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
        X.tolist(),
    ):
        found = mercer.tune(same, RBF(8.0), 1, cv=3)
        np.testing.assert_allclose(found.curve[1].score, wanted.curve[1].score, rtol=1e-3)


def test_several_kinds_of_kernels_are_compared_and_bad_ones_are_named():
    found = mercer.tune(
        curved(60), ["matern(nu=2.5)", "sigmoid", lambda x, y: (x @ y.T) ** 2], 1, cv=3
    )
    assert sum(isinstance(one.kernel, Matern) for one in found.curve) == 7
    odd = next(one for one in found.curve if "sigmoid" in str(one.kernel))
    assert "negative eigenvalues" in odd.verdict
    assert "not admitted" in found.reason


def test_progress_goes_to_the_log_alone(caplog, capsys):
    with caplog.at_level(logging.INFO, logger="mercer"):
        mercer.tune(curved(40), RBF(2.0), 1, cv=2)
    text = "\n".join(record.getMessage() for record in caplog.records)
    assert "tune: 2 kernels, 40 rows, 1 components" in text
    assert "tune: rbf(lengthscale=2.0), R²" in text
    assert capsys.readouterr() == ("", "")


@pytest.fixture
def tuning():
    curve = (
        Candidate(Linear(), 2.0, 0.5, 0.01),
        Candidate(RBF(1.23456789), 3.0, 0.75, 0.02),
        Candidate(RBF(0.01), 90.0, verdict="effective rank 90 is above a quarter of 100 rows"),
    )
    return Tuning(RBF(1.23456789), "reconstruction", "Because.", curve, 3, 100, True, 7)


def test_the_estimator_is_unfitted_and_has_what_was_chosen(tuning):
    model = tuning.estimator()
    assert model.kernel == RBF(1.23456789)
    assert (model.n_components, model.standardize, model.random_state) == (3, True, 7)
    with pytest.raises(NotFittedError):
        model.transform([[1.0]])
    assert tuning.estimator() is not model


def test_the_table_in_words(tuning):
    lines = str(tuning).splitlines()
    assert lines[:2] == ["reconstruction: rbf(lengthscale=1.23456789)", "Because."]
    assert lines[3].split() == [
        "kernel",
        "R²",
        "±",
        "error",
        "eff.",
        "rank",
        "excess",
        "evidence",
        "verdict",
    ]
    starred = [line for line in lines if line.startswith("*")]
    assert [line.split()[:3] for line in starred] == [["*", "rbf(lengthscale=1.235)", "0.7500"]]
    cells = ["rbf(lengthscale=0.01)", "-", "-", "90.0", "-", "-"]
    assert lines[-1].split()[:6] == cells
    assert lines[-1].endswith("effective rank 90 is above a quarter of 100 rows")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_columns_make_a_frame(tuning, frame):
    found = frame(tuning.columns())
    assert list(found.columns) == [
        "kernel",
        "score",
        "error",
        "effective_rank",
        "excess",
        "evidence",
        "verdict",
    ]
    assert list(found["effective_rank"]) == [2.0, 3.0, 90.0]


def test_numbers_are_brief_and_kernels_left_out_are_counted(tuning):
    assert brief(0.5 * RBF(12345.678) + Linear()) == "0.5*rbf(lengthscale=12350.0) + linear"
    assert brief(RBF((1.0, 2.0))) == str(RBF((1.0, 2.0)))
    assert brief(RBF(1e-12 / 3)) == "rbf(lengthscale=3.333e-13)"
    assert left_out(tuning.curve[:2]) == []
    assert left_out(tuning.curve) == [
        "1 of 3 kernels was not admitted, the first because: "
        "effective rank 90 is above a quarter of 100 rows."
    ]
    assert left_out(tuning.curve[2:] * 2)[0].startswith("2 of 2 kernels were")


X = np.random.default_rng(0).normal(size=(40, 3))


def spoilt(value):
    rows = X.copy()
    rows[3, 1] = value
    return rows


def beyond(n):
    return [(np.arange(20), np.arange(20, n))] * 2


DATA = {
    "one row": (X[:1], "one row has no variance"),
    "two rows": (X[:2], "2 rows, cv=5"),
    "no rows": (X[:0], r"0 sample\(s\)"),
    "one line": (X[:, 0], "Expected 2D array"),
    "all equal": (np.ones((40, 3)), "no variance"),
    "nan": (spoilt(np.nan), "NaN at row 3, column 1"),
    "infinity": (spoilt(-np.inf), "-infinity at row 3, column 1"),
    "text": (np.array([["a", "b"]] * 20), "text 'a' at row 0, column 0"),
    "a word": ("table", "must be a table of numbers"),
    "nothing": (None, "must be a table of numbers"),
    "complex": (X + 1j, "Complex data"),
    "huge": (X * 1e200, "leave the range of float64"),
    "text in a frame": (pd.DataFrame({"a": ["x"] * 20, "b": range(20)}), "'a'"),
}
OPTIONS = {
    "no components": ({"n_components": 0}, "n_components"),
    "a share": ({"n_components": 0.5}, "one number of components"),
    "all components": ({"n_components": None}, "one number of components"),
    "a truth value": ({"n_components": True}, "one number of components"),
    "a word": ({"n_components": "2"}, "n_components"),
    "more components than rows": ({"n_components": 41}, "at most 31 components"),
    "as many as a fold": ({"n_components": 32}, "at most 31 components"),
    "no kernels": ({"kernels": []}, "no kernel to try"),
    "a slip": ({"kernels": ["rfb"]}, "did you mean 'rbf'"),
    "a matrix": ({"kernels": "precomputed"}, "rows are needed"),
    "a number": ({"kernels": 3}, "must be a kernel"),
    "scales for other columns": ({"kernels": RBF((1.0, 2.0))}, "one scale for each column"),
    "an odd function": ({"kernels": lambda *_: np.ones(3)}, "takes two blocks of rows"),
    "nan from a function": ({"kernels": lambda x, y: x @ y.T * np.nan}, "not finite"),
    "negative counts": ({"kernels": "chi2"}, "not negative"),
    "one fold": ({"cv": 1}, "cv=1"),
    "part of a fold": ({"cv": 2.5}, "cannot be split"),
    "folds by name": ({"cv": "five"}, "cannot be split"),
    "groups": ({"cv": GroupKFold(2)}, "cannot be split"),
    "single rows": ({"cv": LeaveOneOut()}, "1 rows held out"),
    "rows that are not there": ({"cv": beyond(60)}, "row 59 asked for"),
    "no folds": ({"cv": []}, "hold out"),
    "one row at most": ({"max_rows": 1}, "max_rows=1"),
    "part of a row": ({"max_rows": 1.5}, "max_rows=1.5"),
    "few rows at most": ({"max_rows": 5}, "5 rows, cv=5"),
    "a seed by name": ({"random_state": "a"}, "random_state"),
    "standardise by name": ({"standardize": "yes"}, "standardize"),
    "no lengthscale": ({"lengthscales": []}, "positive numbers"),
    "a negative lengthscale": ({"lengthscales": [-1.0]}, "lengthscale"),
}


@pytest.mark.parametrize("name", DATA)
def test_data_that_cannot_be_used_are_refused_in_three_lines(name):
    data, words = DATA[name]
    with pytest.raises(MercerError, match=words) as caught:
        mercer.tune(data)
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize("name", OPTIONS)
def test_options_that_cannot_be_are_refused_in_three_lines(name):
    options, words = OPTIONS[name]
    with pytest.raises(MercerError, match=words) as caught:
        mercer.tune(X, **options)
    assert len(str(caught.value).splitlines()) == 3


def test_sparse_rows_have_no_l1_distance_and_cannot_be_standardised():
    rows = scipy.sparse.csr_array(np.maximum(X, 0))
    with pytest.raises(MercerError, match="not defined on sparse rows"):
        mercer.tune(rows, "laplacian")
    with pytest.raises(MercerError, match="cannot be standardised"):
        mercer.tune(rows, standardize=True)


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (X[:10], {}),
        (X[:4], {"cv": 2, "n_components": 1}),
        (X[:, :1], {"n_components": 1}),
        (np.c_[X, np.full(40, 5.0)], {}),
        (np.repeat(X[:2], 20, axis=0), {}),
        ((X + 1e6).astype(np.float32), {}),
        ((X * 10).astype(np.int64), {}),
        (X > 0, {}),
        (X, {"n_components": 31}),
        (X, {"kernels": [lambda x, y: x @ y.T]}),
        (X, {"kernels": FeatureMap(lambda rows: rows)}),
        (X, {"kernels": "linear"}),
        (X, {"lengthscales": 2.0}),
        (X, {"random_state": None}),
        (X, {"random_state": np.random.default_rng(0)}),
        (X, {"cv": beyond(40), "n_components": 1}),
    ],
    ids=[
        "ten rows",
        "four rows",
        "one column",
        "a constant column",
        "two rows repeated",
        "float32 far off",
        "whole numbers",
        "truth values",
        "as many axes as can be",
        "products as a function",
        "products as features",
        "linear alone",
        "one lengthscale",
        "any seed",
        "a generator",
        "given folds",
    ],
)
def test_odd_but_sound_input_is_linear(data, options):
    few = {} if {"kernels", "lengthscales"} & set(options) else {"lengthscales": [0.5, 2.0]}
    assert mercer.tune(data, **options, **few).best == Linear()


@pytest.fixture
def rows(rng):
    return rng.normal(size=(60, 3))


def test_the_default_is_linear_and_a_grid_of_gamma_around_one_over_the_median(rows):
    linear, *grid = candidates(None, None, rows)
    squares = [np.sum((a - b) ** 2) for i, a in enumerate(rows) for b in rows[:i]]
    gammas = [1 / (2 * kernel.lengthscale**2) * np.median(squares) for kernel in grid]
    assert linear == Linear()
    np.testing.assert_allclose(gammas, [1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8], rtol=1e-12)


def test_candidates_are_what_was_asked_for(rows):
    found = candidates([RBF(2.0), "polynomial(degree=2, gamma=1)"], None, rows)
    assert found == [Linear(), RBF(2.0), Polynomial(degree=2, gamma=1.0)]
    assert all(kernel.resolved for kernel in candidates(["poly", "laplacian"], None, rows))
    assert candidates("rbf", None, rows) == candidates([RBF()], None, rows)
    assert candidates(RBF(), None, rows) == candidates(None, None, rows)
    assert candidates(np.dot, None, rows)[1] == Function.pairwise(np.dot)
    assert candidates(["rbf(lengthscale=1)", "linear", Linear()], None, rows) == [
        Linear(),
        RBF(1.0),
    ]


def test_every_median_of_a_sum_moves_together(rows):
    grid = candidates([RBF() + 0.5 * Laplacian()], None, rows)[1:]
    middle = grid[GAMMAS.index(1.0)]
    assert len(grid) == len(GAMMAS)
    for kernel, gamma in zip(grid, GAMMAS, strict=True):
        for name in ("left__lengthscale", "right__kernel__lengthscale"):
            ratio = middle.get_params()[name] / kernel.get_params()[name]
            assert ratio == pytest.approx(gamma**0.5)


def test_lengthscales_take_the_place_of_the_median_only(rows):
    found = candidates([RBF(), Matern(3.0), RBF(1.0)], [1.0, 4.0], rows)
    assert found == [Linear(), RBF(1.0), RBF(4.0), Matern(3.0)]
    with pytest.raises(InputError, match="no kernel waits"):
        candidates([RBF(1.0)], [1.0], rows)


@pytest.mark.parametrize("bad", ["rfb", 3, [None], [RBF]])
def test_what_is_no_kernel_is_refused(rows, bad):
    with pytest.raises(InputError, match="kernel"):
        candidates(bad, None, rows)


def test_the_ends_of_the_grid_are_named():
    tried = [Linear(), *(RBF(length) for length in (4.0, 2.0, 1.0)), Matern(0.1)]
    assert "longest" in at_the_edge(RBF(4.0), tried)[0]
    assert "shortest" in at_the_edge(RBF(1.0), tried)[0]
    assert at_the_edge(RBF(2.0), tried) == []
    assert at_the_edge(Matern(0.1), tried) == []
    assert at_the_edge(Linear(), tried) == []
