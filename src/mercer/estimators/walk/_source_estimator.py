"""Estimators that take files and streams: fits with checkpoints, coordinates block by block."""

import functools
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, advance, show_bytes, task, unheard
from mercer.errors import BudgetError, InputError
from mercer.estimators.walk._admission import admit_source
from mercer.estimators.walk._checkpoint import Checkpoint
from mercer.estimators.walk._coordinate_files import writer_of
from mercer.estimators.walk._rows_in_parts import (
    in_parts,
    lazy_first,
    projected_parts,
    reading_parts,
    refuse_spread,
)
from mercer.estimators.walk._spectral_estimator import SpectralEstimator
from mercer.operators import block_length, fetched
from mercer.sources import (
    ArrayBlocks,
    BlockSource,
    MissingCellError,
    Source,
    SpreadSource,
    counted_error,
    in_memory,
    is_scannable,
    scan,
)

_MOST, _LEAST = 128e6, 1e6  # bytes of a block
_SMALL = 64e3  # bytes of a block where all rows are fewer
_PROJECTED = 32e6  # bytes of a block that is projected
_PART_BLOCK = 16e6  # bytes of a block in which a part of a cluster is walked
_BLOCKS = 16  # parts of the memory allowed that a block may take


class SourceEstimator(SpectralEstimator):
    """Abstract: a method whose sums need one row at a time, so that any source will do."""

    _journal: Checkpoint | None = None
    _missing_fix = ""  # what to do about missing cells, where there is more to do than drop

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let rows in parts pass by what wraps results into frames in memory."""
        super().__init_subclass__(**kwargs)
        for name in ("transform", "fit_transform"):
            own = vars(cls).get(name)
            if hasattr(own, "__wrapped__"):
                setattr(cls, name, lazy_first(own))

    def fit(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, checkpoint: Any = None
    ) -> Self:
        """Fit the model to X.

        Parameters
        ----------
        X : array, sparse matrix, frame, path, source or iterator of blocks
            Training rows, of shape (n_samples, n_features). Files and streams are read block
            by block, as `mercer.scan` opens them; arrays stay where they are. Rows are never
            written to and never copied whole.
        y : None
            Ignored; there for pipelines.
        sample_weight : array of shape (n_samples,) or None
            Repeat counts: weight 2 is the same as the row standing twice.
        checkpoint : path, Checkpoint or None
            File in which the sums are kept on the way, every half minute. A fit of the same
            rows with the same parameters that was killed goes on from there, and gives the
            same bits. The file stays when the fit ends.

        Returns
        -------
        self
        """
        if checkpoint is None:
            return super().fit(X, y, sample_weight=sample_weight)
        journal = Checkpoint.of(checkpoint)
        blank = clone(self)
        blank._journal = journal
        return self._publish(blank, X, y, sample_weight)

    def _admit(self, X: Any, *, reset: bool) -> Source:
        source: Source
        if not is_scannable(X):
            source = super()._admit(X, reset=reset)
        else:
            opened = scan(X)
            if isinstance(opened, BlockSource | SpreadSource):
                source = admit_source(self, opened, reset=reset)
            else:
                source = super()._admit(opened.array, reset=reset)
        if self._journal is not None and source.array is not None:
            source = ArrayBlocks(source, getattr(self, "feature_names_in_", None))
        return source

    def _fitted(self, source: Source, weights: Any) -> dict[str, Any]:
        if self._journal is not None:
            fix = "a lost worker costs only its own parts; leave it out"
            refuse_spread(source, "a checkpoint", fix)
            assert isinstance(source, BlockSource)
            if not source.recognisable:
                raise InputError(
                    "a checkpoint needs rows that can be recognised",
                    got=f"{source.label}: its rows are known only when they have come",
                    fix="write the rows to a file, or leave the checkpoint out",
                )
            block = block_length(source, self._block_bytes(source))
            self._journal.begin(self._owner(source, weights), block)
        try:
            state = self._walked(source, weights)
        except MissingCellError as error:
            raise self._counted(source, error) from None
        state.pop("_journal", None)
        return state

    def _walked(self, source: Source, weights: Any) -> dict[str, Any]:
        """Return the fitted attributes; methods that fill missing cells do that first."""
        return super()._fitted(source, weights)

    def _completed(self, source: Source) -> Source:
        """Return the rows as they are projected; methods may fill missing cells."""
        return source

    def _counted(self, source: Source, error: MissingCellError) -> InputError:
        """Return the refusal of missing cells with their counts, where rows can be read."""
        if error.counted:
            found: InputError = error
        else:
            names = getattr(self, "feature_names_in_", None)
            found = counted_error(source, error.place, names, error.fix) or error
        return type(found)(found.what, got=found.got, fix=self._missing_fix or found.fix)

    def _owner(self, source: BlockSource, weights: Any) -> dict[str, Any]:
        """Return what a checkpoint belongs to, as plain data."""
        parameters = {name: _plain(value) for name, value in self.get_params(False).items()}
        return {
            "method": type(self).__name__,
            "parameters": parameters,
            "rows": source.fingerprint(),
            "weights": _plain(weights),
        }

    def _block_bytes(self, source: Source) -> float:
        """Return the size of a block in memory: 0 where the rows are held anyway."""
        if isinstance(source, SpreadSource):
            return _PART_BLOCK
        if not isinstance(source, BlockSource):
            return 0.0
        most = min(_MOST, max(_LEAST, self._budget() / _BLOCKS))
        if source.counted and source.nnz is None:
            n, p = source.shape
            most = min(most, max(_SMALL, n * p * max(source.dtype.itemsize, 4)))
        return float(most)

    def _reading(self, source: Source) -> dict[str, Any]:
        """Return what the planner may know of rows that are read block by block."""
        if isinstance(source, SpreadSource):
            return reading_parts(source)
        if not isinstance(source, BlockSource):
            return {}
        return {
            "counted": source.counted,
            "block_bytes": self._block_bytes(source),
            "read_seconds": source.nbytes / source.rate,
            "max_passes": source.max_passes - source.walks,
            "kept": self._journal is not None,
        }

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit to X and return its coordinates, the same as ``fit(X).transform(X)``."""
        X = scan(X) if is_scannable(X) else X
        if getattr(X, "max_passes", 2) < 2:
            raise InputError(
                "the rows can be read only once, and are needed twice",
                got=X.label,
                fix="call fit, then transform rows that can be read again",
            )
        return self.fit(X, y, **fit_params).transform(X)

    def transform(self, X: Any) -> Any:
        """See `_or_written`, which stands before it."""
        check_is_fitted(self)
        source = self._completed(self._admit(X, reset=False))
        if not isinstance(source, BlockSource):
            try:
                return self._project(source)
            except MissingCellError as error:
                raise self._counted(source, error) from None
        if not source.counted:
            return self._collected(source)
        self._refuse_large(source, source.shape[0])
        found, at = np.empty((0, self._n_features_out)), 0
        for part in self._projected(source):
            if at == 0:  # now the type is known
                found = np.empty((source.shape[0], part.shape[1]), part.dtype)
            found[at : at + len(part)] = part
            at += len(part)
        return found

    def _collected(self, source: BlockSource) -> Array:
        """Return the coordinates of rows whose number is only foreseen."""
        found, rows = list[Array](), 0
        for part in self._projected(source):
            found.append(part)
            rows += len(part)
            self._refuse_large(source, 2 * rows)  # the parts, and the whole made of them
        return np.concatenate(found) if found else np.empty((0, self._n_features_out))

    def _projected(self, source: BlockSource) -> Iterator[Array]:
        """Yield the coordinates of every block, in order."""
        # Nothing is gained by larger ones, and a forecast of the fit covers this too.
        rows = block_length(source, min(_PROJECTED, self._block_bytes(source)))
        done = 0
        with task("coordinates"):
            for block in fetched(source, rows):
                with unheard():
                    try:
                        found = self._project(in_memory(block))
                    except InputError:
                        self._refuse_block(source, block, done)
                        raise
                yield found
                done += block.shape[0]
                n = max(done, source.shape[0])
                advance(done, n, f"{done:,} of {n:,} rows")

    def _refuse_block(self, source: BlockSource, block: Any, start: int) -> None:
        """Name the place in the file of the first cell that is not finite, if there is one."""
        from mercer.sources import bad_cell, bad_cell_error

        found = bad_cell(block)
        if found is not None:
            row, column, value = found
            error = bad_cell_error(source.place(start + row, column), value)
            if isinstance(error, MissingCellError):
                error = self._counted(source, error)
            raise error from None

    def _streamed(self, X: Any) -> Iterator[Array]:
        """Yield the coordinates of X block by block."""
        check_is_fitted(self)
        source = self._completed(self._admit(X, reset=False))
        names = getattr(self, "feature_names_in_", None)
        blocks = source if isinstance(source, BlockSource) else ArrayBlocks(source, names)
        return self._projected(blocks)

    def _write(self, X: Any, path: Path) -> Path:
        parts = self._streamed(X)
        columns = [str(name) for name in self.get_feature_names_out()]
        with writer_of(path, columns) as write:
            for part in parts:
                write(part)
        return path

    def _refuse_large(self, source: BlockSource, rows: int) -> None:
        size = rows * self._n_features_out * source.products.itemsize
        if size > self._budget():
            raise BudgetError(
                "the coordinates do not fit the memory allowed",
                got=f"{show_bytes(size)} for {rows:,} rows of {source.label},"
                f" {show_bytes(self._budget())} allowed",
                fix='write them to a file: transform(source, out="coordinates.npy")',
            )


def _or_written(wrapped: Any) -> Any:
    """Put `out=` before a transform whose result is wrapped into frames: a path is not."""

    def transform(self: SourceEstimator, X: Any, *, out: Any = None) -> Any:
        """Return the coordinates of X, of shape (n_samples, n_components).

        Parameters
        ----------
        X : array, sparse matrix, frame, path, source or iterator of blocks
            New rows; the training mean and scale are applied to them.
        out : path or None
            File to which the coordinates are written block by block: .npy, .csv, .tsv or
            .parquet. It appears when it is complete, and its path is returned.

        Returns
        -------
        ndarray, or a Dask array that is not computed yet where X is one
        """
        if in_parts(X):
            return projected_parts(self, X, out)
        if out is None:
            return wrapped(self, X)
        if not isinstance(out, str | os.PathLike):
            raise InputError(
                "`out` must name a file",
                got=f"out={out!r}",
                fix='pass a path such as "coordinates.npy"',
            )
        return self._write(X, Path(out))

    transform.__qualname__ = wrapped.__qualname__
    return transform


def _or_lazy(wrapped: Any) -> Any:
    """Put rows in parts before a method whose result is wrapped into frames in memory."""

    def fit_transform(self: SourceEstimator, X: Any, y: Any = None, **fit_params: Any) -> Any:
        if in_parts(X):
            source = scan(X)  # what is left out is said once
            return self.fit(source, y, **fit_params).transform(source)
        return wrapped(self, X, y, **fit_params)

    return functools.update_wrapper(fit_transform, wrapped)


SourceEstimator.transform = _or_written(SourceEstimator.transform)  # type: ignore[method-assign]
SourceEstimator.fit_transform = _or_lazy(SourceEstimator.fit_transform)  # type: ignore[method-assign]


def _plain(value: Any) -> str:
    """Return a text that tells parameters apart; arrays by their bytes."""
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    array = np.ascontiguousarray(value)
    if array.dtype == object:
        return repr(value)
    return hashlib.sha256(array.tobytes()).hexdigest()


def counted_shape(source: Source, weights: Any) -> tuple[int, int]:
    """Return the shape with repeated rows counted as often as they stand.

    Before the rows of a file are counted, there are enough of them for every column.
    """
    n, p = source.shape
    if weights is not None and isinstance(source, SpreadSource):
        if source.weighed is None:
            return max(n, p), p
        return int(source.weighed * (1 + 1e-12)), p
    if weights is not None:
        return int(np.sum(weights) * (1 + 1e-12)), p
    return (n if getattr(source, "counted", True) else max(n, p), p)
