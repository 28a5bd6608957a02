"""The way back of kernel PCA: from coordinates to rows, and how good that is."""

import dataclasses
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array
from mercer.errors import InputError, NotSupportedError
from mercer.estimators.kernel._decoder import Decoder, dense, learn
from mercer.estimators.kernel._kernel_known import KernelKnown
from mercer.estimators.kernel._preimage import (
    DistanceConstraints,
    FixedPoint,
    Known,
    Preimage,
    radial_of,
)
from mercer.estimators.walk._admission import admit_coordinates
from mercer.estimators.walk._spectral_estimator import repeat_counts
from mercer.kernels import RBF, Kernel, Linear, Precomputed, as_kernel

METHODS = ("ridge", "fixed_point", "distances")
_HELD_OUT = 500  # rows at most that the methods are compared on,
_PART = 5  # one row in five at most,
_PRODUCTS = 4e6  # and so many pairs with the others at most, or
_ALWAYS = 50  # this many rows
_TAUGHT = 2000  # other rows at most that the regression learns from for a comparison
_FEWEST = 10  # rows without which nothing is held out
_ALL_PAIRS = 20_000  # rows up to which a pass over all pairs is made for a comparison


@dataclasses.dataclass(frozen=True)
class Reconstruction:
    """How near the pre-images of rows are, row by row.

    Attributes
    ----------
    rows : ndarray of shape (n, p)
        x̂.
    residual : ndarray of shape (n,)
        ‖x - x̂‖², in the units of the data.
    feature_residual : ndarray of shape (n,)
        ‖φ(x̂) - Pφ(x)‖², in feature space: how far x̂ is from having the coordinates of x
        and nothing else.
    unexplained : ndarray of shape (n,)
        ‖φ(x) - Pφ(x)‖², in feature space: what the axes leave out of x.
    method : str
        How the pre-images were found.
    """

    rows: Array
    residual: Array
    feature_residual: Array
    unexplained: Array
    method: str


class KernelBack(KernelKnown):
    """Mixed into kernel PCA: pre-images and what is measured by them.

    What it asks of the fitted model is named here and in `KernelKnown`.
    """

    kernel: Any
    n_components_: int
    _given: Kernel
    _admit: Any
    _project: Any

    # -- there and back ---------------------------------------------------------------

    def inverse_transform(self, X: Any, method: str | None = None) -> Array:
        """Return the rows that coordinates stand for.

        There need not be such rows, so they are looked for. The linear kernel has PCA's own
        inverse. What is needed is learned at the first use.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)
            Coordinates, as `transform` returns them.
        method : {"ridge", "fixed_point", "distances"} or None
            "ridge" is a regression of rows on coordinates, for any kernel; "fixed_point"
            [Mika1999]_ seeks the row whose image is nearest, for the Gaussian kernel;
            "distances" [Kwok2004]_ places a row by its distances to neighbours, for kernels
            that fall with the Euclidean distance. None takes `preimage_`.
        """
        check_is_fitted(self)
        return self._decoded(admit_coordinates(X, self.n_components_), method)

    def _decoded(self, Z: Array, method: str | None) -> Array:
        with self._whole():
            found = self._preimage(self.preimage_ if method is None else method).decode(Z)
        return self._frame.back(np.asarray(found)).astype(Z.dtype, copy=False)

    def denoise(self, X: Any, method: str | None = None) -> Array:
        """Return ``inverse_transform(transform(X))``: X as far as the axes hold it.

        For the Gaussian kernel the default is the fixed point, a mean of training rows in
        which their noise averages out. A regression brings noise back: it was taught on rows
        that have some, and the held-out error that chooses `preimage_` asks for it. It helps
        to keep few axes and half the median lengthscale.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows.
        method : {"ridge", "fixed_point", "distances"} or None
            See `inverse_transform`; None is "fixed_point" where the kernel has one, else
            `preimage_`.
        """
        check_is_fitted(self)
        self._refuse_decoding()
        scores = self._project(self._admit(X, reset=False))
        with self._whole():
            if method is None and "fixed_point" in self._offered():
                method = "fixed_point"
            return self._decoded(scores, method)

    def reconstruction(self, X: Any, method: str | None = None) -> Reconstruction:
        """Return pre-images of rows and how near they are, in both spaces.

        With r(x) = k̃(x, x) - ‖z(x)‖², the part of a row that no axis holds,
        ‖φ(x̂) - Pφ(x)‖² = ‖z(x̂) - z(x)‖² + r(x̂). Both vanish only if x̂ lies on the axes and
        has the coordinates of x.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows.
        method : {"ridge", "fixed_point", "distances"} or None
            See `inverse_transform`.
        """
        check_is_fitted(self)
        source = self._admit(X, reset=False)
        with self._whole():
            method = self.preimage_ if method is None else method
            preimage = self._preimage(method)
            z = np.asarray(self._project(source), np.float64)
            back = np.asarray(preimage.decode(z))
            ready = self._frame.ready(source)
            again = np.asarray(self._projected(back.astype(self.dual_.dtype)), np.float64)
            apart = np.sum((again - z) ** 2, axis=1) + self._unexplained(back, again)
            left = self._unexplained(ready, z)
        rows = self._frame.back(back)
        return Reconstruction(
            rows=rows,
            residual=np.sum((dense(source.array) - rows) ** 2, axis=1),
            feature_residual=apart,
            unexplained=left,
            method=method,
        )

    # -- what was chosen, and why -----------------------------------------------------

    @property
    def preimage_(self) -> str:
        """The method that `inverse_transform` takes: the one of least held-out error."""
        check_is_fitted(self)
        self._refuse_decoding()
        with self._whole():
            offered = self._offered()
            if len(offered) == 1:
                return offered[0]
            errors = self.preimage_errors_  # few rows have none
        return min(errors, key=lambda name: errors[name]) if errors else offered[0]

    @property
    def preimage_errors_(self) -> dict[str, float]:
        """Mean squared error of each method on held-out rows, as a share of their variance.

        At most 500 training rows, one in five, are held out: their coordinates are those of
        the model, which has seen them, but the regression is learned on the others (2000 at
        most), and the others alone are averaged or taken as neighbours. Fewer than ten rows:
        empty. Beyond 20,000 rows "distances" is left out, since it takes a pass over all
        pairs.
        """
        check_is_fitted(self)
        self._refuse_decoding()
        if self._learned.errors is None:
            with self._whole():
                self._keep(errors=self._compared())
        return dict(self._learned.errors or {})

    @property
    def decoder_(self) -> Decoder:
        """The regression of rows on coordinates, learned when it is first asked for."""
        check_is_fitted(self)
        if self._learned.ridge is None:
            self._refuse_decoding()
            rows, scores, share = self._taught()
            self._keep(ridge=learn(scores, rows, share))
        assert self._learned.ridge is not None
        return self._learned.ridge

    @available_if(lambda self: not isinstance(as_known(self.kernel), Precomputed))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R² of the reconstruction in input space, 1 - Σ‖x - x̂‖²/Σ‖x - x̄‖².

        Rows are rebuilt by the regression whatever the kernel, so that kernels are compared
        by one measure; for the linear kernel it is the share of variance kept. Squares of
        column j count as often as `feature_weight` says.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.
        sample_weight : array of shape (n_samples,) or None
            Repeat counts of the rows.
        """
        check_is_fitted(self)
        source = self._admit(X, reset=False)
        counts = repeat_counts(sample_weight, source.shape[0])
        back = self._rebuilt(self._project(source))
        wide = dense(source.array)
        about = wide - np.average(wide, axis=0, weights=counts)
        unit = float(np.max(np.abs(about), initial=0.0)) or 1.0
        each = 1.0 if counts is None else np.sqrt(counts)[:, None]
        if self._frame.feature_root is not None:
            each = each * self._frame.feature_root
        spread = float(np.sum((each * about / unit) ** 2))
        left = float(np.sum((each * (wide - back) / unit) ** 2))
        return 1 - left / spread if spread > 0 else 0.0

    def _rebuilt(self, scores: Array) -> Array:
        """Return rows by the map that all kernels have."""
        self._refuse_decoding()
        return self._decoded(scores, self._offered()[0])

    # -- methods ----------------------------------------------------------------------

    def _offered(self) -> tuple[str, ...]:
        """Return the methods that this kernel has, the one that all have first."""
        if self._learned.offered is None:
            found, radial = ["ridge"], None
            alone = self.n_components_ == 0 and self._engine is None  # the mean, and no search
            if self._landmark_model is not None or alone:
                self._keep(offered=("ridge",))  # of landmarks sums over all rows are gone
                return ("ridge",)
            if self._engine is None:
                radial = radial_of(self.kernel_, self._known_rows())
            elif isinstance(self.kernel_, Linear):
                found = ["linear"]
            found += ["fixed_point"] * isinstance(self.kernel_, RBF)
            found += ["distances"] * (radial is not None)
            self._keep(offered=tuple(found), radial=radial)
        assert self._learned.offered is not None
        return self._learned.offered

    def _preimage(self, name: str) -> Preimage:
        """Return the method of this name, on all known rows."""
        self._refuse_decoding()
        if name not in (*self._offered(), "ridge"):
            self._refuse_method(name)
        if name == "linear":
            return _OwnInverse(self._engine)
        if name == "ridge":
            return self.decoder_
        known = self._known(residuals=name == "distances")
        return self._searched(name, known, self.decoder_)

    def _searched(self, name: str, known: Known, start: Preimage) -> Preimage:
        if name == "fixed_point":
            assert isinstance(self.kernel_, RBF)
            return FixedPoint(self.kernel_, known, start)
        assert self._learned.radial is not None
        return DistanceConstraints(self._learned.radial, known)

    def _compared(self) -> dict[str, float]:
        """Return the held-out error of every method that is offered."""
        n, offered = int(self._known_rows().shape[0]), self._offered()
        if n < _FEWEST:
            return {}
        if n > _ALL_PAIRS:
            offered = tuple(name for name in offered if name != "distances")
        known = self._known(residuals="distances" in offered)
        n = int(known.rows.shape[0])
        if n < _FEWEST:
            return {}
        order = np.random.default_rng(0).permutation(n)  # the same rows in every call
        count = min(_HELD_OUT, n // _PART, max(_ALWAYS, int(_PRODUCTS // n)))
        held = np.sort(order[:count])
        others = known.only(np.sort(order[count:]))
        some = known.only(np.sort(order[count : count + _TAUGHT]))
        rows, scores, share = dense(known.rows[held]), known.scores[held], known.share[held]
        about = rows - np.average(rows, axis=0, weights=share)
        unit = float(np.max(np.abs(about))) or 1.0  # no square of it vanishes or overflows
        spread = share @ np.sum((about / unit) ** 2, axis=1)
        ridge = learn(some.scores, some.rows, some.share)
        methods: dict[str, Preimage] = {"ridge": ridge}
        if offered == ("linear",):
            methods = {"linear": _OwnInverse(self._engine)}
        methods |= {name: self._searched(name, others, ridge) for name in offered[1:]}
        errors = {}
        for name, method in methods.items():
            apart = (rows - method.decode(scores)) / unit
            left = share @ np.sum(apart**2, axis=1)
            errors[name] = float(left / spread) if spread > 0 else 0.0
        return errors

    # -- refusals ---------------------------------------------------------------------

    def _refuse_decoding(self) -> None:
        if isinstance(self.kernel_, Precomputed) or not self._frame.numeric:
            raise NotSupportedError(
                "there are no rows of numbers to go back to",
                got=f"{self._given!r}",
                fix="fit with a kernel on a table of numbers",
            )

    def _refuse_method(self, name: str) -> None:
        offered = ", ".join(map(repr, dict.fromkeys((*self._offered(), "ridge"))))
        what = f"this kernel has no pre-images by {name!r}"
        raise InputError(
            what if name in METHODS else f"there is no method {name!r}",
            got=f"method={name!r} with {self.kernel_!r}",
            fix=f"choose one of {offered}, or None for the best of them",
        )


@dataclasses.dataclass(frozen=True)
class _OwnInverse:
    """PCA's inverse, for the linear kernel."""

    engine: Any

    def decode(self, scores: Array) -> Array:
        """Return the rows (n, p) that coordinates (n, k) stand for."""
        return np.asarray(self.engine.inverse_transform(scores[:, : self.engine.n_components_]))


def as_known(kernel: Any) -> Any:
    """Return the kernel of a parameter, or the parameter itself where it is none."""
    try:
        return as_kernel(kernel)
    except InputError:
        return kernel
