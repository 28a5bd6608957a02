"""The rows a study looks at: some of the table, evenly spread, as kernels see them."""

from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError, NotSupportedError
from mercer.estimators import KernelPCA
from mercer.estimators.walk._admission import admit, refuse_bad_cells
from mercer.kernels import Linear
from mercer.sources import Source, SpreadSource

LINEAR_SHARE = 0.95  # of the variance: axes that hold it leave nothing to rebuild

_LARGEST = 1e140  # so that sums of squares stay below 1e300


def evenly(n: int, most: int) -> Array:
    """Return min(n, most) row numbers from the first to the last, evenly spread."""
    return np.linspace(0, n - 1, min(n, most)).round().astype(np.int64)


def readable_twice(source: Source, refusal: str) -> Source:
    """Return a source that can be walked twice where it is; of rows in parts say `refusal`."""
    if isinstance(source, SpreadSource):
        raise NotSupportedError(
            refusal,
            got=source.label,
            fix="write them to a file and pass its path, or compute them first",
        )
    if source.max_passes < 2:
        raise InputError(
            "the rows can be read only once, and are needed twice",
            got=getattr(source, "label", "a stream"),
            fix="write them to a file, or pass a function that makes the iterator",
        )
    return source


def rows_seen(model: KernelPCA, X: Any, most: int, seed: int) -> tuple[Any, int]:
    """Return at most `most` rows of X, and how many linear axes hold 95 % of their variance.

    The rows are those that a kernel sees: standardised where the model standardises, and
    float64, so that float32 rows far from the origin can be rebuilt.

    Parameters
    ----------
    model : KernelPCA
        Unfitted; says whether columns are standardised.
    X : array, sparse matrix or frame of shape (n, p)
        The table, of which every cell is looked at once.
    most : int
        Rows that are kept.
    seed : int
        Of the fit.
    """
    source = admit(model, X, reset=True)
    refuse_bad_cells(source, getattr(model, "feature_names_in_", None))
    sample = source.array[evenly(source.shape[0], most)].astype(np.float64)
    _refuse_units(sample)
    linear = KernelPCA(
        LINEAR_SHARE, kernel=Linear(), standardize=model.standardize, random_state=seed
    ).fit(sample)
    return linear.X_fit_, int(linear.n_components_)


def _refuse_units(rows: Any) -> None:
    """Refuse rows whose squares are no numbers of float64."""
    largest = float(abs(rows).max())
    if largest > _LARGEST or 0 < largest < 1 / _LARGEST:
        raise InputError(
            "the squares of these numbers leave the range of float64",
            got=f"numbers up to {largest:.1e}",
            fix="divide the data by a constant",
        )


def few(rows: Any, most: int) -> Array:
    """Return at most `most` rows, evenly spread, as a dense array."""
    some = rows[evenly(int(rows.shape[0]), most)]
    return np.asarray(some.toarray() if hasattr(some, "toarray") else some, np.float64)
