"""`scanpy_pca`, which is a function: of rows alone, and of rows in an annotated matrix."""

import types
from typing import Any

import numpy as np
import scipy.sparse as sp
from fuzzed_case import Case, print_of
from fuzzed_methods import of_rows
from jacobi import WIDE

from mercer import dropin

CLOSE = {False: 1e-6, True: 2e-3}  # of the largest variance; of rows of float16 or float32


class Annotated:
    """As much of an annotated matrix as the function may touch."""

    def __init__(self, X: Any) -> None:
        self.X, self.layers, self.var = X, {"raw": X}, {}
        self.obsm, self.varm, self.uns = {}, {}, {}

    @property
    def written(self) -> dict[str, Any]:
        return {**self.obsm, **self.varm, **self.uns}


class AnnotatedCase(Case):
    """A call of the function, what it returns or writes, and what it leaves alone."""

    def _labels_and_weights(self) -> None:
        """There are none."""

    def run(self) -> None:
        """See `Case.run`."""
        options, before = dict(self.fuzzed.options), print_of(self.given)
        rows = self.given if isinstance(self.given, np.ndarray) else None
        within = self.rng.random() < 0.5 or options.get("layer") is not None
        target = Annotated(self.given) if within else self.given
        if within and getattr(rows, "ndim", 0) == 2 and self.rng.random() < 0.5:
            target.var["highly_variable"] = np.arange(rows.shape[1]) < max(1, rows.shape[1] - 1)
        found = self.step("scanpy_pca", lambda: self._called(target, options))
        if print_of(self.given) != before:
            self.finds("scanpy_pca: the input was changed")
        if found is None:
            if within and target.written:
                self.finds("scanpy_pca: refused, and something was written")
            plain = isinstance(self.given, np.ndarray) or sp.issparse(self.given)
            if self.kind.group == "same" and plain and not self.findings:
                self._taken_as_plain(options)
            return
        taken = self.kind.group == "bad" and self.kind.name not in self.fuzzed.takes
        if taken and not self.warned and not (within and target.var):  # it may be masked
            self.finds("scanpy_pca: taken without a word")
        self._right(found, target, options)

    def _called(self, target: Any, options: dict[str, Any]) -> Any:
        """Return coordinates and variances, which rows alone do not tell."""
        found = dropin.scanpy_pca(target, **options)
        if found is not None:
            return types.SimpleNamespace(coordinates=found, variance=None)
        key = options.get("key_added")
        variance = target.uns[key or "pca"]["variance"]
        return types.SimpleNamespace(coordinates=target.obsm[key or "X_pca"], variance=variance)

    def _taken_as_plain(self, options: dict[str, Any]) -> None:
        alone = {name: one for name, one in options.items() if name != "layer"}
        try:
            dropin.scanpy_pca(np.asarray(self.cells, float).copy(), **alone)
        except Exception:  # what is wrong with the cells is found in the plain case
            return
        self.finds("scanpy_pca: refused, though it is taken as a plain array")

    def _right(self, found: Any, target: Any, options: dict[str, Any]) -> None:
        """Coordinates are finite and have the variances that are told and true."""
        z = np.asarray(found.coordinates)
        if not np.isfinite(z.astype(float)).all():
            if not self.warned:
                self.finds("scanpy_pca: coordinates that are not finite, without a word")
            return
        masked = isinstance(target, Annotated) and bool(target.var)
        if self.warned or masked or self.cells is None or options.get("zero_center") is False:
            return
        truth = of_rows(None, self.cells, None)
        values = np.asarray(truth.values, WIDE)[: z.shape[1]]
        size = values[0] if len(values) and values[0] > 0 else WIDE(1)
        wide = z.astype(WIDE) / np.sqrt(size)
        own = np.sort((wide**2).sum(axis=0))[::-1] / max(len(z) - 1, 1)
        narrow = z.dtype.itemsize < 8 or "float" in self.kind.name
        if not np.allclose(np.asarray(own, float), np.asarray(values / size, float),
                           rtol=0, atol=CLOSE[narrow]):  # fmt: skip
            self.finds(f"scanpy_pca: variances {own * size}, {values} is right")
        if found.variance is not None:
            told = np.asarray(found.variance, WIDE) / size
            if np.max(np.abs(told - values / size), initial=0) > CLOSE[narrow]:
                self.finds(f"scanpy_pca: told variances {told * size}, {values} is right")
