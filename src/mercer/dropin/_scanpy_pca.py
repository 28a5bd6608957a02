"""scanpy_pca: principal components written where scanpy's tools look for them."""

from typing import Any

import numpy as np
import scipy.sparse

from mercer import estimators
from mercer.arrays import Array, as_csr, is_sparse
from mercer.dropin.truncated_svd import TruncatedSVD
from mercer.errors import DataWarning, InputError, warn

_COMPONENTS = 50  # scanpy's default
_MARKED = "highly_variable"
_SOLVERS = (None, "auto", "arpack", "randomized", "full", "covariance_eigh", "lobpcg", "tsqr")


def scanpy_pca(
    adata: Any,
    n_comps: int | None = _COMPONENTS,
    *,
    layer: str | None = None,
    zero_center: bool = True,
    svd_solver: str | None = None,
    random_state: Any = 0,
    mask_var: Any = ...,
    dtype: Any = "float32",
    key_added: str | None = None,
    copy: bool = False,
) -> Any:
    """Do what ``scanpy.pp.pca`` does to an annotated matrix, with certified axes.

    Anything with `X`, `layers`, `var`, `obsm`, `varm`, `uns` and `copy` will do; anndata
    itself is not needed. Sparse counts are never made dense.

    Parameters
    ----------
    adata : AnnData, array or sparse matrix of shape (n, p)
        n cells by p genes. The coordinates of an array or a sparse matrix are returned.
    n_comps : int or None
        k; 50 and None are min(n, p) - 1 where there are no more.
    layer : str or None
        Layer to use instead of `X`; an array has none.
    zero_center : bool
        False leaves the mean in: the truncated SVD of the counts as they are.
    svd_solver : str or None
        No effect: the plan chooses.
    random_state : int, RandomState, Generator or None
        Seed of the iterative path.
    mask_var : str, array of bool or None
        Genes to use: a column of `var`, or a mask; None is all. Left out, it is the column
        "highly_variable" where there is one. For an array it can only be a mask.
    dtype : dtype
        Of the coordinates that are written.
    key_added : str or None
        Name under which results are written; None writes obsm["X_pca"], varm["PCs"] and
        uns["pca"].
    copy : bool
        Return a copy with the results instead of writing into `adata`.

    Returns
    -------
    AnnData, None, or ndarray of shape (n, k) where rows alone were given
        obsm: coordinates (n, k). varm: axes (p, k), zero for genes that were not used. uns:
        "params", "variance", "variance_ratio", and "mean" (p,) of the genes used, zero for
        the others; with ``zero_center=False`` there is no "mean".
    """
    if svd_solver not in _SOLVERS:
        raise InputError(
            "`svd_solver` is not one that scanpy knows",
            got=f"svd_solver={svd_solver!r}",
            fix="leave it out: the plan chooses",
        )
    alone = not hasattr(adata, "obsm")
    if alone:
        _refuse_alone(adata, layer, mask_var)
    X = _rows(adata) if layer is None else _layer(adata, layer)
    if len(getattr(X, "shape", ())) != 2:
        raise InputError(
            "an annotated matrix holds a table of cells by genes",
            got=f"{'X' if layer is None else f'layer {layer!r}'} is {type(X).__name__}",
            fix="put an array or a sparse matrix there",
        )
    mask = _mask(adata, mask_var, X.shape[1])
    if mask is not None:
        X = (as_csr(X) if is_sparse(X) else X)[:, np.flatnonzero(mask)]
    model = _fitted(X, n_comps, zero_center, random_state)
    coordinates = _in_type(model.transform(X), dtype)
    if alone:
        return coordinates
    target = adata.copy() if copy else adata
    if mask_var is ...:
        mask_var = None if mask is None else _MARKED
    params = {
        "zero_center": zero_center,
        "use_highly_variable": isinstance(mask_var, str) and mask_var == _MARKED,
        "mask_var": mask_var if mask_var is None or isinstance(mask_var, str) else "given",
    }
    found = {
        "params": params | ({} if layer is None else {"layer": layer}),
        "variance": model.explained_variance_,
        "variance_ratio": model.explained_variance_ratio_,
    }
    if zero_center:
        found["mean"] = _spread_out(model.mean_[:, None], mask)[:, 0]
    target.obsm[key_added or "X_pca"] = coordinates
    target.varm[key_added or "PCs"] = _spread_out(model.components_.T, mask)
    target.uns[key_added or "pca"] = found
    return target if copy else None


def _in_type(found: Array, dtype: Any) -> Array:
    """Return coordinates in the type asked for, in their own where that does not hold them."""
    with np.errstate(over="ignore", under="ignore"):
        kept = np.asarray(found, dtype=dtype)
    gone = np.isfinite(found) & ~np.isfinite(kept)
    if not gone.any() and (np.any(kept) or not np.any(found)):
        return kept
    warn(
        f"{kept.dtype} does not hold the coordinates; they stay {found.dtype}",
        got=f"numbers of about {float(np.max(np.abs(found[np.isfinite(found)]))):.0e}",
        fix=f'pass dtype="{found.dtype}", or divide the data by a constant',
        category=DataWarning,
    )
    return found


def _refuse_alone(given: Any, layer: Any, mask_var: Any) -> None:
    """Refuse what is neither annotated nor rows, and names where nothing has a name."""
    table = isinstance(given, np.ndarray) or scipy.sparse.issparse(given)
    if not table or given.ndim != 2:
        shape = getattr(given, "shape", None)
        raise InputError(
            "scanpy_pca takes an AnnData, or an array or sparse matrix of cells by genes",
            got=type(given).__name__ + ("" if shape is None else f" of shape {shape}"),
            fix="pass one of these; mercer.PCA takes frames and files",
        )
    if layer is not None or isinstance(mask_var, str):
        raise InputError(
            "an array has no layers and no names of columns",
            got=f"layer={layer!r}" if layer is not None else f"mask_var={mask_var!r}",
            fix="pass an AnnData, or leave it out; `mask_var` may be a mask",
        )


def _rows(given: Any) -> Any:
    """Return X of an annotated matrix, or the rows that were given alone."""
    return given.X if hasattr(given, "obsm") else given


def _fitted(X: Any, wanted: int | None, zero_center: bool, random_state: Any) -> Any:
    k = _number(wanted, X.shape)
    if zero_center:
        return estimators.PCA(k, random_state=random_state).fit(X)
    seed = estimators.PCA(random_state=random_state)._seed()
    return TruncatedSVD(k, random_state=seed).fit(X)


def _layer(adata: Any, layer: str) -> Any:
    if layer not in adata.layers:
        raise InputError(
            "there is no such layer",
            got=f"layer={layer!r}; there are {', '.join(map(str, adata.layers)) or 'none'}",
            fix="pass one of them, or None for X",
        )
    return adata.layers[layer]


def _mask(adata: Any, given: Any, p: int) -> Array | None:
    """Return which of p genes are used, or None for all."""
    if given is ...:
        annotated = hasattr(adata, "obsm")
        given = _MARKED if annotated and _MARKED in adata.var else None
    if given is None:
        return None
    if isinstance(given, str):
        if given not in adata.var:
            raise InputError(
                "there is no such column of var",
                got=f"mask_var={given!r}",
                fix="pass a column of truth values, a mask, or None for all genes",
            )
        given = adata.var[given]
    mask = np.asarray(given)
    if mask.shape != (p,) or mask.dtype != bool or not mask.any():
        raise InputError(
            "mask_var must hold one truth value per gene, and choose one at least",
            got=f"{mask.dtype} of shape {mask.shape}, {int(np.sum(mask != 0))} of {p} chosen",
            fix=f"pass {p} truth values",
        )
    return mask


def _number(wanted: int | None, shape: tuple[int, int]) -> int:
    most = min(shape)
    if wanted is None or (wanted == _COMPONENTS and most <= _COMPONENTS):
        return max(1, min(_COMPONENTS, most - 1))
    return int(wanted)


def _spread_out(used: Array, mask: Array | None) -> Array:
    """Return the rows (p, k), zero where the mask is."""
    if mask is None:
        return used
    whole = np.zeros((len(mask), used.shape[1]), used.dtype)
    whole[mask] = used
    return whole
