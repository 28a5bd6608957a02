"""Rows in parts give the numbers of rows in one piece, however they are cut."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sparse
from forced import fit
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import PCA
from mercer.errors import InputError

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pytestmark = pytest.mark.usefixtures("every_chunk")
TIGHT = 1e-10


def table(n=120, p=9, offset=1e4, seed=3):
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((p, p)))[0]
    return rng.standard_normal((n, p)) * np.geomspace(8, 0.5, p) @ turn + offset


def assert_equal_fits(found, wanted, tight=TIGHT):
    """Eigenvalues, mean, scale and the projector on the axes agree to `tight`."""
    for name in ("n_components_", "n_samples_", "rank_"):
        assert getattr(found, name) == getattr(wanted, name)
    values, level = wanted.explained_variance_, tight * wanted.explained_variance_[0] * 1e-4
    np.testing.assert_allclose(found.explained_variance_, values, rtol=tight, atol=level)
    np.testing.assert_allclose(found.mean_, wanted.mean_, rtol=tight, atol=tight)
    if wanted.scale_ is not None:
        np.testing.assert_allclose(found.scale_, wanted.scale_, rtol=tight)
    a, b = (m.components_.T @ m.components_ for m in (found, wanted))
    np.testing.assert_allclose(a, b, rtol=0, atol=tight)
    assert found.noise_variance_ == pytest.approx(wanted.noise_variance_, rel=1e-8, abs=1e-12)


def rows(X):
    return da.from_array(X, chunks=(50, X.shape[1]))


def unknown(X):
    data = da.from_array(X, chunks=(50, 4))
    return data[data[:, 0] > -np.inf]


LAYOUTS = {
    "rows": rows,
    "uneven": lambda X: da.from_array(X, chunks=((7, 80, len(X) - 87), X.shape[1])),
    "one row each": lambda X: da.from_array(X, chunks=(1, X.shape[1])),
    "empty chunks": lambda X: da.from_array(X, chunks=((0, 60, 0, 0, len(X) - 60, 0), 4)),
    "columns": lambda X: da.from_array(X, chunks=(len(X), 2)),
    "cells": lambda X: da.from_array(X, chunks=(31, 5)),
    "unknown": unknown,
    "Fortran": lambda X: rows(X).map_blocks(np.asfortranarray),
    "sparse": lambda X: da.from_array(X, chunks=(31, 5)).map_blocks(scipy.sparse.csr_array),
    "sparse, said to be dense": lambda X: rows(X).map_blocks(
        scipy.sparse.csc_matrix, dtype=X.dtype, meta=np.empty((0, 0), X.dtype)
    ),
    "library sparse": lambda X: da.from_array(X, chunks=(31, 5)).map_blocks(sparse.COO),
    "frame": lambda X: dd.from_pandas(pd.DataFrame(X).add_prefix("c"), npartitions=4),
    "frame with empty partitions": lambda X: dd.concat(
        [
            dd.from_pandas(pd.DataFrame(x).add_prefix("c"), npartitions=2)
            for x in (X[:50], X[:0], X[50:])
        ]
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("path", ["svd", "gram", "auto"])
def test_every_layout_gives_the_fit_of_one_piece(layout, path):
    X = table()
    assert_equal_fits(fit(path, LAYOUTS[layout](X), 4), fit(path, X, 4))


TYPES = [
    (layout, dtype)
    for layout in ("rows", "cells", "unknown", "sparse", "frame")
    for dtype in ("f4", "f8", ">f8", "i4", "i8", "u1", "?")
    if dtype != ">f8" or layout in ("rows", "cells")  # the others hold native numbers
]


@pytest.mark.parametrize(("layout", "dtype"), TYPES)
def test_every_type_gives_the_fit_of_one_piece(layout, dtype):
    X = (table(offset=0) * 3 + (100 if dtype == "u1" else 0)).astype(dtype)
    X = X if dtype != "?" else table(offset=0) > 1
    found, wanted = (fit("svd", data, 3) for data in (LAYOUTS[layout](X), X))
    assert_equal_fits(found, wanted, 1e-6 if dtype == "f4" else TIGHT)
    np.testing.assert_allclose(
        found.explained_variance_, wanted.explained_variance_, rtol=TIGHT
    )


PARAMETERS = [
    {},
    {"n_components": 0.8},
    {"n_components": "mle"},
    {"n_components": 3, "standardize": True},
    {"n_components": 3, "whiten": True},
    {"n_components": 3, "whiten": "zca"},
    {"n_components": 3, "feature_weight": np.arange(1.0, 10.0)},
    {"n_components": 3, "tol": 1e-13},
    {"n_components": 3, "memory": "200MB"},
    {"n_components": 9, "standardize": True, "feature_weight": np.arange(1.0, 10.0)},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=range(len(PARAMETERS)))
@pytest.mark.parametrize("layout", ["cells", "unknown", "frame"])
def test_every_parameter_means_the_same(layout, parameters):
    X = table()
    data = LAYOUTS[layout](X)
    found, wanted = (PCA(**parameters).fit(x) for x in (data, X))
    assert_equal_fits(found, wanted)
    Z = found.transform(data)
    np.testing.assert_allclose(Z.compute(), wanted.transform(X), rtol=0, atol=1e-8)
    back = found.inverse_transform(Z).compute()
    np.testing.assert_allclose(back, wanted.inverse_transform(wanted.transform(X)), rtol=1e-9)


@pytest.mark.parametrize("layout", ["rows", "cells", "unknown", "sparse", "frame"])
@pytest.mark.parametrize("path", ["svd", "gram", "krylov"])
def test_a_weight_is_a_row_that_stands_again(layout, path):
    X = table(p=24)
    w = np.random.default_rng(5).integers(0, 4, len(X))
    weights = {
        "unknown": lambda: da.from_array(w, chunks=50),
        "frame": lambda: dd.from_pandas(pd.Series(w), npartitions=4),
    }.get(layout, lambda: w)()
    found = fit(path, LAYOUTS[layout](X), 3, sample_weight=weights, tol=1e-10)
    wanted = fit("svd", np.repeat(X, w, axis=0), 3)
    assert found.certificate_.met
    np.testing.assert_allclose(found.explained_variance_, wanted.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(found.mean_, wanted.mean_, rtol=1e-12)
    a, b = (m.components_.T @ m.components_ for m in (found, wanted))
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 if path == "krylov" else 1e-9)


@pytest.mark.parametrize("n", [2, 3, 6])
@pytest.mark.parametrize("weighted", [False, True])
def test_fewer_rows_than_columns(n, weighted):
    X = table(n=n)
    w = np.full(n, 2.0) if weighted else None
    k = min(n * (2 if weighted else 1), 9)
    found = PCA(k).fit(da.from_array(X, chunks=(2, 4)), sample_weight=w)
    wanted = PCA(k).fit(X, sample_weight=w)
    np.testing.assert_allclose(
        found.explained_variance_, wanted.explained_variance_, rtol=1e-9, atol=1e-9
    )
    assert found.rank_ == wanted.rank_ == n - 1


def cuts(n):
    """Where n rows are cut: any chunks, empty ones too."""
    return st.lists(st.integers(0, n), max_size=6).map(
        lambda at: tuple(np.diff([0, *sorted(at), n]).tolist())
    )


@settings(max_examples=25, deadline=None, database=None)
@given(
    rows=cuts(60), columns=cuts(5).map(lambda c: tuple(x for x in c if x)), known=st.booleans()
)
def test_any_chunks_give_the_same_fit(rows, columns, known):
    X = table(n=60, p=5)
    data = da.from_array(X, chunks=(rows, columns))
    data = data if known else data[da.from_array(np.ones(60, bool), chunks=(rows,))]
    assert_equal_fits(PCA(3).fit(data), PCA(3).fit(X))


@settings(max_examples=10, deadline=None, database=None)
@given(order=st.permutations(range(6)))
def test_the_order_of_parts_does_not_matter(order):
    X = table()
    parts = [da.from_array(x, chunks=(7, 9)) for x in np.split(X, 6)]
    moved = da.concatenate([parts[i] for i in order])
    assert_equal_fits(PCA(4).fit(moved), PCA(4).fit(X))


@pytest.mark.parametrize(
    ("factor", "offset"), [(1e-150, 0), (1e150, 0), (1.0, 1e9), (1e-3, 1e6)]
)
def test_hard_scales_keep_their_digits(factor, offset):
    X = table(offset=0) * factor + offset
    found, wanted = PCA(3).fit(LAYOUTS["cells"](X)), PCA(3).fit(X)
    np.testing.assert_allclose(
        found.explained_variance_ratio_, wanted.explained_variance_ratio_, rtol=1e-9
    )


@pytest.mark.parametrize("layout", ["rows", "unknown", "frame", "sparse"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_bad_cell_is_named(layout, value):
    X = table()
    X[73, 6] = value
    where = {"unknown": "part 1, row 23", "frame": "part 2, row 13"}.get(layout, "row 73")
    with pytest.raises(InputError, match=f"at {where}, column 6"):
        PCA(3).fit(LAYOUTS[layout](X))
