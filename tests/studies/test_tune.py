import logging

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.datasets import load_digits, make_circles, make_moons, make_swiss_roll
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.kernels import RBF, Linear, Matern

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


def test_two_rings_are_told_apart_by_a_line_in_two_coordinates():
    X, y = make_circles(200, factor=0.3, noise=0.05, random_state=0)
    found = mercer.tune(X, n_components=2)
    assert found.criterion == "parallel analysis"
    tuned, flat = read_out(found, X, y, LogisticRegression(C=100))
    assert tuned >= 0.95 > 0.6 > flat


def test_close_rings_need_four_coordinates():
    X, y = make_circles(200, factor=0.5, noise=0.05, random_state=0)
    tuned, flat = read_out(mercer.tune(X, n_components=4), X, y, LogisticRegression(C=100))
    assert tuned >= 0.95 > 0.6 > flat


def test_two_moons_are_told_apart_by_a_line_in_four_coordinates():
    X, y = make_moons(200, noise=0.1, random_state=0)
    tuned, flat = read_out(mercer.tune(X, n_components=4), X, y, LogisticRegression(C=100))
    assert tuned >= 0.95 > 0.9 > flat


def test_a_slice_of_the_swiss_roll_is_read_along_its_length():
    X, t = make_swiss_roll(200, noise=0.3, random_state=0)
    X = X[:, [0, 2]]
    tuned, flat = read_out(mercer.tune(X, n_components=6), X, t, LinearRegression())
    assert tuned >= 0.85 > 0.2 > flat


def test_digits_are_recognised_as_well_as_with_the_best_kernel_of_the_grid():
    X, y = load_digits(return_X_y=True)
    found = mercer.tune(X, n_components=10, max_rows=150)
    assert found.criterion == "reconstruction"
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


def test_a_gain_by_chance_is_doubted():
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
    found = mercer.tune(curved(80), n_components=1, cv=3)
    linear, best = found.curve[0], max(found.curve[1:], key=lambda one: one.score or 0)
    assert found.criterion == "reconstruction"
    assert best.score > linear.score + 0.05
    assert found.estimator().fit(curved()).score(curved(seed=1)) > linear.score


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


def test_a_number_of_folds_is_a_shuffled_k_fold():
    one = mercer.tune(curved(60), "rbf(lengthscale=2)", 1, cv=3, random_state=5)
    folds = KFold(3, shuffle=True, random_state=5)
    two = mercer.tune(curved(60), [RBF(2.0)], 1, cv=folds, random_state=5)
    assert one.curve == two.curve


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


def test_max_rows_is_what_is_looked_at():
    found = mercer.tune(curved(200), n_components=1, max_rows=50, cv=3)
    assert found.rows == 50


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


def test_the_same_call_gives_the_same_answer_and_leaves_the_rows_alone():
    X = curved(60)
    before = X.copy()
    one, two = (mercer.tune(X, RBF(8.0), 1, cv=3, random_state=1) for _ in range(2))
    assert one == two
    np.testing.assert_array_equal(X, before)
