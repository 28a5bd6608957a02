"""The real data sets of the demo. They come with the packages, so nothing is fetched."""

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError

__all__ = ["DATASETS", "FILES", "GROUPS", "Dataset", "known", "load"]


@dataclass(frozen=True)
class Dataset:
    """A table, its names, and why its columns are or are not standardised.

    Parameters
    ----------
    name, about : str
        Short name and one sentence.
    X : array of shape (n, p)
        The numbers.
    labels : array of shape (n,)
        Group of each row, as text.
    features : list of p str
        Names of the columns.
    standardize : bool
        Whether the columns are divided by their standard deviation.
    """

    name: str
    about: str
    X: NDArray[np.float64]
    labels: NDArray[np.str_]
    features: list[str]
    standardize: bool

    @property
    def table(self) -> Any:
        """The numbers as a frame, with the names of the columns."""
        import polars as pl

        return pl.DataFrame(self.X, schema=self.features)


# name: (one sentence, columns in different units)
DATASETS = {
    "digits": ("1797 handwritten digits, 8 x 8 pixels of brightness 0 to 16", False),
    "iris": ("150 iris flowers of three species, four lengths in cm", False),
    "wine": ("178 wines of three cultivars, 13 chemical measurements", True),
    "breast_cancer": ("569 tumours, 30 measurements of cell nuclei", True),
}

# What the groups of each are called.
GROUPS = {
    "digits": "digit",
    "iris": "species",
    "wine": "cultivar",
    "breast_cancer": "diagnosis",
    "penguins": "species",
}

# A table as people have it, which comes with this package: (one sentence, file).
FILES = {
    "penguins": (
        "344 penguins of three species, four measures, some missing",
        Path(__file__).parent / "data" / "penguins.csv",
    )
}


def known(name: str) -> str:
    """Return the name of a data set; an unknown one gets the nearest."""
    names = [*DATASETS, *FILES]
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        raise InputError(
            "there is no demo data set of that name",
            got=repr(name) + (f", did you mean {near[0]!r}?" if near else ""),
            fix=f"take one of {', '.join(names)}",
        )
    return name


def load(name: str) -> Dataset:
    """Return a data set of scikit-learn by its name."""
    known(name)
    from sklearn import datasets

    about, standardize = DATASETS[name]
    bunch = getattr(datasets, f"load_{name}")()
    return Dataset(
        name=name,
        about=about,
        X=np.asarray(bunch.data, dtype=np.float64),
        labels=np.asarray([str(bunch.target_names[t]) for t in bunch.target]),
        features=[str(f) for f in bunch.feature_names],
        standardize=standardize,
    )
