import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.decomposition
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import mercer
from mercer.dropin import KernelPCA
from mercer.kernels import RBF, Linear

Peer = sklearn.decomposition.KernelPCA
SOLVERS = ["auto", "dense", "arpack", "randomized"]


def table(n=40, p=5, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def shared(x, y, weight=1.0):
    return weight * float(np.minimum(x, y).sum())


# -- options ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "without_effect",
    [
        *({"eigen_solver": solver} for solver in SOLVERS),
        {"max_iter": 7},
        {"iterated_power": 7},
        {"copy_X": False},
        {"n_jobs": 2},
        {"random_state": np.random.RandomState(3)},
    ],
    ids=lambda given: "-".join(
        f"{k}-{type(v).__name__}-{str(v)[:8]}" for k, v in given.items()
    ),
)
def test_parameters_without_effect_are_taken_and_have_none(without_effect):
    X = table()
    X.flags.writeable = False
    plain = KernelPCA(3, kernel="rbf").fit(X)
    other = KernelPCA(3, kernel="rbf", **without_effect).fit(X)
    np.testing.assert_array_equal(plain.eigenvectors_, other.eigenvectors_)


def test_the_tolerance_is_arpacks():
    X = table()
    for solver, want in [("arpack", 1e-3), ("auto", 1e-3), ("dense", 1e-6)]:
        model = KernelPCA(3, kernel="rbf", eigen_solver=solver, tol=1e-3).fit(X)
        assert model.certificate_.tol == want
    assert KernelPCA(3, kernel="rbf", tol=0).fit(X).certificate_.tol == 1e-6


def test_all_axes_are_taken_without_a_word_and_a_number_is_a_promise():
    X = table(60, 2)
    model = KernelPCA(kernel="rbf").fit(X)
    assert not model.certificate_.met
    with pytest.warns(mercer.AccuracyWarning, match="not certified"):
        KernelPCA(model.n_components_, kernel="rbf").fit(X)


def test_the_certificate_speaks_of_what_is_kept():
    X = table()
    model = KernelPCA(kernel="poly").fit(X)
    c = model.certificate_
    assert len(c.lower) == model.n_components_
    slack = 1e-12 * model.eigenvalues_[0]
    assert (c.lower - slack <= model.eigenvalues_).all()
    assert (model.eigenvalues_ <= c.upper + slack).all()
    assert mercer.plan(KernelPCA(kernel="poly"), X).chosen.name == model.plan_.chosen.name


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_components": 0},
        {"n_components": 0.5},
        {"kernel": "laplacian"},
        {"kernel": "rbf + linear"},
        {"gamma": -1},
        {"degree": -1},
        {"alpha": -1},
        {"eigen_solver": "full"},
        {"tol": -1},
        {"fit_inverse_transform": "yes"},
    ],
    ids=str,
)
def test_parameters_are_refused_as_scikit_learn_does(wrong):
    with pytest.raises(ValueError, match="parameter of KernelPCA must be") as theirs:
        Peer(**wrong).fit(table())
    with pytest.raises(ValueError, match="parameter of KernelPCA must be") as ours:
        KernelPCA(**wrong).fit(table())
    name = next(iter(wrong))
    assert f"The '{name}' parameter" in str(theirs.value)
    assert f"The '{name}' parameter" in str(ours.value)


def test_a_refused_fit_leaves_the_old_model():
    model = KernelPCA(2, kernel="rbf").fit(table())
    before = dict(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((4, 3), np.nan))
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)


# -- in company ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [KernelPCA, mercer.KernelPCA], ids=["face", "mercer"])
def test_set_params_after_fit_changes_nothing_fitted(kind):
    X = table()
    model = kind(2, kernel="rbf").fit(X)
    fitted = {name: value for name, value in vars(model).items() if name.endswith("_")}
    Z = model.transform(X)
    model.set_params(kernel="linear", n_components=4)
    assert all(getattr(model, name) is value for name, value in fitted.items())
    np.testing.assert_array_equal(model.transform(X), Z)
    assert list(model.get_feature_names_out()) == ["kernelpca0", "kernelpca1"]


def test_the_way_back_stays_after_set_params():
    X = table()
    model = KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(X)
    Z = model.transform(X)
    back = model.inverse_transform(Z)
    model.set_params(kernel="linear", fit_inverse_transform=False, gamma=7.0)
    np.testing.assert_array_equal(model.inverse_transform(Z), back)
    assert "dual_coef_" not in vars(model.fit(X))


@pytest.mark.parametrize(
    "model",
    [
        KernelPCA(2, kernel="rbf", fit_inverse_transform=True),
        KernelPCA(2, kernel=shared, kernel_params={"weight": 2.0}),
        KernelPCA(2, kernel="poly", remove_zero_eig=True),
        mercer.KernelPCA(2),
        mercer.KernelPCA(2, kernel="rbf(lengthscale=2) + linear"),
        mercer.KernelPCA(2, kernel=Linear()),
    ],
)
def test_it_can_be_cloned_and_pickled(model):
    X = np.abs(table())
    model = clone(model).fit(X)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.eigenvalues_, model.eigenvalues_)
    if model.get_params().get("fit_inverse_transform", True):
        Z = model.transform(X)
        np.testing.assert_array_equal(again.inverse_transform(Z), model.inverse_transform(Z))


@pytest.mark.parametrize("kind", [KernelPCA, mercer.KernelPCA], ids=["face", "mercer"])
@pytest.mark.parametrize(
    ("name", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)]
)
def test_frames_in_and_out(kind, name, frame):
    X = pd.DataFrame(table(), columns=list("abcde"))
    X = X if name == "pandas" else pl.from_pandas(X)
    model = kind(2, kernel="rbf").set_output(transform=name)
    for Z in (model.fit_transform(X), model.transform(X)):
        assert isinstance(Z, frame)
        assert list(Z.columns) == ["kernelpca0", "kernelpca1"]
    assert list(model.feature_names_in_) == list("abcde")
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(X.rename({"a": "z"} if name == "polars" else str.upper, **_axis(name)))


def _axis(name):
    return {} if name == "polars" else {"axis": "columns"}


def test_the_lengthscale_is_searched_in_a_pipeline():
    X = table(60, 2)
    y = (np.linalg.norm(X, axis=1) > 1.1).astype(int)
    pipeline = make_pipeline(mercer.KernelPCA(4), LogisticRegression(C=1e3))
    grid = {"kernelpca__kernel__lengthscale": [1.0, 100.0], "kernelpca__n_components": [1, 4]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_params_ == {
        "kernelpca__kernel__lengthscale": 1.0,
        "kernelpca__n_components": 4,
    }
    assert search.best_estimator_[0].kernel_ == RBF(1.0)
    assert search.best_score_ > 0.85
    assert mercer.KernelPCA().kernel == RBF()


def test_gamma_is_searched_in_a_pipeline():
    X = table(60, 2)
    y = (np.linalg.norm(X, axis=1) > 1.1).astype(int)
    pipeline = make_pipeline(KernelPCA(4, kernel="rbf"), LogisticRegression(C=1e3))
    search = GridSearchCV(pipeline, {"kernelpca__gamma": [0.5, 1e-4]}, cv=3).fit(X, y)
    assert search.best_params_ == {"kernelpca__gamma": 0.5}


def test_searches_need_a_score_or_the_way_back():
    X = table()
    with pytest.raises(TypeError, match="score"):
        GridSearchCV(KernelPCA(kernel="rbf"), {"n_components": [1, 2]}, cv=3).fit(X)
    model = KernelPCA(2, kernel="rbf", fit_inverse_transform=True)
    search = GridSearchCV(model, {"alpha": [1e-3, 100.0]}, cv=3).fit(X)
    assert search.best_params_ == {"alpha": 1e-3}


def test_no_landmarks_and_no_blocks():
    """scikit-learn's class has a vector on the samples, whatever the memory."""
    X = np.random.default_rng(0).standard_normal((3000, 3))
    roomy = KernelPCA(2, kernel="rbf", gamma=0.1).fit(X)
    names = {path.name for path, _ in roomy.plan_.rejected} | {roomy.plan_.chosen.name}
    assert "landmarks" not in names

    class Narrow(KernelPCA):
        memory = 125_000_000  # less than the stored matrix takes

    model = Narrow(2, kernel="rbf", gamma=0.1).fit(X)
    assert model.plan_.chosen.name == "tiles"
    assert model.eigenvectors_.shape == (3000, 2)
    np.testing.assert_allclose(model.eigenvalues_, roomy.eigenvalues_, rtol=1e-5)
    for name in ("partial_fit", "landmarks_"):
        assert not hasattr(model, name)
    assert not {"landmarks", "tol_transform"} & set(model.get_params())
