"""Rows in the forms people have them in: the same numbers and names, or three lines at once."""

import sys
import types

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import sklearn.decomposition
from tests.claims import agree, hushed, refused

import mercer
from mercer import PCA, dropin
from mercer.errors import InputError, MercerError
from mercer.methods import METHODS

RNG = np.random.default_rng(0)
NAMES = list("abcdef")
CELLS = RNG.random((40, 6)) * (RNG.random((40, 6)) < 0.7) + np.eye(40, 6)
FRAME = pd.DataFrame(CELLS, columns=NAMES, index=[f"row {i}" for i in range(40)])
Y = np.arange(40) % 2
OPTIONS = {
    "MFA": {"groups": {"one": NAMES[:3], "two": NAMES[3:]}},
    "FAMD": {"categorical": ["a"]},
    "LandmarkFeatures": {"n_landmarks": 8},
    "RandomFeatures": {"n_features": 9},
    "dropin.PCA": {"n_components": 2},  # None stands for one less where rows are sparse
    "dropin.Nystroem": {"n_components": 8, "random_state": 0},
    "MaximumVarianceUnfolding": {"neighbours": 5},
    "Isomap": {"neighbours": 8},
    "Autoencoder": {"layers": (8,), "epochs": 2},
    "LocallyLinearEmbedding": {"neighbours": 8},
}


def sparse(frame, fill=0.0, kind="float64"):
    return frame.astype(pd.SparseDtype(kind, fill))


FORMS = {
    "sparse": sparse(FRAME),
    "sparse, empty is NaN": sparse(FRAME, np.nan),
    "sparse beside dense": FRAME.astype({"c": pd.SparseDtype("float64", 0.0)}),
    "record batch": pa.RecordBatch.from_pandas(FRAME, preserve_index=False),
}


def made(name):
    return METHODS[name].load()(**OPTIONS.get(name, {}))


@pytest.mark.parametrize("name", METHODS)
def test_every_class_takes_every_form(name):
    # Ties and few rows are remarked upon; what is asked here is whether forms differ.
    wanted = hushed(made(name).fit, FRAME, Y)
    scores = np.abs(hushed(wanted.transform, FRAME))
    for form, given in FORMS.items():
        model = hushed(made(name).fit, given, Y)
        assert list(model.feature_names_in_) == NAMES, form
        found = hushed(model.set_output(transform="pandas").transform, given)
        agree(np.abs(found), scores, 1e-7)
        assert list(found.columns) == list(model.get_feature_names_out())


@pytest.mark.parametrize(
    ("frame", "nnz"),
    [
        (sparse(FRAME), np.count_nonzero(CELLS)),
        (sparse(FRAME, kind="float32"), np.count_nonzero(CELLS)),
        (sparse(FRAME > 0, False, bool), np.count_nonzero(CELLS > 0)),
        (sparse(FRAME, 1.0), None),
        (FORMS["sparse beside dense"], None),
    ],
    ids=["float64", "float32", "bool", "one", "mixed"],
)
def test_frames_of_sparse_columns_stay_sparse_where_empty_is_zero(frame, nnz):
    model = PCA(2).fit(frame)
    assert model.plan_.problem.nnz == nnz
    dense = PCA(2).fit(np.asarray(frame))
    assert model.components_.dtype == dense.components_.dtype
    agree(model.explained_variance_, dense.explained_variance_, 1e-6)
    source = mercer.scan(frame, drop=["b"])
    assert (source.names, source.shape) == (("a", "c", "d", "e", "f"), (40, 5))
    left = frame.drop(columns="b")
    agree(PCA(2).fit(source).explained_variance_, PCA(2).fit(left).explained_variance_, 1e-6)
    blocks = PCA(2).fit(iter([frame[:25], frame[25:]]))
    assert list(blocks.feature_names_in_) == NAMES
    agree(blocks.explained_variance_, dense.explained_variance_, 1e-5)


def test_missing_cells_of_sparse_columns_are_filled_and_others_named():
    holes = FRAME.copy()
    holes.iloc[3, 1] = np.nan
    with refused(InputError) as caught:
        PCA(2).fit(sparse(holes))
    assert "row 3, column 1 ('b')" in caught.value.got
    for fill in (0.0, np.nan):
        filled = PCA(2, missing="em").fit(holes).impute(sparse(holes, fill))
        plain = PCA(2, missing="em").fit(holes).impute(holes)
        assert list(filled.columns) == NAMES
        agree(np.asarray(filled, float), plain, 1e-12)
        assert mercer.impute(sparse(holes, fill), 1).isna().to_numpy().sum() == 0


LEVELS = pd.MultiIndex.from_product([["a", "b"], ["x", "y", "z"]])


@pytest.mark.parametrize("name", METHODS)
def test_columns_of_several_levels_are_no_names_as_in_scikit_learn(name):
    given = FRAME.set_axis(LEVELS, axis=1)
    assert not hasattr(sklearn.decomposition.PCA(2).fit(given), "feature_names_in_")
    options = {"MFA": {"groups": {"one": [0, 1, 2], "two": [3, 4, 5]}}, "FAMD": {}}
    model = METHODS[name].load()(**(OPTIONS | options).get(name, {}))
    hushed(model.fit, given, Y)
    assert not hasattr(model, "feature_names_in_")
    assert hushed(model.transform, given).shape[0] == 40


def test_missing_cells_are_filled_whatever_columns_are_called():
    wanted = PCA(2, missing="em").fit(CELLS)
    holes = CELLS.copy()
    holes[3, 1] = np.nan
    for labels in (LEVELS, pd.interval_range(0, 6), range(6, 0, -1)):
        filled = wanted.impute(pd.DataFrame(holes, columns=labels))
        assert filled.columns.equals(pd.Index(labels))
        agree(filled, wanted.impute(holes), 0)


def test_categories_that_are_numbers_are_numbers_for_methods_of_numbers():
    given = FRAME.round(1).astype({"a": "category"})
    for kind in (PCA, dropin.PCA, sklearn.decomposition.PCA):
        model = kind(2).fit(given)
        agree(model.explained_variance_, kind(2).fit(FRAME.round(1)).explained_variance_, 0)
    with refused(InputError) as caught:
        PCA(2).fit(FRAME.assign(a=pd.Categorical(["x"] * 40)))
    assert "'a' (Categorical)" in caught.value.got


class AnnData:
    """Stands in for what can be indexed without end, row by row."""

    __module__ = "anndata._core.anndata"
    shape = (10**6, 30_000)

    def __init__(self):
        self.X = scipy.sparse.eye_array(3)

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, at):
        raise AssertionError("a row was asked for")


class Unreadable:
    shape = (4, 2)

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no way\nat all")


def blocks(last):
    yield CELLS
    yield last


ODD = {
    "annotated": (AnnData, "AnnData of shape (1000000, 30000)"),
    "unreadable": (Unreadable, "Unreadable of shape (4, 2)"),
    "series": (lambda: FRAME["a"], "a series (Series)"),
    "polars series": (lambda: pl.Series([1.0, 2.0]), "a series (Series)"),
    "arrow column": (lambda: pa.chunked_array([[1.0, 2.0]]), "a series (ChunkedArray)"),
    "index": (lambda: pd.Index([1.0, 2.0]), "shape (2,)"),
    "ragged": (lambda: [[1.0, 2.0], [3.0]], "row 1 has one cell, row 0 has 2 cells"),
    "ragged arrays": (lambda: [np.ones(3), np.ones(2)], "row 1 has 2 cells, row 0 has 3"),
    "ragged at the end": (lambda: [*CELLS.tolist(), 1.0], "row 40 has one cell, row 0 has 6"),
    "words": (lambda: ["a", "b"], ""),
    "records": (lambda: [{"a": 1}, {"a": 2}], ""),
    "mapping": (lambda: {"data": CELLS}, "dict"),
    "nothing": (lambda: None, "NoneType"),
    "object": (object, "object"),
    "number": (lambda: 3.0, ""),
    "lists in themselves": (lambda: (deep := [], deep.append(deep))[0], "list"),
    "operator": (lambda: scipy.sparse.linalg.aslinearoperator(CELLS), "LinearOperator"),
    "text column": (lambda: FRAME.assign(a="x").astype({"a": "category"}), ""),
    "spans": (lambda: FRAME.assign(a=pd.to_timedelta(range(40))), "'a'"),
    "sparse text": (lambda: pd.DataFrame({"a": pd.arrays.SparseArray(["x", "y"])}), ""),
    "stream of text": (lambda: blocks("x"), ""),
    "stream of widths": (lambda: blocks(CELLS[:, :2]), ""),
    "stream of objects": (lambda: blocks(AnnData()), ""),
    "stream of nothing": (lambda: iter([]), ""),
}
CATEGORIES = {"words", "records", "text column", "spans", "sparse text", "ragged at the end"}
READ = {"text column", "spans", "sparse text", *(odd for odd in ODD if "stream of" in odd)}


@pytest.mark.parametrize("odd", ODD)
def test_what_holds_no_table_is_refused_in_three_lines_by_every_class(odd):
    make, words = ODD[odd]
    for name, method in METHODS.items():
        if method.takes in ("categories", "mixed") and odd in CATEGORIES:
            continue
        with refused(MercerError) as caught:
            made(name).fit(make(), Y)
        assert isinstance(caught.value, ValueError)
        numbers = method.takes not in ("categories", "mixed")
        if numbers and not (name in ("PCA", "KernelPCA") and odd.startswith("stream")):
            assert words in caught.value.got, name
        if hasattr(made(name), "partial_fit"):
            with refused(MercerError):
                made(name).partial_fit(make())


@pytest.mark.parametrize("odd", ODD)
def test_what_holds_no_table_is_refused_by_fitted_models(odd):
    make, _ = ODD[odd]
    pca = PCA(6, missing="em").fit(CELLS)
    asks = [pca.transform, pca.inverse_transform, pca.score_samples, pca.impute]
    asks += [mercer.KernelPCA(2, missing="em").fit, mercer.KernelPCA(2).fit(CELLS).transform]
    asks += [dropin.PCA(2).fit(CELLS).inverse_transform, mercer.how_many]
    asks += [] if odd in READ else [mercer.scan]  # it reads the first block, and numbers alone
    for ask in asks:
        with refused(MercerError):
            ask(make())


def test_annotated_matrices_are_told_what_reads_them():
    with refused(InputError) as caught:
        PCA(2).fit(AnnData())
    assert "mercer.dropin.scanpy_pca(X)" in caught.value.fix
    with refused(InputError, match="table of numbers"):
        mercer.scan(AnnData())


class Tensor:
    """Stands in for a tensor of torch: it becomes an array once its gradients are off."""

    def __init__(self, cells, asks=True):
        self.cells, self.requires_grad = np.asarray(cells), asks
        self.shape, self.ndim, self.dtype = self.cells.shape, self.cells.ndim, "torch.float64"

    def detach(self):
        return Tensor(self.cells, False)

    def cpu(self):
        return self

    def __array__(self, dtype=None, copy=None):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return self.cells.astype(dtype or float)


@pytest.fixture
def torch(monkeypatch):
    module = types.ModuleType("torch")
    module.Tensor = Tensor
    monkeypatch.setitem(sys.modules, "torch", module)


@pytest.mark.usefixtures("torch")
def test_tensors_leave_their_gradients_behind():
    tensor = Tensor(CELLS)
    for kind in (PCA, mercer.KernelPCA, dropin.PCA, mercer.TopicVectors, mercer.Isomap):
        model, wanted = kind(2).fit(tensor), kind(2).fit(CELLS)
        agree(model.transform(tensor), wanted.transform(CELLS), 0)
    model = PCA(2).fit(CELLS, sample_weight=Tensor(np.ones(40)))
    agree(model.inverse_transform(Tensor(model.transform(CELLS))), wanted_back(model), 0)
    labels = mercer.LinearDiscriminantAnalysis().fit(tensor, Tensor(Y))
    agree(
        labels.transform(CELLS), mercer.LinearDiscriminantAnalysis().fit_transform(CELLS, Y), 0
    )
    agree(mercer.scan(tensor).array, CELLS, 0)


def wanted_back(model):
    return model.inverse_transform(model.transform(CELLS))


def test_sparse_rows_are_placed_among_dense_ones():
    for kind in (mercer.LaplacianEigenmaps, mercer.DiffusionMaps, mercer.Isomap):
        rows = scipy.sparse.csr_array(CELLS)
        dense, other = hushed(kind(2).fit, CELLS), hushed(kind(2).fit, rows)
        agree(dense.transform(rows), dense.transform(CELLS), 1e-9)
        agree(other.transform(CELLS), other.transform(rows), 1e-9)


def test_rows_that_nobody_has_counted_are_about_so_many(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c\n" + "1,2,3\n4,5,7\n" * 600)
    assert str(mercer.plan(PCA(2), path)).startswith("plan: about 1,")
    with refused(mercer.errors.BudgetError) as caught:
        mercer.plan(PCA(2, memory=10), path)
    assert " of about 1," in caught.value.got
    rows = np.random.default_rng(0).standard_normal((150, 120))
    for count in (120, 150):  # a hundred are thought to come, one at a time
        model = mercer.ProbabilisticPCA("evidence")
        stream = (row[None] for row in rows[:count])
        if count > 120:
            assert hushed(model.fit, stream).n_samples_ == count
        else:
            with refused(InputError, match="more rows than columns") as caught:
                model.fit(stream)
            assert caught.value.got == "n_samples = 120, n_features = 120"


ELSEWHERE = {
    "alignment": lambda X: mercer.kernels.cka(X, np.eye(40)),
    "discrepancy": lambda X: mercer.kernels.mmd("rbf(lengthscale=1)", X, CELLS),
    "kernel": lambda X: mercer.kernels.RBF(1.0)(X),
    "covariance": lambda X: PCA.from_covariance(X, np.zeros(6), 40),
    "rotated": lambda X: mercer.rotate(PCA(3).fit(CELLS)).transform(X),
    "groups": lambda X: mercer.describe_groups(Y, X),
    "weights": lambda X: PCA(2).fit(CELLS, sample_weight=X),
    "labels": lambda X: mercer.LinearDiscriminantAnalysis().fit(CELLS, X),
}
WHOLE = {"weights": {"nothing"}, "groups": {"nothing", "records", "mapping"}}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_functions_refuse_what_holds_no_numbers_in_three_lines(name):
    for odd in ("unreadable", "ragged", "records", "mapping", "nothing", "object", "operator"):
        if odd not in WHOLE.get(name, ()):
            with refused(MercerError):
                ELSEWHERE[name](ODD[odd][0]())
