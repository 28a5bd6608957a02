"""Numbers that MASS::lda prints for the iris data."""

import json
from pathlib import Path

import numpy as np

from mercer import LinearDiscriminantAnalysis

DATA = Path(__file__).resolve().parents[1] / "data"
PRINTED = json.loads((DATA / "reference_values.json").read_text(encoding="utf-8"))[
    "iris_MASS_lda"
]


def iris():
    """Four measures as numbers, and the species as text."""
    lines = (DATA / PRINTED["data"]).read_text(encoding="utf-8").splitlines()
    cells = [line.replace('"', "").split(",") for line in lines]
    at = next(i for i, name in enumerate(cells[0]) if "species" in name.lower())
    start = at - 4
    X = np.array([[float(c) for c in row[start:at]] for row in cells[1:]])
    return X, np.array([row[at] for row in cells[1:]])


def test_iris_as_mass_prints_it():
    """MASS::lda(Species ~ ., iris): coefficients of linear discriminants, to all digits."""
    X, y = iris()
    found = LinearDiscriminantAnalysis().fit(X, y)
    for axis, printed in zip(found.scalings_.T, np.transpose(PRINTED["scaling"]), strict=True):
        sign = np.sign(axis @ printed)
        np.testing.assert_allclose(sign * axis, printed, atol=5.1e-8)
    np.testing.assert_allclose(
        found.explained_variance_ratio_, PRINTED["proportion_of_trace"], atol=5.1e-5
    )
    assert found.priors_.tolist() == [1 / 3] * 3
