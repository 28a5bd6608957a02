"""Pages of kernels and of maps of curved data: eigenvalues, maps, walks, words, stability."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_digits, make_circles, make_s_curve, make_swiss_roll
from sklearn.manifold import trustworthiness

import mercer
from mercer.kernels import RBF
from mercer.report import report
from mercer.report.facts._linear_summary import seen_from
from mercer.report.pages._kernel_page import kernel_stability
from mercer.report.panels import _axes_panels as room
from mercer.report.panels._axes_panels import normal_angles, stability_section

# Kernel pages: eigenvalues against NumPy, both maps, walks, the words.
RNG = np.random.default_rng(20)


X, RINGS = make_circles(120, factor=0.3, noise=0.05, random_state=0)


def part(page, key, kind):
    section = next(s for s in page.sections if s.key == key)
    return next(p for p in section.parts if type(p).__name__ == kind)


def test_eigenvalues_are_those_of_the_centred_kernel_matrix():
    model = mercer.KernelPCA(3, kernel=mercer.kernels.RBF(lengthscale=0.7)).fit(X)
    page = report(model, X).page
    squares = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    K = np.exp(-squares / (2 * 0.7**2))
    J = np.eye(120) - 1 / 120
    values = np.linalg.eigvalsh(J @ K @ J)[::-1]
    cells = np.array([row[1:] for row in part(page, "components", "Table").rows])
    assert np.allclose(cells[:, 0], values[:3])
    assert np.all(np.abs(cells[:, 0] - values[:3]) <= cells[:, 1] + 1e-12)
    assert np.allclose(cells[:, 2], 100 * values[:3] / values.sum())


def test_both_maps_stand_side_by_side():
    model = mercer.KernelPCA(3, kernel="rbf").fit(X)
    page = report(model, X, colours={"ring": RINGS.astype(str)}, row_names=range(120)).page
    views = [p for p in page.sections[0].parts if type(p).__name__ == "MapView"]
    assert [view.key for view in views] == ["kernel", "linear"]
    assert [view.axes for view in views] == [(0, 1), (3, 4)]
    assert np.allclose(page.cloud.Z[:, :3], model.transform(X))
    assert np.allclose(np.abs(page.cloud.Z[:, 3:]), np.abs(mercer.PCA(2).fit_transform(X)))
    assert [colour.name for colour in page.cloud.colours] == ["ring", "none"]
    assert page.cloud.row_names[5] == "5"


def test_the_walk_ends_where_the_way_back_ends():
    model = mercer.KernelPCA(2, kernel="rbf").fit(X)
    table = part(report(model, X).page, "along", "Table")
    Z = np.zeros((2, 2))
    Z[:, 0] = np.array([-2, 2]) * np.sqrt(model.explained_variance_[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ends = model.inverse_transform(Z)
    for row in table.rows:
        j = int(row[0].split()[1])
        assert np.allclose([row[1], row[-1]], ends[:, j])


def test_pictures_and_kernel_matrices():
    rows = load_digits().data[:120]
    model = mercer.KernelPCA(2, kernel="rbf").fit(rows)
    steps = part(report(model, rows).page, "along", "Steps")
    assert (steps.width, steps.height) == (8, 8)
    assert steps.pixels.shape == (11, 64)
    K = X @ X.T
    page = report(mercer.KernelPCA(2, kernel="precomputed").fit(K), K).page
    keys = [section.key for section in page.sections]
    assert "along" not in keys
    assert "variables" not in keys


def test_other_rows_and_no_component_are_said_so():
    model = mercer.KernelPCA(2, kernel="rbf").fit(X)
    page = report(model, X[:50], colours={"ring": RINGS[:50]}).page
    assert len(page.cloud.Z) == 50
    assert any("fitted to 120 rows" in fact for fact in page.facts)
    assert report(model, X).page.facts[-1].startswith("kernel")
    noise = RNG.normal(size=(60, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = mercer.KernelPCA("auto", kernel="rbf").fit(noise)
    if model.n_components_ == 0:
        assert report(model, noise).page.verdict[0].startswith("No kernel component")


def test_the_choice_of_the_kernel_is_shown():
    tuning = mercer.tune(X, kernels=[mercer.kernels.RBF(lengthscale=s) for s in (0.2, 0.7, 2)])
    model = mercer.KernelPCA(2, kernel=tuning.best).fit(X)
    table = part(report(model, X, tuning=tuning).page, "tuning", "Table")
    assert len(table.rows) == len(tuning.curve)
    assert (
        table.chosen
        == tuple(i for i, c in enumerate(tuning.curve) if c.kernel == tuning.best)[:1]
    )


def test_profiles_along_an_axis_are_in_deviations_of_the_columns_as_they_are():
    X = np.random.default_rng(2).normal(size=(80, 3)) * [100.0, 1.0, 0.01] + [5000.0, 0.0, 7.0]
    page = report(mercer.KernelPCA(2, standardize=True).fit(X), X).page
    frames = part(page, "along", "Frames")
    middle = np.array(frames.panels[len(frames.panels) // 2].marks[0].length)
    assert np.all(np.abs(middle) < 1.5)
    ends = np.array([frames.panels[i].marks[0].length for i in (0, -1)])
    assert np.all(np.abs(ends) < 6)
    assert np.ptp(ends, axis=0).max() > 0.5


NOISE = np.random.default_rng(0)


def rings(n=400):
    rng = np.random.default_rng(1)
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = np.where(np.arange(n) % 2, 1.0, 3.0)
    return np.c_[2 * radius * np.cos(angle), radius * np.sin(angle)]


@pytest.mark.parametrize(
    "kind", [np.asarray, pd.DataFrame, lambda x: pl.from_numpy(x, ["a", "b"])]
)
def test_structure_is_found_in_both_halves(kind):
    X = kind(rings())
    section = kernel_stability(mercer.KernelPCA(2).fit(X), X)
    assert min(row[2] for row in section.parts[0].rows) > 0.95


def test_axes_of_noise_are_found_in_neither():
    X = NOISE.normal(size=(300, 30))
    section = kernel_stability(mercer.KernelPCA(4, kernel=RBF(30.0)).fit(X), X)
    assert "agree on none" in section.words[0]
    X = rings(12)
    assert kernel_stability(mercer.KernelPCA(2).fit(X), X) is None
    K = X @ X.T
    assert kernel_stability(mercer.KernelPCA(2, kernel="precomputed").fit(K), K) is None


DRAWS = np.random.default_rng(2)


def seen(deviations, n=200):
    X = DRAWS.normal(size=(n, len(deviations))) * deviations
    return seen_from(mercer.PCA(2).fit(X), X)


def test_equal_axes_are_planes_and_large_tables_normal(monkeypatch):
    words = stability_section(seen([9, 3, 3, 1, 1])).words[0]
    assert "PC1" in words.split(".")[0]
    assert "the plane of PC2 and PC3" in words
    monkeypatch.setattr(room, "_WORK", 0)
    section = stability_section(seen([9, 3, 1, 1], n=500))
    assert section.parts[0].caption == "Sampling errors"
    share, error = section.parts[0].rows[0][1:3]
    assert error == pytest.approx(share * np.sqrt(2 / 499))


def test_the_angle_is_that_of_simulated_samples():
    values, n = np.array([9.0, 4.0, 1.0]), 400
    found = []
    for _ in range(300):
        X = DRAWS.normal(size=(n, 3)) * np.sqrt(values)
        found.append(mercer.PCA(3).fit(X).components_)
    sines = 1 - np.mean([np.diagonal(V) ** 2 for V in found], axis=0)
    assert np.allclose(np.sin(np.radians(normal_angles(values, n))) ** 2, sines, rtol=0.2)


@pytest.mark.parametrize("values", [[1.0, 1.0], [1.0], [0.0, 0.0], [2.0, 0.0]])
def test_degenerate_spectra_do_no_harm(values):
    assert np.isfinite(normal_angles(np.array(values), 10)).all()


# The page of a map of curved data.
ROLL, ALONG = make_swiss_roll(300, random_state=0)


METHODS = [
    mercer.LaplacianEigenmaps(3),
    mercer.DiffusionMaps(2),
    mercer.ClassicalMDS(2),
    mercer.Isomap(2, neighbours=8),
    mercer.LocallyLinearEmbedding(2, method="modified", neighbours=8),
]


@pytest.mark.parametrize("model", METHODS, ids=lambda m: type(m).__name__)
@pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")
@pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning")
def test_every_method_has_its_page(model):
    model.fit(ROLL)
    page = report(model, ROLL, colours={"along": ALONG}).page
    keys = [section.key for section in page.sections]
    assert keys[:2] == ["map", "neighbours"]
    assert keys[-1] == "method"
    assert ("graph" in keys) == hasattr(model, "facts_")
    words = " ".join(page.verdict)
    assert ("no shares" in words) == (model.explained_variance_ratio_ is None)
    wanted = trustworthiness(ROLL, model.embedding_, n_neighbors=10)
    assert f"trustworthiness {wanted:.3f}" in words
    np.testing.assert_allclose(page.cloud.Z, model.embedding_[:, :6])


def test_new_rows_are_placed_and_columns_run_along():
    curve, along = make_s_curve(300, random_state=0)
    model = mercer.Isomap(2, neighbours=8).fit(curve)
    verdict = report(model, curve, colours={"along": along}).page.verdict
    assert any(line.startswith("along follows the map closely") for line in verdict)
    model = mercer.Isomap(1, neighbours=8).fit(ROLL)
    page = report(model, ROLL[:40]).page
    np.testing.assert_allclose(page.cloud.Z[:, :1], model.transform(ROLL[:40]))


def test_a_graph_in_pieces_says_so():
    two = np.r_[ROLL[:100], ROLL[:60] + 1e3]
    with pytest.warns(mercer.DataWarning):
        model = mercer.LaplacianEigenmaps(2, components="largest").fit(two)
    page = report(model, two[:100]).page
    table = next(s for s in page.sections if s.key == "graph").parts[0]
    assert dict(table.rows)["rows left out"] == 60
