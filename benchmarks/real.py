"""Real data sets, once `python -m benchmarks.get_data` has fetched them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(__file__).resolve().parent / "data"

# Name -> shape (n, p) of the prepared array.
REAL: dict[str, tuple[int, int]] = {
    "mnist": (70_000, 784),
    "fashion": (70_000, 784),
    "words": (341_479, 100),
    "pines": (21_025, 200),
    "nci60": (64, 6_830),
    "thousand": (2_504, 127),
    "ehgdp": (1_350, 8_170),
    "faces": (400, 10_304),
}


@dataclass(frozen=True)
class RealData:
    """A fetched data set in a stated dtype; its values are used as they are, not scaled."""

    name: str
    dtype: str = "float64"

    @property
    def path(self) -> Path:
        """Where the prepared array lies."""
        return FOLDER / f"{self.name}.npy"

    def load(self) -> NDArray[Any]:
        """Read the data, shape (n, p).

        Raises
        ------
        FileNotFoundError
            The data set has not been fetched.
        """
        if not self.path.exists():
            raise FileNotFoundError(
                f"the data set {self.name!r} is not here; "
                f"run python -m benchmarks.get_data {self.name}"
            )
        return np.asarray(np.load(self.path), dtype=self.dtype)
