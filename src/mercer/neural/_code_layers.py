"""The layers of an autoencoder as numbers: rows to code and back, without torch."""

import dataclasses
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import expit

from mercer.arrays import Array, Tiles

_SMALLEST, _STEPS = 16, 12  # rows of a step, and steps of an epoch, at least
_BLOCK = 4096  # rows that go through the layers at a time
Layers = list[tuple[Array, Array]]  # weights (a, b) and biases (b,) of each

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "silu": lambda t: t * expit(t),
    "tanh": lambda t: np.tanh(t),
    "relu": lambda t: np.maximum(t, 0.0),
}


@dataclasses.dataclass(frozen=True, eq=False)
class CodeLayers:
    """x̃ = (x - mean)/scale → z = unit·(x̃E + enc(x̃)) → x̂ = mean + scale∘(z̃D + dec(z̃)).

    The linear maps E and D lead past the layers. Where the start is a kernel map, they are
    that map and its way back instead: z = start(x) + unit·enc(x̃), and the same on the way back.

    Attributes
    ----------
    mean : ndarray of shape (p,)
        Of the rows.
    scale : float or ndarray of shape (p,)
        What deviations are divided by.
    unit : float
        What z̃ = z/unit is counted in.
    encoder, decoder : list of (ndarray, ndarray)
        Weights and biases of the layers; empty for a linear network.
    past_encoder : ndarray of shape (p, k) or None
        E; None where nothing leads past the layers, or a kernel map does.
    past_decoder : ndarray of shape (k, p) or None
        D.
    activation : str
        Between two layers.
    start : KernelPCA or None
        The kernel map.
    """

    mean: Array
    scale: float | Array
    unit: float
    encoder: Layers
    decoder: Layers
    past_encoder: Array | None
    past_decoder: Array | None
    activation: str
    start: Any = None

    @classmethod
    def of(cls, model: Any) -> "CodeLayers":
        """Return the layers that the attributes of a fitted estimator hold."""
        names = {f.name: f"{f.name}_" for f in dataclasses.fields(cls)}
        names["activation"] = "_activation"
        return cls(**{field: getattr(model, name) for field, name in names.items()})

    def framed(self, rows: Array) -> Array:
        """Return x̃ (n, p)."""
        return np.asarray((np.asarray(rows, np.float64) - self.mean) / self.scale)

    def codes(self, rows: Array) -> Array:
        """Return z (n, k) of rows (n, p)."""
        k = self.unit_shape[1]
        out = np.zeros((len(rows), k))
        for part in Tiles(len(rows), _BLOCK):
            x = self.framed(rows[part])
            if self.encoder:
                out[part] += self._through(x, self.encoder)
            if self.past_encoder is not None:
                out[part] += x @ self.past_encoder
        out *= self.unit
        if self.start is not None:
            out += np.asarray(self.start.transform(rows), np.float64)
        return out

    def rows(self, codes: Array) -> Array:
        """Return x̂ (n, p) of codes (n, k)."""
        z = np.asarray(codes, np.float64)
        out = np.zeros((len(z), self.unit_shape[0]))
        for part in Tiles(len(z), _BLOCK):
            inner = z[part] / self.unit
            if self.decoder:
                out[part] += self._through(inner, self.decoder)
            if self.past_decoder is not None:
                out[part] += inner @ self.past_decoder
        out *= self.scale
        base = self.mean if self.start is None else self.start.inverse_transform(z, "ridge")
        return np.asarray(out + base)

    @property
    def unit_shape(self) -> tuple[int, int]:
        """Columns of rows and of codes, p and k."""
        if self.encoder:
            return len(self.encoder[0][0]), len(self.encoder[-1][1])
        if self.past_encoder is None:
            return len(self.mean), int(self.start.n_components_)
        return self.past_encoder.shape[0], self.past_encoder.shape[1]

    def _through(self, x: Array, layers: Layers) -> Array:
        act = ACTIVATIONS[self.activation]
        for number, (weight, bias) in enumerate(layers):
            x = x @ weight + bias
            x = act(x) if number + 1 < len(layers) else x
        return x

    def relative_error(self, rows: Array) -> float:
        """Return Σ‖x - x̂‖²/Σ‖x - mean‖² of rows, in the frame."""
        x = self.framed(rows)
        top = float(np.max(np.abs(x), initial=0.0)) or 1.0  # no square of it overflows
        with np.errstate(over="ignore", invalid="ignore"):  # a network may run away
            left = (self.framed(self.rows(self.codes(rows))) - x) / top
            lost = float(np.sum(left**2))
        spread = float(np.sum((x / top) ** 2))
        return lost / spread if spread > 0 else 0.0


def drawn_layers(rng: np.random.Generator, widths: list[int], quiet: bool) -> Layers:
    """Return layers of these widths with random weights; the last is zero if `quiet`.

    Weights have variance 2/inputs, so that sizes stay what they are from layer to layer
    [He2015]_; a quiet network adds nothing to what leads past it until it is trained.
    """
    found: Layers = []
    for number, (a, b) in enumerate(pairwise(widths)):
        last = number == len(widths) - 2
        size = 0.0 if last and quiet else np.sqrt((1.0 if last else 2.0) / a)
        found.append((size * rng.standard_normal((a, b)), np.zeros(b)))
    return found


def batch_of(most: int, n: int) -> int:
    """Return the rows of a step: few rows would make few steps of an epoch."""
    return min(int(most), max(_SMALLEST, n // _STEPS))
