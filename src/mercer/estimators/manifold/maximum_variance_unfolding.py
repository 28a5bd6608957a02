"""MaximumVarianceUnfolding: as far apart as kept distances between neighbours allow."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from mercer.arrays import Array
from mercer.errors import AccuracyWarning, InputError, warn
from mercer.estimators.manifold import _unfolding_fit as unfolding
from mercer.estimators.manifold._barycentric_weights import combined
from mercer.estimators.manifold._embedding import Embedding
from mercer.estimators.manifold._row_graph import COMPONENTS, GraphFacts
from mercer.estimators.manifold._unfolding_facts import Flatness, UnfoldingCertificate, warn_of
from mercer.estimators.walk._parameters import COUNT, POSITIVE, RESOURCES
from mercer.operators import Graph, Searcher
from mercer.planning import KernelCost, Path, Problem
from mercer.solvers import Spectrum
from mercer.sources import Source

_AUTO = 1500  # rows from which "auto" takes landmarks
_LANDMARKS = 500  # and how many


class MaximumVarianceUnfolding(Embedding):
    """Unfold rows: max tr K with K ⪰ 0, K1 = 0 and the distances between neighbours kept.

    Every row is joined to its nearest ones by bars of fixed length, and the rows are drawn
    apart as far as the bars allow; the axes are those of kernel PCA on the kernel K that is
    found so [Weinberger2004]_. Where rows lie on a bent sheet, it is laid flat.

    The semidefinite programme is solved by an interior point, and a feasible point of its
    dual proves how far the result can be from the best: see `certificate_` and `gap_`. Where
    the rows do not lie flat on the axes in the end, as when an edge cuts across a fold, a
    `DataWarning` says so, and `flatness_` what was seen.

    Parameters
    ----------
    n_components : int
        Axes to keep.
    neighbours : int
        Nearest rows that a row keeps its distance to; of two rows one must be near the other.
        Distances between two neighbours of a third are not kept by themselves.
    landmarks : int, "auto" or None
        None unfolds all rows: n² numbers, and a system with an equation for each bar. A
        number m unfolds m landmarks, which are neighbours along the graph of all rows, and
        places the others as locally linear embedding would. "auto" is None up to 1500 rows,
        and 500 beyond them.
    slack : float
        Relative change of a squared distance under mean tension: bars are stiff springs.
        0 keeps distances exactly; where many neighbours hold each other rigid, nothing moves
        then.
    reg : float
        Penalty of the weights by which new rows are put together from their neighbours.
    components : {"raise", "largest", "place"}
        What to do when the graph falls into pieces: refuse, naming their sizes; unfold the
        largest and warn, the other rows having NaN; or place these by their nearest in it.
    tol : float or None
        Relative gap to the largest variance; None is 1e-3.
    memory, time, device, random_state
        See `PCA`; `random_state` draws the first landmark.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, k)
        The coordinates, √λu.
    eigenvalues_ : ndarray of shape (k,)
        λ of K: sums of squares along the axes.
    explained_variance_ratio_ : ndarray of shape (k,)
        λ/tr K.
    kernel_ : ndarray of shape (n, n)
        K = FFᵀ, made when it is asked for.
    factor_ : ndarray of shape (n, r)
        F, of the axes that are above rounding.
    gap_ : float
        The relative gap.
    certificate_ : UnfoldingCertificate
        Variance, bound, gap, the worst error of a distance, and the intervals of λ.
    flatness_ : Flatness
        What is left beyond the axes, edges drawn short, and the edge most like a short cut.
    tensions_ : ndarray of shape (e,)
        The dual solution: tr K grows by that much per unit of a squared distance.
    edges_ : ndarray of shape (e, 2)
        The rows that each bar joins.
    graph_ : Graph
        Edges with their lengths, pieces, neighbours.
    facts_ : GraphFacts
        The graph in numbers.
    landmark_indices_ : ndarray of shape (m,) or None
        Which rows are landmarks.
    n_components_, n_samples_, n_features_in_ : int
        Axes, rows, columns.
    plan_ : Plan
        The path taken and the others.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import MaximumVarianceUnfolding
    >>> t = np.linspace(0, 3, 40)
    >>> arc = np.column_stack([np.cos(t), np.sin(t)])
    >>> model = MaximumVarianceUnfolding(1, neighbours=2).fit(arc)
    >>> bool(abs(np.corrcoef(model.embedding_[:, 0], t)[0, 1]) > 0.999)
    True
    >>> bool(model.gap_ < 1e-3)
    True
    """

    _needs_dense = True
    _usual_tol = 1e-3  # relative gap
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_components": [COUNT],
        "neighbours": [COUNT],
        "landmarks": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
        "slack": [Interval(Real, 0, 1, closed="left")],
        "reg": [POSITIVE],
        "components": [StrOptions(set(COMPONENTS))],
        **RESOURCES,
    }
    certificate_: UnfoldingCertificate
    factor_: Array
    flatness_: Flatness
    graph_: Graph
    facts_: GraphFacts

    def __init__(
        self,
        n_components: int = 2,
        *,
        neighbours: int = 6,
        landmarks: int | str | None = "auto",
        slack: float = 1e-6,
        reg: float = 1e-3,
        components: str = "raise",
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.neighbours = neighbours
        self.landmarks = landmarks
        self.slack = slack
        self.reg = reg
        self.components = components
        super().__init__(tol, memory, time, device, random_state)

    @property
    def kernel_(self) -> Array:
        """K = FFᵀ, the kernel that was found; made again at each call."""
        return np.asarray(self.factor_ @ self.factor_.T)

    @property
    def gap_(self) -> float:
        """The duality gap over the variance: how far this can be from the best unfolding."""
        return self.certificate_.relative_gap

    # -- describe ---------------------------------------------------------------------

    def _admit(self, X: Any, *, reset: bool) -> Source:
        source = super()._admit(X, reset=reset)
        n = source.shape[0]
        if reset and self.n_components > n - 1:
            raise InputError(
                "there are fewer dimensions than axes asked for",
                got=f"n_components={self.n_components}, n_samples = {n}",
                fix=f"ask for at most {max(n - 1, 1)} axes",
            )
        return source

    def _problem(self, source: Source, weights: Array | None = None) -> Problem:
        n = source.shape[0]
        cost = KernelCost(
            flops=1.0,
            centred=False,
            landmarks=self._landmark_count(n),
            bars=min(int(self.neighbours), max(n - 1, 1)),
        )
        return self._problem_of(source, source.shape, int(self.n_components), kernel=cost)

    def _landmark_count(self, n: int) -> int | None:
        """Return m, or None for all rows."""
        if self.landmarks is None or (self.landmarks == "auto" and n <= _AUTO):
            return None
        m = _LANDMARKS if isinstance(self.landmarks, str) else int(self.landmarks)
        return None if m >= n else m

    # -- operator and pairs -----------------------------------------------------------

    def _solve(
        self, source: Source, path: Path, weights: Array | None
    ) -> tuple[Spectrum, unfolding.Laid]:
        rows, unit = unfolding.units_of(np.asarray(source.array))
        wanted = unfolding.UnfoldingTask(
            components=int(self.n_components),
            neighbours=int(self.neighbours),
            landmarks=self._landmark_count(len(rows)) if path.name == "landmarks" else None,
            slack=float(self.slack),
            reg=float(self.reg),
            pieces=self.components,
            tol=self._tolerance(source),
            seconds=self.time,
            seed=self._seed(),
        )
        found = unfolding.laid(rows, unit, wanted)
        return found.spectrum, found

    # -- scale and project ------------------------------------------------------------

    def _scale(
        self, spectrum: Spectrum, found: unfolding.Laid, source: Source
    ) -> dict[str, object]:
        dtype = np.float32 if source.products.itemsize == 4 else np.float64
        values = np.maximum(spectrum.values, 0.0)
        certificate = found.certificate
        return {
            "embedding_": np.asarray(found.factor[:, : len(values)], dtype),
            "eigenvalues_": values,
            "explained_variance_ratio_": values / spectrum.total if spectrum.total else values,
            "factor_": found.factor,
            "certificate_": certificate,
            "flatness_": found.flatness,
            "tensions_": found.tensions,
            "edges_": found.edges,
            "graph_": found.graph,
            "facts_": found.facts,
            "landmark_indices_": found.landmarks,
            "n_components_": len(values),
            "n_samples_": source.shape[0],
            "_rows": np.asarray(source.array)[found.places],
            "_places": found.places,
            "_dtype": dtype,
        }

    def _fitted(self, source: Source, weights: Array | None) -> dict[str, object]:
        state = super()._fitted(source, weights)
        certificate, k = state["certificate_"], state["n_components_"]
        if not certificate.closed:
            warn(
                f"the unfolding may be {certificate.relative_gap:.1e} from the best one where"
                f" {certificate.asked:.0e} was asked for",
                got=f"{certificate.ended}; distances kept to {certificate.distance_error:.1e}",
                fix="allow more `slack` or `time`, or a larger `tol`",
                category=AccuracyWarning,
            )
        warn_of(state["flatness_"], k)
        return state

    def _project(self, source: Source) -> Array:
        points = np.asarray(source.array)
        near = Searcher(self._rows).query(points, self.neighbours)
        values = self.factor_[self._places, : self.n_components_]
        far = unfolding.snapped(near.distances)
        found = combined(points, self._rows, near.indices, far, values, float(self.reg))
        return np.asarray(found, self._dtype)
