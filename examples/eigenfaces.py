"""Eigenfaces: 400 pictures of 40 people, their axes drawn as pictures.

    python -m benchmarks.get_data faces     # once: the ORL faces, 4 MB
    python examples/eigenfaces.py           # writes eigenfaces.html

Pictures are 112 x 92 pixels; the report finds that out from the numbers.
"""

import sys
from pathlib import Path

import numpy as np

import mercer

FACES = Path(__file__).resolve().parents[1] / "benchmarks" / "data" / "faces.npy"


def main() -> None:
    """Fit sixty axes and write the page."""
    if not FACES.exists():
        sys.exit("the faces are not here: python -m benchmarks.get_data faces")
    X = np.load(FACES)
    model = mercer.PCA(60).fit(X)
    names = [f"person {i // 10 + 1}, picture {i % 10 + 1}" for i in range(len(X))]
    person = np.array([f"person {i // 10 + 1}" for i in range(len(X))])
    model.report(X, "eigenfaces.html", title="Eigenfaces", row_names=names)
    found = mercer.describe_groups(
        person, model.transform(X), names=model.get_feature_names_out()
    )
    print(model.plan_)
    print(f"60 of {min(X.shape)} axes hold {model.explained_variance_ratio_.sum():.1%}")
    print(*found.words[:3], sep="\n")
    print("eigenfaces.html")


if __name__ == "__main__":
    main()
