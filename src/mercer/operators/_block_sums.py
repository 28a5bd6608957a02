"""What a walk over blocks adds up: kept on the way, and restored after a kill."""

from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.operators._rounding import Rounding
from mercer.operators._running import RunningMoments


class FirstWalk:
    """Moments and, beside them, evenly spaced rows to start an iteration from."""

    def __init__(
        self,
        running: RunningMoments,
        rounding: Rounding,
        step: int,
        most: int,
        second: RunningMoments | None = None,
    ) -> None:
        self.second = second  # where the rows are summed by halves
        self.running, self.rounding = running, rounding
        self.step, self.most = step, most
        self.charged = 0.0  # of the rounding of products, so far
        self.kept: list[Array] = []

    @property
    def rows(self) -> Array | None:
        return np.concatenate(self.kept) if self.kept else None

    def sample(self, part: slice, block: Any) -> None:
        if self.step:
            first = -part.start % self.step
            self.kept.append(np.array(block[first :: self.step]))
        if sum(map(len, self.kept)) > self.most:  # more rows than were foreseen
            self.kept, self.step = [np.concatenate(self.kept)[::2]], 2 * self.step

    def keep(self) -> dict[str, Array]:
        arrays = self.running.keep() | {
            "rounding": self.rounding.keep(),
            "walk": np.array([self.charged, self.step]),
        }
        if self.second is not None:
            arrays |= {f"second {name}": part for name, part in self.second.keep().items()}
        rows = self.rows
        return arrays if rows is None else arrays | {"sample": rows}

    def restore(self, kept: dict[str, Array], *, ended: bool) -> bool:
        other = {k.removeprefix("second "): kept[k] for k in kept if k.startswith("second ")}
        if bool(other) != (self.second is not None):
            return False
        if self.second is not None:
            self.second.restore(other)
        self.kept = [kept["sample"]] if "sample" in kept else []
        self.rounding.restore(kept["rounding"])
        self.charged, self.step = float(kept["walk"][0]), int(kept["walk"][1])
        return self.running.restore(kept)


class Matrix:
    """One matrix that a walk fills."""

    def __init__(self, matrix: Array) -> None:
        self.matrix = matrix

    def keep(self) -> dict[str, Array]:
        return {"matrix": self.matrix}

    def restore(self, kept: dict[str, Array], *, ended: bool) -> bool:
        self.matrix = kept["matrix"]
        return True


class Panel:
    """The rows of a Gram matrix that one walk fills, of use only when it has ended."""

    def __init__(self, gram: Array, panel: slice) -> None:
        self.gram, self.panel = gram, panel

    def keep(self) -> dict[str, Array]:
        return {"matrix": self.gram[self.panel, self.panel.start :]}

    def restore(self, kept: dict[str, Array], *, ended: bool) -> bool:
        if ended:
            width = self.panel.stop - self.panel.start
            self.gram[self.panel, self.panel.start :] = kept["matrix"]
            # Inside the panel both triangles are there already, each with its own rounding.
            self.gram[self.panel.stop :, self.panel] = kept["matrix"][:, width:].T
        return ended
