"""Nearest rows: exact search, with distances that keep their digits far from the origin."""

import dataclasses
from collections.abc import Iterator
from importlib import import_module
from typing import Any, final

import numpy as np

from mercer.arrays import Array, Tiles, binary_exponent, is_sparse, thread_count
from mercer.errors import InputError, MissingExtraError

_TREE = 15  # columns up to which a tree beats products of all pairs
_CELLS = 250_000  # numbers of a block of differences, which stays near the core
_EUCLIDEAN = ("euclidean", "l2", "minkowski")
_LENGTHS = (
    *_EUCLIDEAN,
    "cityblock",
    "manhattan",
    "l1",
    "chebyshev",
    "infinity",
)  # d(cx, cy) = cd
_FREE = ("cosine", "correlation", "braycurtis", "canberra")  # d(cx, cy) = d
_SAFE = 240  # exponents of rows whose squares and sums stay in range
_CLOSE = 1e-4  # share of ‖x‖² + ‖y‖² below which a squared distance is taken from differences
SEARCHES = ("exact", "faiss")


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Neighbours:
    """The k nearest rows of each of m points.

    Attributes
    ----------
    indices : ndarray of shape (m, k), int32 or int64
        Numbers of the rows, nearest first.
    distances : ndarray of shape (m, k)
        Their distances, float64.
    duplicates : int
        Points that have another row at distance zero.
    """

    indices: Array
    distances: Array
    duplicates: int


@final
class Searcher:
    """Rows that were made ready once, to be asked for the nearest of any points.

    Rows are float64, centred first, and taken in units of a power of two, so that rows far
    from the origin, tiny or huge ones have the neighbours of the same rows near it. Up to 15
    columns with Euclidean distances go to a k-d tree; others to scikit-learn's brute search,
    whose distances are then taken again from differences: equal rows are at distance zero.

    Parameters
    ----------
    rows : array or CSR matrix of shape (n, p)
        Finite numbers of any type. Sparse rows are not centred.
    metric : str
        A name that scikit-learn knows.
    threads : int or None
        How many may work; None is as many as BLAS has.
    search : {"exact", "faiss"}
        "faiss" compares in float32: ties and near ties may fall the other way.
    """

    def __init__(
        self,
        rows: Any,
        *,
        metric: str = "euclidean",
        threads: int | None = None,
        search: str = "exact",
    ) -> None:
        self.metric, self.search = metric, search
        self.threads = threads or thread_count()
        self.n = int(rows.shape[0])
        self.euclidean = metric in _EUCLIDEAN
        self.origin: Array | None = None
        self.exponent = 0
        if is_sparse(rows):
            _refuse_gaps(metric, rows.shape)
            rows = rows.astype(np.float64, copy=False)
        else:
            rows = np.asarray(rows, np.float64)
            if self.euclidean:
                self.origin = _middle(rows)
                rows = rows - self.origin
        if metric in (*_LENGTHS, *_FREE):
            cells = rows.data if is_sparse(rows) else rows
            largest = max(float(np.max(cells, initial=0.0)), -float(np.min(cells, initial=0.0)))
            found = binary_exponent(largest)
            self.exponent = found if self.origin is not None or abs(found) > _SAFE else 0
        fresh = self.origin is not None  # nobody else's: no second copy is made
        self.rows = self._in_units(rows, out=rows if fresh else None)
        self.kind, self.index = self._built(search)

    def parts(self) -> dict[str, Any]:
        """Return what it is made of, as plain data."""
        names = ("metric", "search", "threads", "rows", "origin", "exponent")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def of_parts(cls, parts: dict[str, Any]) -> "Searcher":
        """Return a searcher from its parts; the index is built again."""
        made = object.__new__(cls)
        made.__dict__.update(parts)
        made.n = int(made.rows.shape[0])
        made.euclidean = made.metric in _EUCLIDEAN
        made.kind, made.index = made._built(made.search)
        return made

    def _built(self, search: str) -> tuple[str, Any]:
        if search == "faiss":
            return "faiss", _faiss(self.rows, self.euclidean)
        if search != "exact":
            raise InputError(
                "neighbours are searched in one of two ways",
                got=f"search={search!r}",
                fix=f"take one of {', '.join(SEARCHES)}",
            )
        if self.euclidean and not is_sparse(self.rows) and self.rows.shape[1] <= _TREE:
            from scipy.spatial import cKDTree

            # Halving by place and not by rank: rows that stand many times do no harm.
            return "tree", cKDTree(self.rows, balanced_tree=False)
        from sklearn.neighbors import NearestNeighbors

        found = NearestNeighbors(
            metric=self.metric, algorithm="brute" if self.euclidean else "auto", n_jobs=-1
        )
        try:
            return "brute", found.fit(self.rows)
        except ValueError:  # a name it does not know, or not for such rows
            kind = "sparse" if is_sparse(self.rows) else "dense"
            raise InputError(
                "neighbours cannot be told by this distance",
                got=f"metric={self.metric!r}, {kind} rows of shape {self.rows.shape}",
                fix='take metric="euclidean", "manhattan" or "cosine"',
            ) from None

    def query(self, points: Any, k: int) -> Neighbours:
        """Return the k nearest rows of new points (m, p); k is cut to the number of rows."""
        return self._counted(*self._nearest(self._placed(points), min(k, self.n)))

    def own(self, k: int, *, include_self: bool = False) -> Neighbours:
        """Return the k nearest rows of the rows themselves; k is cut to n - 1 (n with self).

        Parameters
        ----------
        k : int
            Neighbours, the row itself counted among them if `include_self`.
        include_self : bool
            Whether a row is its own first neighbour.
        """
        more = min(k + (not include_self), self.n)
        indices, distances = self._nearest(self.rows, more)
        indices, distances = _self_first(indices, distances)
        found = self._counted(indices[:, 1:], distances[:, 1:])
        if include_self:
            return Neighbours(indices, distances, found.duplicates)
        return found

    def within(self, points: Any, radius: float) -> Any:
        """Return distances up to `radius` as CSR (m, n); zeros are stored. None: own rows."""
        import scipy.sparse

        placed = self.rows if points is None else self._placed(points)
        with np.errstate(over="ignore"):
            units = -self.exponent if self.metric in _LENGTHS else 0
            reach = min(float(np.ldexp(radius, units)), np.finfo(np.float64).max)
        indices, distances = self._near(placed, reach)
        ends = np.concatenate([[0], np.cumsum([len(each) for each in indices])])
        data = self._lengths(np.concatenate(distances))
        parts = (data, np.concatenate(indices).astype(_index_type(self.n)), ends)
        found = scipy.sparse.csr_matrix(parts, shape=(len(indices), self.n))
        found.sort_indices()
        return found

    def _near(self, placed: Any, radius: float) -> tuple[list[Array], list[Array]]:
        """Return indices and distances of the rows within `radius`, a pair for each point."""
        if self.kind == "tree":
            lists = self.index.query_ball_point(placed, radius, workers=self.threads)
            indices = [np.asarray(each, np.int64) for each in lists]
        else:
            from sklearn.neighbors import NearestNeighbors

            exact = self.index
            if self.kind == "faiss":
                exact = NearestNeighbors(algorithm="brute").fit(self.rows)
            far, indices = exact.radius_neighbors(placed, radius)
            if not self.euclidean:
                return list(indices), list(far)
        at = np.repeat(np.arange(len(indices)), [len(each) for each in indices])
        apart = self._apart(placed, at, np.concatenate(indices))
        return list(indices), np.split(apart, np.cumsum([len(each) for each in indices])[:-1])

    def distances(self, points: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of rows of the distances (m, n) of points to all rows; None: own."""
        placed = self.rows if points is None else self._placed(points)
        tiles = Tiles(int(placed.shape[0]), max(1, _CELLS // max(1, self.n)))
        for part in tiles:
            yield part, self._all_apart(placed[part], self.rows)

    def sampled_distances(self, most: int) -> Array:
        """Return the distances of all pairs of at most `most` rows, spread evenly."""
        at = np.unique(np.linspace(0, self.n - 1, min(most, self.n)).astype(np.int64))
        few = self.rows[at]
        return self._all_apart(few, few)[np.triu_indices(len(at), 1)]

    def _all_apart(self, one: Any, other: Any) -> Array:
        """Return distances (m, n) of two blocks of placed rows."""
        if self.euclidean and not is_sparse(other):
            from scipy.spatial.distance import cdist

            return self._lengths(cdist(one, other))
        if self.euclidean:
            return self._lengths(_sparse_apart(one, other))
        from sklearn.neighbors import NearestNeighbors

        search = NearestNeighbors(metric=self.metric, algorithm="brute").fit(other)
        apart, at = search.kneighbors(one, other.shape[0])
        found = np.empty_like(apart)
        np.put_along_axis(found, at, apart, 1)
        return self._lengths(found)

    def _placed(self, points: Any) -> Any:
        """Return points in the units of the rows, sparse where these are."""
        if is_sparse(points) != is_sparse(self.rows):
            from scipy.sparse import csr_array

            points = csr_array(points) if is_sparse(self.rows) else points.toarray()
        if is_sparse(points):
            return self._in_units(points.astype(np.float64, copy=False))
        points = np.asarray(points, np.float64)
        return self._in_units(points if self.origin is None else points - self.origin)

    def _in_units(self, rows: Any, out: Array | None = None) -> Any:
        """Return rows (m, p) in units of 2^exponent; the same where that is one."""
        if is_sparse(rows) and rows.indices.dtype != np.int32 and rows.nnz < 2**31:
            places = (part.astype(np.int32) for part in (rows.indices, rows.indptr))
            rows = type(rows)((rows.data, *places), shape=rows.shape)  # as searches know them
        if not self.exponent:
            return rows
        with np.errstate(over="ignore", under="ignore"):  # what overflows is told as a distance
            if not is_sparse(rows):
                return np.ldexp(rows, -self.exponent, out=out)
            parts = (np.ldexp(rows.data, -self.exponent), rows.indices, rows.indptr)
        return type(rows)(parts, shape=rows.shape)

    def _lengths(self, distances: Array) -> Array:
        """Return distances in the units of the data, float64; refuse what is no number."""
        with np.errstate(over="ignore", under="ignore"):
            found = np.asarray(distances, np.float64)
            if self.metric in _LENGTHS:
                found = np.ldexp(found, self.exponent)
        if not np.isfinite(found).all():
            worst = float(found[~np.isfinite(found)][0])
            raise InputError(
                "these rows have no distances in float64",
                got=f'a "{self.metric}" distance of {worst} between two of them',
                fix="divide the data by a constant"
                if worst > 0
                else "drop rows that are constant or zero, or take another metric",
            )
        return found

    def _nearest(self, placed: Any, k: int) -> tuple[Array, Array]:
        """Return indices and distances (m, k) in the units of the rows, nearest first."""
        if self.kind == "tree":
            distances, indices = self.index.query(placed, k=[*range(1, k + 1)], workers=-1)
            return indices.astype(_index_type(self.n), copy=False), distances
        if self.kind == "faiss":
            indices = self.index.search(np.ascontiguousarray(placed, np.float32), k)[1]
        else:
            distances, indices = self.index.kneighbors(placed, k)
            if not self.euclidean:
                return indices.astype(_index_type(self.n), copy=False), distances
        at = np.repeat(np.arange(len(indices)), k)
        distances = self._apart(placed, at, indices.ravel()).reshape(indices.shape)
        order = np.argsort(distances, axis=1, kind="stable")
        indices = np.take_along_axis(indices, order, 1)
        return indices.astype(_index_type(self.n)), np.take_along_axis(distances, order, 1)

    def _apart(self, placed: Any, at: Array, indices: Array) -> Array:
        """Return distances of points `at` and rows `indices` (e,), from their differences."""
        found = np.empty(len(at))
        tiles = Tiles(len(at), max(1, _CELLS // max(1, self.rows.shape[1])))
        for part in tiles:
            found[part] = _norms(placed[at[part]] - self.rows[indices[part]])
        return found

    def _counted(self, indices: Array, distances: Array) -> Neighbours:
        zero = int(np.sum(distances[:, 0] == 0)) if distances.shape[1] else 0
        return Neighbours(indices, self._lengths(distances), zero)


def neighbours(
    X: Any,
    k: int,
    *,
    metric: str = "euclidean",
    include_self: bool = False,
    threads: int | None = None,
    search: str = "exact",
) -> Neighbours:
    """Return the k nearest rows of every row of X; see `Searcher`.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, p)
        Finite rows.
    k : int
        Neighbours; cut to n - 1.
    metric, threads, search
        See `Searcher`.
    include_self : bool
        Whether a row is its own first neighbour.
    """
    found = Searcher(X, metric=metric, threads=threads, search=search)
    return found.own(k, include_self=include_self)


def _middle(rows: Array) -> Array:
    """Return a point amid the rows (p,), safe from overflow: half lowest plus half highest."""
    if rows.shape[0] == 0:
        return np.zeros(rows.shape[1])
    return 0.5 * rows.min(axis=0) + 0.5 * rows.max(axis=0)


def _norms(rows: Any) -> Array:
    """Return ‖row‖ (m,) of dense or sparse rows."""
    if is_sparse(rows):
        return np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1), np.float64).ravel())
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)))


def _sparse_apart(one: Any, other: Any) -> Array:
    """Return distances (m, n) of sparse rows: ‖x‖² + ‖y‖² - 2x·y, small ones from differences.

    The difference of squares has no digits where rows are close, and equal rows are to be at
    distance zero.
    """
    sizes = _norms(one)[:, None] ** 2 + _norms(other)[None, :] ** 2
    squares = sizes - 2.0 * np.asarray((one @ other.T).toarray())
    i, j = np.nonzero(squares <= _CLOSE * sizes)
    squares[i, j] = 0.0
    found = np.sqrt(squares, out=squares)
    for part in Tiles(len(i), max(1, _CELLS // max(1, other.shape[1]))):
        found[i[part], j[part]] = _norms(one[i[part]] - other[j[part]])
    return found


def _index_type(n: int) -> Any:
    return np.int32 if n < 2**31 else np.int64


def _self_first(indices: Array, distances: Array) -> tuple[Array, Array]:
    """Return the lists with every row before its doubles, or in place of the last of them."""
    rows = np.arange(len(indices), dtype=indices.dtype)
    found = indices == rows[:, None]
    place = np.where(found.any(axis=1), np.argmax(found, axis=1), indices.shape[1] - 1)
    for row in np.flatnonzero(place):
        at = place[row]
        indices[row, 1 : at + 1] = indices[row, :at].copy()
        distances[row, 1 : at + 1] = distances[row, :at].copy()
    indices[:, 0], distances[:, 0] = rows, 0.0
    return indices, distances


def _refuse_gaps(metric: str, shape: tuple[int, int]) -> None:
    """Refuse sparse distances: a cell that is not stored is no distance, or one of zero."""
    if metric == "precomputed":
        raise InputError(
            "distances of all pairs need a dense matrix",
            got=f'a sparse matrix of shape {shape}, metric="precomputed"',
            fix="pass X.toarray(), with every distance in it",
        )


def _faiss(rows: Any, euclidean: bool) -> Any:
    if is_sparse(rows) or not euclidean:
        raise InputError(
            "faiss searches dense rows by Euclidean distance only",
            got="sparse rows" if is_sparse(rows) else "another metric",
            fix='take search="exact"',
        )
    try:
        faiss = import_module("faiss")
    except ImportError:
        raise MissingExtraError(
            'search="faiss" needs the library faiss',
            got="it is not installed",
            fix='install faiss-cpu, or take search="exact"',
        ) from None
    index = faiss.IndexFlatL2(int(rows.shape[1]))
    index.add(np.ascontiguousarray(rows, np.float32))
    return index
