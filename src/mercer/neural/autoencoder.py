"""Autoencoder: a network that is taught to give rows back through a narrow code."""

import copy
import dataclasses
import logging
from itertools import pairwise
from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.estimators.export._onnx import OnnxGraph, curved_part
from mercer.estimators.kernel.kernel_pca import KernelPCA
from mercer.estimators.linear.pca import PCA
from mercer.estimators.walk._admission import admit_coordinates, refuse_bad_cells
from mercer.estimators.walk._parameters import (
    COUNT,
    POSITIVE,
    RESOURCES,
    Attributes,
    Constraints,
    learned,
    publish,
    refuse_truth,
)
from mercer.estimators.walk._spectral_estimator import SpectralEstimator, planned
from mercer.neural._code_layers import ACTIVATIONS, CodeLayers, batch_of, drawn_layers
from mercer.neural._networks import torch_library
from mercer.planning import Path, Plan, Problem
from mercer.solvers import Spectrum
from mercer.sources import Source

_PATIENCE = 30  # epochs without a better error after which training ends
_FEWEST = 10  # rows from which some are held out
_MOST_HELD = 5000  # rows held out at most: more would only take time
_FLOPS, _STEP = 8e9, 1.2e-3  # rate of one thread in float32, and seconds of an empty step
_log = logging.getLogger("mercer")
_SHARE = Interval(Real, 0, 1, closed="neither")
_NOT_NEGATIVE = Interval(Real, 0, None, closed="left")


class Autoencoder(SpectralEstimator):
    """x → code z of few numbers → x̂, layers of a network taught to give rows back.

    Use it where rows lie near a curved surface that axes do not follow and rows are many
    enough to learn it, and only the error of x̂ counts: codes have no order, no variances and
    no certificate. It begins as PCA, or as a kernel map, of which the layers are corrections,
    and ends at the layers of least error on rows held out, the start among them: its error on
    the rows of the fit is never above that of its start. Needs the extra `torch` to be
    fitted, not to be applied.

    Parameters
    ----------
    n_components : int
        Numbers of the code, k.
    layers : tuple of int
        Nodes of the layers between rows and code; those on the way back mirror them. ()
        is the linear autoencoder, whose least error is PCA's.
    start : {"pca", "random"} or KernelPCA
        What the network is before it is trained: PCA, a kernel map with its regression back
        (any `KernelPCA`, whose number of components becomes k), or random weights, from which
        a linear network is found to reach the plane of PCA and a deep one promises nothing.
    standardize : bool
        Whether columns are divided by their standard deviation first.
    activation : {"silu", "tanh", "relu"}
        Between two layers.
    epochs : int
        Walks over the rows at most.
    batch : int
        Rows of a step at most; a twelfth of the rows where that is less, but not below 16.
    rate : float
        The largest step of a weight (Adam); it falls to nothing by the last epoch.
    decay : float
        Share of the rate by which weights shrink in each step.
    noise : float or "auto"
        Deviation of the noise that is added to rows while the network learns to give clean
        ones back, in units of the mean deviation of a cell; it falls to nothing with the rate.
        "auto" is what PCA of so many axes leaves of it: the code has no room for more.
    held_out : float
        Share of the rows that are not learned from, but say when to stop.
    memory, device, random_state
        See `PCA`; the memory of training is not counted.
    time : float or None
        Seconds after which training ends at the best layers so far.

    Attributes
    ----------
    errors_ : dict of str to float
        Σ‖x - x̂‖²/Σ‖x - x̄‖²: "start" and "fit" of all rows given, "start held out" and "held
        out" of those not learned from.
    history_ : ndarray of shape (n_iter_ + 1, 2)
        The error of rows with their noise, and of rows held out, by epoch; the start first.
    n_iter_ : int
        Epochs made.
    encoder_, decoder_ : list of (ndarray, ndarray)
        Weights and biases of the layers.
    past_encoder_, past_decoder_ : ndarray of shape (p, k) and (k, p), or None
        The linear maps that lead past the layers.
    mean_, scale_, unit_ : ndarray of shape (p,), float or ndarray, float
        x̃ = (x - mean)/scale, and what codes are counted in.
    start_ : KernelPCA or None
        The fitted kernel map.
    n_components_, n_samples_, n_features_in_ : int
        Numbers of the code, rows, columns.
    plan_ : Plan
        How PCA was computed, and what training was foreseen.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Autoencoder
    >>> t = np.random.default_rng(0).uniform(0, 3, 400)
    >>> X = np.c_[np.cos(2 * t), np.sin(2 * t), t]
    >>> model = Autoencoder(1, layers=(32,), epochs=40).fit(X)
    >>> model.errors_["fit"] < 0.5 * model.errors_["start"]
    True
    """

    tol = None
    certificate_: Any
    _parameter_constraints: ClassVar[Constraints] = {
        "n_components": [COUNT],
        "layers": [tuple, list],
        "start": [StrOptions({"pca", "random"}), KernelPCA],
        "standardize": ["boolean"],
        "activation": [StrOptions(set(ACTIVATIONS))],
        "epochs": [Interval(Integral, 0, None, closed="left")],
        "batch": [COUNT],
        "rate": [POSITIVE],
        "decay": [_NOT_NEGATIVE],
        "noise": [_NOT_NEGATIVE, StrOptions({"auto"})],
        "held_out": [_SHARE],
        **{name: kinds for name, kinds in RESOURCES.items() if name != "tol"},
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        layers: tuple[int, ...] = (256, 128),
        start: Any = "pca",
        standardize: bool = False,
        activation: str = "silu",
        epochs: int = 120,
        batch: int = 128,
        rate: float = 0.003,
        decay: float = 0.1,
        noise: float | str = "auto",
        held_out: float = 0.1,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.layers = layers
        self.start = start
        self.standardize = standardize
        self.activation = activation
        self.epochs = epochs
        self.batch = batch
        self.rate = rate
        self.decay = decay
        self.noise = noise
        self.held_out = held_out
        self.memory = memory
        self.time = time
        self.device = device
        self.random_state = random_state

    # -- the walk -----------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override] # no weights
        """Train on the rows of X; a failed call changes nothing.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Training rows in memory. They are read, never written to.
        y : None
            Ignored; there for pipelines.

        Returns
        -------
        self
        """
        return self._publish(clone(self), X, y)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Walk once over a further batch of rows; the first one settles frame and start.

        Nothing is held out, and nothing is promised beyond the first batch: the rate is
        constant and what Adam remembers of the gradients is kept, also in a file.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            A batch: the first of more rows than the code has numbers.
        y : None
            Ignored.
        """
        self._check_parameters()
        torch_library()
        from mercer.neural._code_training import one_pass

        first = "mean_" not in vars(self)
        this = clone(self) if first else self
        source = this._admit(X, reset=first)
        state = this._begun(source) if first else learned(self)
        held = SimpleNamespace(**state)
        rng = copy.deepcopy(held._generator)  # a walk that fails has drawn from no other
        layers = CodeLayers.of(held)
        x = layers.framed(source.array)
        schedule = this._schedule(held._noise, len(x))
        found, moments = one_pass(layers, x, schedule, held._moments, rng)
        if not all(
            np.isfinite(v).all() for pair in (*found.encoder, *found.decoder) for v in pair
        ):
            raise InputError(
                "the network ran away on this batch, and is left as it was",
                got=f"rows up to {float(np.max(np.abs(x))):.3g} deviations off the first batch",
                fix="leave such rows out, or pass a lower `rate`",
            )
        error = found.relative_error(source.array)
        later = {
            "n_samples_": (0 if first else held.n_samples_) + len(x),
            "history_": np.concatenate([held.history_, [[error, error]]]),
            "n_iter_": held.n_iter_ + 1,
            "_moments": moments,
            "_generator": rng,
        }
        publish(self, {**state, **_attributes(found), **later})
        return self

    def _admit(self, X: Any, *, reset: bool) -> Source:
        source = super()._admit(X, reset=reset)
        if source.nnz is not None:
            raise InputError(
                "layers take dense rows",
                got=f"a sparse matrix of shape {source.shape}",
                fix="pass X.toarray(), or coordinates of it by PCA",
            )
        refuse_bad_cells(source, self._names)
        return source

    def _check_parameters(self) -> None:
        refuse_truth(self.n_components, "pass a whole number")
        super()._check_parameters()
        odd = [
            w for w in self.layers if isinstance(w, bool) or not isinstance(w, int | np.integer)
        ]
        if odd or any(w < 1 for w in self.layers):
            raise InputError(
                "`layers` holds the number of nodes of each layer",
                got=f"layers={self.layers!r}",
                fix="pass whole numbers from 1 on, such as (256, 128), or () for none",
            )
        if isinstance(self.start, KernelPCA) and not self.layers:
            raise InputError(
                "a kernel map needs layers that correct it",
                got=f"layers=() with start={self.start!r}",
                fix='pass layers such as (256, 128), or start="pca"',
            )

    def _pca(self) -> PCA:
        return PCA(
            self.n_components,
            standardize=self.standardize,
            memory=self.memory,
            random_state=self._seed() if isinstance(self.random_state, int) else 0,
        )

    def _problem(self, source: Source, weights: Array | None = None) -> Problem:
        found: Problem = self._pca()._problem(source, weights)
        return found

    def _settle_plan(self, made: Plan) -> Plan:
        """Return the plan of PCA with what training takes behind it."""
        n, p, k = made.problem.rows, made.problem.cols, made.problem.components
        if not self.layers:
            words = (
                "then the linear network is found by L-BFGS" if self._draws else "no training"
            )
            return dataclasses.replace(made, remark=words)
        widths = [p, *self.layers, k]
        weights = 2 * sum(a * b for a, b in pairwise(widths))
        steps = -(-n // batch_of(self.batch, n))
        seconds = self.epochs * (6.0 * n * weights / _FLOPS + steps * _STEP)
        if self.time is not None:
            seconds = min(seconds, float(self.time))
        chosen = dataclasses.replace(made.chosen, seconds=made.chosen.seconds + seconds)
        shape = "-".join(map(str, [*widths, *widths[-2::-1]]))
        words = (
            f"then {self.epochs:,} epochs of {steps:,} steps of a {shape} network at most,"
            f" about {seconds:.0f} s; no certificate"
        )
        return dataclasses.replace(made, chosen=chosen, remark=words)

    @property
    def _draws(self) -> bool:
        return isinstance(self.start, str) and self.start == "random"

    def _fitted(self, source: Source, weights: Array | None) -> Attributes:
        torch_library()
        from mercer.neural._code_training import trained, trained_linear

        state = self._begun(source)
        start, rng, rows = (
            CodeLayers.of(SimpleNamespace(**state)),
            state["_generator"],
            source.array,
        )
        x = start.framed(rows)
        if self.layers:
            learnt, aside = self._parted(rng, len(x))
            schedule = self._schedule(state["_noise"], len(learnt))
            found, history = trained(start, x[learnt], x[aside], schedule, rng)
        elif self._draws:
            learnt = aside = np.arange(len(x))
            found, history = trained_linear(start, x, self._schedule(0.0, len(x)))
        else:
            learnt = aside = np.arange(len(x))
            found, history = start, np.full((1, 2), start.relative_error(rows))
        before, after = start.relative_error(rows), found.relative_error(rows)
        if not after <= before:  # the rows held out said so by chance
            found, after = start, before
        errors = {"start": before, "fit": after}
        errors["start held out"] = start.relative_error(rows[aside])
        errors["held out"] = found.relative_error(rows[aside])
        _log.info("autoencoder: error %.4f, %.4f before training", after, before)
        more = {"errors_": errors, "history_": history, "n_iter_": len(history) - 1}
        return {**state, **_attributes(found), **more}

    def _begun(self, source: Source) -> Attributes:
        """Return the attributes of a network that is not trained yet."""
        made = self._settle_plan(planned(self._problem(source)))
        _log.info("%s", made)
        pca = self._pca().fit(source.array)
        rng = self._rng()
        p, k = source.shape[1], int(pca.n_components_)
        scale = _scale_of(pca, source.array)
        kernel = None
        if isinstance(self.start, KernelPCA):
            kernel = clone(self.start).set_params(n_components=k).fit(source.array)
            k = int(kernel.n_components_)
        widths, quiet = [p, *self.layers, k], not self._draws
        encoder = drawn_layers(rng, widths, quiet) if self.layers else []
        decoder = drawn_layers(rng, widths[::-1], quiet) if self.layers else []
        first = last = None
        if self._draws and not self.layers:
            first, last = (rng.standard_normal(s) / np.sqrt(p) for s in ((p, k), (k, p)))
        elif kernel is None and not self._draws:
            first = np.asarray(pca.components_.T, np.float64)
            last = np.asarray(pca.components_, np.float64)
        layers = CodeLayers(
            mean=np.asarray(pca.mean_, np.float64),
            scale=scale,
            unit=_unit_of(kernel, source, scale),
            encoder=encoder,
            decoder=decoder,
            past_encoder=first,
            past_decoder=last,
            activation=self.activation,
            start=kernel,
        )
        left = max(0.0, 1.0 - float(np.sum(pca.explained_variance_ratio_)))
        auto = isinstance(self.noise, str)
        return {
            **learned(self),
            **_attributes(layers),
            "start_": kernel,
            "_activation": self.activation,
            "_dtype": source.products.type,
            "plan_": made,
            "certificate_": None,
            "explained_variance_ratio_": None,  # codes have no shares
            "n_components_": k,
            "n_samples_": source.shape[0],
            "errors_": None,
            "history_": np.zeros((0, 2)),
            "n_iter_": 0,
            "_noise": float(np.sqrt(left)) if auto else float(self.noise),
            "_generator": rng,
            "_moments": None,
        }

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self._seed())

    def _schedule(self, noise: float, n: int) -> Any:
        from mercer.neural._code_training import Schedule

        return Schedule(
            epochs=int(self.epochs),
            batch=batch_of(self.batch, n),
            rate=float(self.rate),
            decay=float(self.decay),
            noise=noise,
            patience=_PATIENCE,
            seconds=None if self.time is None else float(self.time),
        )

    def _parted(self, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        """Return which rows are learned from and which are held out; few rows are both."""
        if n < _FEWEST:
            return np.arange(n), np.arange(n)
        order = rng.permutation(n)
        count = min(max(1, round(self.held_out * n)), n - 1, _MOST_HELD)
        return np.sort(order[count:]), np.sort(order[:count])

    def _solve(
        self, source: Source, path: Path, weights: Array | None
    ) -> tuple[Spectrum, Any]:  # pragma: no cover - trained, not solved
        raise NotImplementedError

    def _scale(self, spectrum: Spectrum, found: Any, source: Source) -> Attributes:
        raise NotImplementedError  # pragma: no cover - as above

    # -- rows to codes and back ---------------------------------------------------------

    def _project(self, source: Source) -> Array:
        codes = CodeLayers.of(self).codes(source.array)
        return codes.astype(source.products, copy=False)

    def inverse_transform(self, X: Any) -> Array:
        """Return the rows x̂ (n_samples, n_features) of codes.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)
            Codes, as `transform` returns them.
        """
        check_is_fitted(self)
        codes = admit_coordinates(X, self.n_components_)
        return CodeLayers.of(self).rows(codes).astype(codes.dtype, copy=False)

    def reconstruction_errors(self, X: Any) -> Array:
        """Return ‖x - x̂‖² (n_samples,) of rows, in the units of the data.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        """
        check_is_fitted(self)
        rows, layers = self._admit(X, reset=False).array, CodeLayers.of(self)
        return np.asarray(np.sum((rows - layers.rows(layers.codes(rows))) ** 2, axis=1))

    def score(self, X: Any, y: Any = None) -> float:
        """Return R² of the reconstruction, 1 - Σ‖x̃ - x̃̂‖²/Σ‖x̃‖² with the mean of the fit.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.
        """
        check_is_fitted(self)
        return 1 - CodeLayers.of(self).relative_error(self._admit(X, reset=False).array)

    @staticmethod
    def _graph_part(graph: OnnxGraph, model: "Autoencoder", rows: str) -> str:
        """Append what turns rows into codes to an ONNX graph."""
        layers = CodeLayers.of(model)
        found = curved_part(graph, layers.start, rows) if layers.start is not None else None
        x = graph.times(graph.add("Sub", rows, layers.mean), 1 / np.asarray(layers.scale))
        sums = (
            [] if layers.past_encoder is None else [graph.add("MatMul", x, layers.past_encoder)]
        )
        for number, (weight, bias) in enumerate(layers.encoder):
            x = graph.add("Add", graph.add("MatMul", x, weight), bias)
            if number + 1 < len(layers.encoder):
                x = _activated(graph, x, layers.activation)
        sums += [x] if layers.encoder else []
        inner = sums[0] if len(sums) == 1 else graph.add("Add", *sums)
        inner = graph.times(inner, layers.unit)
        return inner if found is None else graph.add("Add", found, inner)

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: dense rows are taken, float32 is kept."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def _attributes(layers: CodeLayers) -> Attributes:
    """Return the attributes of an estimator that hold the layers."""
    names = ("mean", "scale", "unit", "encoder", "decoder", "past_encoder", "past_decoder")
    return {f"{name}_": getattr(layers, name) for name in names}


def _scale_of(pca: PCA, rows: Array) -> float | Array:
    """Return the deviations of the columns, or the mean deviation of a cell."""
    if pca.scale_ is not None:
        found = np.asarray(pca.scale_, np.float64)
        return np.where(np.isfinite(found) & (found > 0), found, 1.0)
    about = np.asarray(rows, np.float64) - np.asarray(pca.mean_, np.float64)
    top = float(np.max(np.abs(about), initial=0.0))
    if not top > 0:
        return 1.0
    unit = 2.0 ** np.floor(np.log2(top))
    return float(unit * np.sqrt(np.mean((about / unit) ** 2)))


def _unit_of(kernel: KernelPCA | None, source: Source, scale: float | Array) -> float:
    """Return what codes are counted in: that of the rows, or of the kernel map."""
    if kernel is None:
        return scale if isinstance(scale, float) else 1.0
    spread = np.std(np.asarray(kernel.transform(source.array), np.float64), axis=0)
    return float(np.max(spread, initial=0.0)) or 1.0


def _activated(graph: OnnxGraph, t: str, activation: str) -> str:
    """Return the activation of a tensor of a graph."""
    if activation == "relu":
        return graph.add("Max", t, 0.0)
    return graph.add("Tanh", t) if activation == "tanh" else (
        graph.add("Mul", t, graph.add("Sigmoid", t))
    )  # fmt: skip
