"""network(): a fitted model as a module of torch."""

from typing import Any

from mercer.errors import InputError, MissingExtraError

_TYPES = ("float32", "float64")


def torch_library() -> Any:
    """Return torch, or say which extra brings it."""
    try:
        import torch
    except ImportError:
        raise MissingExtraError(
            "networks are made by the library torch, which is not installed",
            got="no module named torch",
            fix="pip install 'mercer[torch]'",
        ) from None
    return torch


def network(
    model: Any, *, trainable: bool = True, reconstruction: bool = True, dtype: Any = None
) -> Any:
    """Return a fitted PCA or KernelPCA as a `torch.nn.Module` of three layers.

    The kernel layer has a node for every training row or landmark, k(x, s_i); the code layer
    is linear, z = Bᵀk(x) - c₀; the reconstruction leads back from z to rows. ``net(x)`` equals
    ``model.transform(x)``, ``net.reconstruct(x)`` equals ``model.inverse_transform`` of it by
    the regression ("ridge"; PCA's own inverse for PCA and the linear kernel), and gradients go
    through both. The model itself is not changed by training. See docs/methods/neural_view.md.

    Parameters
    ----------
    model : PCA or KernelPCA
        Fitted to rows of numbers, with a kernel that has a gradient: of products or distances,
        and what is made of them. Rows are projected exactly, whatever `tol_transform`.
    trainable : bool
        Whether the rows, the scales of the kernel and both linear maps ask for gradients. Parts
        may be frozen later: ``net.kernel.requires_grad_(False)``.
    reconstruction : bool
        Whether the way back is made, which is learned first if nobody has asked for it yet.
    dtype : {"float32", "float64"}, torch dtype or None
        Of parameters and arithmetic. None is float64; coordinates come in the type of the rows
        that are passed either way.

    Returns
    -------
    KernelNetwork
        With the layers `frame`, `kernel`, `code` and `reconstruction`, and the methods
        `decode(z)`, `reconstruct(x)` and `export_onnx(path)`.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from mercer import KernelPCA
    >>> from mercer.neural import network
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> model = KernelPCA(2, kernel="rbf(lengthscale=2)").fit(X)
    >>> net = network(model)
    >>> z = net(torch.from_numpy(X))
    >>> bool(np.allclose(z.detach().numpy(), model.transform(X), atol=1e-10))
    True
    """
    torch = torch_library()
    from mercer.neural._kernel_network import network_of

    name = str(dtype).removeprefix("torch.") if dtype is not None else "float64"
    if name not in _TYPES:
        raise InputError(
            "`dtype` is the type that a network computes in",
            got=f"dtype={dtype!r}",
            fix='pass "float64" or "float32"',
        )
    made = network_of(model, getattr(torch, name), back=reconstruction)
    return made.requires_grad_(bool(trainable))
