import builtins
import json

import numpy as np
import onnx
import onnx.reference
import onnxruntime
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError
from tests.claims import hushed, refuses

import mercer
from mercer import PCA, KernelPCA, LandmarkFeatures, dropin
from mercer.errors import NotSupportedError
from mercer.kernels import (
    RBF,
    AdditiveChiSquared,
    ArcCosine,
    ChiSquared,
    Constant,
    Cosine,
    FeatureMap,
    Intersection,
    Laplacian,
    Linear,
    Log,
    Matern,
    Multiquadric,
    NegativeChiSquared,
    NegativeDistance,
    Overlap,
    Periodic,
    PeriodicDistance,
    Polynomial,
    PowerExponential,
    RationalQuadratic,
    Sigmoid,
    exp,
    mapped,
    normalize,
    warp,
)

FAR = np.array([1e6, -3e5, 2.0, 0.0, 77.0])


def rows(n, far=0.0, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    scale = np.array([3.0, 1.0, 2.0, 0.5, 1.0])
    return (rng.normal(size=(n, 5)) * scale + far * FAR).astype(dtype)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.onnx"


def session_of(model, path, dtype=None):
    mercer.export_onnx(model, path, dtype=dtype)
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def compare(model, path, new, dtype=None):
    """Hold the graph against `transform`, relative to the largest coordinate."""
    session = session_of(model, path, dtype)
    single = session.get_inputs()[0].type == "tensor(float)"
    new = np.asarray(new, np.float32 if single else np.float64)
    found = session.run(None, {"X": new})[0]
    wanted = np.asarray(model.transform(new))
    assert found.dtype == new.dtype
    assert found.shape == wanted.shape
    apart = np.max(np.abs(found - wanted)) / np.max(np.abs(wanted))
    assert apart < (1e-5 if single else 1e-10), apart


PCAS = {
    "plain": PCA(3),
    "all": PCA(),
    "standardised": PCA(3, standardize=True),
    "whitened": PCA(3, whiten=True),
    "zca": PCA(3, whiten="zca", standardize=True),
    "weighted": PCA(2, feature_weight=[1, 2, 3, 4, 5]),
    "face": dropin.PCA(3, whiten=True),
    "robust": mercer.RobustPCA(2, standardize=True, whiten=True),
}


@pytest.mark.parametrize("far", [0.0, 1.0], ids=["near", "far"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", PCAS)
def test_pca_is_the_same_graph_near_and_far(name, dtype, far, path):
    model = PCAS[name].fit(rows(80, far))
    compare(model, path, rows(30, far, seed=1), dtype)


@pytest.mark.parametrize("unit", [1e-150, 1e-20, 1e20, 1e150])
def test_pca_of_tiny_and_huge_numbers(unit, path):
    for whiten in (False, True):
        model = PCA(2, whiten=whiten).fit(unit * rows(50))
        compare(model, path, unit * rows(9, seed=1), "float64")


def test_pca_of_float32_of_sparse_and_of_flat_rows(path):
    model = PCA(2).fit(rows(50, 1.0, dtype=np.float32))
    assert session_of(model, path).get_inputs()[0].type == "tensor(float)"
    compare(model, path, rows(20, 1.0, seed=1, dtype=np.float32))
    sparse = scipy.sparse.random_array((60, 12), density=0.3, random_state=0, format="csr")
    compare(PCA(2).fit(sparse), path, np.random.default_rng(1).normal(size=(7, 12)))
    flat = rows(40) @ np.diag([1.0, 1.0, 0, 0, 0])
    compare(PCA(4, whiten=True).fit(flat), path, rows(5, seed=1))


KERNELS = {
    "linear": Linear(),
    "polynomial": Polynomial(3, gamma=0.01),
    "polynomial without constant": Polynomial(2, gamma=0.1, coef0=0.0),
    "rbf": RBF(3.0),
    "rbf by column": RBF((3.0, 1.0, 2.0, 0.5, 1.0)),
    "rbf short": RBF(0.05),
    "laplacian": Laplacian(8.0),
    "matern 0.5": Matern(4.0, 0.5),
    "matern 1.5": Matern(4.0, 1.5),
    "matern 2.5": Matern((3.0, 1.0, 2.0, 0.5, 1.0), 2.5),
    "rational quadratic": RationalQuadratic(3.0, 1.5),
    "power exponential": PowerExponential(4.0, 1.3),
    "negative distance": NegativeDistance(),
    "multiquadric": Multiquadric(),
    "log": Log(),
    "cosine": Cosine(),
    "sum": 0.3 * RBF(3.0) + 0.1 * Linear() + 2.0,
    "product": RBF(5.0) * Matern(6.0),
    "columns": RBF(2.0).on([0, 3]) + Linear().on(2),
    "power": (RBF(3.0) + Constant(0.5)) ** 3,
    "exp": exp(0.2 * NegativeDistance()),
    "normalised": normalize(Polynomial(2, gamma=0.1)),
    "normalised sum": normalize(RBF(3.0) + 0.1 * Linear()),
    "very short": RBF(1e-4),
    "normalised twice": normalize(normalize(Linear()).on([0, 2]) + 0.0 * RBF(1.0)),
    "features of columns": Polynomial(2, gamma=1.0).on([2, 0]) + Linear(),
    "features and a constant": 0.3 * Linear() + Constant(2.0),
    "a line": Polynomial(1, gamma=0.5),
    "steps": ArcCosine(0),
    "ramps": ArcCosine(1),
    "periodic": Periodic(1.0, 7.0),
    "periodic by column": Periodic((1.0, 2.0, 1.0, 1.0, 1.0), (7.0, 5.0, 3.0, 9.0, 8.0)),
    "normalised ramps": normalize(ArcCosine(1) + 1.0),
}
COUNTS = {
    "chi squared": ChiSquared(1.0),
    "additive chi squared": AdditiveChiSquared(),
    "negative chi squared": NegativeChiSquared(),
    "intersection": Intersection(),
    "normalised intersection": normalize(Intersection()),
}


def fitted(kernel, X, **options):
    # Few landmarks certify little: not the matter here.
    return hushed(KernelPCA(3, kernel=kernel, **options).fit, X)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_on_landmarks(name, dtype, path):
    model = fitted(KERNELS[name], rows(60), landmarks=20)
    compare(model, path, np.concatenate([rows(20, seed=1), rows(3)]), dtype)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_without_landmarks(name, path):
    """Exact models, and those on explicit features: rows of the fit are there too."""
    model = fitted(KERNELS[name], rows(60))
    compare(model, path, np.concatenate([rows(20, seed=1), rows(3)]))


@pytest.mark.parametrize("options", [{}, {"landmarks": 20}])
@pytest.mark.parametrize("name", COUNTS)
def test_kernels_of_counts(name, options, path):
    """A column that is zero in both rows counts as nothing."""
    counts = np.maximum(np.round(rows(60)), 0.0)
    model = fitted(COUNTS[name], counts, **options)
    compare(model, path, np.concatenate([np.maximum(np.round(rows(20, seed=1)), 0.0), counts]))


@pytest.mark.parametrize("kernel", [ArcCosine(0), ArcCosine(1), Cosine()], ids=repr)
def test_rows_along_one_line_and_a_row_of_zeros(kernel, path):
    """Angles of 0 and of π, where an arcsine has no slope, and no angle at all."""
    X = rows(40)
    model = fitted(kernel, X)
    compare(model, path, np.concatenate([X[:5], -X[:5], 1e-7 * X[:2], np.zeros((1, 5))]))


@pytest.mark.parametrize("name", ["rbf", "laplacian", "matern 1.5", "rational quadratic"])
def test_kernels_of_distances_far_from_the_origin(name, path):
    model = fitted(KERNELS[name], rows(60, 1.0), landmarks=20)
    compare(model, path, rows(20, 1.0, seed=1))
    model = fitted(KERNELS[name], rows(60, 1.0), landmarks=20, standardize=True)
    compare(model, path, rows(20, 1.0, seed=1))


def test_linear_and_polynomial_kernels_far_off_and_in_float32(path):
    compare(fitted(Linear(), rows(60, 1.0)), path, rows(20, 1.0, seed=1))
    model = fitted(Polynomial(2), rows(60, 1.0), standardize=True)
    assert model.plan_.chosen.name == "primal"
    compare(model, path, rows(20, 1.0, seed=1))
    X = rows(60, dtype=np.float32)
    for kernel in (RBF(3.0), Polynomial(2, gamma=0.1)):
        compare(fitted(kernel, X), path, rows(20, seed=1))
        compare(fitted(kernel, X, landmarks=25), path, rows(20, seed=1))


@pytest.mark.parametrize("options", [{}, {"landmarks": 20}, {"standardize": True}])
def test_weights_of_columns_are_in_the_graph(options, path):
    for kernel in (RBF(3.0), Polynomial(2, gamma=0.1)):
        model = fitted(kernel, rows(60), feature_weight=[1, 0.2, 3, 1, 0.5], **options)
        compare(model, path, rows(20, seed=1))


@pytest.mark.parametrize(
    "kernel", [0.3 * RBF(0.7), 0.1 * Linear() + 3.0, 0.3 * Matern()], ids=str
)
def test_one_column_one_axis_few_landmarks(kernel, path):
    """A single factor beside a product is where onnxruntime would take float32."""
    X = np.array([[0.1], [0.7], [2.3], [3.1]]) / 3
    for options in ({"landmarks": 1}, {"landmarks": 1, "standardize": True}, {}):
        model = hushed(KernelPCA(1, kernel=kernel, **options).fit, X)
        compare(model, path, X + 0.05)


def test_the_reference_of_the_standard_and_a_compressed_model(path):
    model = fitted(0.5 * Matern(4.0) + RBF(3.0), rows(40), landmarks=12)
    mercer.export_onnx(model, path)
    found = onnx.reference.ReferenceEvaluator(onnx.load(path)).run(
        None, {"X": rows(9, seed=1)}
    )[0]
    np.testing.assert_allclose(found, model.transform(rows(9, seed=1)), rtol=0, atol=1e-10)
    X = rows(80)
    exact, quick = fitted(RBF(3.0), X), fitted(RBF(3.0), X, tol_transform=0.1)
    found = session_of(quick, path).run(None, {"X": rows(9, seed=1)})[0]
    np.testing.assert_allclose(found, exact.transform(rows(9, seed=1)), rtol=0, atol=1e-10)


def test_streams_sparse_fits_padded_axes_and_any_number_of_rows(path):
    model = fitted(Linear(), rows(9)[:, :2])
    assert model.n_components_ == 3
    compare(model, path, rows(9, seed=1)[:, :2])
    model = KernelPCA(2, kernel=RBF(6.0)).partial_fit(rows(60)).partial_fit(rows(30, seed=4))
    compare(model, path, rows(20, seed=1))
    sparse = scipy.sparse.random_array((60, 12), density=0.3, random_state=0, format="csr")
    compare(fitted(RBF(2.0), sparse), path, np.random.default_rng(1).normal(size=(7, 12)))
    session = session_of(fitted(Matern(4.0), rows(40), landmarks=10), path)
    for n in (0, 1, 1000):
        assert session.run(None, {"X": rows(n)})[0].shape == (n, 3)


def test_the_file_is_what_it_says(path):
    frame = pd.DataFrame(rows(30), columns=list("abcdü"[:5]))
    mercer.export_onnx(PCA(2).fit(frame), path)
    made = onnx.load(path)
    assert made.ir_version == 10
    assert made.producer_name == "mercer"
    about = {entry.key: entry.value for entry in made.metadata_props}
    assert about["model"] == "PCA"
    assert json.loads(about["feature_names"]) == ["a", "b", "c", "d", "ü"]
    assert [i.name for i in made.graph.input] == ["X"]
    assert [o.name for o in made.graph.output] == ["Z"]
    assert list(path.parent.iterdir()) == [path]


REFUSED = {
    "overlap": (Overlap(), "no form in ONNX"),
    "mapped": (mapped(RBF(1.0), abs), "no form in ONNX"),
    "warp": (warp(RBF(3.0), lambda x: np.ones(len(x))), "no form in ONNX"),
    "function": (lambda x, y: RBF(3.0)(x, y), "no form in ONNX"),
    "feature map": (FeatureMap(lambda x: x[:, :2]), "no form in ONNX"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_kernels_without_a_form_are_refused_with_the_list(name, path):
    kernel, words = REFUSED[name]
    with pytest.raises(NotSupportedError, match=words) as caught:
        mercer.export_onnx(fitted(kernel, np.abs(rows(40))), path)
    assert "kernel" in caught.value.fix or "RBF" in caught.value.fix
    assert not path.exists()


def test_what_is_no_such_model_or_no_file_is_refused(path, tmp_path):
    X = rows(30)
    for model in (LandmarkFeatures(5).fit(X), dropin.KernelPCA(2).fit(X)):
        with pytest.raises(NotSupportedError, match="only PCA, KernelPCA"):
            mercer.export_onnx(model, path)
    with pytest.raises(NotSupportedError, match="precomputed"):
        mercer.export_onnx(fitted("precomputed", RBF(3.0)(X)), path)
    refuses(None, mercer.export_onnx, PCA(2), path, kind=NotFittedError)
    refuses("dtype", mercer.export_onnx, PCA(2).fit(X), path, dtype="float16")
    model = PCA(2).fit(rows(30))
    refuses("folder cannot be replaced", mercer.export_onnx, model, tmp_path)
    refuses("given by its path", mercer.export_onnx, model, 5)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "model",
    [
        PCA(2, missing="em"),
        mercer.ProbabilisticPCA(2, missing="ppca"),
        KernelPCA(2, missing="em"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_filling_of_cells_is_not_dropped_without_a_word(model, path):
    whole = rows(60)
    holed = whole.copy()
    holed[::9, 2] = np.nan
    for X in (whole, holed):
        words, kind = "missing cells has no form in ONNX", NotSupportedError
        refuses(words, mercer.export_onnx, hushed(model.fit, X), path, kind=kind)
        assert not path.exists()


def test_without_the_library_the_extra_is_named(path, monkeypatch):
    real = builtins.__import__

    def absent(name, *arguments, **options):
        if name == "onnx":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(NotSupportedError) as caught:
        mercer.export_onnx(PCA(2).fit(rows(9)), path)
    assert "mercer[onnx]" in caught.value.fix


@pytest.mark.parametrize(
    "kernel",
    [Sigmoid(0.01), Polynomial(2.5, gamma=1e-3, coef0=9.0), PeriodicDistance(1.0, 3.0)],
)
def test_indefinite_kernels_by_their_steps(kernel, path):
    compare(fitted(kernel, rows(40), indefinite="clip"), path, rows(9, seed=1))
