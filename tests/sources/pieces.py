"""Rows that come in pieces, for tests of what is done with them."""

import time
import zlib

import numpy as np
import scipy.sparse

from mercer.sources import BlockSource
from mercer.sources._block_source import skipped


class Pieces(BlockSource):
    """The rows of X in pieces of one length.

    `forecast` is the number of rows that it believes in until one walk has ended; `passes`
    how often it can be walked; `nap` the seconds that a piece takes; `fail` the number of
    the piece that cannot be read; `begun` how many rows each walk has handed out.
    """

    label = "pieces"

    def __init__(
        self, X, length=7, *, forecast=None, passes=float("inf"), nap=0.0, fail=None, names=None
    ):
        self.X = X.tocsr() if scipy.sparse.issparse(X) else X
        self.length, self.nap, self.fail, self.names = length, nap, fail, names
        n, p = X.shape
        self.counted = forecast is None
        self.shape, self.dtype = (n if forecast is None else forecast, p), X.dtype
        self.nnz = X.nnz if scipy.sparse.issparse(X) else None
        self.max_passes = passes
        self.begun = []

    @property
    def nbytes(self):
        return self.X.nnz * 12 if self.nnz is not None else self.X.nbytes

    def fingerprint(self):
        stored = self.X.data if self.nnz is not None else np.ascontiguousarray(self.X)
        return f"pieces {self.X.shape} {zlib.crc32(stored.tobytes())}"

    def _read(self, rows, start):
        del rows
        self.begun.append(0)
        return skipped(self._pieces(len(self.begun) - 1), start)

    def _pieces(self, walk):
        for number, at in enumerate(range(0, self.X.shape[0], self.length)):
            if number == self.fail:
                raise OSError("the disk is gone")
            if self.nap:
                time.sleep(self.nap)
            piece = self.X[at : at + self.length]
            self.begun[walk] += piece.shape[0]
            yield piece


class Diary:
    """A journal of walks: `notes` in order, `walks` the last of each, `log` all of these."""

    block = None

    def __init__(self, walks=None):
        self.walks, self.notes, self.log = dict(walks or {}), [], []

    def kept(self, walk):
        return self.walks.get(walk)

    def note(self, walk, sums, rows, *, ended):
        kept = {name: array.copy() for name, array in sums.keep().items()}
        self.walks[walk] = (kept, rows, ended)
        self.notes.append((walk, kept, rows, ended))
        self.log.append(dict(self.walks))


def walked(source, rows=4, start=0):
    """Return the rows of a walk, dense; its blocks have the length and the type they should."""
    blocks = list(source.blocks(rows, start))
    assert all(block.shape[0] == rows for block in blocks[:-1])
    assert all(block.dtype == source.dtype for block in blocks)
    dense = [block.toarray() if scipy.sparse.issparse(block) else block for block in blocks]
    return np.concatenate(dense) if dense else np.zeros((0, source.shape[1]))


def block_bytes(source, rows):
    """Return the bytes for which a block has so many rows."""
    n, p = source.shape
    if source.nnz is not None:
        return rows * max(16, 12 * source.nnz // max(n, 1))
    return rows * p * max(source.dtype.itemsize, source.products.itemsize)


def in_blocks(model, rows):
    """Return a class like `model` that reads blocks of so many rows."""

    class Small(model):
        def _block_bytes(self, source):
            return block_bytes(source, rows) if isinstance(source, BlockSource) else 0.0

    Small.__name__ = model.__name__
    return Small
