"""The way back of kernel PCA: from coordinates to rows, and how good that is."""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.estimators.kernel import _preimages as preimages
from mercer.estimators.kernel._fitted_kernel import FittedKernel
from mercer.estimators.kernel._known_rows import Known, placed, taught
from mercer.estimators.kernel._new_rows import Shortcut, projected
from mercer.estimators.kernel._row_samples import dense
from mercer.kernels import RBF, Linear
from mercer.sources import Source

if TYPE_CHECKING:
    from mercer.estimators.linear.pca import PCA

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


@dataclasses.dataclass(frozen=True)
class Learned:
    """What a fitted model has learned of its way back so far, each when first asked for.

    Attributes
    ----------
    offered : tuple of str or None
        The methods that the kernel has.
    radial : Radial or None
        κ, where "distances" is offered.
    ridge : Decoder or None
        The regression on all training rows.
    means : ndarray of shape (n,) or None
        Kπ, the mean of the kernel of every known row with all of them.
    errors : dict or None
        Held-out errors by method.
    """

    offered: tuple[str, ...] | None = None
    radial: preimages.Radial | None = None
    ridge: preimages.Decoder | None = None
    means: Array | None = None
    errors: dict[str, float] | None = None


class WayBack:
    """Pre-images by a fitted model, and what is learned of them on the way.

    Parameters
    ----------
    fitted : FittedKernel
        The model.
    learned : Learned or None
        What earlier uses have left.
    """

    def __init__(self, fitted: FittedKernel, learned: Learned | None) -> None:
        fitted.refuse_no_numbers("rows of numbers to go back to")
        self.fitted, self.learned = fitted, learned or Learned()

    def decoded(self, scores: Array, method: str | None) -> Array:
        """Return the rows (n, p) of coordinates (n, k), as the user has them."""
        found = self.preimage(self.best() if method is None else method).decode(scores)
        rows = self.fitted.frame.back(np.asarray(found))
        return rows.astype(scores.dtype, copy=False)

    def denoised(self, scores: Array, method: str | None) -> Array:
        """Return the rows of coordinates; by the fixed point where the kernel has one."""
        if method is None and "fixed_point" in self.offered():
            method = "fixed_point"
        return self.decoded(scores, method)

    def reconstruction(
        self, source: Source, scores: Array, way: Shortcut | None, method: str | None
    ) -> Reconstruction:
        """Return how near the pre-images of rows with these coordinates are, in both spaces."""
        method = self.best() if method is None else method
        preimage, fitted = self.preimage(method), self.fitted
        z = np.asarray(scores, np.float64)
        back = np.asarray(preimage.decode(z))
        ready = fitted.frame.ready(source)
        again = np.asarray(projected(fitted, back.astype(fitted.dual.dtype), way), np.float64)
        apart = np.sum((again - z) ** 2, axis=1) + fitted.unexplained(back, again)
        rows = fitted.frame.back(back)
        return Reconstruction(
            rows=rows,
            residual=np.sum((dense(source.array) - rows) ** 2, axis=1),
            feature_residual=apart,
            unexplained=fitted.unexplained(ready, z),
            method=method,
        )

    # -- what was chosen, and why -----------------------------------------------------

    def best(self) -> str:
        """Return the method of least held-out error."""
        offered = self.offered()
        if len(offered) == 1:
            return offered[0]
        errors = self.errors()  # few rows have none
        return min(errors, key=lambda name: errors[name]) if errors else offered[0]

    def errors(self) -> dict[str, float]:
        """Return the mean squared error of each method on held-out rows, by their variance."""
        errors = self.learned.errors
        if errors is None:
            errors = self._compared()
            self._keep(errors=errors)
        return dict(errors)

    def decoder(self) -> preimages.Decoder:
        """Return the regression of rows on coordinates."""
        ridge = self.learned.ridge
        if ridge is None:
            ridge = preimages.learn(*taught(self.fitted))
            self._keep(ridge=ridge)
        return ridge

    def offered(self) -> tuple[str, ...]:
        """Return the methods that this kernel has, the one that all have first."""
        fitted, offered = self.fitted, self.learned.offered
        if offered is None:
            found, radial = ["ridge"], None
            alone = fitted.components == 0 and fitted.engine is None  # the mean, and no search
            if fitted.model is not None or alone:
                self._keep(offered=("ridge",))  # of landmarks sums over all rows are gone
                return ("ridge",)
            if fitted.engine is None:
                radial = preimages.radial_of(fitted.own, fitted.known_rows)
            elif isinstance(fitted.own, Linear):
                found = ["linear"]
            found += ["fixed_point"] * isinstance(fitted.own, RBF)
            found += ["distances"] * (radial is not None)
            offered = tuple(found)
            self._keep(offered=offered, radial=radial)
        return offered

    def _keep(self, **found: object) -> None:
        self.learned = dataclasses.replace(self.learned, **found)  # type: ignore[arg-type]

    # -- methods ----------------------------------------------------------------------

    def preimage(self, name: str) -> preimages.Preimage:
        """Return the method of this name, on all known rows."""
        if name not in (*self.offered(), "ridge"):
            self._refuse_method(name)
        if name == "linear":
            return self._own_inverse()
        if name == "ridge":
            return self.decoder()
        known = self._known(residuals=name == "distances")
        return self._searched(name, known, self.decoder())

    def _own_inverse(self) -> "_OwnInverse":
        assert self.fitted.engine is not None
        return _OwnInverse(self.fitted.engine)

    def _known(self, *, residuals: bool) -> Known:
        """Return the known rows; what no axis holds of them takes a pass, made once."""
        if residuals and self.learned.means is None:
            self._keep(means=self.fitted.mean_products(self.fitted.known_rows))
        return placed(self.fitted, self.learned.means if residuals else None).distinct()

    def _searched(
        self, name: str, known: Known, start: preimages.Preimage
    ) -> preimages.Preimage:
        kernel, radial = self.fitted.own, self.learned.radial
        if name == "fixed_point":
            assert isinstance(kernel, RBF)
            return preimages.FixedPoint(kernel, known, start)
        assert radial is not None
        return preimages.DistanceConstraints(radial, known)

    def _compared(self) -> dict[str, float]:
        """Return the held-out error of every method that is offered."""
        n, offered = int(self.fitted.known_rows.shape[0]), self.offered()
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
        ridge = preimages.learn(some.scores, some.rows, some.share)
        methods: dict[str, preimages.Preimage] = {"ridge": ridge}
        if offered == ("linear",):
            methods = {"linear": self._own_inverse()}
        methods |= {name: self._searched(name, others, ridge) for name in offered[1:]}
        errors = {}
        for name, method in methods.items():
            apart = (rows - method.decode(scores)) / unit
            with np.errstate(over="ignore"):  # a method may be as wrong as that
                left = share @ np.sum(apart**2, axis=1)
            errors[name] = float(left / spread) if spread > 0 else 0.0
        return errors

    def _refuse_method(self, name: str) -> None:
        offered = ", ".join(map(repr, dict.fromkeys((*self.offered(), "ridge"))))
        what = f"this kernel has no pre-images by {name!r}"
        raise InputError(
            what if name in METHODS else f"there is no method {name!r}",
            got=f"method={name!r} with {self.fitted.own!r}",
            fix=f"choose one of {offered}, or None for the best of them",
        )


@dataclasses.dataclass(frozen=True)
class _OwnInverse:
    """PCA's inverse, for the linear kernel."""

    engine: "PCA"

    def decode(self, scores: Array) -> Array:
        """Return the rows (n, p) that coordinates (n, k) stand for."""
        return np.asarray(self.engine.inverse_transform(scores[:, : self.engine.n_components_]))


def share_rebuilt(rows: Array, back: Array, counts: Array | None, root: Array | None) -> float:
    """Return R² = 1 - Σ‖x - x̂‖²/Σ‖x - x̄‖² of dense rows (n, p) and their pre-images.

    Rows count as often as `counts` says, column j as often as the square of its `root`.
    """
    about = rows - np.average(rows, axis=0, weights=counts)
    unit = float(np.max(np.abs(about), initial=0.0)) or 1.0
    each: float | Array = 1.0 if counts is None else np.sqrt(counts)[:, None]
    if root is not None:
        each = each * root
    spread = float(np.sum((each * about / unit) ** 2))
    left = float(np.sum((each * (rows - back) / unit) ** 2))
    return 1 - left / spread if spread > 0 else 0.0
