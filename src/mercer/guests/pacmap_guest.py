"""PaCMAP: pairs near, in between and far, laid out on a map."""

import contextlib
import logging
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import HasMethods, StrOptions

from mercer.arrays import Array
from mercer.estimators.walk._parameters import COUNT, RESOURCES, Constraints
from mercer.guests._guest import Guest, seed_of_host


class PaCMAP(Guest):
    """A map by pairs of rows, near ones and some farther apart, by pacmap [Wang2021]_.

    Read neighbours from it, and with care which groups lie near each other. Distances and
    sizes mean little.

    Parameters
    ----------
    n_components : int
        k, coordinates.
    neighbours : int
        Near pairs of each row.
    start : "pca", map of mercer or array of shape (n, k)
        Where rows stand at first: their principal components; places by another map, such as
        ``LaplacianEigenmaps(2)``; or places given.
    memory : int, str or None
        See `PCA`; the plan refuses what would not fit.
    random_state : int, RandomState, Generator or None
        Seed. With the same one, and the same libraries, two runs give the same bits.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, k)
        Places of the rows of the fit.
    certificate_ : None
        There is none: nothing bounds how far the map is from the best one.
    plan_ : Plan
        What ran, and how long it was thought to take.
    n_components_, n_samples_, n_features_in_ : int
        Coordinates, rows, columns.
    """

    _module, _extra, _called = "pacmap", "pacmap", "pacmap"
    _rate = (4.0, 1.5e-3)
    _parameter_constraints: ClassVar[Constraints] = {
        "n_components": [COUNT],
        "neighbours": [COUNT],
        "start": [StrOptions({"pca"}), HasMethods("fit_transform"), "array-like"],
        "memory": RESOURCES["memory"],
        "random_state": RESOURCES["random_state"],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        neighbours: int = 10,
        start: Any = "pca",
        memory: int | str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.neighbours = neighbours
        self.start = start
        self.memory = memory
        self.random_state = random_state

    def _run(self, library: Any, rows: Array, start: Array | None) -> tuple[Array, Any]:
        with _silent():
            host = library.PaCMAP(
                n_components=self.n_components,
                n_neighbors=max(1, min(self.neighbours, len(rows) // 4)),
                apply_pca=False, save_tree=True, random_state=seed_of_host(self._seed()),
            )  # fmt: skip
            return np.asarray(host.fit_transform(rows.copy(), init=start)), host

    def _place(self, library: Any, made: Any, rows: Array) -> Array:
        with _silent():
            return np.asarray(made.transform(rows.copy()))


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Keep the host's remarks on its own seed and search from stderr."""
    logger = logging.getLogger("pacmap")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
