"""Tables of numbers and categories with two common factors, for several test files."""

import numpy as np
import pandas as pd


def mixed_frame(n=120, seed=0, noise=0.5):
    """Return a frame of four numbers far from the origin and three categories."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 2))
    numbers = z @ [[1, 0.2, 0.7, 0.8], [0, 1, 0.7, -0.6]] + noise * rng.normal(size=(n, 4))
    frame = pd.DataFrame(numbers * [1, 1e3, 1e-3, 5] + [0, 1e6, 1, -40], columns=list("abcd"))
    frame.insert(2, "size", _cut(z[:, 0] + noise * rng.normal(size=n), ["s", "m", "l"]))
    frame["mood"] = _cut(z[:, 1] + noise * rng.normal(size=n), ["glad", "sad"])
    frame["place"] = _cut(rng.normal(size=n), ["n", "e", "s", "w", "here"])
    return frame


def _cut(values, labels):
    cuts = np.quantile(values, np.arange(1, len(labels)) / len(labels))
    return np.array(labels, dtype=object)[np.digitize(values, cuts)]


def by_hand(frame, weights=None):
    """Return A = diag(√r)·analysed (n, p + J) of a frame, written down the long way."""
    w = np.ones(len(frame)) if weights is None else np.asarray(weights, float)
    r = w / w.sum()
    numbers, levels = [], []
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind == "f":
            x = column.to_numpy() - r @ column.to_numpy()
            numbers.append(x / np.sqrt(r @ x**2))
        else:
            for level in sorted(set(column)):
                one = (column == level).to_numpy().astype(float)
                levels.append((one - r @ one) / np.sqrt(r @ one))
    return np.sqrt(r)[:, None] * np.column_stack(numbers + levels)


def with_gaps(frame, share=0.1, seed=1):
    """Return the frame with cells missing at random, none in the first column's empty rows."""
    holes = np.random.default_rng(seed).random(frame.shape) < share
    holes[holes.all(axis=1), 0] = False
    return frame.mask(holes), holes
