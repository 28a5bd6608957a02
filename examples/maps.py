"""Maps of curved data: every manifold method on five sets, measured and drawn.

    python examples/maps.py [FOLDER]        # FOLDER is "maps"; two minutes

writes maps.json with all numbers and a picture a set, and prints the tables of `docs/maps.md`.
`python examples/maps.py docs/pictures` makes those of the page again.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from maps_drawn import curves, sheet_of, tables
from sklearn.datasets import (
    load_digits,
    load_wine,
    make_circles,
    make_s_curve,
    make_swiss_roll,
)

import mercer
from mercer.diagnostics import neighbour_ranks
from mercer.errors import InputError
from mercer.kernels import RBF

NEAR = 10  # neighbours at which trustworthiness and continuity are taken
METHODS: dict[str, Callable[..., Any]] = {
    "ClassicalMDS": lambda **_: mercer.ClassicalMDS(2),
    "KernelPCA, RBF": lambda **_: mercer.KernelPCA(2, kernel="rbf"),
    "LaplacianEigenmaps": lambda **kw: mercer.LaplacianEigenmaps(2, **kw),
    "DiffusionMaps": lambda **kw: mercer.DiffusionMaps(2, **kw),
    "Isomap": lambda **kw: mercer.Isomap(2, **kw),
    "Isomap, 100 landmarks": lambda **kw: mercer.Isomap(2, landmarks=100, **kw),
    "LLE, standard": lambda **kw: mercer.LocallyLinearEmbedding(2, **kw),
    "LLE, modified": lambda **kw: mercer.LocallyLinearEmbedding(2, method="modified", **kw),
    "LLE, hessian": lambda **kw: mercer.LocallyLinearEmbedding(2, method="hessian", **kw),
    "LLE, ltsa": lambda **kw: mercer.LocallyLinearEmbedding(2, method="ltsa", **kw),
    "Unfolding": lambda **kw: mercer.MaximumVarianceUnfolding(2, **kw),
}


@dataclass(frozen=True)
class Rows:
    """A set of rows and what is known of them.

    Attributes
    ----------
    name, title : str
        Of its files, and above its picture.
    X : ndarray of shape (n, p)
        The rows.
    sheet : ndarray of shape (n, 2) or None
        Length and width on the sheet that the rows lie on.
    group : ndarray of shape (n,) or None
        Which ring, figure or kind a row is.
    seen : ndarray of shape (n, 2) or None
        The rows as they would be drawn; None where they have too many columns.
    """

    name: str
    title: str
    X: np.ndarray
    sheet: np.ndarray | None = None
    group: np.ndarray | None = None
    seen: np.ndarray | None = None


def swiss_roll(n: int = 800, seed: int = 0) -> Rows:
    """Return a sheet rolled up; its length along the spiral is ∫√(1+t²)dt."""
    X, t = make_swiss_roll(n, random_state=seed)
    length = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2
    return Rows("swiss_roll", "Swiss roll", X, np.c_[length, X[:, 1]], None, X[:, [0, 2]])


def s_curve(n: int = 600) -> Rows:
    """Return a sheet bent into an S: two half circles of radius 1, so that t is its length."""
    X, t = make_s_curve(n, random_state=0)
    return Rows("s_curve", "S-curve", X, np.c_[t, X[:, 1]], None, X[:, [0, 2]])


def circles(n: int = 400) -> Rows:
    """Return two rings, one within the other, that do not touch."""
    X, ring = make_circles(n, factor=0.4, noise=0.03, random_state=0)
    return Rows("circles", "Two circles", X, None, ring, X)


def digits(n: int = 600) -> Rows:
    """Return pictures of handwritten figures, 8 x 8 pixels."""
    X, figure = load_digits(return_X_y=True)
    return Rows("digits", "Digits", X[:n], None, figure[:n])


def wine() -> Rows:
    """Return 178 wines of three kinds with 13 measures, standardised: the real set."""
    X, kind = load_wine(return_X_y=True)
    kind = np.array(["kind 1", "kind 2", "kind 3"])[kind]
    return Rows("wine", "Wine", (X - X.mean(axis=0)) / X.std(axis=0), None, kind)


def correlation(Z: np.ndarray, y: np.ndarray) -> float:
    """Return the largest |correlation| of y with one column of Z."""
    return float(max(abs(np.corrcoef(column, y)[0, 1]) for column in Z.T))


def explained(Z: np.ndarray, y: np.ndarray) -> float:
    """Return R² of y as a linear function of all columns of Z."""
    design = np.column_stack([np.ones(len(Z)), Z])
    left = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return float(1 - left.var() / y.var())


def bent(Z: np.ndarray) -> float:
    """Return R² of the second column as a quartic of the first: near 1 it is no new axis."""
    first = Z[:, 0] / Z[:, 0].std()
    return explained(np.column_stack([first**power for power in (1, 2, 3, 4)]), Z[:, 1])


def same_group(Z: np.ndarray, group: np.ndarray) -> float:
    """Return the share of rows whose nearest row on the map is of their group."""
    far = np.sum((Z[:, None] - Z[None]) ** 2, axis=2)
    np.fill_diagonal(far, np.inf)
    return float(np.mean(group[far.argmin(axis=1)] == group))


def fitted(make: Callable[..., Any], X: np.ndarray) -> tuple[Any, list[str]]:
    """Return a model and what it said; a graph in pieces is fitted by its largest."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        said = []
        try:
            model = make().fit(X)
        except InputError as refused:
            said.append("refused: " + str(refused).splitlines()[1].split("got: ")[1])
            model = make(components="largest").fit(X)
            heard.clear()  # it says the same again
    return model, said + [str(one.message).splitlines()[0] for one in heard]


def own_words(model: Any) -> str:
    """Return in a few words what a fitted model knows of its own fit."""
    if hasattr(model, "flatness_"):
        return f"{model.flatness_.left:.1%} beyond the axes, gap {model.gap_:.0e}"
    if hasattr(model, "residual_variance_"):
        left = f"residual variance {model.residual_variance_[1]:.3f}"
        return f"{left}, negative {model.negative_share_:.2f}"
    if hasattr(model, "laplacian_eigenvalues_"):
        return "1 − λ = " + ", ".join(f"{v:.2g}" for v in model.laplacian_eigenvalues_)
    if model.explained_variance_ratio_ is None:
        values = ", ".join(f"{v:.1e}" for v in model.eigenvalues_)
        return f"λ = {values}, next ≥ {model.certificate_.next_upper:.1e}"
    return f"{sum(model.explained_variance_ratio_[:2]):.0%} of the variance"


def measured(rows: Rows, method: str) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """Fit one method to one set; return its numbers, and the map (m, 2) of which m rows."""
    start = time.process_time()  # not of the clock: others may share the machine
    model, said = fitted(METHODS[method], rows.X)
    seconds = time.process_time() - start
    whole = model.embedding_ if hasattr(model, "embedding_") else model.transform(rows.X)
    kept = np.flatnonzero(np.isfinite(whole).all(axis=1))
    Z = np.asarray(whole[kept], np.float64)
    trust, continuity = neighbour_ranks(rows.X[kept], Z, [NEAR])
    found = {"set": rows.name, "method": method, "rows": len(kept)}
    if rows.sheet is not None:
        length, width = rows.sheet[kept].T
        found["length"] = correlation(Z, length)
        found["sheet"] = min(explained(Z, length), explained(Z, width))
        found["bent"] = bent(Z)
    if rows.group is not None and len(kept) == len(rows.X):
        found["same"] = same_group(Z, rows.group)
        if rows.name == "circles":
            found["ring"] = correlation(Z, rows.group)
    found |= {"trust": float(trust[0]), "continuity": float(continuity[0])}
    return found | {"seconds": seconds, "said": said, "own": own_words(model)}, Z, kept


def by_neighbours(rows: Rows, counts: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return what becomes of the length on a sheet as each row gets more neighbours."""
    out = []
    for k in counts:
        iso = mercer.Isomap(2, neighbours=k).fit(rows.X)
        maps = mercer.LaplacianEigenmaps(2, neighbours=k).fit(rows.X)
        found = {"neighbours": k, "Isomap": correlation(iso.embedding_, rows.sheet[:, 0])}
        found["residual variance"] = float(iso.residual_variance_[1])
        found["negative share"] = float(iso.negative_share_)
        found["Eigenmaps"] = correlation(maps.embedding_, rows.sheet[:, 0])
        found["1 − λ₂"] = float(maps.laplacian_eigenvalues_[0])
        flat = mercer.LocallyLinearEmbedding(2, neighbours=k, method="ltsa").fit(rows.X)
        found["LLE, ltsa"] = correlation(flat.embedding_, rows.sheet[:, 0])
        out.append(found)
    return out


def by_lengthscale(rows: Rows, scales: tuple[float, ...]) -> list[dict[str, Any]]:
    """Return what RBF kernel PCA, and diffusion maps, find of the length at each scale."""
    out = []
    length = rows.sheet[:, 0]
    for scale in scales:
        found: dict[str, Any] = {"scale": scale}
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            Z = mercer.KernelPCA(10, kernel=RBF(scale)).fit_transform(rows.X)
        found["KernelPCA, 2 axes"] = correlation(Z[:, :2], length)
        found["R² of the plane"] = explained(Z[:, :2], length)
        found["best of 10 axes"] = correlation(Z, length)
        walk, refused = fitted(partial(mercer.DiffusionMaps, 2, scale=scale), rows.X)
        if refused:
            found |= {"DiffusionMaps": refused[0], "1 − λ₂": ""}
        else:
            found |= {"DiffusionMaps": correlation(walk.embedding_, length)}
            found["1 − λ₂"] = float(walk.laplacian_eigenvalues_[0])
        found["said"] = [str(one.message).splitlines()[0] for one in heard]
        out.append(found)
    return out


def by_rows(counts: tuple[int, ...], neighbours: int = 6) -> list[dict[str, Any]]:
    """Return how many rows a swiss roll needs, and who says that they are too few."""
    out = []
    for n in counts:
        rows = swiss_roll(n)
        length = rows.sheet[:, 0]
        iso = mercer.Isomap(2, neighbours=neighbours).fit(rows.X)
        flat = mercer.LocallyLinearEmbedding(2, neighbours=neighbours, method="ltsa")
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            mvu = mercer.MaximumVarianceUnfolding(2, neighbours=neighbours).fit(rows.X)
        out.append({
            "rows": n,
            "Isomap": correlation(iso.embedding_, length),
            "residual variance": float(iso.residual_variance_[1]),
            "LLE, ltsa": correlation(flat.fit(rows.X).embedding_, length),
            "Unfolding": correlation(mvu.embedding_, length),
            "beyond the axes": mvu.flatness_.left,
            "said": [str(one.message).splitlines()[0] for one in heard],
        })  # fmt: skip
    return out


def main(folder: Path) -> None:
    """Fit, measure and draw everything."""
    folder.mkdir(parents=True, exist_ok=True)
    mercer.ClassicalMDS(2).fit(swiss_roll(50).X)  # libraries load before the clock runs
    numbers: dict[str, list[dict[str, Any]]] = {"maps": []}
    for rows in (swiss_roll(), s_curve(), circles(), digits(), wine()):
        drawn = []
        for method in METHODS:
            found, Z, kept = measured(rows, method)
            numbers["maps"].append(found)
            drawn.append((found, Z, kept))
            said = f"{rows.title}, {method}: {found['seconds']:.1f} s"
            print(said, *found["said"], file=sys.stderr)
        svg = sheet_of(rows, drawn)
        (folder / f"{rows.name}.svg").write_text(svg, encoding="utf-8")
    roll = swiss_roll()
    numbers["neighbours"] = by_neighbours(roll, (5, 6, 8, 10, 12, 14, 16, 20, 25, 30, 40))
    numbers["scale"] = by_lengthscale(roll, (1.0, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0))
    numbers["thin"] = by_rows((100, 150, 200, 250, 300, 400, 500, 600))
    (folder / "sweeps.svg").write_text(curves(numbers), encoding="utf-8")
    text = json.dumps(numbers, indent=1, ensure_ascii=False)
    (folder / "maps.json").write_text(text + "\n", encoding="utf-8")
    print(*tables(numbers), sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "maps"))
