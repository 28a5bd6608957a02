"""Topic vectors: leading axes of weighted term counts."""

import dataclasses
import itertools
from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array
from mercer.errors import DataWarning, InputError, warn
from mercer.estimators.walk._admission import admit, held_rows, refuse_bad_cells, text_names
from mercer.estimators.walk._operated_estimator import Operated, OperatedEstimator
from mercer.estimators.walk._parameters import RESOURCES, Attributes, Constraints, Names, Seed
from mercer.operators import Framed
from mercer.planning import Problem
from mercer.solvers import Spectrum

Ends = tuple[list[str], list[str]]
_CELLS = 1 << 17  # stored cells that are weighed at a time
_CELL = 20.0  # bytes a stored cell: its weight, and what it is where counts were no float64
_AT_ONCE = 8e6  # bytes that weighing some cells takes


class TopicVectors(OperatedEstimator):
    r"""Documents as points, from counts of terms: tf-idf, then centred or truncated PCA.

    W_ij = tf_ij·idf_j with idf_j = ln((1 + n)/(1 + df_j)) + 1, df_j the documents that hold
    term j; rows have length one. Centred: axes of the covariance of W; the mean is taken out
    of every product, so that W stays sparse. Truncated: leading singular vectors of W itself
    (latent semantic analysis), whose first one is the mean document.

    Parameters
    ----------
    n_components : int
        Number of axes.
    centred : bool
        Whether the mean document is taken out.
    sublinear : bool
        Take 1 + ln tf in place of tf: a term that stands there ten times is not ten times as
        telling.
    normalise : bool
        Give every document length one.
    tol : float or None
        Largest certified relative error of an eigenvalue; None is 1e-6.
    memory : int, str or None
        Bytes that fit may take, as a number, "4GB" or "4GiB"; None is 80 % of what is free.
    time : float or None
        Seconds that may be spent; the plan says when that means missing `tol`.
    device : None or "cpu"
        Where to compute.
    random_state : int, RandomState, Generator or None
        Start of the random numbers; the default gives the same bits every time.

    Attributes
    ----------
    components_ : ndarray of shape (k, p)
        Axes over the terms, rows of norm one.
    explained_variance_ : ndarray of shape (k,)
        Eigenvalues over n - 1: variances where centred, else mean squares.
    explained_variance_ratio_ : ndarray of shape (k,)
        Shares of the total.
    idf_, mean_ : ndarray of shape (p,)
        Weights of the terms, and the mean of the weighted documents (zeros where truncated).
    n_components_, n_samples_, n_features_in_ : int
        Axes, documents, terms.
    plan_, certificate_ : Plan, Certificate
        The path taken, and intervals that hold the eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import TopicVectors
    >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 1], [0, 0, 4, 2], [0, 1, 2, 3]])
    >>> topics = TopicVectors(1).fit(counts)
    >>> Z = topics.transform(counts)
    >>> bool(Z[0, 0] * Z[1, 0] > 0 > Z[0, 0] * Z[2, 0])
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "centred": ["boolean"],
        "sublinear": ["boolean"],
        "normalise": ["boolean"],
        **RESOURCES,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        centred: bool = True,
        sublinear: bool = False,
        normalise: bool = True,
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Seed = 0,
    ) -> None:
        self.n_components = n_components
        self.centred = centred
        self.sublinear = sublinear
        self.normalise = normalise
        super().__init__(tol, memory, time, device, random_state)

    def _admit(self, X: object, *, reset: bool) -> Any:
        source = admit(self, text_names(held_rows(X)), reset=reset)
        refuse_bad_cells(source, self._names)
        counts = scipy.sparse.csr_array(source.array).astype(np.float64, copy=False)
        _refuse_negative(counts, self._names)
        return counts

    def _shape(self, source: Any) -> tuple[int, int, int | None]:
        return (*source.shape, source.nnz)

    def _problem(self, source: Any, weights: Array | None = None) -> Problem:
        problem = super()._problem(source, weights)
        return dataclasses.replace(problem, held=_CELL * source.nnz + _AT_ONCE)

    def _wanted(self, shape: tuple[int, int]) -> int:
        return min(self.n_components, *shape)

    def _operator(self, source: Any, weights: Array | None) -> Operated:
        repeats = np.ones(source.shape[0]) if weights is None else weights
        n, p = float(np.sum(repeats)), source.shape[1]
        documents, mean, squares = np.zeros(p), np.zeros(p), 0.0
        for _, part, rows in _cells(source, repeats):
            there = np.where(source.data[part] > 0, rows, 0.0)
            documents += np.bincount(source.indices[part], there, minlength=p)
        idf = np.log((1 + n) / (1 + documents)) + 1
        table = _weighted(source, idf, sublinear=self.sublinear, normalise=self.normalise)
        with np.errstate(over="ignore", invalid="ignore"):
            for _, part, rows in _cells(table, repeats):
                data = table.data[part]
                squares += float(np.sum(data**2 * rows))
                if self.centred:
                    mean += np.bincount(table.indices[part], data * rows, minlength=p)
            mean /= n
            trace = squares - n * float(mean @ mean)
        _refuse_alike(trace, squares, source.shape[0])
        level = np.full(len(repeats), float(self.centred))
        op = Framed(
            table, left=np.sqrt(repeats), right=np.ones(len(idf)), level=level, profile=mean
        )
        return Operated(op, trace, (idf, mean, n), squares)

    def _scale(self, spectrum: Spectrum, found: Any, source: Any) -> Attributes:
        idf, mean, n = found.found
        k = len(spectrum.values)
        values = np.maximum(spectrum.values, 0.0)
        alive = values > spectrum.certificate.zero_level
        if k < self.n_components:
            warn(
                f"there are only {k} axes",
                got=f"n_components={self.n_components}, a table of shape {source.shape}",
                fix=f"ask for at most {k}",
                category=DataWarning,
            )
        return {
            "components_": np.ascontiguousarray((spectrum.right * alive).T),
            "explained_variance_": values / (n - 1),
            "explained_variance_ratio_": values / found.trace,
            "idf_": idf,
            "mean_": mean,
            "n_components_": k,
            "n_samples_": source.shape[0],
            "rank_": int(np.sum(alive)),
            "certificate_": spectrum.certificate.scaled(1 / (n - 1), 0),
            "_weighting": (self.sublinear, self.normalise),
        }

    def _project(self, source: Any) -> Array:
        axes = self.components_.T
        sublinear, normalise = self._weighting
        found, how = np.empty((source.shape[0], axes.shape[1])), {"sublinear": sublinear}
        for rows, part, _ in _cells(source, np.ones(source.shape[0])):
            ends = source.indptr[rows.start : rows.stop + 1] - part.start
            shape = (rows.stop - rows.start, source.shape[1])
            parts = (source.data[part], source.indices[part], ends)
            some = scipy.sparse.csr_array(parts, shape=shape)
            found[rows] = _weighted(some, self.idf_, normalise=normalise, **how) @ axes
        found -= self.mean_ @ axes
        return found

    def top_terms(
        self, count: int = 10, names: Names = None
    ) -> list[tuple[list[str], list[str]]]:
        """Return the heaviest terms at both ends of every axis: (positive, negative).

        Parameters
        ----------
        count : int
            Terms at each end.
        names : sequence of p str or None
            Terms, as a vectoriser names them; None takes those of the fit, or numbers.
        """
        check_is_fitted(self)
        given = self._names if names is None else names
        terms = [f"x{j}" for j in range(self.n_features_in_)] if given is None else list(given)
        if len(terms) != self.n_features_in_:
            raise InputError(
                "every term has a name",
                got=f"{len(terms)} names for {self.n_features_in_} terms",
                fix="pass vectoriser.get_feature_names_out()",
            )
        found = []
        for axis in self.components_:
            order = np.argsort(-axis, kind="stable")
            high = [str(terms[j]) for j in order[:count] if axis[j] > 0]
            low = [str(terms[j]) for j in order[::-1][:count] if axis[j] < 0]
            found.append((high, low))
        return found

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: counts are not negative."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


def _weighted(counts: Any, idf: Array, *, sublinear: bool, normalise: bool) -> Any:
    """Return W (n, p), sparse; rows without a known term stay zero."""
    made, n = np.empty(counts.nnz), counts.shape[0]
    for some, part, rows in _cells(counts, np.arange(n)):
        cells = counts.data[part]
        data = np.log(cells, where=cells > 0, out=np.zeros_like(cells))
        tf = np.where(cells > 0, data + 1, 0.0) if sublinear else cells
        data = tf * idf[counts.indices[part]]
        if normalise:
            at, height = rows - some.start, some.stop - some.start
            largest = np.zeros(height)
            np.maximum.at(largest, at, data)  # so that squares of huge counts are numbers
            data /= np.where(largest > 0, largest, 1.0)[at]
            lengths = np.sqrt(np.bincount(at, data**2, minlength=height))
            data /= np.where(lengths > 0, lengths, 1.0)[at]
        made[part] = data
    return scipy.sparse.csr_array((made, counts.indices, counts.indptr), shape=counts.shape)


def _cells(table: Any, values: Array) -> Iterator[tuple[slice, slice, Array]]:
    """Yield some rows, their stored cells, and for each of these the value (n,) of its row."""
    counts, ends = np.diff(table.indptr), table.indptr
    cuts = np.searchsorted(ends, np.arange(_CELLS, int(ends[-1]), _CELLS))
    bounds = np.unique(np.concatenate([[0], cuts, [len(counts)]]))
    for low, high in itertools.pairwise(bounds.tolist()):
        rows = slice(low, high)
        yield (
            rows,
            slice(int(ends[low]), int(ends[high])),
            np.repeat(values[rows], counts[rows]),
        )


def _refuse_negative(counts: Any, names: Names) -> None:
    bad = np.flatnonzero(counts.data < 0)
    if bad.size:
        row = int(np.searchsorted(counts.indptr, bad[0], side="right")) - 1
        column = int(counts.indices[bad[0]])
        name = "" if names is None else f" ({str(names[column])!r})"
        raise InputError(
            "Negative values in data passed to X: counts of terms are not negative",
            got=f"{counts.data[bad[0]]:g} at row {row}, column {column}{name}",
            fix="pass counts, as CountVectorizer makes them",
        )


def _refuse_alike(trace: float, squares: float, n: int) -> None:
    if not np.isfinite(squares):
        raise InputError(
            "squares of these counts leave the range of float64",
            got=f"{n} documents of which Σ(tf·idf)² is infinite",
            fix="divide the counts by a constant, or pass normalise=True",
        )
    if trace <= 1e-14 * squares * n or squares == 0:
        raise InputError(
            "all documents are alike: there is no axis",
            got=f"{n} documents, {'no counts' if squares == 0 else 'one profile'}",
            fix="check the counts; pass centred=False for axes of the documents themselves",
        )
