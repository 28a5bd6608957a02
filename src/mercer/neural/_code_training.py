"""Training of autoencoders: from a start that is never left for something worse."""

import dataclasses
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor, nn

from mercer.arrays import Array, advance, task
from mercer.neural._code_layers import CodeLayers
from mercer.neural._kernel_network import network_of

_ALONE = 5e8  # flops of a step up to which one thread is as quick as several
_FLAT = 1e-9  # share of a linear network's error that a step takes off when they end
_WARM = 50  # steps in which the rate grows to its full size
_SHOWN = 1000  # steps of a linear network at most
_ACT = {"silu": nn.functional.silu, "tanh": torch.tanh, "relu": torch.relu}


@dataclasses.dataclass(frozen=True)
class Schedule:
    """How long and how fast is trained.

    Attributes
    ----------
    epochs : int
        Walks over the rows at most.
    batch : int
        Rows of a step.
    rate : float
        The largest step of a weight; it rises at first and falls to nothing as a cosine.
    decay : float
        Share of the rate by which weights shrink in every step.
    noise : float
        Deviation of what is added to rows at first, in the frame; it falls as √rate.
    patience : int
        Epochs without a better error on rows held out after which training ends.
    seconds : float or None
        After which it ends as well.
    """

    epochs: int
    batch: int
    rate: float
    decay: float
    noise: float
    patience: int
    seconds: float | None = None


class CodeNetwork(nn.Module):
    """The layers with parameters of torch, on rows in the frame.

    Parameters
    ----------
    layers : CodeLayers
        Their numbers.
    dtype : torch.dtype
        To train in.
    """

    def __init__(self, layers: CodeLayers, dtype: Any) -> None:
        super().__init__()
        self.layers, self.act = layers, _ACT[layers.activation]

        def kept(values: Array) -> nn.Parameter:
            return nn.Parameter(torch.as_tensor(np.array(values, np.float64)).to(dtype))

        self.encoder = nn.ParameterList(kept(v) for pair in layers.encoder for v in pair)
        self.decoder = nn.ParameterList(kept(v) for pair in layers.decoder for v in pair)
        past = (layers.past_encoder, layers.past_decoder)
        self.past_encoder, self.past_decoder = (None if v is None else kept(v) for v in past)
        self.kernel: Any = None
        self.back: Any = None
        if layers.start is not None:
            self._begin_with_kernel(layers, dtype)

    def _begin_with_kernel(self, layers: CodeLayers, dtype: Any) -> None:
        """Keep the kernel map and its way back, frozen, in the units of the frame."""
        net = network_of(layers.start, torch.float64, back=True).requires_grad_(False)
        back: Any = net.reconstruction
        linear, frame = getattr(back, "linear", back), net.frame
        with torch.no_grad():
            level = frame.back(linear.bias[None])[0] - torch.as_tensor(layers.mean)
            slope = 1.0 if frame.factor is None else 1 / frame.factor
            scale = torch.as_tensor(layers.scale, dtype=torch.float64)
            linear.weight.mul_(slope / scale)
            linear.bias.copy_(level / scale)
        self.kernel, self.back = net, back.to(dtype)

    def trained(self) -> list[nn.Parameter]:
        """Return the parameters that training moves."""
        return [p for p in self.parameters() if p.requires_grad]

    def base(self, x: Tensor) -> Tensor | None:
        """Return the codes of the kernel map of rows in the frame, in units of z̃."""
        if self.kernel is None:
            return None
        layers = self.layers
        rows = x.double() * torch.as_tensor(layers.scale) + torch.as_tensor(layers.mean)
        with torch.no_grad():
            found: Tensor = (self.kernel(rows) / layers.unit).to(x.dtype)
        return found

    def forward(self, x: Tensor) -> Tensor:
        """Return x̂ (N, p) in the frame."""
        z: Any = self._through(x, self.encoder)
        if self.past_encoder is not None:
            z = _sum(z, x @ self.past_encoder)
        z = _sum(z, self.base(x))
        out = self._through(z, self.decoder)
        if self.past_decoder is not None:
            out = _sum(out, z @ self.past_decoder)
        if self.back is not None:
            out = _sum(out, self.back(z * self.layers.unit))
        return out

    def _through(self, x: Tensor, layers: Any) -> Any:
        if not len(layers):
            return None
        for number in range(0, len(layers), 2):
            x = torch.addmm(layers[number + 1], x, layers[number])
            x = self.act(x) if number + 2 < len(layers) else x
        return x

    def numbers(self) -> CodeLayers:
        """Return the layers as they are now."""

        def pairs(held: Any) -> list[tuple[Array, Array]]:
            values = [_numbers(v) for v in held]
            return list(zip(values[::2], values[1::2], strict=True))

        past = (self.past_encoder, self.past_decoder)
        first, last = (None if v is None else _numbers(v) for v in past)
        return dataclasses.replace(
            self.layers,
            encoder=pairs(self.encoder),
            decoder=pairs(self.decoder),
            past_encoder=first,
            past_decoder=last,
        )


def _sum(one: Any, other: Any) -> Any:
    return other if one is None else one if other is None else one + other


def _numbers(tensor: Tensor) -> Array:
    return np.asarray(tensor.detach().cpu().numpy(), np.float64)


class Adam:
    """Adam with decoupled decay of weights [Loshchilov2019]_.

    Torch has it too, but importing its optimisers takes longer than training small networks.

    Parameters
    ----------
    parameters : list of Parameter
        What is moved.
    decay : float
        Share of the rate by which weights shrink in a step.
    moments : dict or None
        Steps made, means of gradients and of their squares, where an earlier run has left them.
    """

    def __init__(
        self, parameters: list[nn.Parameter], decay: float, moments: Any = None
    ) -> None:
        self.parameters, self.decay = parameters, decay
        self.steps = 0 if moments is None else int(moments["steps"])
        self.means, self.squares = (
            [
                torch.zeros_like(p)
                if moments is None
                else torch.as_tensor(moments[name][i].copy())
                for i, p in enumerate(parameters)
            ]
            for name in ("means", "squares")
        )

    def step(self, loss: Tensor, rate: float | list[float]) -> None:
        """Take one step down the gradient of a loss; each parameter may have its own rate."""
        gradients = torch.autograd.grad(loss, self.parameters)
        self.steps += 1
        first, second = 1 - 0.9**self.steps, 1 - 0.999**self.steps
        rates = rate if isinstance(rate, list) else [rate] * len(self.parameters)
        with torch.no_grad():
            torch._foreach_mul_(self.parameters, [1 - each * self.decay for each in rates])
            torch._foreach_lerp_(self.means, gradients, 0.1)
            torch._foreach_mul_(self.squares, 0.999)
            torch._foreach_addcmul_(self.squares, gradients, gradients, 0.001)
            below = torch._foreach_sqrt(self.squares)
            torch._foreach_div_(below, second**0.5)
            torch._foreach_add_(below, 1e-8)
            down = [-each / first for each in rates]
            torch._foreach_addcdiv_(self.parameters, self.means, below, down)

    def moments(self) -> dict[str, Any]:
        """Return what the next run goes on from."""
        means, squares = (
            [v.numpy().copy() for v in held] for held in (self.means, self.squares)
        )
        return {"steps": self.steps, "means": means, "squares": squares}


@contextmanager
def _threads(flops: float) -> Iterator[None]:
    """Let small steps run on one thread: more would wait for each other longer than work."""
    before = torch.get_num_threads()
    if flops > _ALONE or before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def step_flops(layers: CodeLayers, batch: int) -> float:
    """Return the flops of a step: three products with every weight."""
    weights: int = sum(int(w.size) for w, _ in (*layers.encoder, *layers.decoder))
    past: int = sum(
        int(v.size) for v in (layers.past_encoder, layers.past_decoder) if v is not None
    )
    return 6.0 * batch * (weights + past)


def trained(
    layers: CodeLayers, rows: Array, held: Array, schedule: Schedule, rng: np.random.Generator
) -> tuple[CodeLayers, Array]:
    """Return the best layers on rows held out, the start among them, and the errors.

    Parameters
    ----------
    layers : CodeLayers
        The start.
    rows : ndarray of shape (n, p)
        To train on, in the frame.
    held : ndarray of shape (m, p)
        Held out, in the frame.
    schedule : Schedule
        How long and how fast.
    rng : Generator
        Of the order of the rows and the noise.

    Returns
    -------
    CodeLayers
        The best.
    ndarray of shape (epochs + 1, 2)
        Relative errors of the rows, with their noise, and of those held out; the start first.
    """
    net = CodeNetwork(layers, torch.float32)
    x, aside = (torch.as_tensor(each, dtype=torch.float32) for each in (rows, held))
    spread = float((x * x).mean()), float((aside * aside).mean())
    if not min(spread) > 0 or not schedule.epochs:
        return layers, np.zeros((1, 2))
    per = -(-len(x) // schedule.batch)
    made = Adam(net.trained(), schedule.decay)
    best, kept, since = _error(net, aside) / spread[1], None, 0
    history = [(_error(net, x) / spread[0], best)]
    began, total = time.monotonic(), schedule.epochs * per
    with _threads(step_flops(layers, schedule.batch)), task("training"):
        for epoch in range(schedule.epochs):
            loss = 0.0
            for number, part in enumerate(_batches(rng, len(x), per)):
                done = epoch * per + number
                fall = 0.5 * (1 + np.cos(np.pi * done / total))
                rate = schedule.rate * min(1, (done + 1) / _WARM) * fall
                noise = schedule.noise * fall**0.5  # without end it would blur fine structure
                loss += _stepped(net, made, rate, x[part], noise, rng) * len(part)
            now = _error(net, aside) / spread[1]
            history.append((loss / len(x) / spread[0], now))
            since = since + 1
            if now < best:
                best, kept, since = now, net.numbers(), 0
            advance(epoch + 1, schedule.epochs, f"held-out error {best:.4f}")
            late = schedule.seconds is not None and time.monotonic() - began > schedule.seconds
            if since >= schedule.patience or late:
                break
    return layers if kept is None else kept, np.array(history)


def _batches(rng: np.random.Generator, n: int, count: int) -> list[Tensor]:
    return [torch.as_tensor(part) for part in np.array_split(rng.permutation(n), count)]


def _stepped(
    net: CodeNetwork, made: Adam, rate: float, x: Tensor, noise: float, rng: Any
) -> float:
    """Take one step towards clean rows from noisy ones; return the loss before it."""
    given = x
    if noise > 0:
        given = x + noise * torch.as_tensor(rng.standard_normal(x.shape, np.float32))
    loss = ((net(given) - x) ** 2).mean()
    made.step(loss, rate)
    return float(loss.detach())


def _error(net: CodeNetwork, x: Tensor) -> float:
    with torch.no_grad():
        parts = [float(((net(part) - part) ** 2).sum()) for part in torch.split(x, 4096)]
    return sum(parts) / float(max(1, x.numel()))


def trained_linear(
    layers: CodeLayers, rows: Array, schedule: Schedule
) -> tuple[CodeLayers, Array]:
    """Return a linear network at the least error on all rows, found by L-BFGS.

    No minimum but the least is stable [Baldi1989]_, so that random weights end there; nothing
    is held out, since a linear map of so few numbers does not learn rows by heart.
    """
    net, x = CodeNetwork(layers, torch.float64), torch.as_tensor(rows)
    spread = float((x * x).mean())
    if not spread > 0:
        return layers, np.zeros((1, 2))
    moved = net.trained()
    sizes = [p.numel() for p in moved]
    history = [_error(net, x) / spread]
    began = time.monotonic()

    def put(flat: Array) -> None:
        with torch.no_grad():
            for parameter, part in zip(
                moved, np.split(flat, np.cumsum(sizes)[:-1]), strict=True
            ):
                parameter.copy_(torch.as_tensor(part.reshape(parameter.shape)))

    def measured(flat: Array) -> tuple[float, Array]:
        put(flat)
        loss = ((net(x) - x) ** 2).mean() / spread
        slopes = torch.autograd.grad(loss, moved)
        return float(loss.detach()), np.concatenate([_numbers(g).ravel() for g in slopes])

    def told(flat: Array) -> None:
        history.append(measured(flat)[0])
        advance(len(history) - 1, _SHOWN, f"error {history[-1]:.6f}")
        if schedule.seconds is not None and time.monotonic() - began > schedule.seconds:
            raise StopIteration

    start = np.concatenate([_numbers(p).ravel() for p in moved])
    options = {"maxiter": _SHOWN, "ftol": _FLAT, "gtol": 0.0, "maxcor": 30}
    with _threads(step_flops(layers, len(x))), task("training"):
        done = minimize(
            measured, start, jac=True, method="L-BFGS-B", callback=told, options=options
        )
    put(done.x)
    return net.numbers(), np.repeat(np.array(history)[:, None], 2, axis=1)


def one_pass(
    layers: CodeLayers, rows: Array, schedule: Schedule, moments: Any, rng: np.random.Generator
) -> tuple[CodeLayers, dict[str, Any]]:
    """Return the layers after one walk over a batch of a stream, and what Adam remembers.

    Parameters
    ----------
    layers : CodeLayers
        As they are.
    rows : ndarray of shape (n, p)
        The batch, in the frame.
    schedule : Schedule
        Rate, decay, noise and rows of a step.
    moments : dict or None
        Steps made, and the means of gradients and of their squares, from the batch before.
    rng : Generator
        Of the order and the noise.
    """
    net = CodeNetwork(layers, torch.float32)
    made = Adam(net.trained(), schedule.decay, moments)
    x = torch.as_tensor(rows, dtype=torch.float32)
    with _threads(step_flops(layers, schedule.batch)), task("training"):
        parts = _batches(rng, len(x), -(-len(x) // schedule.batch))
        for number, part in enumerate(parts):
            rate = schedule.rate * min(1, (made.steps + 1) / _WARM)
            _stepped(net, made, rate, x[part], schedule.noise, rng)
            advance(number + 1, len(parts))
    return net.numbers(), made.moments()
