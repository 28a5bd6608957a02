"""fine_tune(): a network of kernel PCA trained further, so that its codes tell a target."""

import copy
import dataclasses
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge

from mercer.arrays import Array, advance, task
from mercer.errors import InputError
from mercer.neural._code_layers import batch_of
from mercer.neural._networks import torch_library
from mercer.sources import scan

_FEWEST = 10  # rows from which some are held out
_CLASSES = 20  # values of whole numbers up to which they are classes
_PATIENCE = 30  # epochs without a better loss after which training ends


@dataclasses.dataclass(frozen=True, eq=False)
class FineTuned:
    """A network with a linear head on its codes.

    Attributes
    ----------
    network : KernelNetwork
        The trained copy: ``network(x)`` gives codes.
    head : torch.nn.Linear
        From codes, in units of their deviation at first, to numbers or classes.
    classes : ndarray or None
        The classes, where the target has some.
    history : ndarray of shape (epochs + 1, 2)
        Loss of the rows learned from and of those held out; before training first.
    score : float
        On rows held out: share of classes that are right, or R².
    score_before : float
        The same of a linear head on the codes as they were.
    """

    network: Any
    head: Any
    classes: Array | None
    history: Array
    score: float
    score_before: float
    _level: Array = dataclasses.field(repr=False)
    _unit: Array = dataclasses.field(repr=False)
    _target: tuple[float, float] = dataclasses.field(default=(0.0, 1.0), repr=False)

    def predict(self, X: Any) -> Array:
        """Return classes or numbers (n,) of rows (n, p)."""
        torch = torch_library()
        rows = np.asarray(scan(X).array, np.float64)
        with torch.no_grad():
            codes = self.network(torch.as_tensor(rows)).numpy()
            out = self.head(torch.as_tensor((codes - self._level) / self._unit)).numpy()
        if self.classes is not None:
            return np.asarray(self.classes[np.argmax(out, axis=1)])
        return np.asarray(out[:, 0] * self._target[1] + self._target[0])


def fine_tune(
    network: Any,
    X: Any,
    y: Any,
    *,
    epochs: int = 200,
    batch: int = 128,
    rate: float = 0.03,
    held_out: float = 0.2,
    random_state: int = 0,
) -> FineTuned:
    """Train a copy of a network until its codes tell a target as well as they can.

    A linear head is put on the codes: a logistic regression for classes, least squares for
    numbers, fitted first with the network as it is. Then both are trained by Adam, all that
    asks for a gradient: freeze what shall stay by ``net.kernel.requires_grad_(False)``. Kept
    is what has the least loss on rows held out, the beginning among it.

    Parameters
    ----------
    network : KernelNetwork
        As `mercer.neural.network` returns it; it is not changed.
    X : array or frame of shape (n, p)
        Rows.
    y : sequence of n
        Classes (text, truths, whole numbers of at most 20 values) or numbers.
    epochs, batch : int
        Walks over the rows at most, and rows of a step at most, as of `Autoencoder`.
    rate : float
        The largest step, in units of the mean size of the parameters of a layer.
    held_out : float
        Share of the rows that say when to stop.
    random_state : int
        Decides who is held out and the order of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> from mercer.neural import fine_tune, network
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = KernelPCA(2, landmarks=20, tol=1e9).fit(X)
    >>> tuned = fine_tune(network(model), X, y, epochs=60)
    >>> tuned.score > tuned.score_before
    True
    """
    torch = torch_library()
    rows = np.asarray(scan(X).array, np.float64)
    classes, target = _target_of(y, len(rows))
    if not any(p.requires_grad for p in network.parameters()):
        raise InputError(
            "a frozen network cannot be tuned",
            got="no parameter that asks for a gradient",
            fix="make it by network(model, trainable=True)",
        )
    rng = np.random.default_rng(random_state)
    learnt, aside = _parted(rng, len(rows), held_out)
    net = copy.deepcopy(network)
    net.reconstruction = None  # it leads back from codes as they were
    x = torch.as_tensor(rows).to(net.code.weight.dtype)
    with torch.no_grad():
        codes = net(x[torch.as_tensor(learnt)]).numpy().astype(np.float64)
    level, unit = codes.mean(axis=0), codes.std(axis=0)
    unit = np.where(unit > 0, unit, 1.0)
    mean, size = (0.0, 1.0) if classes is not None else _moments(target[learnt])
    wanted = torch.as_tensor(target)
    if classes is None:
        wanted = ((wanted - mean) / size)[:, None].to(x.dtype)
    head = _head(torch, (codes - level) / unit, wanted.numpy()[learnt], classes).to(x.dtype)
    shift, scale = (torch.as_tensor(v).to(x.dtype) for v in (level, unit))

    def told(part: Any) -> Any:
        return head((net(x[part]) - shift) / scale)

    def loss_of(part: Any) -> Any:
        if classes is not None:
            return torch.nn.functional.cross_entropy(told(part), wanted[part])
        return ((told(part) - wanted[part]) ** 2).mean()

    used, held = torch.as_tensor(learnt), torch.as_tensor(aside)
    before = _score(told(held).detach(), wanted[held], classes)
    schedule = epochs, batch_of(batch, len(learnt)), rate
    history = _climbed(torch, (net, head), loss_of, (used, held), schedule, rng)
    after = _score(told(held).detach(), wanted[held], classes)
    net, head = net.requires_grad_(False), head.double().requires_grad_(False)
    return FineTuned(net, head, classes, history, after, before, level, unit, (mean, size))


def _parted(rng: np.random.Generator, n: int, share: float) -> tuple[Array, Array]:
    """Return rows to learn from and rows held out; few rows are both."""
    order = rng.permutation(n)
    count = min(max(1, round(share * n)), n - 1)
    return (order[count:], order[:count]) if n >= _FEWEST else (order, order)


def _score(out: Any, wanted: Any, classes: Array | None) -> float:
    """Return the share of classes that are right, or R²."""
    if classes is not None:
        return float((out.argmax(dim=1) == wanted).double().mean())
    spread = float(((wanted - wanted.mean()) ** 2).sum())
    return 1 - float(((out - wanted) ** 2).sum()) / spread if spread > 0 else 0.0


def _climbed(
    torch: Any, modules: Any, loss_of: Any, parts: Any, schedule: Any, rng: Any
) -> Array:
    """Train what asks for a gradient; leave it at the least loss held out; return losses."""
    from mercer.neural._code_training import Adam

    epochs, batch, rate = schedule
    used, held = parts
    moved = [p for module in modules for p in module.parameters() if p.requires_grad]
    sizes = [max(float(p.detach().abs().mean()), 1e-6) for p in moved]
    made = Adam(moved, 0.0)

    def measured() -> tuple[float, float]:
        with torch.no_grad():
            return float(loss_of(used)), float(loss_of(held))

    history = [measured()]
    best, kept, since = history[0][1], [p.detach().clone() for p in moved], 0
    with task("fine-tuning"):
        for epoch in range(epochs):
            fall = 0.5 * (1 + np.cos(np.pi * epoch / epochs))
            shuffled = used[torch.as_tensor(rng.permutation(len(used)))]
            for part in torch.split(shuffled, batch):
                made.step(loss_of(part), [rate * fall * size for size in sizes])
            history.append(measured())
            since += 1
            if history[-1][1] < best:
                best, since = history[-1][1], 0
                kept = [p.detach().clone() for p in moved]
            advance(epoch + 1, epochs, f"held-out loss {best:.4f}")
            if since >= _PATIENCE:
                break
    with torch.no_grad():
        for parameter, values in zip(moved, kept, strict=True):
            parameter.copy_(values)
    return np.array(history)


def _target_of(y: Any, n: int) -> tuple[Array | None, Array]:
    """Return the classes, or None, and the target as places of classes or as numbers."""
    found = np.asarray(y)
    if found.shape != (n,):
        raise InputError(
            "the target has one value for every row",
            got=f"a target of shape {found.shape}, {n:,} rows",
            fix=f"pass a sequence of length {n:,}",
        )
    if found.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(found))
        if bad.size:
            raise InputError(
                "the target must be finite",
                got=f"{found[bad[0]]} at row {bad[0]}",
                fix="leave such rows out",
            )
        return None, found.astype(np.float64)
    plain = found.astype(str) if found.dtype == object else found
    classes, places = np.unique(plain, return_inverse=True)
    if found.dtype.kind in "iu" and len(classes) > _CLASSES:
        return None, found.astype(np.float64)
    if len(classes) < 2:
        raise InputError(
            "one class cannot be told from others",
            got=f"{len(classes)} class in the target",
            fix="pass a target of two classes or more, or numbers",
        )
    return classes, places


def _moments(values: Array) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values)) or 1.0


def _head(torch: Any, codes: Array, wanted: Array, classes: Array | None) -> Any:
    """Return the linear head that is best for the codes as they are."""
    outputs = 1 if classes is None else len(classes)
    head = torch.nn.Linear(codes.shape[1], outputs)
    weight, bias = np.zeros((outputs, codes.shape[1])), np.zeros(outputs)
    if classes is None:
        found = Ridge(alpha=1e-6).fit(codes, wanted[:, 0])
        weight, bias = np.atleast_2d(found.coef_), np.atleast_1d(found.intercept_)
    elif len(np.unique(wanted)) > 1:
        found = LogisticRegression(max_iter=1000).fit(codes, wanted)
        for at, place in enumerate(found.classes_):
            if len(found.classes_) > 2:
                weight[place], bias[place] = found.coef_[at], found.intercept_[at]
        if len(found.classes_) == 2:  # one line of numbers, for the second class
            second = found.classes_[1]
            weight[second], bias[second] = found.coef_[0], found.intercept_[0]
    with torch.no_grad():
        head.weight.copy_(torch.as_tensor(weight))
        head.bias.copy_(torch.as_tensor(bias))
    return head
