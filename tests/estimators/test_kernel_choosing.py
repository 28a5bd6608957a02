import dask.array as da
import numpy as np
import pytest
import scipy.sparse
from kernel_fits import FORCED
from numpy.testing import assert_allclose
from sklearn import datasets
from tests.claims import hushed, refuses, warned

import mercer
from mercer import PCA, KernelPCA
from mercer.errors import DataWarning, InputError, NotSupportedError
from mercer.estimators.kernel import _axis_choice as room
from mercer.kernels import RBF, FeatureMap, as_kernel
from mercer.planning import _kernel_paths as _kernel_choice

RINGS = datasets.make_circles(160, factor=0.3, noise=0.05, random_state=0)[0]
MOONS = datasets.make_moons(160, noise=0.08, random_state=0)[0]
DIGITS = datasets.load_digits().data[::9]


def blobs(n=150, seed=1):
    return datasets.make_blobs(n, centers=5, n_features=10, random_state=seed)[0]


def curve(n=150, seed=0):
    """Return a curve in ten dimensions, with noise."""
    rng = np.random.default_rng(seed)
    t, f = rng.uniform(0, 3, (n, 1)), np.linspace(0.5, 3, 10)
    return np.sin(t * f + np.arange(10)) + 0.1 * rng.standard_normal((n, 10))


def noise(n=90, p=6, seed=0):
    return np.random.default_rng([seed, n, p]).standard_normal((n, p))


def quietly(model, X, **more):
    return hushed(model.fit, X, **more, kind=DataWarning)


@pytest.fixture
def few_rows(monkeypatch):
    """Tables of 200 rows are shuffled."""
    monkeypatch.setattr(_kernel_choice, "_ROWS", (100, 200))


@pytest.mark.parametrize(
    ("X", "kernel", "least", "most"),
    [
        (RINGS, RBF(0.5), 5, 15), (MOONS, RBF(), 1, 3), (blobs(), RBF(), 4, 4),
        (curve(), RBF(), 3, 4), (DIGITS, RBF(), 6, 14), (curve(), "polynomial(degree=2)", 2, 4),
    ],
    ids=["rings", "moons", "blobs", "curve", "digits", "curve, squares"],
)  # fmt: skip
def test_structure_is_counted(X, kernel, least, most):
    model = KernelPCA("auto", kernel=kernel).fit(X)
    assert least <= model.n_components_ == model.choice_.k <= most
    assert model.transform(X).shape == (len(X), model.choice_.k)
    few = KernelPCA(model.choice_.k, kernel=kernel).fit(X)
    assert_allclose(model.eigenvalues_, few.eigenvalues_, rtol=1e-9)
    assert few.choice_ is None


NOISE = [
    ("rbf", 60, 2), ("rbf", 60, 10), ("rbf", 40, 100), ("polynomial(degree=2)", 60, 2),
    ("polynomial(degree=3)", 60, 10), ("linear", 60, 5), ("laplacian", 80, 20),
    ("precomputed", 60, 10),
]  # fmt: skip


@pytest.mark.parametrize(
    ("draws", "least"), [(20, 0.9), pytest.param(200, 0.95, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(("name", "n", "p"), NOISE)
def test_noise_has_no_component(name, n, p, draws, least):
    found = []
    for seed in range(draws):
        X, kernel = noise(n, p, seed), as_kernel(name)
        rows = X @ X.T if name == "precomputed" else X
        kernel = kernel if kernel.resolved else kernel.resolve(X)
        found.append(hushed(room.choice_on, kernel, rows, None, n, seed, kind=DataWarning).k)
    assert np.mean(np.equal(found, 0)) >= least


def test_heavy_tails_and_one_column():
    X = np.random.default_rng(0).standard_t(2.5, size=(150, 5))
    assert room.choice_on(RBF().resolve(X), X, None, 150, 0).k == 0
    X = noise(150, 1)
    assert quietly(KernelPCA("auto"), X).n_components_ == 0
    two = KernelPCA("auto").fit(X / 5 + 4 * (X > 0))
    assert two.n_components_ >= 1
    assert "normal values" in two.choice_.reason


@pytest.mark.parametrize("more", [{}, {"landmarks": 60}, {"standardize": True}])
def test_the_linear_kernel_agrees_with_pca(more):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3)) * [4, 2, 1] @ rng.standard_normal((3, 20))
    X += rng.standard_normal(X.shape)
    found = KernelPCA("auto", kernel="linear", **more).fit(X)
    linear = PCA("auto", standardize="standardize" in more).fit(X)
    assert found.n_components_ == linear.n_components_ == 3
    assert found.choice_.rules[0].name == "stepwise edge"


@pytest.mark.parametrize("path", ["lapack", "stored", "tiles", "landmarks"])
@pytest.mark.usefixtures("few_rows")
def test_every_path(path):
    X = curve(1010)
    model = FORCED[path]("auto", tol=1e-3) if path != "landmarks" else KernelPCA("auto")
    if path == "landmarks":
        model.set_params(landmarks=200)
    model.fit(X)
    assert model.plan_.chosen.name == path
    assert model.choice_.k == model.n_components_ == 3
    assert model.choice_.seen == "200 of 1,010 rows"
    assert "kernel matrices of 200 rows" in str(model.plan_)


def test_explicit_features_words_and_a_matrix():
    X = curve()
    squares = KernelPCA("auto", kernel="polynomial(degree=2)").fit(X)
    assert squares.plan_.chosen.name == "primal"
    mapped = KernelPCA("auto", kernel=FeatureMap(lambda x: np.hstack([x, x**2]))).fit(X)
    assert mapped.choice_.rules[0].name == "kernel parallel analysis"
    given = KernelPCA("auto", kernel="precomputed").fit(X @ X.T)
    assert given.choice_.rules[0].name == "white edge"
    assert abs(given.n_components_ - PCA("auto").fit(X).n_components_) <= 1
    texts = ["a" * i + "b" * (7 * i % 5) + "c" * (3 * i % 7) for i in range(60)]

    def counts(rows):
        return np.array([[row.count(c) for c in "abc"] for row in rows], float)

    model = quietly(KernelPCA("auto", kernel=FeatureMap(counts)), texts)
    assert model.choice_.rules[0].name == "stepwise edge"


@pytest.mark.usefixtures("few_rows")
def test_streams_of_few_and_many_rows(monkeypatch):
    X = curve(700)
    kernel = RBF().resolve(X)
    few = KernelPCA("auto", kernel=kernel, landmarks=100).fit(iter([X[:300], X[300:]]))
    assert few.choice_.seen == "200 of 700 rows"
    monkeypatch.setattr(mercer.estimators.kernel._row_stream, "BUFFER", 400)
    many = KernelPCA("auto", kernel=kernel, landmarks=100).fit(iter(np.split(X, 7)))
    parts = KernelPCA("auto", kernel=kernel, landmarks=100)
    for block in np.split(X, 7):
        parts.partial_fit(block)
    for model in (few, many, parts):
        assert model.n_components_ == model.choice_.k == 3
    assert many.choice_.seen == parts.choice_.seen == "200 of 400 rows"
    assert many.n_samples_ == 700


@pytest.mark.usefixtures("few_rows")
def test_dask_rows():
    X = curve(600)
    model = KernelPCA("auto", landmarks=80).fit(da.from_array(X, chunks=(150, 10)))
    assert model.n_components_ == model.choice_.k == 3
    assert model.choice_.seen == "200 of 600 rows"
    assert model.transform(X).shape == (600, 3)


@pytest.mark.usefixtures("few_rows")
def test_refine_keeps_the_choice():
    X = curve(400)
    model = KernelPCA("auto", landmarks=40, tol=0.5).fit(X)
    before = model.choice_
    model.refine(X, tol=1e-6)
    assert model.choice_ is before
    assert model.n_components_ == 3
    assert model.certificate_.met
    empty = quietly(KernelPCA("auto", landmarks=40), noise())
    warned("no component beyond noise", empty.refine, noise(), passes=1)
    assert empty.n_components_ == 0


@pytest.mark.parametrize(
    ("kernel", "more"),
    [
        ("rbf", {}), ("rbf", {"landmarks": 30}),
        ("rbf", {"standardize": True, "tol_transform": 0.1}), ("linear", {}),
        ("polynomial(degree=2)", {}), ("precomputed", {}),
    ],
)  # fmt: skip
def test_no_component_is_an_answer(kernel, more, tmp_path):
    X = noise(seed=3)
    rows = X @ X.T if kernel == "precomputed" else X
    with pytest.warns(DataWarning, match="no component beyond noise"):
        model = KernelPCA("auto", kernel=kernel, **more).fit(rows)
    assert model.n_components_ == 0
    assert model.eigenvalues_.shape == (0,)
    assert model.transform(rows).shape == (90, 0)
    assert len(model.get_feature_names_out()) == 0
    assert model.captured_share_ == (0.0, 0.0)
    mercer.save(model, tmp_path / "none.mercer")
    again = mercer.load(tmp_path / "none.mercer")
    assert str(again.choice_) == str(model.choice_)
    assert again.transform(rows).shape == (90, 0)
    with pytest.raises(NotSupportedError, match="without axes"):
        mercer.export_onnx(model, tmp_path / "none.onnx")
    if kernel != "precomputed":
        back = model.inverse_transform(model.transform(rows))
        assert_allclose(back, np.tile(X.mean(axis=0), (90, 1)), atol=1e-12)
        assert_allclose(model.score(rows), 0.0, atol=1e-12)
        assert_allclose(model.denoise(rows), back, atol=1e-12)
        assert np.all(model.novelty(rows) > 0)


def test_sparse_rows_are_shuffled_as_they_lie():
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((60, 40)) < 0.2, rng.standard_normal((60, 40)), 0)
    found = room._null(scipy.sparse.csr_array(dense), np.random.default_rng(1)).toarray()
    assert_allclose(np.sort(found, axis=0), np.sort(dense, axis=0))
    assert not np.allclose(found, dense)
    assert quietly(KernelPCA("auto"), scipy.sparse.csr_array(dense)).n_components_ == 0
    topics = np.repeat(np.eye(3), 20, axis=0) @ rng.random((3, 40))
    linked = scipy.sparse.csr_array(np.where(topics > 0.5, topics + dense, dense))
    assert 1 <= quietly(KernelPCA("auto"), linked).n_components_ <= 4


def test_seeds_types_weights_and_repeats():
    X = curve(120)
    weighted = KernelPCA("auto").fit(X, sample_weight=np.full(120, 2.0))
    assert weighted.n_components_ == KernelPCA("auto").fit(X).n_components_
    counts = np.r_[np.ones(100), np.zeros(20)]
    part = KernelPCA("auto").fit(X, sample_weight=counts)
    assert part.choice_.seen == "100 of 120 rows"
    X = curve(200)
    first, second = (KernelPCA("auto", random_state=3).fit(X) for _ in range(2))
    assert first.choice_.reason == second.choice_.reason
    assert KernelPCA("auto").fit(X.astype(np.float32)).n_components_ == 3


def test_kernels_that_shuffled_rows_are_not_made_for():
    X = curve(80)
    first = X[0].copy()

    def strict(a, b):
        if not np.array_equal(a[0], first):
            raise InputError("rows must be in order", got="others", fix="sort them")
        return np.exp(-((a[:, None] - b[None]) ** 2).sum(-1) / 10)

    choice = room.choice_on(as_kernel(strict), X, None, 80, 0)
    assert choice.rules[0].name == "white edge"


@pytest.mark.parametrize("wrong", ["mle", "Auto", ""])
def test_other_words_are_refused(wrong):
    refuses("n_components", KernelPCA(wrong).fit, noise())


def test_a_plan_says_the_cost_and_chooses_nothing(monkeypatch):
    monkeypatch.setattr(room, "choice_on", None)
    made = mercer.plan(KernelPCA("auto"), curve(600))
    assert "40 kernel matrices of 500 rows" in str(made)
    linear = mercer.plan(KernelPCA("auto", kernel="linear"), curve(600))
    assert "kernel matrices" not in str(linear)


@pytest.mark.parametrize("path", ["stored", "tiles", "landmarks"])
def test_a_share_of_the_variance_on_truncated_paths(path):
    X = curve(1200)
    few = KernelPCA(0.8, landmarks=300)
    model = few.fit(X) if path == "landmarks" else FORCED[path](0.8, tol=1e-3).fit(X)
    assert model.plan_.chosen.name == path
    exact = KernelPCA(30).fit(X)
    want = int(np.searchsorted(np.cumsum(exact.explained_variance_ratio_), 0.8)) + 1
    assert want <= model.n_components_ <= want + (path == "landmarks")
    assert model.captured_share_[1] >= 0.8
