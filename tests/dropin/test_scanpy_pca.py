import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from tests.claims import agree, refuses

from mercer import PCA
from mercer.dropin import TruncatedSVD, scanpy_pca


class Annotated:
    """As much of an annotated matrix as the function may touch."""

    def __init__(self, X, var=None, layers=None):
        self.X, self.layers = X, layers or {}
        self.var = pd.DataFrame(var or {}, index=[f"g{i}" for i in range(X.shape[1])])
        self.obsm, self.varm, self.uns = {}, {}, {}

    def copy(self):
        other = Annotated(self.X, layers=dict(self.layers))
        other.var = self.var.copy()
        return other


def counts(n=90, p=70, seed=0):
    rng = np.random.default_rng(seed)
    return np.log1p(rng.poisson(rng.gamma(0.5, 1, p), (n, p))).astype(np.float32)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csc_array])
def test_results_stand_where_scanpy_puts_them(kind):
    X = counts()
    adata = Annotated(kind(X))
    assert scanpy_pca(adata, 10) is None
    Y = X.astype(float) - X.mean(0, dtype=float)
    s, vt = np.linalg.svd(Y, full_matrices=False)[1:]
    found = adata.uns["pca"]
    assert found["params"] == {
        "zero_center": True, "use_highly_variable": False, "mask_var": None,
    }  # fmt: skip
    np.testing.assert_allclose(found["variance"], s[:10] ** 2 / 89, rtol=1e-5)
    np.testing.assert_allclose(found["variance_ratio"], s[:10] ** 2 / np.sum(s**2), rtol=1e-5)
    np.testing.assert_allclose(found["mean"], X.mean(0, dtype=float), rtol=1e-5)
    assert adata.obsm["X_pca"].dtype == np.float32
    assert adata.obsm["X_pca"].shape == (90, 10)
    assert adata.varm["PCs"].shape == (70, 10)
    agree(np.abs(vt[0] @ adata.varm["PCs"][:, 0]), 1, 1e-5)
    agree(adata.obsm["X_pca"], Y @ adata.varm["PCs"], 1e-3)


def test_highly_variable_genes_are_honoured():
    X = counts()
    mask = np.arange(70) % 3 == 0
    adata = Annotated(scipy.sparse.csr_matrix(X), {"highly_variable": mask, "mine": ~mask})
    scanpy_pca(adata, 5)
    whole = PCA(5).fit(X[:, mask])
    assert adata.uns["pca"]["params"]["mask_var"] == "highly_variable"
    assert adata.uns["pca"]["params"]["use_highly_variable"]
    np.testing.assert_allclose(
        adata.uns["pca"]["variance"], whole.explained_variance_, rtol=1e-4
    )
    assert not adata.varm["PCs"][~mask].any()
    assert np.abs(adata.varm["PCs"][mask]).sum() > 0
    assert not adata.uns["pca"]["mean"][~mask].any()
    for given in ("mine", ~mask):
        scanpy_pca(adata, 5, mask_var=given)
        assert not adata.varm["PCs"][mask].any()
    scanpy_pca(adata, 5, mask_var=None)
    assert adata.varm["PCs"].any(axis=1).sum() > mask.sum()


def test_layers_keys_copies_and_types():
    X = counts()
    adata = Annotated(np.zeros((90, 70)), layers={"log": X})
    other = scanpy_pca(adata, 4, layer="log", key_added="mine", dtype="float64", copy=True)
    assert (adata.obsm, adata.varm, adata.uns) == ({}, {}, {})
    assert other.obsm["mine"].dtype == np.float64
    assert other.uns["mine"]["params"]["layer"] == "log"
    assert other.varm["mine"].shape == (70, 4)


def test_the_mean_may_stay():
    X = counts()
    adata = Annotated(scipy.sparse.csr_matrix(X))
    scanpy_pca(adata, 4, zero_center=False, svd_solver="arpack")
    model = TruncatedSVD(4).fit(X)
    np.testing.assert_allclose(
        adata.uns["pca"]["variance"], model.explained_variance_, rtol=1e-4
    )
    agree(np.abs(adata.obsm["X_pca"]), np.abs(X @ model.components_.T), 1e-3)
    assert "mean" not in adata.uns["pca"]


@pytest.mark.parametrize(("shape", "k"), [((90, 70), 50), ((30, 70), 29), ((90, 8), 7)])
@pytest.mark.parametrize("given", [{}, {"n_comps": None}])
def test_fifty_or_as_many_as_there_are(shape, k, given):
    adata = Annotated(counts(*shape).astype(float))
    scanpy_pca(adata, **given)
    assert adata.obsm["X_pca"].shape == (shape[0], k)


@pytest.mark.parametrize(
    "wrong",
    [
        {"layer": "raw"}, {"mask_var": "best"}, {"mask_var": np.ones(3, bool)},
        {"mask_var": np.zeros(70, bool)}, {"mask_var": np.arange(70)}, {"svd_solver": "magic"},
        {"n_comps": 71},
    ],
    ids=lambda wrong: next(iter(wrong)),
)  # fmt: skip
def test_refusals_write_nothing(wrong):
    adata = Annotated(counts())
    refuses(None, scanpy_pca, adata, **wrong)
    assert (adata.obsm, adata.varm, adata.uns) == ({}, {}, {})


class TestRowsAlone:
    @pytest.mark.parametrize("centre", [True, False])
    @pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix])
    def test_the_coordinates_are_returned(self, kind, centre):
        X = counts()
        adata = Annotated(kind(X))
        scanpy_pca(adata, 10, zero_center=centre)
        found = scanpy_pca(kind(X), 10, zero_center=centre)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, adata.obsm["X_pca"])
        assert scanpy_pca(kind(X), 4, dtype="float64", copy=True).dtype == np.float64

    def test_a_mask_chooses_columns(self):
        X, mask = counts(), np.arange(70) % 3 == 0
        chosen = scanpy_pca(X, 5, mask_var=mask)
        np.testing.assert_array_equal(chosen, scanpy_pca(X[:, mask], 5))
        np.testing.assert_array_equal(scanpy_pca(X, 5, mask_var=None), scanpy_pca(X, 5))

    @pytest.mark.parametrize(
        ("given", "options", "words"),
        [
            (5, {}, "takes an AnnData"), ("a.npy", {}, "takes an AnnData"),
            (None, {}, "takes an AnnData"), (np.zeros(3), {}, "takes an AnnData"),
            (counts(), {"layer": "raw"}, "no layers"),
            (counts(), {"mask_var": "mine"}, "no names of columns"),
            (counts(), {"mask_var": np.ones(3, bool)}, "one truth value per gene"),
        ],
        ids=["number", "path", "none", "line", "layer", "name", "mask"],
    )  # fmt: skip
    def test_what_is_refused(self, given, options, words):
        refuses(words, scanpy_pca, given, 2, **options)
