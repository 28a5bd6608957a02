"""Sparse matrices in memory: cells outside are refused by their place, any order is right.

SciPy lets row pointers and column numbers be changed after it has looked at them, and its
products then read and write memory of others. Every method, study and kernel looks first.
"""

import importlib

import numpy as np
import pytest
import scipy.sparse

import mercer
from mercer import KernelPCA, studies
from mercer.dropin import scanpy_pca
from mercer.errors import InputError
from mercer.kernels import RBF, FeatureMap, evidence, mmd
from mercer.methods import METHODS

N, P = 40, 12
DRAWN = np.random.default_rng(0)
X = np.round(5 * DRAWN.random((N, P))) * (DRAWN.random((N, P)) < 0.5)
X[:, -1] += 1
SOUND, GROUPS = scipy.sparse.csr_array(X), np.arange(N) % 3
GRAPH = scipy.sparse.csr_array(scipy.sparse.random(N, N, 0.3, random_state=0))
GRAPH = scipy.sparse.csr_array(GRAPH + GRAPH.T)
DENSE_ONLY = {"FactorAnalysis", "MultipleCorrespondenceAnalysis", "FAMD", "MFA"}
DENSE_ONLY |= {"LocallyLinearEmbedding", "MaximumVarianceUnfolding", "Autoencoder"}


def moved(kind, place, to, table=X):
    """Return a matrix of a format with one number of its indices changed."""
    made = getattr(scipy.sparse, f"{kind}_array")(table)
    if kind == "coo":
        made.coords = made.coords[0], np.array(made.coords[1])
        made.coords[1][place] = to
    elif kind == "lil":
        made.rows[place][0] = to
    else:
        made.indices = np.array(made.indices)
        made.indices[place] = to
    return made


def pointed(kind, change, table=X):
    """Return a compressed matrix with other pointers."""
    made = getattr(scipy.sparse, f"{kind}_array")(table)
    made.indptr = change(np.array(made.indptr))
    return made


def put(place, to):
    def change(pointers):
        pointers[place] = to
        return pointers

    return change


def short(kind):
    made = getattr(scipy.sparse, f"{kind}_array")(X)
    made.data = made.data[:-1]
    return made


ROW = int(np.searchsorted(SOUND.indptr, 20, side="right")) - 1
# name: (matrix, words of the line that names the place)
BAD = {
    "far": (moved("csr", 20, 60), f"csr_array of shape (40, 12), row {ROW}: column 60 of 12"),
    "next": (moved("csr", 20, P), f"row {ROW}: column 12 of 12"),
    "very far": (moved("csr", 20, 10**6), f"row {ROW}: column 1000000 of 12"),
    "below": (moved("csr", 20, -1), f"row {ROW}: column -1 of 12"),
    "columns": (moved("csc", 0, N), "column 0: row 40 of 40"),
    "blocks": (moved("bsr", 0, 10**6), "block row 0: block column 1000000 of "),
    "cells": (moved("coo", 3, 10**6), "cell 3 at row 0, column 1000000: column 1000000 of 12"),
    "lists": (moved("lil", 3, 10**6), "row 3: column 1000000 of 12"),
    "back": (pointed("csr", put(5, 0)), " then 0 at row 4"),
    "long": (pointed("csr", lambda ends: np.append(ends, ends[-1])), "shape (42,) for 40 rows"),
    "late": (pointed("csr", lambda ends: ends + 1), "from 1 to "),
    "beyond": (pointed("csr", put(-1, 10**6)), "to 1000000, "),
    "back by columns": (pointed("csc", put(5, 0)), " then 0 at column 4"),
    "short": (short("csr"), f"{SOUND.nnz - 1} cells are stored (row 39: "),
    "short by columns": (short("csc"), "cells are stored (column 11: "),
    "fractions": (pointed("csr", lambda ends: ends * 1.0), "indptr: float64"),
}


def refused(call, words=""):
    with pytest.raises(InputError) as caught:
        call()
    assert len(str(caught.value).splitlines()) == 3
    assert words in caught.value.got


@pytest.mark.parametrize("name", BAD)
def test_a_cell_outside_is_refused_by_its_place(name):
    matrix, words = BAD[name]
    refused(lambda: mercer.PCA(2).fit(matrix), words)


def made(name):
    kind = getattr(importlib.import_module(METHODS[name].home), name.rpartition(".")[2])
    return kind(n_components=2) if "n_components" in kind().get_params() else kind()


GUESTS = {name for name, method in METHODS.items() if ".guests." in method.home}  # refuse all
SPARSE = [name for name in METHODS if name not in {*DENSE_ONLY, *GUESTS}]
HARMFUL = [BAD[name][0] for name in ("very far", "columns", "blocks", "cells", "beyond")]


@pytest.mark.parametrize("name", SPARSE)
def test_every_method_looks_before_any_product(name):
    fitted = made(name).fit(SOUND, GROUPS)
    for matrix in HARMFUL:
        refused(lambda matrix=matrix: made(name).fit(matrix, GROUPS))
        for asked in ("transform", "partial_fit", "score_samples", "novelty", "refine"):
            if hasattr(fitted, asked) and not name.startswith("dropin."):
                refused(lambda matrix=matrix, asked=asked: getattr(fitted, asked)(matrix))


def test_graphs_kernels_studies_and_streams_look_too():
    graph = moved("csr", 20, 10**6, GRAPH)
    for kind in (mercer.LaplacianEigenmaps, mercer.DiffusionMaps, mercer.Isomap):
        refused(lambda kind=kind: kind(metric="precomputed").fit(graph), "1000000")
    refused(lambda: KernelPCA(2, kernel="precomputed").fit(graph), "1000000")
    model = mercer.PCA(2).fit(SOUND)
    for bad in HARMFUL:
        for call in (
            lambda bad=bad: KernelPCA(2, landmarks=bad).fit(SOUND),
            lambda bad=bad: RBF(1.0)(SOUND, bad),
            lambda bad=bad: RBF(1.0).diag(bad),
            lambda bad=bad: RBF().resolve(bad),
            lambda bad=bad: evidence("rbf", bad),
            lambda bad=bad: mmd("rbf", SOUND, bad),
            lambda bad=bad: FeatureMap(lambda _: bad)(["word"] * N),
            lambda bad=bad: mercer.PCA(2).fit(iter([SOUND, bad])),
            lambda bad=bad: scanpy_pca(bad, 2, mask_var=np.arange(P) < 8),
            lambda bad=bad: studies.tune(bad),
            lambda bad=bad: studies.how_many(bad),
            lambda bad=bad: studies.drift(model, bad),
            lambda bad=bad: mercer.scan(bad),
        ):
            refused(call)


def scattered(noted):
    """Return X as CSR with every cell in two parts, in no order, and room behind the last.

    `noted` says what SciPy believes of its order.
    """
    drawn = np.random.default_rng(1)
    row, column = np.nonzero(X)
    part = 3 + np.round(4 * drawn.random(len(row))) / 4
    cells = np.concatenate([part, X[row, column] - part, [1e6]])
    row, column = np.append(np.tile(row, 2), N), np.append(np.tile(column, 2), 0)
    order = drawn.permutation(len(cells) - 1)
    order = np.append(order[np.argsort(row[order], kind="stable")], len(cells) - 1)
    ends = np.concatenate([[0], np.cumsum(np.bincount(row[:-1], minlength=N))])
    found = scipy.sparse.csr_array((N, P))
    found.data, found.indices = cells[order], column[order].astype(np.int32)
    found.indptr = ends.astype(np.int32)
    if noted is not None:
        found.has_sorted_indices = found.has_canonical_format = noted
    return found


@pytest.mark.parametrize("name", SPARSE)
def test_cells_in_any_order_and_in_parts_are_the_same_rows(name):
    expected = made(name).fit(SOUND, GROUPS)
    for noted in (True, None):
        given = scattered(noted)
        before = given.data.copy(), given.indices.copy()
        found = made(name).fit(given, GROUPS)
        for values in ("eigenvalues_", "explained_variance_", "singular_values_"):
            if hasattr(expected, values):
                known = getattr(expected, values)
                np.testing.assert_allclose(getattr(found, values), known, rtol=1e-9)
        np.testing.assert_allclose(
            expected.transform(given), expected.transform(SOUND), atol=1e-8
        )
        assert all(map(np.array_equal, before, (given.data, given.indices)))
