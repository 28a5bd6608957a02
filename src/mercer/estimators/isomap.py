"""Isomap: coordinates from distances along a graph of neighbours."""

from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from mercer.arrays import Array, is_sparse
from mercer.errors import InputError
from mercer.estimators._distance_kernel import (
    Asked,
    Placing,
    described,
    halved_squares,
    placed,
)
from mercer.estimators._embedding import Embedding
from mercer.estimators._graph_facts import GraphFacts
from mercer.estimators._indefinite import POLICIES
from mercer.estimators._isomap_landmarks import by_triangulation
from mercer.estimators._isomap_paths import (
    at_random,
    by_landmarks,
    farthest,
    residual_variances,
    through,
    tiles_of,
)
from mercer.estimators._kernel_rows import most_components, spread_evenly
from mercer.estimators._kernel_solve import needs_whole
from mercer.estimators._linked_rows import COMPONENTS, Linked, linked
from mercer.estimators._parameters import RESOURCES
from mercer.kernels import Flag
from mercer.operators import Graph, Searcher, geodesics
from mercer.planning import KernelCost, Path, Problem, landmark_count
from mercer.solvers import Spectrum
from mercer.sources import Source

_WHOLE = 3000  # points up to which all eigenvalues are found, the negative ones too
_SMALL = 1000  # points up to which LAPACK is as fast as an iteration
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
        Σ|λ⁻|/Σ|λ|: how far the paths are from distances of points in some space.
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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
        ],
        "neighbours": [Interval(Integral, 1, None, closed="left")],
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
    _linked: Linked | None
    _placing: Placing
    _rows: Any
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
        self.tol = tol
        self.memory = memory
        self.time = time
        self.device = device
        self.random_state = random_state

    @property
    def kernel_(self) -> Array:
        """-½D∘D, of all rows of the graph or of the landmarks; made again at each call."""
        if self._paths is not None and self.landmark_indices_ is not None:
            return halved_squares(self._paths[:, self._landmark_places])
        return halved_squares(geodesics(self.graph_, np.arange(self.graph_.n)))

    # -- describe ---------------------------------------------------------------------

    def _problem(self, source: Source, weights: Any = None) -> Problem:
        n, p = source.shape
        marks = self._landmark_count(n)
        cost = KernelCost(
            flops=1.0,
            whole=needs_whole(Flag.UNKNOWN, self.indefinite, n, _WHOLE),
            centred=False,
            landmarks=marks,
            geodesic=True,
        )
        named = ("lapack",) if n <= _SMALL else ("lapack", "stored")
        return Problem(
            rows=n,
            cols=p,
            components=most_components(self.n_components, marks or n),
            itemsize=8,
            nnz=source.nnz,
            tol=self._tolerance(source),
            kernel=cost,
            **self._resources() | {"allowed": named},
        )

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

    def _solve(self, source: Source, path: Path, weights: Any) -> tuple[Spectrum, Any]:
        if getattr(self, "_linked", None) is None:
            self._linked = linked(source.array, self.neighbours, self.components, self.metric)
        link = self._linked
        assert link is not None
        n, places, paths = link.graph.n, None, None
        if path.name == "landmarks":
            choose = farthest if self.sampler == "maxmin" else at_random
            count = self._landmark_count(n) or n
            places, paths = choose(link.graph, min(count, n), self._seed())
            asked = self._asked(source, len(places))
            spectrum, found, placing = by_triangulation(paths, places, path, asked)
            seen = (places[:_SEEN], paths[:_SEEN])
        else:
            kernel = geodesics(link.graph, np.arange(n))
            at = spread_evenly(n, None, _SEEN)
            seen = (at, kernel[at])
            asked = self._asked(source, n)
            spectrum, found, placing = placed(halved_squares(kernel), path, asked)
        return spectrum, (found, placing, places, paths, seen)

    def _asked(self, source: Source, n: int) -> Asked:
        wanted = self.n_components
        return Asked(
            float(wanted) if isinstance(wanted, float) else most_components(wanted, n),
            self.indefinite,
            self._tolerance(source),
            self._budget(),
            self.time,
            self._seed(),
        )

    # -- scale and project ------------------------------------------------------------

    def _scale(self, spectrum: Spectrum, found: Any, source: Source) -> dict[str, Any]:
        kernel, placing, places, paths, (seen, kept) = found
        link = self._linked
        assert link is not None
        state = described(spectrum, kernel)
        embedded = state["embedding_"]
        dtype = np.float32 if source.products.itemsize == 4 else np.float64
        fresh = link.kept is None and not is_sparse(link.rows)
        state |= {
            "residual_variance_": residual_variances(kept, seen, embedded),
            "graph_": link.graph,
            "facts_": link.facts,
            "landmark_indices_": places if link.kept is None else _at(link.kept, places),
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
            parts = (self.neighbours, link.searcher, link.graph, state)
            place = partial(_placed_rows, *parts)
        embedded = link.spread(embedded, source.array, place)
        return state | {"embedding_": np.asarray(embedded, dtype)}

    def _project(self, source: Source) -> Array:
        searcher = Searcher(self._rows, metric=self.metric)
        state = {"_placing": self._placing, "_paths": self._paths}
        found = _placed_rows(self.neighbours, searcher, self.graph_, state, source.array)
        return np.asarray(found, self._dtype)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)


def _placed_rows(
    k: int, searcher: Searcher, graph: Graph, state: dict[str, Any], rows: Any
) -> Array:
    """Return the coordinates of new rows, linked to their k nearest in the graph."""
    placing, paths = state["_placing"], state["_paths"]
    found = np.empty((rows.shape[0], placing.dual.shape[1]))
    tiles = tiles_of(rows.shape[0], graph.n)
    for number in range(len(tiles)):
        part = tiles[number]
        near = searcher.query(rows[part], k)
        if paths is None:
            far = through(graph.lengths, near.indices, near.distances)
        else:
            far = by_landmarks(paths, near.indices, near.distances)
        found[part] = placing.of(np.square(far, out=far))
    return found


def _at(kept: Array, places: Array | None) -> Array | None:
    return None if places is None else kept[places]
