import inspect

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from tests.claims import agree, refused, refuses, warned

import mercer
from mercer import KernelPCA, LandmarkFeatures, RandomFeatures
from mercer.errors import InputError, NotSupportedError
from mercer.estimators.kernel._row_samples import spread_evenly, stand_ins
from mercer.kernels import RBF, Cosine, FeatureMap, Laplacian, Linear, Polynomial

ARRAYS = ("eigenvalues_", "explained_variance_", "explained_variance_ratio_", "dual_")


@pytest.fixture
def rings(rng):
    """Two rings, each with a little noise: no line tells them apart."""
    t = rng.uniform(0, 2 * np.pi, 150)
    radius = np.where(np.arange(150) < 60, 1.0, 3.0)
    X = np.column_stack([radius * np.cos(t), radius * np.sin(t)])
    return X + 0.05 * rng.standard_normal(X.shape)


def test_signature():
    """The parameters, their order and their defaults are a promise."""
    found = {
        name: (parameter.default, parameter.kind is parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(KernelPCA).parameters.items()
    }
    assert found == {
        "n_components": (2, False),
        "kernel": (RBF(), True),
        "standardize": (False, True),
        "indefinite": ("raise", True),
        "tol": (None, True),
        "memory": (None, True),
        "time": (None, True),
        "device": (None, True),
        "random_state": (0, True),
        "landmarks": (None, True),
        "tol_transform": (None, True),
        "feature_weight": (None, True),
        "missing": ("raise", True),
    }


def test_fitted_attributes(rings):
    model = KernelPCA(3).fit(rings)
    assert model.dual_.shape == (150, 3)
    for name in ("eigenvalues_", "explained_variance_", "explained_variance_ratio_"):
        assert getattr(model, name).shape == (3,)
    np.testing.assert_allclose(model.explained_variance_, model.eigenvalues_ / 149)
    assert model.kernel_.resolved
    assert (model.n_components_, model.n_samples_, model.n_features_in_) == (3, 150, 2)
    assert model.rank_ == 3
    assert model.negative_share_ == 0
    assert model.certificate_.met
    assert model.plan_.chosen.name in str(mercer.plan(KernelPCA(3), rings))
    assert mercer.plan(KernelPCA(3), rings).chosen == model.plan_.chosen


def test_rings_come_apart_and_the_default_lengthscale_is_the_median(rings):
    differences = rings[:, None] - rings[None]
    squares = np.sum(differences**2, axis=2)[np.triu_indices(150, 1)]
    model = KernelPCA(2).fit(rings)
    assert model.kernel_.lengthscale == pytest.approx(
        np.sqrt(np.median(squares) / 2), rel=1e-12
    )
    Z = KernelPCA(1, kernel=RBF(1.0)).fit_transform(rings)[:, 0]
    inner, outer = Z[:60], Z[60:]
    assert inner.min() > outer.max() or inner.max() < outer.min()


@pytest.mark.parametrize("kernel", [RBF(), Polynomial(2)], ids=repr)
def test_parameters_set_after_fit_change_nothing_fitted(rings, kernel):
    model = KernelPCA(3, kernel=kernel).fit(rings)
    Z, score, names = model.transform(rings), model.score(rings), model.get_feature_names_out()
    back = model.inverse_transform(Z)
    before = {name: np.array(getattr(model, name)) for name in ARRAYS}
    inner = {"kernel__lengthscale": 0.01} if isinstance(kernel, RBF) else {"kernel__degree": 3}
    changes = {"kernel": Laplacian(0.1), "n_components": 1, "standardize": True}
    for name, value in {**inner, **changes, "indefinite": "flip", "tol": 0.5}.items():
        model.set_params(**{name: value})
        np.testing.assert_array_equal(model.transform(rings), Z)
        np.testing.assert_array_equal(model.inverse_transform(Z), back)
        assert model.score(rings) == score
        assert list(model.get_feature_names_out()) == list(names)
        for attribute, array in before.items():
            np.testing.assert_array_equal(getattr(model, attribute), array)


def test_a_fit_stays_standardised_and_a_new_one_forgets_it(rings):
    model = KernelPCA(2, standardize=True).fit(rings * [1, 100])
    Z = model.transform(rings * [1, 100])
    model.set_params(standardize=False)
    np.testing.assert_array_equal(model.transform(rings * [1, 100]), Z)
    model = KernelPCA(2, kernel="poly(degree=2)").fit(rings)
    model.set_params(kernel=RBF(1.0)).fit(rings[:70])
    fresh = KernelPCA(2, kernel=RBF(1.0)).fit(rings[:70])
    assert vars(model).keys() == vars(fresh).keys()
    np.testing.assert_array_equal(model.transform(rings), fresh.transform(rings))


KERNELS = [
    RBF(1.0), Linear(), Polynomial(2), Cosine(), FeatureMap(np.square), FeatureMap(np.asarray),
    Laplacian(1.0) + Linear(),
]  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_data_are_not_written_to_and_not_kept_by_reference(rings, kernel, order):
    X = np.array(rings, order=order)
    X.flags.writeable = False
    model = KernelPCA(2, kernel=kernel).fit(X)
    Z, back = model.transform(rings), model.inverse_transform(model.transform(rings))
    again = KernelPCA(2, kernel=kernel).fit(X)
    again.transform(X)
    np.testing.assert_array_equal(X, rings)
    X.flags.writeable = True
    X[:] = 0
    np.testing.assert_array_equal(model.transform(rings), Z)
    np.testing.assert_array_equal(model.inverse_transform(Z), back)
    np.testing.assert_allclose(again.inverse_transform(Z), back)  # its decoder is learned now


def test_what_is_given_and_handed_out_is_not_shared(rings):
    K = RBF(1.0).block(rings).copy()
    model = KernelPCA(2, kernel="precomputed").fit(K)
    kept = K.copy()
    Z = model.transform(kept)
    K[:] = 0
    np.testing.assert_array_equal(model.transform(kept), Z)
    model = KernelPCA(2)
    Z = model.fit_transform(rings)
    kept = Z.copy()
    Z[:] = 0
    agree(model.transform(rings), kept, 1e-10)
    first = model.inverse_transform(kept)
    assert np.abs(first).max() > 1e-3
    agree(first, rings, 2.0)


def test_functions_as_kernels_and_lengthscales_searched(rings):
    steps = [("kpca", KernelPCA(2)), ("knn", KNeighborsClassifier(3))]
    search = GridSearchCV(
        Pipeline(steps), {"kpca__kernel__lengthscale": [0.5, 2.0, "median"]}, cv=3
    )
    search.fit(rings, np.arange(150) < 60)
    assert search.best_score_ > 0.9
    assert KernelPCA().kernel == RBF()  # the shared default is as it was

    def half(x, y):
        return 0.5 * x @ y.T

    model = KernelPCA(2, kernel=half).fit(rings)
    linear = KernelPCA(2, kernel="linear").fit(rings)
    np.testing.assert_allclose(2 * model.eigenvalues_, linear.eigenvalues_, rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_given_matrix(rings, dtype):
    X, new = rings[:100], rings[100:]
    kernel = RBF(1.5)
    K, across = kernel.block(X).astype(dtype), kernel.block(new, X).astype(dtype)
    model, plain = KernelPCA(2, kernel="precomputed"), KernelPCA(2, kernel=kernel).fit(X)
    Z = model.fit_transform(K)
    loose = 1e-10 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=loose)
    agree(Z, plain.transform(X), 10 * loose)
    agree(model.transform(K), Z, 10 * loose)
    agree(model.transform(across), plain.transform(new), 10 * loose)
    assert model.n_features_in_ == 100
    refuses(None, model.inverse_transform, Z, kind=NotSupportedError)


def test_training_rows_come_back_by_a_decoder_learned_once(rings):
    model = KernelPCA(20, kernel=RBF(1.0))
    back = model.inverse_transform(model.fit_transform(rings))
    assert np.mean((back - rings) ** 2) < 0.01 * np.mean((rings - rings.mean(axis=0)) ** 2)
    assert model.score(rings) > 0.99
    refuses("20 columns", model.inverse_transform, back)
    model = KernelPCA(2).fit(rings)
    assert model.decoder_ is model.decoder_
    old = model.decoder_
    model.fit(rings[:80])
    assert model.decoder_ is not old


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("kernel", "rfb"), ("kernel", 3), ("kernel", None), ("indefinite", "ignore"),
        ("standardize", "yes"), ("tol", 0.0), ("tol", -1), ("memory", -5), ("memory", "much"),
        ("device", "cuda"), ("n_components", 0),
    ],
)  # fmt: skip
def test_odd_parameters(rings, parameter, value):
    with refused((InputError, NotSupportedError)):
        KernelPCA(**{parameter: value}).fit(rings)


def test_a_large_effective_rank_is_said(rings):
    warned("lengthscale is too short", KernelPCA(2, kernel=RBF(1e-3)).fit, rings)
    KernelPCA(2).fit(rings)


DEFAULT = RBF()


@pytest.mark.parametrize("method", [KernelPCA, RandomFeatures])
def test_parts_of_the_kernel_are_set_by_replacing_it(method):
    model = method(kernel=DEFAULT)
    assert model.set_params(kernel__lengthscale=2.0) is model
    assert model.kernel == RBF(2.0)
    assert DEFAULT.lengthscale == "median"
    model.set_params(kernel="matern", kernel__nu=2.5, random_state=3)
    assert (model.kernel.nu, model.random_state) == (2.5, 3)
    refuses("no parameter", model.set_params, kernel__length=1.0)
    refuses("has no parameter 'colour'", model.set_params, colour=1)


def test_a_kernel_is_replaced_and_never_changed_written_ones_too():
    shared = RBF(1.0)
    one, two = LandmarkFeatures(kernel=shared), LandmarkFeatures(kernel=shared)
    one.set_params(kernel__lengthscale=3.0, n_landmarks=7)
    assert one.kernel == RBF(3.0)
    assert one.n_landmarks == 7
    assert two.kernel == shared == RBF(1.0)
    assert clone(one).kernel == RBF(3.0)
    model = LandmarkFeatures(kernel="rbf + linear").set_params(kernel__left__lengthscale=2.0)
    assert model.kernel == RBF(2.0) + Linear()
    refuses("lengthscale", model.set_params, kernel__left__lenghtscale=2.0)


X = np.random.default_rng(0).standard_normal((400, 3))


def problem(**options):
    return mercer.plan(KernelPCA(2, **options), X).problem


def test_what_the_planner_knows_of_a_kernel():
    rbf = problem(kernel="rbf").kernel
    assert (rbf.features, rbf.finite, rbf.whole, rbf.centred) == (None, False, False, True)
    linear = problem(kernel="linear").kernel
    assert (linear.features, linear.finite) == (3, True)
    assert problem(kernel="sigmoid", indefinite="flip").kernel.whole
    assert not problem(kernel="sigmoid").kernel.centred
    assert rbf.landmarks is None
    assert not problem(kernel="poly(degree=2)").kernel.finite
    assert not problem(kernel="linear + poly(degree=2)").kernel.finite


@pytest.mark.parametrize(
    ("kernel", "indefinite", "rows", "whole"),
    [
        ("rbf", "flip", 3001, True), ("rbf", "shift", 3001, True),
        ("sigmoid", "clip", 3000, True), ("sigmoid", "clip", 3001, False),
        ("sigmoid", "raise", 100, True), ("rbf", "raise", 100, False),
        ("negativedistance", "clip", 100, False),
    ],
)  # fmt: skip
def test_who_needs_all_pairs(kernel, indefinite, rows, whole):
    model = KernelPCA(2, kernel=kernel, indefinite=indefinite)
    assert mercer.plan(model, np.resize(X, (rows, 3))).problem.kernel.whole is whole


def test_plans_of_landmarks_that_cannot_be_and_of_refined_models():
    refuses("positive definite", problem, kernel="sigmoid", landmarks=5, kind=NotSupportedError)
    refuses("features", problem, landmarks=X[:5, :2])
    bad = X[:5].copy()
    bad[3, 1] = np.nan
    refuses(None, problem, landmarks=bad)
    model = KernelPCA(2, kernel="rbf(lengthscale=2)", landmarks=100).fit(X)
    model.refine(X, passes=2)
    assert model.plan_.chosen.name in ("lapack", "tiles")
    if model.plan_.chosen.name == "tiles":
        assert model.plan_.chosen.passes == model.plan_.chosen.solver.max_passes == 2
        assert model.plan_.chosen.then is None


def test_which_columns_can_be_standardised(table):
    table[:, 3] = 5.0
    model = KernelPCA(8, kernel="linear", standardize=True)
    warned("constant columns", model.fit, table)
    assert model.rank_ == 7
    back = model.inverse_transform(model.transform(table))
    np.testing.assert_allclose(back, table, rtol=1e-12)
    sparse = scipy.sparse.csr_array(np.where(table > np.median(table, axis=0), table, 0.0))
    with pytest.raises(InputError, match="cannot be standardised"):
        KernelPCA(2, kernel="linear", standardize=True).fit(sparse)
    with pytest.raises(InputError, match="cannot be standardised"):
        KernelPCA(2, kernel="precomputed", standardize=True).fit(np.eye(5))


@pytest.mark.parametrize(
    ("entry", "value"),
    [((2, 5), 9.0), ((5, 2), 9.0), ((0, 1500), 1.0), ((1500, 0), 1.0)],
)
def test_an_odd_entry_is_named(entry, value):
    K = np.eye(1501 if 1500 in entry else 40)
    K[entry] = value
    with pytest.raises(InputError, match="symmetric") as error:
        KernelPCA(2, kernel="precomputed").fit(K)
    places = {f"row {entry[0]}, column {entry[1]}", f"row {entry[1]}, column {entry[0]}"}
    assert any(place in error.value.got for place in places), error.value.got
    assert f"{value:.6g}" in error.value.got
    place = f"row {min(entry)}, column {max(entry)}"
    for bad in (np.nan, np.inf, -np.inf):
        K[entry] = K[entry[::-1]] = bad
        refuses(place, KernelPCA(2, kernel="precomputed").fit, K)


def test_rounding_in_a_given_matrix_is_no_fault(table):
    K = RBF(50.0).block(table)
    rounded = K + 1e-15 * np.random.default_rng(0).standard_normal(K.shape)
    one, two = (KernelPCA(2, kernel="precomputed").fit(k).eigenvalues_ for k in (K, rounded))
    np.testing.assert_allclose(two, one, rtol=1e-10)


@pytest.mark.parametrize(
    "phi", [lambda _: np.zeros(5), lambda _: np.array([["a"]]), lambda _: np.zeros((1, 2, 3))]
)
def test_a_map_that_gives_no_table_is_refused(phi, table):
    refuses("feature map", KernelPCA(1, kernel=FeatureMap(phi)).fit, table)


def test_a_feature_map_stays_itself(table):
    """kernel_, alignment, inverse and score speak of the rows, not of their features."""
    phi = FeatureMap(lambda ROWS: np.column_stack([ROWS, ROWS**2]))
    model = KernelPCA(3, kernel=phi).fit(table)
    assert model.kernel_ == phi
    assert model.n_features_in_ == 8
    back = model.inverse_transform(model.transform(table))
    assert back.shape == table.shape
    left = np.sum((table - back) ** 2) / np.sum((table - table.mean(axis=0)) ** 2)
    assert model.score(table) == pytest.approx(1 - left)
    assert 0 < model.alignment_ < 1


def test_columns_are_standardised_about_their_exact_mean():
    """A mean of 1e9 rounded to float64 is off by 1e-7, a part of a deviation of 1e-3."""
    x = (np.random.default_rng(0).standard_normal((50, 2)) * 1e-3 + 1e9).round(6)
    exact = x.astype(np.longdouble) - x[0]
    exact = exact - exact.mean(axis=0)
    scaled = (exact / np.sqrt(np.sum(exact**2, axis=0) / 49)).astype(float)
    kernel = Polynomial(2, gamma=1.0)  # it knows where the rows lie
    found = KernelPCA(3, kernel=kernel, standardize=True).fit(x)
    wanted = KernelPCA(3, kernel=kernel).fit(scaled)
    np.testing.assert_allclose(found.eigenvalues_, wanted.eigenvalues_, rtol=1e-11)
    flat = KernelPCA(2, kernel="linear", standardize=True).fit(x)
    np.testing.assert_array_equal(flat.inverse_transform(flat.transform(x)), x)
    options = {"kernel": kernel, "standardize": True}
    few = KernelPCA(3, **options).fit(x[:7], sample_weight=np.arange(7.0))
    many = KernelPCA(3, **options).fit(np.repeat(x[:7], range(7), axis=0))
    np.testing.assert_allclose(few.eigenvalues_, many.eigenvalues_, rtol=1e-9)


ROWS = np.random.default_rng(0).normal(size=(180, 5))


HEAVY = (1e4, 1e5, 1e6, 1e12)


def counts(heavy):
    return np.r_[np.ones(90), heavy, np.ones(89)]


@pytest.mark.parametrize("weights", [None, np.random.default_rng(1).integers(0, 40, 180) * 1.0])
@pytest.mark.parametrize("most", [50, 1000])
def test_rows_without_a_heavy_one_are_evenly_spaced(weights, most):
    at, found = stand_ins(ROWS, weights, most)
    np.testing.assert_array_equal(at, spread_evenly(180, weights, most))
    assert found is None


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("heavy", HEAVY)
def test_a_heavy_row_stands_once_beside_the_others(form, heavy):
    at, found = stand_ins(form(ROWS), counts(heavy), 1000)
    np.testing.assert_array_equal(np.sort(at), np.arange(180))
    assert at[0] == 90
    np.testing.assert_allclose(found, np.r_[heavy, np.ones(179)])


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("others", [1, 7])
def test_repeats_give_what_weights_give(form, others):
    table = np.round(ROWS[:60] * (np.random.default_rng(2).random((60, 5)) < 0.5), 1)
    w = np.r_[np.full(30, others), 40_000, np.full(29, others)]
    again = np.repeat(table, w, axis=0)
    one, two = stand_ins(form(table), w * 1.0, 100), stand_ins(form(again), None, 100)
    np.testing.assert_array_equal(table[one[0]], again[two[0]])
    np.testing.assert_allclose(one[1], two[1], rtol=1e-14)
    assert len(one[0]) <= 100


def test_light_rows_are_drawn_by_weight():
    at, found = stand_ins(ROWS, np.r_[2.0, np.full(99, 1e-9), np.full(80, 1e-20)], 100)
    assert set(at) <= set(range(101))
    assert len(set(at)) >= 99
    np.testing.assert_allclose(found[0] / found[1:].sum(), 2.0 / 99e-9, rtol=1e-6)


@pytest.mark.parametrize("heavy", HEAVY)
@pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning")
def test_the_default_lengthscale_is_that_of_pairs_of_repeated_rows(heavy):
    """Most pairs are of the heavy row with itself: the mean of the others' squares is left."""
    w = counts(heavy)
    squares = ((ROWS[:, None] - ROWS) ** 2).sum(axis=2)
    pairs = np.triu(np.outer(w, w), 1)
    mean = np.sum(pairs * squares) / np.sum(pairs)
    for model in (KernelPCA(2), RandomFeatures(8)):
        found = model.fit(ROWS, sample_weight=w).kernel_.lengthscale
        assert found == pytest.approx(np.sqrt(0.5 * mean), rel=1e-12)


@pytest.mark.parametrize("kernel", ["rbf(lengthscale=2)", "rbf", "laplacian", "polynomial"])
@pytest.mark.parametrize("heavy", HEAVY[2:])
@pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning")
def test_one_heavy_row_is_fitted(kernel, heavy):
    model = KernelPCA(2, kernel=kernel).fit(ROWS, sample_weight=counts(heavy))
    assert 0 < model.alignment_ < 1
    assert np.isfinite(model.eigenvalues_).all()


@pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning")
def test_the_way_back_and_the_number_of_axes_see_the_other_rows():
    model = KernelPCA(2, kernel="rbf", landmarks=60).fit(ROWS, sample_weight=counts(1e6))
    assert np.isfinite(model.inverse_transform(model.transform(ROWS))).all()
    lines = np.outer(np.linspace(-1, 1, 180), [3.0, 2.0, 1.0]) + 0.01 * ROWS[:, :3]
    assert KernelPCA("auto").fit(lines, sample_weight=counts(1e6)).n_components_ >= 1


def test_rows_that_stand_for_the_data():
    refuses("all equal", KernelPCA(2).fit, np.ones((180, 5)), sample_weight=counts(1e6))
    # Evenly spaced among rows repeated w times: none of weight 0, twice of weight 2.
    np.testing.assert_array_equal(spread_evenly(5, None, 10), np.arange(5))
    np.testing.assert_array_equal(spread_evenly(10, None, 5), [0, 2, 4, 6, 8])
    weights = np.array([0.0, 2.0, 1.0, 0.0, 3.0])
    np.testing.assert_array_equal(spread_evenly(5, weights, 100), [1, 1, 2, 4, 4, 4])
    few = spread_evenly(5, weights, 3)
    assert len(few) <= 3
    assert not np.isin(few, [0, 3]).any()


@pytest.mark.parametrize("rows", [12, 60], ids=["lapack", "primal"])
@pytest.mark.parametrize("power", [100, -100])
def test_float32_rows_whose_kernel_is_no_float32(rows, power):
    """Coordinates are as the square of the rows: 2^200 and 2^-200."""
    x = np.random.default_rng(0).standard_normal((rows, 4)).astype(np.float32)
    kernel = Polynomial(degree=2, gamma=1.0, coef0=0.0)
    there = KernelPCA(2, kernel=kernel).fit_transform(x).astype(np.float64)
    model = KernelPCA(2, kernel=kernel).fit(np.ldexp(x, power))
    found = model.transform(np.ldexp(x, power))
    assert found.dtype == np.float64
    agree(np.ldexp(found, -2 * power), there, 1e-4)
    again = model.fit_transform(np.ldexp(x, power))
    agree(np.ldexp(again, -2 * power), there, 1e-4)
