import numpy as np
import pytest
import scipy.sparse
import sklearn
import sklearn.decomposition
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from tests.claims import agree, refused

import mercer
from mercer.dropin import PCA
from mercer.dropin.pca import resolve

Peer = sklearn.decomposition.PCA
SOLVERS = ["auto", "full", "covariance_eigh", "arpack", "randomized"]
ARRAYS = [
    "components_", "explained_variance_", "explained_variance_ratio_", "singular_values_",
    "mean_", "noise_variance_",
]  # fmt: skip
NUMBERS = ["n_components_", "n_samples_", "n_features_in_"]


def table(n=60, p=12, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, p)) * np.linspace(4, 1, p) + rng.normal(size=p)).astype(dtype)


def flat(n=40, p=6, rank=3):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, p)) + 5


def counts():
    return scipy.sparse.csr_array(np.random.default_rng(0).poisson(0.2, (50, 20)).astype(float))


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("k", [1, 5, 11, 0.8])
@pytest.mark.parametrize("shape", [(60, 12), (12, 60), (13, 13)], ids=str)
@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh"])
def test_attributes_and_coordinates_are_those_of_an_exact_fit(shape, solver, k, whiten):
    X = table(*shape)
    ours = PCA(k, svd_solver=solver, whiten=whiten).fit(X)
    theirs = Peer(k, svd_solver="full", whiten=whiten).fit(X)
    for name in ARRAYS:
        mine, peer = getattr(ours, name), getattr(theirs, name)
        np.testing.assert_allclose(mine, peer, rtol=1e-8, atol=1e-9, err_msg=name)
    assert [getattr(ours, n) for n in NUMBERS] == [getattr(theirs, n) for n in NUMBERS]
    Z = ours.transform(X)
    agree(Z, theirs.transform(X), 1e-7)
    np.testing.assert_allclose(ours.inverse_transform(Z), theirs.inverse_transform(Z))
    np.testing.assert_array_equal(Z, ours.fit_transform(X))


@pytest.mark.parametrize("k", [0, 1, 4, None])
def test_the_density_is_scikit_learns(k):
    X = table(p=5)
    ours, theirs = PCA(k).fit(X), Peer(k, svd_solver="full").fit(X)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X))
    agree(ours.get_covariance(), theirs.get_covariance(), 1e-12)
    agree(ours.get_precision(), theirs.get_precision(), 1e-12)


def test_whitening_and_a_far_origin_change_nothing():
    X = table(p=5)
    plain, white = PCA(2).fit(X), PCA(2, whiten=True).fit(X)
    assert white.score(X) == plain.score(X)
    full = PCA(whiten=True).fit(X)
    agree(full.get_covariance(), np.cov(X.T), 1e-12)
    X = np.round(table(n=200, p=6) * 2**20) / 2**20
    for solver in SOLVERS:
        near = PCA(3, svd_solver=solver).fit(X)
        far = PCA(3, svd_solver=solver).fit(X + 2.0**26)
        np.testing.assert_allclose(far.explained_variance_, near.explained_variance_, 1e-8)


def test_how_many_components():
    X = table(p=4)
    model = PCA(0).fit(X)
    assert model.components_.shape == (0, 4)
    assert model.transform(X).shape == (len(X), 0)
    np.testing.assert_allclose(model.noise_variance_, np.var(X, axis=0, ddof=1).mean())
    assert model.get_feature_names_out().shape == (0,)
    X = table()
    reached = PCA().fit(X).explained_variance_ratio_.cumsum()[4]
    assert PCA(float(reached)).fit(X).n_components_ == 6
    assert PCA(np.nextafter(reached, 0)).fit(X).n_components_ == 5
    assert PCA(np.nextafter(1, 0)).fit(X).n_components_ == 12
    X = table()
    assert PCA(svd_solver="arpack").fit(X).n_components_ == 11
    assert PCA().fit(scipy.sparse.csr_array(X)).n_components_ == 11
    assert PCA().fit(X).n_components_ == PCA(svd_solver="randomized").fit(X).n_components_ == 12
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 8)) + 0.1 * rng.normal(size=(300, 8))
    assert PCA("mle").fit(X).n_components_ == Peer("mle").fit(X).n_components_ == 3
    one = X[:, :1]
    assert PCA("mle").fit(one).n_components_ == Peer("mle").fit(one).n_components_ == 0


@pytest.mark.parametrize(
    ("solver", "shape", "path"),
    [
        ("full", (60, 12), "svd"),
        ("full", (12, 60), "svd"),
        ("covariance_eigh", (60, 12), "gram"),
        ("covariance_eigh", (12, 60), "gram"),
    ],
)
def test_a_named_solver_takes_its_path(solver, shape, path):
    assert PCA(3, svd_solver=solver).fit(table(*shape)).plan_.chosen.name == path


def test_what_auto_stands_for():
    X = np.random.default_rng(0).normal(size=(1000, 500))
    assert mercer.plan(mercer.PCA(10), X).chosen.name == "gram"
    auto, other = PCA(10).fit(X), PCA(10, svd_solver="randomized").fit(X)
    np.testing.assert_allclose(auto.components_, other.components_)
    large = np.broadcast_to(X[:1], (5000, 500))
    assert mercer.plan(PCA(10), large).problem.allowed is None
    X = scipy.sparse.random(50, 20, 0.2, format="csr", random_state=0)
    taken = Peer(2, random_state=0).fit(X)._fit_svd_solver
    assert resolve("auto", 2, X.shape, sparse=True) == taken == "arpack"


@pytest.mark.parametrize("solver", ["arpack", "randomized"])
def test_an_iterative_solver_iterates_on_large_data_only(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1600, 4)) @ rng.normal(size=(4, 1300))
    X += 0.01 * rng.normal(size=X.shape)
    assert mercer.plan(PCA(4, svd_solver=solver), X[:, :900]).chosen.name != "krylov"
    model = PCA(4, svd_solver=solver).fit(X)
    assert model.plan_.chosen.name == "krylov"
    assert model.certificate_.met
    centred = X - X.mean(0)
    exact = np.sqrt(np.linalg.eigvalsh(centred.T @ centred)[::-1][:4])
    np.testing.assert_allclose(model.singular_values_, exact, rtol=1e-6)


def test_the_tolerance_of_arpack_and_a_model_from_moments():
    X = table()
    assert PCA(3, svd_solver="arpack", tol=1e-4).fit(X).certificate_.tol == 2e-4
    assert PCA(3, svd_solver="arpack").fit(X).certificate_.tol == 1e-6
    assert PCA(3, svd_solver="full", tol=1e-4).fit(X).certificate_.tol == 1e-6
    X = table(p=5)
    model = PCA.from_covariance(np.cov(X.T), X.mean(0), len(X), n_components=2)
    np.testing.assert_allclose(model.explained_variance_, PCA(2).fit(X).explained_variance_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_axes_without_variance_complete_the_others(dtype):
    X = flat().astype(dtype)
    model = PCA().fit(X)
    assert model.rank_ == 3
    V = model.components_
    assert V.dtype == dtype
    np.testing.assert_allclose(V @ V.T, np.eye(6), atol=10 * np.finfo(dtype).eps)
    alive = mercer.PCA().fit(X).components_
    np.testing.assert_array_equal(V[:3], alive[:3])
    assert not alive[3:].any()
    new = np.arange(12, dtype=dtype).reshape(2, 6)
    rebuilt = model.inverse_transform(model.transform(new))
    agree(rebuilt, new, 1e-4 if dtype == np.float32 else 1e-12)
    np.testing.assert_array_equal(V, PCA().fit(X).components_)


def test_axes_beyond_the_rank_and_the_same_ones_each_time():
    model = PCA().fit(table(5, 40))
    assert model.rank_ == 4
    agree(model.components_ @ model.components_.T, np.eye(5), 1e-14)
    X = flat()
    Z = PCA(whiten=True).fit(X).transform(X + 1e-6)
    assert not Z[:, 3:].any()
    np.testing.assert_allclose(Z[:, :3].std(axis=0, ddof=1), 1)
    X = table()
    a, b = PCA(2, svd_solver="randomized").fit(X), PCA(2, svd_solver="randomized").fit(X)
    np.testing.assert_array_equal(a.components_, b.components_)
    c = PCA(2, svd_solver="randomized", random_state=np.random.RandomState(3)).fit(X)
    agree(a.components_, c.components_, 1e-6)


@pytest.mark.parametrize(
    "without_effect",
    [
        {"copy": False}, {"iterated_power": 7}, {"n_oversamples": 3},
        {"power_iteration_normalizer": "QR"}, {"tol": 0.1},
    ],
    ids=str,
)  # fmt: skip
def test_parameters_without_effect_are_taken_and_have_none(without_effect):
    X = table()
    X.flags.writeable = False
    plain = PCA(3).fit(X)
    other = PCA(3, **without_effect).fit(X)
    np.testing.assert_array_equal(plain.components_, other.components_)


@pytest.mark.parametrize("solver", ["auto", "arpack", "covariance_eigh"])
def test_sparse_data_is_taken_where_scikit_learn_takes_it(solver):
    X = counts()
    sparse = PCA(3, svd_solver=solver).fit(X)
    dense = PCA(3).fit(X.toarray())
    np.testing.assert_allclose(sparse.singular_values_, dense.singular_values_, rtol=1e-8)


@pytest.mark.parametrize("solver", ["full", "randomized"])
def test_sparse_data_is_refused_where_scikit_learn_refuses_it(solver):
    X = counts()
    with refused(TypeError, match=f'while "{solver}" was passed') as caught:
        PCA(3, svd_solver=solver).fit(X)
    assert "PCA only support sparse inputs" in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_pipelines_route_weights_past_it():
    X, y = table(), np.arange(60) % 2
    with sklearn.config_context(enable_metadata_routing=True):
        last = LogisticRegression().set_fit_request(sample_weight=True)
        weights = 1.0 + 5 * y
        found = make_pipeline(PCA(3), last).fit(X, y, sample_weight=weights)
    Z = PCA(3).fit_transform(X)  # weighs all rows alike, as scikit-learn's does
    expected = LogisticRegression().fit(Z, y, sample_weight=weights)
    np.testing.assert_allclose(found[-1].coef_, expected.coef_, rtol=1e-6)


SHAPES = [(10, 50), (300, 20), (600, 20), (599, 60), (60, 520), (40, 30), (510, 80)]


TALL = [(300, 20), (600, 20), (40, 30), (520, 60)]


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        *((shape, k) for shape in SHAPES for k in (None, 2, 8, 9, 0.5)),
        *((s, "mle") for s in TALL),
    ],
    ids=str,
)
def test_auto_stands_for_the_solver_that_scikit_learn_takes(shape, wanted):
    X = np.random.default_rng(0).normal(size=shape)
    taken = Peer(wanted, random_state=0).fit(X)._fit_svd_solver
    assert resolve("auto", wanted, shape, sparse=False) == taken


def refusal(act):
    """Return what is said by a call that is refused."""
    try:
        act()
    except ValueError as error:
        return str(error)
    return ""


COUNTS = {
    "full": [0, 5, None, "mle", 0.3, 6],
    "covariance_eigh": [5, 6],
    "arpack": [4, None, 0, 5, 6, 0.5, "mle"],
    "randomized": [1, 5, 0, 6, 0.5, "mle"],
}


@pytest.mark.parametrize(
    ("solver", "wanted"), [(solver, k) for solver, known in COUNTS.items() for k in known]
)
def test_numbers_are_taken_and_refused_in_scikit_learns_words(solver, wanted):
    X = np.random.default_rng(0).normal(size=(20, 5))
    theirs, ours = (
        refusal(lambda kind=kind: kind(wanted, svd_solver=solver).fit(X))
        for kind in (Peer, PCA)
    )
    assert ours.partition("\n")[0] == theirs
    assert ours.count("\n") == (2 if theirs else 0)
