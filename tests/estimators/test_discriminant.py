"""What a linear discriminant analysis must be, path by path and on rows that hurt."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn.discriminant_analysis
from discriminant_data import Gram, Svd, classes, reference, sine
from scipy.stats import chi2
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits, load_iris, load_wine
from tests.claims import agree, hold, refuses, warned

import mercer
from mercer import LinearDiscriminantAnalysis
from mercer.errors import AccuracyWarning, DataWarning, InputError
from mercer.estimators.groups._class_labels import TellsClasses
from mercer.operators import GroupedRows

PATHS = [Svd, Gram]
each_path = pytest.mark.parametrize("kind", PATHS, ids=["svd", "gram"])
DATA = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "digits": load_digits(return_X_y=True),
    "two": classes(60, 4, 2, 1),
    "many": classes(200, 3, 8, 2),
    "uneven": (classes(90, 5, 3, 3)[0], np.repeat([0, 1, 2], [70, 15, 5])),
}
Peer = sklearn.discriminant_analysis.LinearDiscriminantAnalysis


def peer(X, y, **parameters):
    return Peer(**parameters).fit(X, y)


@each_path
@pytest.mark.parametrize("name", DATA)
def test_axes_and_probabilities_of_scikit_learn(kind, name):
    X, y = DATA[name]
    found, theirs = kind().fit(X, y), peer(X, y)
    assert sine(found.scalings_, theirs.scalings_[:, : found.n_components_]) < 1e-7
    np.testing.assert_allclose(
        found.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-8, atol=1e-12
    )
    np.testing.assert_array_equal(found.predict(X), peer(X, y, solver="lsqr").predict(X))
    for solver in ("lsqr", "eigen") if name != "digits" else ("lsqr",):
        wanted = peer(X, y, solver=solver).predict_proba(X)
        agree(found.predict_proba(X), wanted, 1e-7)


@each_path
@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("shrinkage", [0.25, 1.0, "auto"])
def test_shrinkage_of_scikit_learn(kind, name, shrinkage):
    X, y = DATA[name]
    found = kind(shrinkage=shrinkage).fit(X, y)
    wanted = peer(X, y, solver="lsqr", shrinkage=shrinkage)
    agree(found.predict_proba(X), wanted.predict_proba(X), 1e-8)


def test_no_shrinkage_is_none():
    X, y = DATA["wine"]
    one, other = (LinearDiscriminantAnalysis(shrinkage=s).fit(X, y) for s in (0.0, None))
    np.testing.assert_array_equal(one.scalings_, other.scalings_)


def test_axes_are_those_of_the_eigen_solver_with_shrinkage():
    """Its total covariance is shrunk as well, but for the axes that changes no more than B."""
    X, y = DATA["wine"]
    found = LinearDiscriminantAnalysis(shrinkage=0.3).fit(X, y)
    w = np.zeros((13, 13))
    for g in range(3):
        w += np.cov(X[y == g].T, bias=True) * np.mean(y == g)
    w = 0.7 * w + 0.3 * np.trace(w) / 13 * np.eye(13)
    w *= len(y) / (len(y) - 3)
    agree(found.scalings_.T @ w @ found.scalings_, np.eye(2), 1e-9)
    b = np.cov(found.centres_[y].T, bias=True) * len(y) / 2
    agree(b, np.diag(found.eigenvalues_), 1e-9 * b.max())


@each_path
def test_identities(kind):
    X, y = classes(120, 6, 4, 5)
    model = kind().fit(X, y)
    Z = model.transform(X)
    within = sum(np.cov(Z[y == g].T, bias=True) * np.sum(y == g) for g in range(4)) / (120 - 4)
    agree(within, np.eye(3), 1e-9)
    means = np.stack([Z[y == g].mean(axis=0) for g in range(4)])
    agree(model.centres_, means, 1e-9)
    b = sum(np.sum(y == g) * np.outer(means[g], means[g]) for g in range(4)) / 3
    agree(b, np.diag(model.eigenvalues_), 1e-8 * b.max())
    np.testing.assert_allclose(model.means_[2], X[y == 2].mean(axis=0), rtol=1e-12)
    corr = np.corrcoef(X.T, Z.T)[:6, 6:]
    agree(model.structure_, corr, 1e-9)
    gone = X - model.means_[y]
    inside = np.corrcoef(gone.T, (Z - means[y]).T)[:6, 6:]
    agree(model.structure_within_, inside, 1e-9)
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1.0, rtol=1e-12)
    linear = X @ model.coef_.T + model.intercept_
    agree(model.decision_function(X), linear, 1e-9)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))


@pytest.mark.parametrize("shrinkage", [None, 0.3, "auto"])
def test_more_columns_than_rows(shrinkage):
    """Through the range of W in scaled columns, as the SVD solver does; or shrunk."""
    X, y = classes(30, 100, 3, 13)
    solver = {"solver": "svd"} if shrinkage is None else {"solver": "lsqr"}
    theirs = peer(X, y, shrinkage=shrinkage, **solver)
    model = LinearDiscriminantAnalysis(shrinkage=shrinkage)
    if shrinkage is None:
        warned("lie outside", model.fit, X, y)
        assert model.within_rank_ == 27
        assert model.tests_ is None
        assert sine(model.scalings_, theirs.scalings_[:, :2]) < 1e-7
    else:
        model.fit(X, y)
        agree(model.predict_proba(X), theirs.predict_proba(X), 1e-8)
    assert model.certificate_.met
    assert model.transform(X).shape == (30, 2)


@pytest.mark.parametrize("form", ["csr_matrix", "csr_array", "csc_array"])
@pytest.mark.parametrize("shrinkage", [None, "auto"])
def test_sparse_rows(form, shrinkage):
    X, y = classes(120, 6, 3, 31)
    X = np.where(np.abs(X) > 1, X, 0.0)
    X[:, 0] += 1e4  # a full column far off
    dense = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X, y)
    sparse = LinearDiscriminantAnalysis(shrinkage=shrinkage)
    sparse.fit(getattr(scipy.sparse, form)(X), y)
    np.testing.assert_allclose(sparse.eigenvalues_, dense.eigenvalues_, rtol=1e-8)
    agree(sparse.predict_proba(scipy.sparse.csr_array(X)), dense.predict_proba(X), 1e-8)


def test_whole_numbers_frames_and_text():
    X, y = DATA["iris"]
    whole = np.round(10 * X).astype(np.int16)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    plain = LinearDiscriminantAnalysis().fit(whole.astype(float), y)
    frame = pl.DataFrame(whole, schema=list("abcd"))
    model = LinearDiscriminantAnalysis().fit(frame, pl.Series(names))
    np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-12)
    assert list(model.classes_) == ["setosa", "versicolor", "virginica"]
    assert list(model.predict(frame)[:2]) == ["setosa", "setosa"]
    assert list(model.feature_names_in_) == list("abcd")


def test_priors():
    X, y = DATA["uneven"]
    priors = [0.2, 0.3, 0.5]
    model = LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    theirs = peer(X, y, priors=priors)
    scale = np.sqrt(len(y) / (len(y) - 3))  # older versions divide by n - G here
    wide = np.allclose(np.abs(theirs.scalings_), scale * np.abs(model.scalings_))
    assert sine(model.scalings_, theirs.scalings_) < 1e-7
    if wide:
        agree(model.predict_proba(X), theirs.predict_proba(X), 1e-9)
    plain = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(model.tests_.chi2, plain.tests_.chi2)
    never = LinearDiscriminantAnalysis(priors=[0.5, 0.5, 0]).fit(X, y)
    assert not np.any(never.predict(X) == 2)
    warned("sum to one", LinearDiscriminantAnalysis(priors=[1, 1, 2]).fit, X, y)


def test_regions_of_the_map():
    X, y = DATA["iris"]
    model = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_array_equal(model.classes_at(model.transform(X)), model.predict(X))
    assert model.classes_at(model.centres_).tolist() == [0, 1, 2]
    one = LinearDiscriminantAnalysis(1).fit(X, y)
    assert one.classes_at(one.centres_).tolist() == [0, 1, 2]
    refuses("at most 1 axes", one.classes_at, model.centres_)


def test_a_class_of_one_row_and_equal_means():
    X, y = classes(40, 3, 2, 37)
    y[0] = 9
    model = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(model.means_[-1], X[0])
    both = np.r_[X, X]
    same = LinearDiscriminantAnalysis().fit(both, np.repeat([0, 1], 40))
    assert same.eigenvalues_[0] < 1e-20
    np.testing.assert_allclose(same.predict_proba(X), 0.5)
    agree(same.explained_variance_ratio_, 0, 1)


def test_what_cannot_be_fitted_or_takes_too_much_memory():
    X, y = classes(20, 3, 2, 43)
    model = LinearDiscriminantAnalysis()
    refuses("min\\(n_features, n_classes - 1\\)", LinearDiscriminantAnalysis(2).fit, X, y)
    refuses("no column varies", model.fit, np.c_[y, y].astype(float), y)
    refuses("more rows than classes", model.fit, X, np.arange(20))
    X[4, 1] = np.nan
    refuses("row 4, column 1", model.fit, X, y)
    assert not hasattr(model, "classes_")
    with pytest.raises(mercer.errors.BudgetError, match="memory"):
        LinearDiscriminantAnalysis(memory="1kB").fit(*load_digits(return_X_y=True))
    refuses("1 class only: 'a'", fitted, np.array(["a", "a", "a"]))


@pytest.mark.parametrize(("kind", "times"), [(Gram, 1), (Svd, 2)])
def test_rows_are_read_as_often_as_the_plan_says(kind, times, monkeypatch):
    X, y = classes(9000, 6, 3, 3)
    read, block = np.zeros(9000, int), GroupedRows.block

    def record(self, part, buffer=None):
        read[part] += 1
        return block(self, part, buffer)

    monkeypatch.setattr(GroupedRows, "block", record)
    model = kind().fit(X, y)
    assert np.all(read == times)
    assert model.plan_.chosen.passes == times


@each_path
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("spread", [1.0, 1e-9, 1e9])
def test_far_from_the_origin(kind, offset, spread):
    """float64 up to mean/std 1e8: the axes of the stored numbers within 1e-10."""
    X, y = classes(300, 4, 3, 7)
    X = spread * (X + offset)
    values, axes = reference(X, y)
    model = kind().fit(X, y)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-10)
    assert sine(model.scalings_, axes) < 1e-10
    certificate = model.certificate_
    assert certificate.met
    hold(certificate, values, 1e-12)


@each_path
def test_classes_that_lie_far_apart_and_far_off(kind):
    X, y = classes(200, 3, 2, 8)
    X[y == 1] += 1e8
    values, axes = reference(X, y)
    model = kind().fit(X, y)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    assert sine(model.scalings_, axes) < 1e-9


def test_float32_rows_far_off():
    X, y = classes(500, 4, 3, 9)
    X = (X + 1e4).astype(np.float32)
    values, axes = reference(X, y)
    model = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    assert sine(model.scalings_, axes) < 1e-9
    Z = model.transform(X)
    assert Z.dtype == np.float32
    exact = (X.astype(np.float64) - model.xbar_) @ model.scalings_
    agree(Z, exact, 1e-4)


@pytest.mark.parametrize("kind", [*PATHS, LinearDiscriminantAnalysis])
def test_collinear_columns_change_nothing(kind):
    X, y = classes(90, 4, 3, 17)
    more = np.c_[X, X[:, 0] + X[:, 1], np.full(90, 7.0)]
    found = warned("singular", kind().fit, more, y)
    plain = kind().fit(X, y)
    assert found.within_rank_ == 4
    np.testing.assert_allclose(found.eigenvalues_, plain.eigenvalues_, rtol=1e-7)
    agree(found.predict_proba(more), plain.predict_proba(X), 1e-7)
    np.testing.assert_allclose(found.tests_.chi2, plain.tests_.chi2, rtol=1e-7)


def test_huge_tiny_and_collinear_numbers():
    X, y = classes(90, 3, 3, 19)
    X = X + 1e8
    more = np.c_[X, X[:, 0] + X[:, 1]]
    with pytest.warns(DataWarning, match="combinations of others"):
        assert LinearDiscriminantAnalysis().fit(more, y).within_rank_ == 3
    X, y = classes(60, 3, 3, 41)
    plain = LinearDiscriminantAnalysis().fit(X, y)
    for power in (-900, 900):
        model = LinearDiscriminantAnalysis().fit(np.ldexp(X, power), y)
        np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-9)
        agree(model.predict_proba(np.ldexp(X, power)), plain.predict_proba(X), 1e-9)


@pytest.mark.parametrize("kind", [Svd, LinearDiscriminantAnalysis])
def test_a_column_with_few_digits_takes_no_others_with_it(kind):
    """A clock far from zero rounds itself, and columns that nearly agree stay two columns."""
    X, y = classes(200, 3, 3, 21)
    X[:, 1] = X[:, 0] + 0.01 * X[:, 1]
    clock = 1.7e9 + 1e-5 * np.random.default_rng(0).normal(size=200)
    model = kind().fit(np.c_[X, clock], y)
    assert model.within_rank_ == 4
    values, _ = reference(np.c_[X, clock], y)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-6)
    still = np.c_[X, np.full(200, 0.1) + 2.0**-56 * (np.arange(200) % 2)]  # one unit apart
    assert kind().fit(still, y).within_rank_ == 3


def test_the_gram_path_hands_over_where_it_sees_too_little(monkeypatch):
    X, y = classes(400, 4, 3, 23)
    X[:, 3] = X[:, 0] + 1e-6 * X[:, 3]
    taken, solve = [], LinearDiscriminantAnalysis._solve

    def record(self, source, path, weights):
        taken.append(path.name)
        return solve(self, source, path, weights)

    monkeypatch.setattr(LinearDiscriminantAnalysis, "_solve", record)
    well = X.astype(np.longdouble)
    well[:, 3] = 1e6 * (well[:, 3] - well[:, 0])  # the same space, well conditioned
    values, _ = reference(well, y)
    model = LinearDiscriminantAnalysis().fit(X, y)
    assert taken == ["gram", "svd"]
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    with pytest.warns((AccuracyWarning, DataWarning)):
        Gram().fit(X, y)


def test_a_column_that_is_constant_in_every_class_is_named():
    X, y = classes(60, 3, 2, 29)
    frame = pd.DataFrame(X, columns=list("abc")).assign(code=10.0 * y)
    with pytest.warns(DataWarning, match="not the same") as seen:
        model = LinearDiscriminantAnalysis().fit(frame, y)
    assert model.tests_ is None
    assert "'code'" in str(seen[0].message)
    assert model.within_rank_ == 3
    assert model.structure_[3, 0] != 0
    assert model.structure_within_[3, 0] == 0
    assert model.scalings_[3, 0] == 0


@pytest.mark.parametrize("bad", [[1.0], [0.5, -0.5, 1], [np.nan, 1, 1], [0, 0, 0]])
def test_priors_that_cannot_be(bad):
    with pytest.raises(InputError, match="one probability per class"):
        LinearDiscriminantAnalysis(priors=bad).fit(*DATA["iris"])


X, y = load_iris(return_X_y=True)


def test_confusion_is_what_fits_without_the_rows_say():
    found = LinearDiscriminantAnalysis().confusion(X, y, folds=5, seed=3)
    assert found.counts.sum() == 150
    assert found.counts.sum(axis=1).tolist() == [50, 50, 50]
    assert found.accuracy == pytest.approx(np.mean(found.predicted == y))
    np.testing.assert_allclose(found.recall, np.diagonal(found.counts) / 50)
    assert "5 folds" in str(found)
    few = np.r_[0:150:6]
    found = LinearDiscriminantAnalysis().confusion(X[few], y[few], folds=len(few))
    for row in range(len(few)):
        rest = np.delete(few, row)
        model = LinearDiscriminantAnalysis().fit(X[rest], y[rest])
        assert found.predicted[row] == model.predict(X[few[row : row + 1]])[0]


@pytest.mark.parametrize("form", [pd.DataFrame, scipy.sparse.csr_array, np.ndarray.tolist])
def test_confusion_of_other_tables(form):
    names = np.array(["s", "ve", "vi"])[y]
    found = LinearDiscriminantAnalysis().confusion(form(X), names, folds=3)
    assert found.classes.tolist() == ["s", "ve", "vi"]
    assert found.accuracy > 0.9


def test_a_class_of_one_row_cannot_be_right_and_has_no_ellipse():
    A, b = classes(30, 3, 2, 1)
    b[0] = 5
    found = LinearDiscriminantAnalysis().confusion(A, b, folds=5)
    assert found.recall[2] == 0
    refuses("folds", LinearDiscriminantAnalysis().confusion, A, b, folds=1)
    A, b = classes(40, 3, 3, 3)
    b[0] = 9
    model = LinearDiscriminantAnalysis().fit(A, b)
    assert model.ellipses(A, b).outline(3) is None
    two = LinearDiscriminantAnalysis().fit(A, b > 0)
    refuses("no plane", two.ellipses(A, b > 0).outline, 0)
    refuses("level", model.ellipses, A, b, level=1.0)


def test_ellipses_hold_their_share():
    A, b = classes(6000, 4, 3, 2)
    model = LinearDiscriminantAnalysis().fit(A, b)
    found = model.ellipses(A, b, level=0.9)
    Z = model.transform(A)
    for g in range(3):
        gone = Z[b == g] - found.centres[g]
        distance = np.einsum("ij,jk,ik->i", gone, np.linalg.inv(found.covariances[g]), gone)
        assert np.mean(distance < chi2.ppf(0.9, 2)) == pytest.approx(0.9, abs=0.03)
        outline = found.outline(g) - found.centres[g]
        radius = np.einsum("ij,jk,ik->i", outline, np.linalg.inv(found.covariances[g]), outline)
        np.testing.assert_allclose(radius, chi2.ppf(0.9, 2), rtol=1e-9)
        small = found.outline(g, mean=True) - found.centres[g]
        agree(small * np.sqrt(2000), outline, 1e-9)
    agree(found.centres, model.centres_, 1e-9)


def test_the_statistic_is_wilks():
    X, y = classes(60, 4, 3, 1)
    found = LinearDiscriminantAnalysis().permutation(X, y, 200, seed=0)
    model = LinearDiscriminantAnalysis().fit(X, y)
    assert found.statistic == "wilks"
    assert found.observed == pytest.approx(model.tests_.wilks[0], rel=1e-9)
    shuffled = np.random.default_rng(0).permutation(y)
    again = LinearDiscriminantAnalysis().fit(X, shuffled)
    assert found.null[0] == pytest.approx(again.tests_.wilks[0], rel=1e-9)
    assert found.p_value == 1 / 201
    assert len(found.null) == 200


def test_permutations_far_off_and_of_more_columns_than_rows():
    X, y = classes(60, 3, 2, 2, apart=0.4)
    near = LinearDiscriminantAnalysis().permutation(X, y, 50)
    far = LinearDiscriminantAnalysis().permutation(np.round(X, 3) + 1e7, y, 50)
    assert far.observed == pytest.approx(near.observed, rel=1e-2)
    X, y = classes(24, 60, 2, 3, apart=1.0)
    found = LinearDiscriminantAnalysis().permutation(X, y, 99)
    assert found.statistic == "share"
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    means = np.stack([Z[y == g].mean(axis=0) for g in range(2)])
    assert found.observed == pytest.approx(12 * np.sum(means**2) / np.sum(Z**2))
    assert found.p_value == 0.01
    refuses("at least once", LinearDiscriminantAnalysis().permutation, X, y, 0)


def even(count, draws):
    """p-values of noise over `count` tables."""
    rng, p = np.random.default_rng(4), []
    y = np.arange(30) % 3
    for i in range(count):
        X = rng.standard_exponential(size=(30, 3))
        p.append(LinearDiscriminantAnalysis().permutation(X, y, draws, seed=i).p_value)
    return np.array(p)


def test_noise_gives_even_p_values():
    p = even(40, 19)
    assert abs(p.mean() - 0.5) < 4 * np.sqrt(1 / 12 / 40)


@pytest.mark.slow
def test_noise_gives_even_p_values_over_many_tables():
    p = even(600, 59)
    for level in (0.05, 0.2, 0.5, 0.8):
        assert np.mean(p <= level) == pytest.approx(
            level, abs=1 / 60 + 4 * np.sqrt(level * (1 - level) / 600)
        )


ROWS = np.array([[0.0], [5.0], [0.3], [5.1], [4.9]])


def fitted(y, weights=None, n=5):
    """Return the analysis of as many rows as there are labels, or of five."""
    count = len(y) if hasattr(y, "__len__") and len(y) > 2 else n
    return LinearDiscriminantAnalysis().fit(ROWS[:count], y, sample_weight=weights)


class Given(TellsClasses, BaseEstimator):
    """Decisions that are known."""

    def __init__(self, delta):
        self.delta = delta

    def fit(self):
        self.classes_ = np.array(list("abc"))[: self.delta.shape[1]]
        return self

    def _decisions(self, X):
        return self.delta[X]


def test_decisions_far_apart_and_of_two_classes():
    delta = np.array([[0.0, 1000.0, -1000.0], [5.0, 5.0, -np.inf]])
    model = Given(delta).fit()
    rows = np.array([0, 1])
    np.testing.assert_allclose(model.predict_proba(rows), [[0, 1, 0], [0.5, 0.5, 0]])
    assert model.predict_log_proba(rows)[0, 0] == -1000  # not the log of zero
    assert model.predict(rows).tolist() == ["b", "a"]
    assert model.decision_function(rows).shape == (2, 3)
    model = Given(np.array([[1.0, 3.0], [2.0, 0.0]])).fit()
    assert model.decision_function(np.array([0, 1])).tolist() == [2.0, -2.0]


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b", "a"],
        np.array(["b", "a", "b", "a"], dtype=object),
        pd.Series(["b", "a", "b", "a"], dtype="category"),
        pl.Series(["b", "a", "b", "a"]),
        [True, False, True, False],
        np.array([2.0, 1.0, 2.0, 1.0]),
        pd.Series([7, 3, 7, 3], dtype="Int64"),
    ],
    ids=lambda y: type(y).__name__,
)
def test_labels_of_any_kind(y):
    found = fitted(y)
    assert len(found.classes_) == 2
    np.testing.assert_allclose(
        found.means_, [ROWS[[1, 3]].mean(axis=0), ROWS[[0, 2]].mean(axis=0)]
    )


@pytest.mark.parametrize(
    "y",
    [
        [1.0, np.nan, 2.0, 1.0], ["a", None, "b", "a"],
        np.array(["a", np.nan, "b", "a"], dtype=object), pd.Series(["a", pd.NA, "b", "a"]),
        pd.Series([1, pd.NA, 2, 1], dtype="Int64"), pl.Series(["a", None, "b", "a"]),
    ],
    ids=lambda y: type(y).__name__,
)  # fmt: skip
def test_a_row_without_a_label_is_named(y):
    refuses("row 1", fitted, y)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "requires y"),
        ([0.1, 0.5, 0.2, 0.9], "Unknown label type"),
        ([1.0, np.inf, 2.0, 1.0], "infinity"),
        (["a", "a", "a", "a"], "two classes"),
        (["a", "b", "a"], "one label per row"),
        (["a", "b", "c", "d"], "more rows than classes"),
        (np.zeros((4, 2)), "1d array|multilabel|shape"),
        (np.array(["a", 1, "a", 1], dtype=object), "different kinds|Unknown label|mixed"),
    ],
)
def test_what_is_no_label(y, words):
    refuses(words, LinearDiscriminantAnalysis().fit, ROWS[:4], y)


def test_classes_without_weight_are_left_out_by_name():
    weights = np.array([1.0, 1, 0, 2, 1])
    found = warned("'gone'", fitted, ["a", "b", "gone", "a", "b"], weights)
    assert found.classes_.tolist() == ["a", "b"]
    np.testing.assert_allclose(found.means_[1], ROWS[[1, 4]].mean(axis=0))
    with (
        pytest.warns(DataWarning),
        pytest.raises(InputError, match="two classes"),
    ):
        fitted(["a", "b", "b", "a", "a"], np.array([1.0, 0, 0, 2, 1]))


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (pd.cut([1.0, 2.0, 9.0], 2), r"Interval '\(0.992, 5.0\]' at row 0"),
        (
            pd.Series(pd.PeriodIndex(["2020", "2021", "2020"], freq="Y")),
            "Period '2020' at row 0",
        ),
        (np.array(["a", ("b",), "a"], dtype=object), "tuple"),
    ],
)
def test_labels_that_are_neither_text_nor_numbers_are_named(labels, words):
    with pytest.raises(InputError, match=words) as error:
        fitted(labels)
    assert "str" in error.value.fix
