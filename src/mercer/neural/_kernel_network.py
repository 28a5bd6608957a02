"""Fitted PCA and kernel PCA as modules of torch, layer by layer."""

import os
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from mercer.arrays import Array
from mercer.errors import NotSupportedError
from mercer.estimators.export._onnx import (
    OnnxGraph,
    feature_values,
    kernel_values,
    onnx_library,
    written,
)
from mercer.estimators.kernel._explicit_features import Widened
from mercer.estimators.kernel._fitted_kernel import FittedKernel
from mercer.estimators.kernel._kernel_rows import KernelRows
from mercer.estimators.kernel._preimages import Decoder
from mercer.estimators.kernel._row_samples import dense
from mercer.estimators.kernel.kernel_pca import KernelPCA
from mercer.estimators.linear.pca import PCA
from mercer.estimators.walk._parameters import check_fitted
from mercer.kernels import Linear, Precomputed
from mercer.kernels.maps._feature_maps import (
    Chosen,
    Identity,
    Monomials,
    One,
    Stacked,
    Weighted,
)
from mercer.neural._kernel_steps import KernelLayer, no_gradient

_BLOCK = 2**23  # kernel values that are held at once where no gradient is asked for


class KernelNetwork(nn.Module):
    """Three layers: x → k(x) → z = Bᵀk(x) - c₀ → x̂(z).

    Parameters
    ----------
    frame : Frame
        How rows are shifted and scaled before the kernel sees them.
    kernel : KernelLayer or FeatureLayer
        k(x, s_i) for rows s_i, or explicit features φ(x).
    code : LinearCode
        z.
    reconstruction : nn.Module or None
        x̂(z), in the frame.
    about : dict of str to str
        What an exported file says of itself.
    """

    def __init__(
        self, frame: Any, kernel: Any, code: Any, reconstruction: Any, about: dict[str, str]
    ) -> None:
        super().__init__()
        self.frame, self.kernel, self.code = frame, kernel, code
        self.reconstruction, self.about = reconstruction, about

    def forward(self, x: Tensor) -> Tensor:
        """Return the code z (N, k) of rows x (N, p), in their type."""
        few = max(1, _BLOCK // max(1, self.code.weight.shape[0]))
        if torch.is_grad_enabled() or len(x) <= few:
            return self._codes(x)
        return torch.cat([self._codes(part) for part in torch.split(x, few)])

    def _codes(self, x: Tensor) -> Tensor:
        return self._given(self.code(self.kernel(self.frame(x))), x)

    def decode(self, z: Tensor) -> Tensor:
        """Return the rows x̂ (N, p) of codes z (N, k)."""
        if self.reconstruction is None:
            raise NotSupportedError(
                "this network was made without its way back",
                got="reconstruction=False",
                fix="make it by mercer.neural.network(model)",
            )
        own = z.to(self.code.weight.dtype)
        return self._given(self.frame.back(self.reconstruction(own)), z)

    def reconstruct(self, x: Tensor) -> Tensor:
        """Return decode(forward(x)) (N, p)."""
        return self.decode(self(x))

    def _given(self, found: Tensor, x: Tensor) -> Tensor:
        return found.to(x.dtype) if x.is_floating_point() else found

    def export_onnx(
        self, path: str | os.PathLike[str], *, reconstruct: bool = False, dtype: Any = "float64"
    ) -> None:
        """Write the network, with its numbers as they are now, as an ONNX graph.

        Parameters
        ----------
        path : path
            The file; it is replaced as a whole.
        reconstruct : bool
            Whether the result Z of the graph is x̂ (N, p), not the code (N, k).
        dtype : {"float32", "float64"}
            Type of what goes in and out; inside numbers are float64.
        """
        _export(self, path, reconstruct=reconstruct, dtype=dtype)


class Frame(nn.Module):
    """x → (x - mean - rest)∘factor, and back; nothing where there is no frame.

    Parameters
    ----------
    frame : KernelRows or None
        As it was fitted.
    dtype : torch.dtype
        Of the rows that it gives; its own numbers are float64.
    """

    def __init__(self, frame: KernelRows | None, dtype: Any) -> None:
        super().__init__()
        self.dtype = dtype
        for name in ("mean", "rest", "factor"):
            values = None if frame is None or frame.factor is None else getattr(frame, name)
            kept = None if values is None else torch.as_tensor(np.array(values, np.float64))
            self.register_buffer(name, kept)

    def forward(self, x: Tensor) -> Tensor:
        """Return rows as the kernel sees them."""
        if self.factor is not None:
            x = x.to(self.factor.dtype) - self.mean
            x = x if self.rest is None else x - self.rest
            x = x * self.factor
        return x.to(self.dtype)

    def back(self, rows: Tensor) -> Tensor:
        """Return rows as the user has them."""
        if self.factor is None:
            return rows
        away = rows / self.factor
        away = away if self.rest is None else away + self.rest
        return away + self.mean

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        """Move with the network: `net.float()` changes what this gives as well."""
        super()._apply(fn, recurse)
        self.dtype = fn(torch.zeros(0, dtype=self.dtype)).dtype
        return self


class LinearCode(nn.Module):
    """h → (h - origin)ᵀW - bias: the linear code layer, (N, m) → (N, k).

    Parameters
    ----------
    weight : ndarray of shape (m, k)
        W: B for a kernel, the axes for explicit features.
    bias : ndarray of shape (k,)
        c₀.
    origin : ndarray of shape (m,) or None
        What is taken from h first: rows far from zero keep their digits.
    dtype : torch.dtype
        Of the numbers.
    """

    def __init__(self, weight: Array, bias: Array, origin: Array | None, dtype: Any) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.as_tensor(np.array(weight, np.float64)).to(dtype))
        self.bias = nn.Parameter(torch.as_tensor(np.array(bias, np.float64)).to(dtype))
        kept = None if origin is None else torch.as_tensor(np.array(origin, np.float64))
        self.register_buffer("origin", None if kept is None else kept.to(dtype))

    def forward(self, h: Tensor) -> Tensor:
        """Return z (N, k)."""
        h = h if self.origin is None else h - self.origin
        return h @ self.weight - self.bias


class FeatureLayer(nn.Module):
    """x → φ(x), the explicit features of a kernel that has finitely many.

    Parameters
    ----------
    features : Features
        φ, made of those of the house.
    p : int
        Columns of the rows.
    got : str
        The kernel as an error names it.
    """

    def __init__(self, features: Any, p: int, got: str) -> None:
        super().__init__()
        self.features, self.p = features, p
        _features(features, torch.zeros((1, p), dtype=torch.float64), got)  # refuses early

    def forward(self, x: Tensor) -> Tensor:
        """Return φ(x) (N, D)."""
        return _features(self.features, x, "")


def _features(features: Any, x: Tensor, got: str) -> Tensor:
    if isinstance(features, Identity):
        return x
    if isinstance(features, One):
        return x.new_ones((len(x), 1))
    if isinstance(features, Weighted):
        return _features(features.part, x, got) * features.weight
    if isinstance(features, Stacked):
        parts = (features.left, features.right)
        return torch.cat([_features(part, x, got) for part in parts], dim=1)
    if isinstance(features, Chosen):
        return _features(features.part, x[:, list(features.columns)], got)
    if isinstance(features, Monomials):
        z = x * features.gamma**0.5
        if features.coef0 > 0:
            z = torch.cat([x.new_full((len(x), 1), features.coef0**0.5), z], dim=1)
        which, roots = features.terms(x.shape[1])
        found = torch.as_tensor(roots, dtype=x.dtype, device=x.device).expand(len(x), -1)
        for k in range(features.degree):
            found = found * z[:, torch.as_tensor(which[:, k], device=x.device)]
        return found
    raise no_gradient(got, features)


class LinearBack(nn.Module):
    """z → zW + bias: PCA's own way back, (N, k) → (N, p)."""

    def __init__(self, weight: Array, bias: Array, dtype: Any) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.as_tensor(np.array(weight, np.float64)).to(dtype))
        self.bias = nn.Parameter(torch.as_tensor(np.array(bias, np.float64)).to(dtype))

    def forward(self, z: Tensor) -> Tensor:
        """Return x̂ (N, p)."""
        return z @ self.weight + self.bias


class KernelBack(nn.Module):
    """z → ((z̃, k_S(z̃)) - centre)W + bias with z̃ = z/unit: the learned way back.

    Parameters
    ----------
    decoder : Decoder
        The regression of rows on coordinates that a model has learned.
    dtype : torch.dtype
        Of the numbers.
    """

    def __init__(self, decoder: Decoder, dtype: Any) -> None:
        super().__init__()
        self.kernel = KernelLayer(decoder.kernel.program(), decoder.landmarks, dtype, "")
        for name, values in (("unit", decoder.unit), ("centre", decoder.centre)):
            kept = torch.as_tensor(np.array(values, np.float64)).to(dtype)
            self.register_buffer(name, kept)
        self.linear = LinearBack(decoder.coefficients, decoder.mean, dtype)

    def forward(self, z: Tensor) -> Tensor:
        """Return x̂ (N, p)."""
        z = z / self.unit
        found: Tensor = self.linear(torch.cat([z, self.kernel(z)], dim=1) - self.centre)
        return found


def network_of(model: Any, dtype: Any, *, back: bool) -> KernelNetwork:
    """Return the network of a fitted model; see `mercer.neural.network`."""
    if isinstance(model, PCA) and type(model)._project is PCA._project:
        check_fitted(model)
        _refuse_parts(model)
        code, p = _linear_code(model, dtype), int(model.n_features_in_)
        layer = FeatureLayer(Identity(), p, "")
        way = _linear_back(model, dtype) if back else None
        return KernelNetwork(Frame(None, dtype), layer, code, way, _about(model))
    if isinstance(model, KernelPCA) and type(model)._project is KernelPCA._project:
        check_fitted(model)
        _refuse_parts(model)
        return _curved(model, dtype, back)
    raise NotSupportedError(
        "only PCA and KernelPCA are networks",
        got=f"{type(model).__module__}.{type(model).__qualname__}",
        fix="fit one of these",
    )


def _refuse_parts(model: Any) -> None:
    if int(model._n_features_out) == 0:
        raise NotSupportedError(
            "a model without axes has no code layer",
            got=f"{type(model).__name__} with n_components_ = 0",
            fix="ask for a number of components",
        )
    if vars(model).get("completion_") is not None:
        raise NotSupportedError(
            "the filling of missing cells is no layer, and rows with them would be NaN",
            got=f"{type(model).__name__}(missing={model.missing!r})",
            fix='fill rows by PCA(missing="em").fit(X).impute, and fit to these',
        )


def _about(model: Any) -> dict[str, str]:
    return {"model": type(model).__name__}


def _linear_code(model: PCA, dtype: Any, more: int = 0) -> LinearCode:
    """Return x̃V as a layer: (h - origin)W - bias, with `more` axes of zeros behind."""
    centring = model._centring
    axes = np.asarray(model.components_.T, np.float64)
    unit = centring.unit - centring.exponent
    if centring.factor is not None:
        axes = np.asarray(centring.factor, np.float64)[:, None] * axes
    if model._whitened is not False:
        safe = np.where(model._alive, model._unit_deviations, 1.0)
        axes, unit = axes * np.where(model._alive, 1 / safe, 0.0), -centring.exponent
    if model._whitened == "zca":
        axes = axes @ np.asarray(model.components_, np.float64)
    weight = np.ldexp(axes, unit)
    bias = np.ldexp(np.asarray(centring.offset, np.float64), centring.exponent) @ weight
    weight = np.pad(weight, ((0, 0), (0, more)))
    return LinearCode(weight, np.pad(bias, (0, more)), centring.origin, dtype)


def _linear_back(model: PCA, dtype: Any, more: int = 0) -> LinearBack:
    """Return PCA's inverse as a layer."""
    back = np.asarray(model.components_, np.float64)
    if model._whitened is not False:
        back = np.asarray(model._axes_found().deviations, np.float64)[:, None] * back
    if model._whitened == "zca":
        back = np.asarray(model.components_, np.float64).T @ back
    scale = model._axes_found().scale
    back = back if scale is None else back * np.asarray(scale, np.float64)
    return LinearBack(np.pad(back, ((0, more), (0, 0))), np.asarray(model.mean_), dtype)


def _curved(model: KernelPCA, dtype: Any, back: bool) -> KernelNetwork:
    fitted = FittedKernel.of(model)
    if not fitted.frame.numeric or isinstance(fitted.own, Precomputed):
        raise NotSupportedError(
            "a network takes tables of numbers",
            got=f"a model with {fitted.given!r}",
            fix="fit with a kernel of products or distances on a table of numbers",
        )
    got, engine = f"{fitted.own!r}", fitted.engine
    kernel: KernelLayer | FeatureLayer
    if engine is not None:
        phi = fitted.phi.phi if isinstance(fitted.phi, Widened) else fitted.phi
        features = getattr(phi, "__self__", phi)
        kernel = FeatureLayer(features, int(model.n_features_in_), got)
        more = fitted.components - engine.n_components_
        code = _linear_code(engine, dtype, max(more, 0))
        if more < 0:
            code = _first(code, fitted.components)
    else:
        assert fitted.projection is not None
        program, rows = fitted.projection.kernel.program(), dense(fitted.projection.rows)
        kernel = KernelLayer(program, rows, dtype, got)
        code = LinearCode(fitted.projection.dual, fitted.level, None, dtype)
    way: nn.Module | None = None
    if back and engine is not None and isinstance(fitted.own, Linear):
        way = _linear_back(engine, dtype, max(fitted.components - engine.n_components_, 0))
    elif back:
        way = KernelBack(model.decoder_, dtype)
    return KernelNetwork(Frame(fitted.frame, dtype), kernel, code, way, _about(model))


def _first(code: LinearCode, k: int) -> LinearCode:
    """Return a layer with its first k nodes."""
    code.weight = nn.Parameter(code.weight.detach()[:, :k].clone())
    code.bias = nn.Parameter(code.bias.detach()[:k].clone())
    return code


# -- as an ONNX graph ---------------------------------------------------------------------


def _export(
    net: KernelNetwork, path: str | os.PathLike[str], *, reconstruct: bool, dtype: Any
) -> None:
    """Write a network as a graph, by the operations that fitted models are written with."""
    onnx = onnx_library()
    p = len(net.frame.mean) if net.frame.mean is not None else _columns(net.kernel)

    def make(single: bool) -> Any:
        graph = OnnxGraph(onnx)
        rows = graph.add("Cast", "X", to=onnx.TensorProto.DOUBLE)
        result = _coded(graph, net, rows, p)
        if reconstruct:
            result = _rebuilt(graph, net, result)
        width = p if reconstruct else net.code.weight.shape[1]
        return graph.model(result, (p, width), single, net.about)

    if reconstruct:
        net.decode(net.code.weight.new_zeros((1, net.code.weight.shape[1])))  # or says why not
    written(path, make, dtype)


def _columns(layer: Any) -> int:
    return int(layer.p if isinstance(layer, FeatureLayer) else layer.rows.shape[1])


def _numbers(tensor: Any) -> Array:
    return np.asarray(tensor.detach().cpu().numpy(), np.float64)


def _coded(graph: OnnxGraph, net: KernelNetwork, rows: str, p: int) -> str:
    frame: Frame = net.frame
    if frame.factor is not None:
        rows = graph.add("Sub", rows, _numbers(frame.mean))
        rows = rows if frame.rest is None else graph.add("Sub", rows, _numbers(frame.rest))
        rows = graph.times(rows, _numbers(frame.factor))
    if isinstance(net.kernel, FeatureLayer):
        values = feature_values(graph, net.kernel.features, rows, p)
    else:
        values = _kernel(graph, net.kernel, rows)
    code: LinearCode = net.code
    if code.origin is not None:
        values = graph.add("Sub", values, _numbers(code.origin))
    found = graph.add("MatMul", values, _numbers(code.weight))
    return graph.add("Sub", found, _numbers(code.bias))


def _kernel(graph: OnnxGraph, layer: KernelLayer, rows: str) -> str:
    return kernel_values(graph, layer.program(), rows, _numbers(layer.rows), "a network")


def _rebuilt(graph: OnnxGraph, net: KernelNetwork, z: str) -> str:
    way = net.reconstruction
    if isinstance(way, KernelBack):
        z = graph.add("Div", z, _numbers(way.unit))
        z = graph.add("Concat", z, _kernel(graph, way.kernel, z), axis=1)
        z, way = graph.add("Sub", z, _numbers(way.centre)), way.linear
    assert isinstance(way, LinearBack)
    rows = graph.add("MatMul", z, _numbers(way.weight))
    rows = graph.add("Add", rows, _numbers(way.bias))
    frame: Frame = net.frame
    if frame.factor is None:
        return rows
    rows = graph.add("Div", rows, _numbers(frame.factor))
    rows = rows if frame.rest is None else graph.add("Add", rows, _numbers(frame.rest))
    return graph.add("Add", rows, _numbers(frame.mean))
