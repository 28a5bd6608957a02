"""The way back of kernel PCA: from coordinates to rows, and how good that is."""

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array
from mercer.errors import InputError, NotSupportedError
from mercer.estimators._decoder import Decoder, learn
from mercer.estimators._door import admit_coordinates
from mercer.estimators._kernel_rows import KernelRows
from mercer.kernels import Kernel, Linear, Precomputed, as_kernel


class KernelBack:
    """Mixed into kernel PCA: pre-images and what is measured by them.

    What it asks of the fitted model is named below.
    """

    kernel: Any
    kernel_: Kernel
    n_components_: int
    X_fit_: Any
    _given: Kernel
    _frame: KernelRows
    _engine: Any
    _coordinates: Array
    _decoder: Decoder | None
    _admit: Any
    _project: Any

    def inverse_transform(self, X: Any) -> Array:
        """Return the rows that coordinates stand for, by a decoder learned at its first use.

        The linear kernel has PCA's own inverse.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)
            Coordinates, as `transform` returns them.

        """
        check_is_fitted(self)
        Z = admit_coordinates(X, self.n_components_)
        if self._engine is not None and isinstance(self.kernel_, Linear):
            back = self._engine.inverse_transform(Z[:, : self._engine.n_components_])
        else:
            back = self.decoder_.decode(Z)
        return self._frame.back(np.asarray(back)).astype(Z.dtype, copy=False)

    @property
    def decoder_(self) -> Decoder:
        """The map from coordinates to rows, learned when it is first asked for."""
        check_is_fitted(self)
        if self._decoder is None:
            self._refuse_decoding()
            seen = np.isfinite(self._coordinates).all(axis=1)
            weights = self._frame.weights
            self._decoder = learn(
                self._coordinates[seen],
                self.X_fit_[seen],
                None if weights is None else weights[seen],
            )
        return self._decoder

    def _refuse_decoding(self) -> None:
        if isinstance(self.kernel_, Precomputed) or not self._frame.numeric:
            raise NotSupportedError(
                "there are no rows of numbers to go back to",
                got=f"{self._given!r}",
                fix="fit with a kernel on a table of numbers",
            )

    @available_if(lambda self: not isinstance(as_known(self.kernel), Precomputed))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any = None) -> float:
        """Return R² of the reconstruction in input space, 1 - Σ‖x - x̂‖²/Σ‖x - x̄‖².

        It compares kernels; for the linear kernel it is the share of variance kept.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.
        """
        check_is_fitted(self)
        source = self._admit(X, reset=False)
        back = self.inverse_transform(self._project(source))
        rows = source.array.toarray() if hasattr(source.array, "toarray") else source.array
        wide = np.asarray(rows, np.float64)
        spread = float(np.sum((wide - wide.mean(axis=0)) ** 2))
        left = float(np.sum((wide - back) ** 2))
        return 1 - left / spread if spread > 0 else 0.0


def as_known(kernel: Any) -> Any:
    """Return the kernel of a parameter, or the parameter itself where it is none."""
    try:
        return as_kernel(kernel)
    except InputError:
        return kernel
