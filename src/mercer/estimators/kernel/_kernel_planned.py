"""What the planner may know of a kernel PCA, and the plan as it is followed."""

import dataclasses
from typing import Any

from mercer.estimators.kernel._kernel_landmarks import LandmarkChoice, refuse_landmarks
from mercer.estimators.kernel._kernel_rows import SETTLING, KernelRows, feature_count
from mercer.estimators.kernel._kernel_sample import stand_ins
from mercer.estimators.kernel._kernel_solve import needs_whole
from mercer.estimators.kernel._kernel_stream import Fixed
from mercer.estimators.walk._admission import refuse_bad_cells
from mercer.kernels import Kernel, Precomputed
from mercer.planning import KernelCost, Plan, few_walks
from mercer.sources import Source

_LOOKED_THROUGH = 3000  # rows up to which an unknown kernel has all its eigenvalues found
_ENTRY = 8.0  # steps around the exponential of an entry, in flops of a product


class KernelPlanned:
    """Mixed into kernel PCA: its price, its landmarks and the paths it may take."""

    landmarks: Any
    indefinite: str
    standardize: bool
    feature_weight: Any
    kernel_: Kernel
    X_fit_: Any
    _given: Kernel
    _numeric: bool
    _seen: Kernel
    _frame: KernelRows
    _choice: LandmarkChoice | None = None
    _fixed: Fixed | None = None  # kernel and frame of a model that is refined
    _admit: Any
    _most_components: Any
    _shuffled: Any

    def _look(self, source: Source, weights: Any) -> Any:
        """Settle frame, kernel and choice of landmarks on rows in memory; return them ready."""
        refuse_bad_cells(source, getattr(self, "feature_names_in_", None))
        if self._fixed is None:
            self._frame = KernelRows.of(
                source,
                self._given,
                bool(self.standardize),
                self._numeric,
                weights,
                self.feature_weight,
            )
        else:  # a model that is refined keeps its kernel and its frame
            self._frame = dataclasses.replace(self._fixed.frame, weights=weights)
        rows = self._frame.counted(self._frame.ready(source))
        fixed = None if self._fixed is None else self._fixed.kernel
        self._seen = self._settled_kernel(rows, weights) if fixed is None else fixed
        self._choice = self._landmark_choice()
        self.kernel_ = self._seen if self._frame.numeric else self._given
        self.X_fit_ = rows
        return rows

    def _settled_kernel(self, rows: Any, weights: Any) -> Kernel:
        kernel = self._frame.kernel
        if kernel.resolved:
            return kernel
        at, counts = stand_ins(rows, weights, SETTLING)
        return kernel.resolve(rows[at], counts)

    def _cost(self, rows: Any) -> KernelCost:
        n, p = rows.shape
        count = feature_count(self._seen, rows)
        per_entry = 4.0 * rows.nnz / n if hasattr(rows, "nnz") else 2.0 * p
        return KernelCost(
            flops=per_entry + _ENTRY,
            exponentials=1.0,
            features=count,
            finite=count is not None and self._frame.finite(self._seen),
            whole=needs_whole(self._seen.flag, self.indefinite, n, _LOOKED_THROUGH),
            centred=self._seen.flag.centred and not isinstance(self._seen, Precomputed),
            landmarks=None if self._choice is None else self._landmark_count(n),
            shuffled=self._shuffled(n, p),
        )

    def _landmark_choice(self) -> LandmarkChoice | None:
        """Return what `landmarks` asks for, given rows in the frame of the others."""
        refuse_landmarks(self._seen, self.landmarks)
        if self.landmarks is None:
            return None
        choice = LandmarkChoice.of(self.landmarks)
        if choice.rows is None:
            return choice
        source = self._admit(choice.rows, reset=False)
        refuse_bad_cells(source)
        return dataclasses.replace(choice, rows=self._frame.ready(source))

    def _landmark_count(self, n: int) -> int:
        assert self._choice is not None
        return self._choice.number(n, self._most_components(n))

    def _allowed(self) -> tuple[str, ...] | None:
        if self._fixed is None:
            return None
        stored = () if self._fixed.passes is not None else ("stored",)
        return ("primal", "lapack", "tiles", *stored)

    def _settle_plan(self, made: Plan) -> Plan:
        """Return the plan with the passes that `refine` was allowed, and none after them."""
        passes, path = None if self._fixed is None else self._fixed.passes, made.chosen
        if passes is None or path.name != "tiles":
            return made
        path = few_walks(path, passes, self._fixed.columns if self._fixed else None)
        return dataclasses.replace(made, chosen=path)
