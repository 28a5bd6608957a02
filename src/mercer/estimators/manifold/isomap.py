"""Isomap: coordinates from distances along a graph of neighbours.

Shortest paths for Isomap: from landmarks, and from new points through the graph.

Landmark Isomap: the axes of few points, all others placed by their paths to these.
"""

import dataclasses
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils._param_validation import Interval, StrOptions

from mercer.arrays import Array, Tiles, is_sparse, task
from mercer.errors import InputError
from mercer.estimators.kernel._eigenproblem import POLICIES, KernelFound, Task
from mercer.estimators.kernel._explicit_features import primal
from mercer.estimators.kernel._kernel_rows import FIRST_GUESS, most_components
from mercer.estimators.kernel._matrix_paths import needs_whole
from mercer.estimators.kernel._row_samples import spread_evenly
from mercer.estimators.manifold._distance_kernel import (
    Placing,
    PlacingTask,
    described,
    halved_squares,
    placed,
    unit_of,
)
from mercer.estimators.manifold._embedding import Embedding
from mercer.estimators.manifold._row_graph import COMPONENTS, GraphFacts, Linked, linked
from mercer.estimators.walk._parameters import COUNT, COUNT_OR_SHARE, RESOURCES
from mercer.kernels import Flag, Linear
from mercer.operators import Graph, Searcher, geodesics
from mercer.planning import KernelCost, Path, Problem, joined_bytes, landmark_count
from mercer.solvers import Spectrum
from mercer.sources import Source

_CELLS = 500_000  # distances that are held at once while new points are placed


def farthest(graph: Graph, m: int, seed: int) -> tuple[Array, Array]:
    """Return m points, each the farthest from those before, and their paths (m, n).

    The choice costs nothing beside the paths, which are needed anyway. Points at distance
    zero from a landmark are chosen last; where only such are left the choice ends.
    """
    n = graph.n
    at = np.empty(m, np.int64)
    at[0] = np.random.default_rng(seed).integers(n)
    found = np.empty((m, n))
    nearest = np.full(n, np.inf)
    with task("landmarks"):
        for i in range(m):
            found[i] = geodesics(graph, at[i : i + 1])[0]
            np.minimum(nearest, found[i], out=nearest)
            if i + 1 == m or float(nearest.max()) == 0.0:
                break
            at[i + 1] = int(np.argmax(nearest))
    return at[: i + 1], found[: i + 1]


def at_random(graph: Graph, m: int, seed: int) -> tuple[Array, Array]:
    """Return m points drawn alike, in the order of the rows, and their paths (m, n)."""
    at = np.sort(np.random.default_rng(seed).choice(graph.n, m, replace=False))
    return at, geodesics(graph, at)


def through(lengths: csr_matrix, indices: Array, distances: Array) -> Array:
    """Return shortest paths (r, n) of new points, each linked to k known ones.

    A search starts from every new point; edges lead from it to its neighbours and not back,
    so that paths go through known points only.

    Parameters
    ----------
    lengths : CSR matrix of shape (n, n)
        The graph of the known points, zeros stored.
    indices, distances : ndarray of shape (r, k)
        The links.
    """
    import scipy.sparse
    from scipy.sparse.csgraph import dijkstra

    n, (r, k) = lengths.shape[0], indices.shape
    ends = np.concatenate([lengths.indptr, lengths.indptr[-1] + k * np.arange(1, r + 1)])
    data = np.concatenate([lengths.data, distances.ravel()])
    columns = np.concatenate([lengths.indices, indices.ravel()])
    whole = scipy.sparse.csr_matrix((data, columns, ends), shape=(n + r, n + r))
    return np.asarray(dijkstra(whole, directed=True, indices=np.arange(n, n + r)))[:, :n]


def by_landmarks(paths: Array, indices: Array, distances: Array) -> Array:
    """Return distances (r, m) of new points to m landmarks over their k neighbours.

    Parameters
    ----------
    paths : ndarray of shape (m, n)
        Shortest paths from the landmarks to all known points.
    indices, distances : ndarray of shape (r, k)
        The links of the new points.
    """
    found = np.full((len(indices), len(paths)), np.inf)
    for j in range(indices.shape[1]):
        np.minimum(found, paths[:, indices[:, j]].T + distances[:, j, None], out=found)
    return found


def tiles_of(rows: int, width: int) -> Tiles:
    """Return blocks of rows whose distances to `width` points may be held at once."""
    return Tiles(rows, max(1, min(rows, _CELLS // max(width, 1))))


def residual_variances(paths: Array, sources: Array, embedding: Array) -> Array:
    """Return 1 - R² (k,) between path lengths and straight distances on 1, 2, … k axes.

    Parameters
    ----------
    paths : ndarray of shape (s, n)
        Shortest paths from some points to all.
    sources : ndarray of shape (s,)
        Which points these are.
    embedding : ndarray of shape (n, k)
        The coordinates.
    """
    k, middle = embedding.shape[1], float(paths.mean())  # both are taken from about there
    sums = np.zeros((k, 5))
    for source, path in zip(sources, paths, strict=True):  # a row at a time: n numbers
        x, squared = path - middle, np.zeros(len(path))
        for axis in range(k):
            squared += (embedding[source, axis] - embedding[:, axis]) ** 2
            y = np.sqrt(squared) - middle
            sums[axis] += x.sum(), y.sum(), x @ x, y @ y, x @ y
    sx, sy, xx, yy, xy = sums.T
    xx, yy, xy = (
        s - a * b / paths.size for s, a, b in ((xx, sx, sx), (yy, sy, sy), (xy, sx, sy))
    )
    spread = yy > 1e-12 * xx
    return np.where(spread, np.maximum(1.0 - xy**2 / np.where(spread, xx * yy, 1.0), 0.0), 1.0)


_PER_AXIS, _BESIDE = 4, 8  # axes of the landmarks: so many per axis wanted, and some beside
_LEAST = 1e-3  # share of λ₁ below which an axis of the landmarks tells more noise than place


def by_triangulation(
    paths: Array, places: Array, path: Path, asked: PlacingTask
) -> tuple[Spectrum, KernelFound, Placing]:
    """Return the axes of all rows from shortest paths (m, n) of m landmarks.

    The landmarks' own kernel gives q axes, some more than are wanted; distances to the
    landmarks place all rows on them [deSilva2004]_, and PCA of these places turns the axes
    to where all rows vary most. So the eigenvalues are near those of all pairs, and a choice
    of landmarks that covers the rows unevenly costs little.

    Parameters
    ----------
    paths : ndarray of shape (m, n)
        Shortest paths from the landmarks to all rows.
    places : ndarray of shape (m,)
        Which rows are landmarks.
    path : Path
        Of the matrix of the landmarks.
    asked : PlacingTask
        What is wanted in the end.
    """
    m, exponent = len(places), unit_of(paths)
    if exponent:
        paths = np.ldexp(paths, -exponent)
    k = FIRST_GUESS if isinstance(asked.wanted, float) else asked.wanted
    more = dataclasses.replace(asked, wanted=min(m, max(k, _PER_AXIS * k + _BESIDE)))
    spectrum, marks, placing = placed(paths[:, places], path, more)
    values = np.maximum(spectrum.values[: placing.dual.shape[1]], 0.0)
    clear = values > _LEAST * values[0]
    placing = dataclasses.replace(placing, dual=placing.dual * clear)
    spectrum, found = primal(Task(Linear(), triangulated(placing, paths), None, **vars(asked)))
    # What is beyond the axes of the landmarks, and below zero, is theirs to tell.
    total = found.trace * marks.trace / float(np.sum(values[clear]))
    signs = dataclasses.replace(marks.signs, flipped=None, image=None)
    found = dataclasses.replace(found, trace=total, signs=signs)
    placing = _turned(placing, found, len(spectrum.certificate.lower))
    return spectrum, found, dataclasses.replace(placing, exponent=exponent)


def triangulated(placing: Placing, paths: Array) -> Array:
    """Return the coordinates (n, q) of all rows from their distances (m, n) to landmarks."""
    m, n = paths.shape
    found = np.empty((n, placing.dual.shape[1]))
    for part in tiles_of(n, m):
        found[part] = placing.of(np.array(paths[:, part].T))
    return found


def _turned(placing: Placing, found: KernelFound, k: int) -> Placing:
    """Return the placing on the axes of all rows: (f(x) - mean)·V in one product."""
    assert found.engine is not None
    v = np.zeros((placing.dual.shape[1], k))
    turn = np.asarray(found.engine.components_, np.float64).T
    v[:, : turn.shape[1]] = turn
    level = np.asarray(found.engine.mean_, np.float64) @ v
    return Placing(placing.dual @ v, placing.means, level)


_WHOLE = 500  # points up to which all eigenvalues are found, the negative ones too
_SHARED = 3000  # and where a share of the variance is asked for
_AUTO = 3000  # points from which "auto" takes landmarks
_SEEN = 100  # points from which residual variances are measured


class Isomap(Embedding):
    """Coordinates whose distances are those along the data: -½H(D∘D)H = UΛUᵀ, Z = UΛ^½.

    D holds the shortest paths in the graph that joins every row to its nearest ones. Use it
    where rows lie on a bent sheet that could be flattened without tearing. Holes in the
    sheet, short cuts and sheets that cannot be flattened show in `residual_variance_` and in
    `negative_share_`.

    It is kernel PCA of a kernel that the data make: ``KernelPCA(kernel="precomputed")`` of
    `kernel_` has the same axes and coordinates.

    Parameters
    ----------
    n_components : int or float in (0, 1)
        Axes to keep; a share keeps as many as reach that part of Σ|λ|.
    neighbours : int
        Nearest rows that a row is joined to. Too few tear the sheet, too many cut through
        its folds.
    landmarks : int, "auto" or None
        None takes the paths between all pairs, n² numbers. A number m takes the paths from
        m landmarks to all rows, n·m numbers, finds the axes of the landmarks and places all
        rows by their distances to these [deSilva2004]_. "auto" is None up to 3000 rows, and
        beyond them 50 an axis and at least 500.
    sampler : {"maxmin", "random"}
        How landmarks are drawn: each the farthest from those before, or alike.
    metric : str
        Of the distances between neighbours: a name that scikit-learn's search knows.
    components : {"raise", "largest", "place"}
        What to do when the graph falls into pieces: refuse, naming their sizes; embed the
        largest, the rows outside it having NaN; or embed it and place these by their nearest
        rows in it, as new ones. Both warn.
    indefinite : {"clip", "raise", "flip", "shift"}
        What to do about negative eigenvalues; see `ClassicalMDS`. Path lengths have some.
    tol, memory, time, device, random_state
        See `PCA`; `random_state` draws landmarks.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, k)
        The coordinates, mean zero.
    eigenvalues_ : ndarray of shape (k,)
        λ of -½H(D∘D)H; with landmarks, of the rows placed by these.
    explained_variance_ : ndarray of shape (k,)
        |λ|/(n - 1), the variance of each coordinate.
    explained_variance_ratio_ : ndarray of shape (k,)
        λ/Σ|λ| over all axes.
    negative_share_ : float
        Σ|λ⁻|/Σ|λ|: how far the paths are from distances of points in some space; of a sample
        of 500 rows where the path of the plan is ``stored``.
    residual_variance_ : ndarray of shape (k,)
        1 - R² between path lengths and distances on the first 1, 2, … k axes, from 100 rows
        to all: it stops falling where the sheet has no more dimensions.
    graph_ : Graph
        Edges with their lengths, pieces, neighbours.
    facts_ : GraphFacts
        The graph in numbers.
    kernel_ : ndarray of shape (n, n)
        -½D∘D, made when it is asked for; of the landmarks where there are any.
    landmark_indices_ : ndarray of shape (m,) or None
        Which rows are landmarks.
    certificate_ : Certificate
        Intervals that hold the eigenvalues, residuals, gaps, axes that cannot be told apart.
    n_components_, n_samples_, n_features_in_, rank_ : int
        Axes kept, rows, columns, and kept axes with length above rounding.
    plan_ : Plan
        The path taken and the others.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Isomap
    >>> t = np.linspace(0, 3, 40)
    >>> arc = np.column_stack([np.cos(t), np.sin(t)])
    >>> model = Isomap(1, neighbours=2).fit(arc)
    >>> z = model.embedding_[:, 0]
    >>> bool(abs(np.corrcoef(z, t)[0, 1]) > 0.999)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_components": COUNT_OR_SHARE,
        "neighbours": [COUNT],
        "landmarks": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
        "sampler": [StrOptions({"maxmin", "random"})],
        "metric": [str],
        "components": [StrOptions(set(COMPONENTS))],
        "indefinite": [StrOptions(set(POLICIES))],
        **RESOURCES,
    }
    graph_: Graph
    facts_: GraphFacts
    landmark_indices_: Array | None
    _linked: Linked | None = None
    _placing: Placing
    _rows: Array
    _paths: Array | None

    def __init__(
        self,
        n_components: int | float = 2,
        *,
        neighbours: int = 10,
        landmarks: int | str | None = None,
        sampler: str = "maxmin",
        metric: str = "euclidean",
        components: str = "raise",
        indefinite: str = "clip",
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.neighbours = neighbours
        self.landmarks = landmarks
        self.sampler = sampler
        self.metric = metric
        self.components = components
        self.indefinite = indefinite
        super().__init__(tol, memory, time, device, random_state)

    @property
    def kernel_(self) -> Array:
        """-½D∘D, of all rows of the graph or of the landmarks; made again at each call."""
        if self._paths is not None and self.landmark_indices_ is not None:
            return halved_squares(self._paths[:, self._landmark_places])
        return halved_squares(geodesics(self.graph_, np.arange(self.graph_.n)))

    # -- describe ---------------------------------------------------------------------

    def _problem(self, source: Source, weights: Array | None = None) -> Problem:
        n, share = source.shape[0], isinstance(self.n_components, float)
        marks, most = self._landmark_count(n), _SHARED if share else _WHOLE
        cost = KernelCost(
            flops=1.0,
            whole=needs_whole(Flag.UNKNOWN, self.indefinite, n, most),
            centred=False,
            landmarks=marks,
            geodesic=True,
        )
        named = ("lapack",) if n <= most else ("lapack", "stored")
        k = most_components(self.n_components, marks or n)
        before, held = joined_bytes(*source.shape, min(self.neighbours, n - 1))
        known = {"kernel": cost, "allowed": named, "before": before, "held": held}
        return self._problem_of(source, source.shape, k, nnz=source.nnz, **known)

    def _landmark_count(self, n: int) -> int | None:
        """Return m, or None for all pairs."""
        if self.landmarks is None or (self.landmarks == "auto" and n <= _AUTO):
            return None
        k = most_components(self.n_components, n)
        if isinstance(self.landmarks, str):
            return landmark_count(n, k)
        m = min(int(self.landmarks), n)
        if k > m and not isinstance(self.n_components, float):
            raise InputError(
                "there are fewer landmarks than axes asked for",
                got=f"n_components={k}, landmarks={m}",
                fix=f"take {10 * k} landmarks or more",
            )
        return m

    # -- operator and pairs -----------------------------------------------------------

    def _solve(self, source: Source, path: Path, weights: Array | None) -> tuple[Spectrum, Any]:
        link = self._linked
        if link is None:
            link = linked(source.array, self.neighbours, self.components, self.metric)
            self._linked = link
        n, places, paths = link.graph.n, None, None
        if path.name == "landmarks":
            choose = farthest if self.sampler == "maxmin" else at_random
            count = self._landmark_count(n) or n
            places, paths = choose(link.graph, min(count, n), self._seed())
            asked = PlacingTask.of(self, source, len(places))
            spectrum, found, placing = by_triangulation(paths, places, path, asked)
            seen = (places[:_SEEN], paths[:_SEEN])
        else:
            kernel = geodesics(link.graph, np.arange(n))
            at = spread_evenly(n, None, _SEEN)
            seen = (at, kernel[at])
            asked = PlacingTask.of(self, source, n)
            spectrum, found, placing = placed(kernel, path, asked)
        return spectrum, (link, found, placing, places, paths, seen)

    # -- scale and project ------------------------------------------------------------

    def _scale(self, spectrum: Spectrum, found: Any, source: Source) -> dict[str, object]:
        link, kernel, placing, places, paths, (seen, kept) = found
        unit = placing.exponent
        state = described(spectrum, kernel, unit)
        embedded = state["embedding_"]
        dtype = np.float32 if source.products.itemsize == 4 else np.float64
        fresh = link.kept is None and not is_sparse(link.rows)
        state |= {
            "residual_variance_": residual_variances(
                np.ldexp(kept, -unit), seen, np.ldexp(embedded, -unit)
            ),
            "graph_": link.graph,
            "facts_": link.facts,
            "landmark_indices_": places
            if link.kept is None or places is None
            else link.kept[places],
            "n_samples_": source.shape[0],
            "_landmark_places": places,
            "_placing": placing,
            "_paths": paths,
            "_rows": link.rows.copy() if fresh else link.rows,
            "_dtype": dtype,
            "_linked": None,
        }
        place = None
        if self.components == "place":
            known = (link.searcher, link.graph, placing, paths)
            place = partial(_placed_rows, self.neighbours, *known)
        embedded = link.spread(embedded, source.array, place)
        return state | {"embedding_": np.asarray(embedded, dtype)}

    def _project(self, source: Source) -> Array:
        known = (Searcher(self._rows, metric=self.metric), self.graph_)
        how = (self._placing, self._paths)
        found = _placed_rows(self.neighbours, *known, *how, source.array)
        return np.asarray(found, self._dtype)


def _placed_rows(
    k: int, searcher: Searcher, graph: Graph, placing: Placing, paths: Array | None, rows: Array
) -> Array:
    """Return the coordinates of new rows, linked to their k nearest in the graph."""
    found = np.empty((rows.shape[0], placing.dual.shape[1]))
    for part in tiles_of(rows.shape[0], graph.n):
        near = searcher.query(rows[part], k)
        if paths is None:
            far = through(graph.lengths, near.indices, near.distances)
        else:
            far = by_landmarks(paths, near.indices, near.distances)
        found[part] = placing.of(far)
    return found
