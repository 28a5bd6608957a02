import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn.decomposition
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import kernels as gaussian_process
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import _check_psd_eigenvalues
from tests.claims import agree, refuses

import mercer
from mercer.dropin import KernelPCA
from mercer.dropin._kernel_rules import positive
from mercer.errors import DataWarning, InputError, MercerError
from mercer.kernels import RBF, FeatureMap, Precomputed

Peer = sklearn.decomposition.KernelPCA
KERNELS = ["linear", "poly", "rbf", "sigmoid", "cosine"]
SOLVERS = ["auto", "dense", "arpack", "randomized"]
quiet = pytest.mark.filterwarnings("ignore:negative eigenvalues are left out")


def table(n=40, p=5, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).normal(size=(n, p)).astype(dtype)


def shared(x, y, weight=1.0):
    return weight * float(np.minimum(x, y).sum())


def same(ours, theirs, X, atol=1e-9):
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9, atol=1e-12)
    agree(ours.eigenvectors_, theirs.eigenvectors_, atol)
    agree(ours.transform(X), theirs.transform(X), atol)


def test_every_fitted_attribute_of_scikit_learn_is_there():
    X = pd.DataFrame(table(), columns=list("abcde"))
    theirs = Peer(2, kernel="rbf", fit_inverse_transform=True).fit(X)
    ours = KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(X)
    for name in (name for name in vars(theirs) if name.endswith("_")):
        mine, peer = getattr(ours, name), getattr(theirs, name)
        assert np.shape(mine) == np.shape(peer), name
        if name != "feature_names_in_":
            np.testing.assert_allclose(mine, peer, rtol=0, atol=1e-9, err_msg=name)
    assert list(ours.feature_names_in_) == list("abcde")
    plain = vars(KernelPCA(2).fit(X))
    assert not {"dual_coef_", "X_transformed_fit_"} & set(plain)


@quiet
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("kernel", KERNELS)
def test_attributes_and_coordinates_are_those_of_an_exact_fit(kernel, k):
    X, new = table(), table(9, seed=1)
    ours = KernelPCA(k, kernel=kernel).fit(X)
    theirs = Peer(k, kernel=kernel, eigen_solver="dense").fit(X)
    same(ours, theirs, new)
    agree(ours.fit_transform(X), theirs.fit_transform(X), 1e-9)
    agree(ours.transform(X), ours.fit_transform(X), 1e-10)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "cosine"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_none_keeps_the_eigenvalues_that_are_not_zero(kernel, dtype):
    X = table(30, 3, dtype=dtype)
    ours = KernelPCA(kernel=kernel).fit(X)
    theirs = Peer(kernel=kernel).fit(X)
    assert ours.n_components_ == len(theirs.eigenvalues_) == ours.transform(X).shape[1]
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-2, atol=1e-5)
    assert (ours.eigenvalues_ > 0).all()


@quiet
@pytest.mark.parametrize("given", [{"gamma": 0.7}, {"degree": 2}, {"coef0": 0.3}, {}], ids=str)
@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])
def test_parameters_of_the_kernel_mean_the_same(kernel, given):
    X = table()
    ours, theirs = KernelPCA(3, kernel=kernel, **given), Peer(3, kernel=kernel, **given)
    same(ours.fit(X), theirs.fit(X), X)
    assert ours.gamma_ == theirs.gamma_ == given.get("gamma", 1 / 5)


@quiet
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_way_back_is_scikit_learns(kernel):
    X, new = table(), table(9, seed=1)
    given = {"kernel": kernel, "fit_inverse_transform": True, "alpha": 0.1, "gamma": 0.1}
    ours, theirs = KernelPCA(4, **given).fit(X), Peer(4, **given, eigen_solver="dense").fit(X)
    agree(ours.dual_coef_, theirs.dual_coef_, 1e-8)
    agree(ours.X_transformed_fit_, theirs.X_transformed_fit_, 1e-9)
    Z = theirs.transform(new)
    agree(ours.inverse_transform(Z), theirs.inverse_transform(Z), 1e-8)


def test_callables_and_kernels_of_gaussian_processes():
    X = np.abs(table())
    given = {"kernel": shared, "kernel_params": {"weight": 3.0}}
    same(KernelPCA(3, **given).fit(X), Peer(3, **given).fit(X), X)
    given = {"kernel": np.dot, "fit_inverse_transform": True}
    ours, theirs = KernelPCA(3, **given).fit(X), Peer(3, **given).fit(X)
    agree(ours.dual_coef_, theirs.dual_coef_, 1e-8)
    X = scipy.sparse.csr_array(np.random.default_rng(0).poisson(0.4, (20, 6)).astype(float))

    def product(x, y):
        return float(x.multiply(y).sum())

    same(KernelPCA(3, kernel=product).fit(X), Peer(3, kernel=product).fit(X), X)
    X = table()
    kernel = gaussian_process.RBF(2.0)
    same(KernelPCA(3, kernel=kernel).fit(X), Peer(3, kernel=kernel).fit(X), X)
    model = KernelPCA(3, kernel=kernel).set_params(kernel__length_scale=1.0)
    assert model.kernel == gaussian_process.RBF(1.0)


def test_kernels_of_ours_are_taken():
    X = table()
    model = KernelPCA(3, kernel=RBF()).fit(X)
    np.testing.assert_allclose(
        model.eigenvalues_, mercer.KernelPCA(3, kernel=RBF()).fit(X).eigenvalues_
    )
    assert model.set_params(kernel__lengthscale=2.0).kernel == RBF(2.0)
    mapped = KernelPCA(2, kernel=FeatureMap(lambda rows: rows**2)).fit(X)
    plain = KernelPCA(2).fit(X**2)
    np.testing.assert_allclose(mapped.transform(X), plain.transform(X**2))


@quiet
@pytest.mark.parametrize("container", [scipy.sparse.csr_array, scipy.sparse.csc_matrix])
@pytest.mark.parametrize("kernel", KERNELS)
def test_sparse_data_is_taken(kernel, container):
    X = np.random.default_rng(0).poisson(0.4, (40, 12)).astype(float)
    sparse = KernelPCA(3, kernel=kernel).fit(container(X))
    dense = Peer(3, kernel=kernel, eigen_solver="dense").fit(X)
    np.testing.assert_allclose(sparse.eigenvalues_, dense.eigenvalues_, rtol=1e-9)
    agree(sparse.transform(container(X)), dense.transform(X), 1e-8)


@quiet
@pytest.mark.parametrize("kernel", KERNELS)
def test_float32_stays_float32_and_eigenvalues_are_float64(kernel):
    X = table(dtype=np.float32) * np.float32(0.1)
    given = {"kernel": kernel, "coef0": 0.0} if kernel == "sigmoid" else {"kernel": kernel}
    model = KernelPCA(2, **given, fit_inverse_transform=True).fit(X)
    for found in (model.transform(X), model.eigenvectors_, model.dual_coef_, model.X_fit_):
        assert found.dtype == np.float32
    assert model.inverse_transform(model.transform(X)).dtype == np.float32
    assert model.eigenvalues_.dtype == np.float64


def test_far_rows_and_more_components_than_rows():
    X = np.round(table() * 2**20) / 2**20
    near = KernelPCA(3, kernel="rbf").fit(X)
    far = KernelPCA(3, kernel="rbf").fit(X + 2.0**26)
    np.testing.assert_allclose(far.eigenvalues_, near.eigenvalues_, rtol=1e-9)
    X = table(8, 3)
    for kernel in ("linear", "rbf"):
        ours, theirs = KernelPCA(50, kernel=kernel).fit(X), Peer(50, kernel=kernel).fit(X)
        assert ours.eigenvectors_.shape == theirs.eigenvectors_.shape == (8, 8)
        assert ours.transform(X).shape == ours.fit_transform(X).shape == (8, 8)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "cosine"])
def test_vectors_beyond_the_rank_complete_the_others(kernel):
    X = np.repeat(table(10, 2), 2, axis=0)
    model = KernelPCA(14, kernel=kernel).fit(X)
    assert model.rank_ < 14
    assert model.rank_ == np.sum(model.eigenvalues_ > 0)
    U = model.eigenvectors_
    agree(U.T @ U, np.eye(14), 1e-11)  # λ₁/λ₉ is 3e5, and squares are summed
    for Z in (model.transform(X), model.fit_transform(X)):
        assert Z.shape == (20, 14)
        assert not Z[:, model.rank_ :].any()
    assert model.explained_variance_.shape == model.certificate_.lower.shape == (14,)


def test_the_certificate_speaks_of_what_is_kept():
    X = np.repeat(table(10, 2), 2, axis=0)
    model = KernelPCA(14, kernel="rbf", remove_zero_eig=True).fit(X)
    assert model.n_components_ == len(model.eigenvalues_) == model.rank_ == 9
    assert len(model.get_feature_names_out()) == 9
    assert model.transform(X[:3]).shape == (3, 9)
    assert len(model.certificate_.lower) == 9
    X = table()
    model = KernelPCA(kernel="poly").fit(X)
    c = model.certificate_
    assert len(c.lower) == model.n_components_
    slack = 1e-12 * model.eigenvalues_[0]
    assert (c.lower - slack <= model.eigenvalues_).all()
    assert (model.eigenvalues_ <= c.upper + slack).all()
    assert mercer.plan(KernelPCA(kernel="poly"), X).chosen.name == model.plan_.chosen.name


@pytest.mark.parametrize(
    "given",
    [
        {"kernel": "rbf", "gamma": 0},
        {"kernel": "poly", "degree": 0},
        {"kernel": "poly", "gamma": 0, "coef0": -1},
        {"kernel": "sigmoid", "gamma": 0, "coef0": 0},
    ],
    ids=str,
)
def test_a_constant_kernel_has_no_axes(given):
    X = table()
    assert KernelPCA(**given).fit_transform(X).shape == Peer(**given).fit_transform(X).shape
    with pytest.raises(InputError):  # a root of a negative constant
        KernelPCA(2, kernel="poly", gamma=0, degree=0.5, coef0=-1).fit(X)
    model = KernelPCA(2, **given, fit_inverse_transform=True, alpha=50.0).fit(X)
    assert not model.eigenvalues_.any()
    assert not model.transform(X[:3]).any()
    assert not model.explained_variance_ratio_.any()
    np.testing.assert_allclose(model.eigenvectors_.T @ model.eigenvectors_, np.eye(2))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "cosine"])
@pytest.mark.parametrize("make", [np.array, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_rows_that_are_all_equal_have_no_axes(kernel, make):
    X = make(np.ones((6, 3)))
    assert KernelPCA(kernel=kernel).fit_transform(X).shape == (6, 0)
    assert KernelPCA(kernel=kernel).fit(X).transform(X).shape == (6, 0)
    model = KernelPCA(2, kernel=kernel).fit(X)
    assert not model.transform(make(np.eye(3))).any()


@pytest.mark.parametrize("kernel", ["precomputed", Precomputed()], ids=["name", "kernel"])
def test_a_matrix_stands_for_its_rows(kernel):
    X, new = table(), table(9, seed=1)
    rows = KernelPCA(3, kernel="linear").fit(X)
    matrix = KernelPCA(3, kernel=kernel).fit(X @ X.T)
    np.testing.assert_allclose(matrix.eigenvalues_, rows.eigenvalues_)
    agree(matrix.transform(new @ X.T), rows.transform(new), 1e-10)
    agree(matrix.fit_transform(X @ X.T), rows.transform(X), 1e-10)


@pytest.mark.parametrize("copy", [True, False])
def test_a_matrix_is_kept_and_never_written_to(copy):
    X = table()
    K = X @ X.T
    before = K.copy()
    model = KernelPCA(3, kernel="precomputed", copy_X=copy).fit(K)
    np.testing.assert_array_equal(K, before)
    np.testing.assert_array_equal(model.X_fit_, K)
    assert np.shares_memory(model.X_fit_, K) is not copy


def test_which_matrices_are_taken():
    X, new = table(), table(9, seed=1)
    shift = np.random.default_rng(3).normal(size=(2, 40))
    K = X @ X.T + shift[0] + shift[1][:, None]
    given = {"n_components": 3, "kernel": "precomputed"}
    ours, theirs = KernelPCA(**given).fit(K), Peer(**given, eigen_solver="dense").fit(K)
    same(ours, theirs, new @ X.T + shift[0])
    agree(ours.transform(K), ours.fit_transform(K), 1e-9)
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="must be symmetric"):
        KernelPCA(2, kernel="precomputed").fit(rng.normal(size=(6, 6)))
    refuses("must be square", KernelPCA(2, kernel="precomputed").fit, rng.normal(size=(6, 4)))
    refuses("NaN", KernelPCA(2, kernel="precomputed").fit, np.diag([1.0, np.nan, 2.0]))
    refuses("NaN", KernelPCA(2, kernel="precomputed").fit, np.full((4, 4), np.nan))
    model = KernelPCA(2, kernel="precomputed").fit(np.eye(6))
    refuses("6 features", model.transform, np.eye(4), kind=ValueError)


SPECTRA = [
    *([3.0, 2.0, 1e-3], [3.0, 1e-13, 1e-20], [3.0, 1e-7, 0.0], [3.0, 2.0, -1e-8]),
    *([1e-6, -1e-11], [0.0, 0.0], [3.0, -1e-3], [3.0, 2.0, -3.0], [1.0, -0.1]),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("values", SPECTRA, ids=str)
def test_what_counts_as_zero_is_scikit_learns_rule(values, dtype):
    values, itemsize = np.array(values), np.dtype(dtype).itemsize
    try:
        want, refused = _check_psd_eigenvalues(values.astype(dtype)), ""
    except ValueError as error:
        want, refused = None, str(error)
    if refused:
        with pytest.raises(InputError, match="indefinite=") as ours:
            positive(values, itemsize, 0.0)
        assert str(ours.value).startswith(refused)
    else:
        np.testing.assert_allclose(positive(values, itemsize, 0.0), want, rtol=1e-6)


def test_what_rounding_can_produce_is_zero_and_nothing_positive_is_refused():
    np.testing.assert_array_equal(positive(np.array([1.0, 1e-9]), 8, 1e-8), [1.0, 0.0])
    np.testing.assert_array_equal(positive(np.array([1e-9, -1e-9]), 8, 1e-8), [0.0, 0.0])
    assert positive(np.array([]), 8, 0.0).shape == (0,)
    refuses("none is positive", positive, np.array([-1.0, -2.0]), 8, 0.0)


def test_negative_eigenvalues_are_looked_for_among_those_asked_for():
    signs = np.diag([5.0, 4.0, 3.0, -2.0, -4.5])
    q, _ = np.linalg.qr(np.c_[np.ones(6), table(6, 5)])
    K = q[:, 1:] @ signs @ q[:, 1:].T
    for solver in SOLVERS:
        with pytest.warns(DataWarning, match="negative eigenvalues are left out"):
            model = KernelPCA(3, kernel="precomputed", eigen_solver=solver).fit(K)
        np.testing.assert_allclose(model.eigenvalues_, [5, 4, 3])
        with (
            pytest.warns(DataWarning),
            pytest.raises(ValueError, match="There are significant negative eigenvalues"),
        ):
            KernelPCA(6, kernel="precomputed", eigen_solver=solver).fit(K)


def test_where_there_is_no_way_back():
    X = table()
    model = KernelPCA(2).fit(X)
    with pytest.raises(NotFittedError, match="fit_inverse_transform parameter was not") as one:
        model.inverse_transform(model.transform(X))
    assert isinstance(one.value, MercerError)
    assert not hasattr(model, "score")
    with pytest.raises(NotFittedError):
        KernelPCA(2, fit_inverse_transform=True).inverse_transform(X)
    with pytest.raises(NotImplementedError, match="not implemented for sparse") as caught:
        KernelPCA(2, fit_inverse_transform=True).fit(scipy.sparse.csr_array(table()))
    assert isinstance(caught.value, MercerError)
    for kernel in ("precomputed", Precomputed()):
        with pytest.raises(ValueError, match="Cannot fit_inverse_transform with a precomputed"):
            KernelPCA(2, kernel=kernel, fit_inverse_transform=True).fit(np.eye(5))


def test_the_way_back_stays_after_set_params_and_goes_by_blocks(monkeypatch):
    X = table()
    model = KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(X)
    Z = model.transform(X)
    back, fitted = (
        model.inverse_transform(Z),
        {n: v for n, v in vars(model).items() if n[-1] == "_"},
    )
    model.set_params(kernel="linear", fit_inverse_transform=False, gamma=7.0, n_components=4)
    np.testing.assert_array_equal(model.inverse_transform(Z), back)
    np.testing.assert_array_equal(model.transform(X), Z)
    assert all(getattr(model, name) is value for name, value in fitted.items())
    assert list(model.get_feature_names_out()) == ["kernelpca0", "kernelpca1"]
    monkeypatch.setattr("mercer.dropin._kernel_rules._BLOCK", 3)
    np.testing.assert_allclose(model.inverse_transform(Z), back)
    assert "dual_coef_" not in vars(model.fit(X))


def test_what_comes_back_is_scored_and_a_singular_regression_says_so():
    given = {"kernel": "linear", "fit_inverse_transform": True, "alpha": 0.0}
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite") as caught:
        KernelPCA(2, **given).fit(table(20, 2))
    assert isinstance(caught.value, InputError)
    assert "larger alpha" in str(caught.value)
    X = table(60, 2)
    given = {"kernel": "rbf", "gamma": 1.0, "fit_inverse_transform": True}
    found = [KernelPCA(30, **given, alpha=a).fit(X).score(X) for a in (1e-4, 10.0)]
    assert 0.9 < found[0] <= 1
    assert found[1] < found[0]


@pytest.mark.parametrize(
    "without_effect",
    [
        *({"eigen_solver": solver} for solver in SOLVERS), {"max_iter": 7},
        {"iterated_power": 7}, {"copy_X": False}, {"n_jobs": 2},
        {"random_state": np.random.RandomState(3)},
    ],
    ids=lambda given: "-".join(
        f"{k}-{type(v).__name__}-{str(v)[:8]}" for k, v in given.items()
    ),
)  # fmt: skip
def test_parameters_without_effect_are_taken_and_have_none(without_effect):
    X = table()
    X.flags.writeable = False
    plain = KernelPCA(3, kernel="rbf").fit(X)
    other = KernelPCA(3, kernel="rbf", **without_effect).fit(X)
    np.testing.assert_array_equal(plain.eigenvectors_, other.eigenvectors_)


def test_the_tolerance_is_arpacks_and_a_number_is_a_promise():
    X = table()
    for solver, want in [("arpack", 1e-3), ("auto", 1e-3), ("dense", 1e-6)]:
        model = KernelPCA(3, kernel="rbf", eigen_solver=solver, tol=1e-3).fit(X)
        assert model.certificate_.tol == want
    assert KernelPCA(3, kernel="rbf", tol=0).fit(X).certificate_.tol == 1e-6
    X = table(60, 2)
    model = KernelPCA(kernel="rbf").fit(X)
    assert not model.certificate_.met
    with pytest.warns(mercer.AccuracyWarning, match="not certified"):
        KernelPCA(model.n_components_, kernel="rbf").fit(X)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_components": 0}, {"n_components": 0.5}, {"kernel": "laplacian"},
        {"kernel": "rbf + linear"}, {"gamma": -1}, {"degree": -1}, {"alpha": -1},
        {"eigen_solver": "full"}, {"tol": -1}, {"fit_inverse_transform": "yes"},
    ],
    ids=str,
)  # fmt: skip
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
    refuses("NaN", model.fit, np.full((4, 3), np.nan), kind=ValueError)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)


@pytest.mark.parametrize(
    "model",
    [
        KernelPCA(2, kernel="rbf", fit_inverse_transform=True),
        KernelPCA(2, kernel=shared, kernel_params={"weight": 2.0}),
        KernelPCA(2, kernel="poly", remove_zero_eig=True),
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


def test_searches():
    X = table(60, 2)
    y = (np.linalg.norm(X, axis=1) > 1.1).astype(int)
    pipeline = make_pipeline(KernelPCA(4, kernel="rbf"), LogisticRegression(C=1e3))
    search = GridSearchCV(pipeline, {"kernelpca__gamma": [0.5, 1e-4]}, cv=3).fit(X, y)
    assert search.best_params_ == {"kernelpca__gamma": 0.5}
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
