"""Kernel pages: eigenvalues against NumPy, both maps, walks, the words."""

import warnings

import numpy as np
from sklearn.datasets import load_digits, make_circles

import mercer
from mercer.report import report

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


def test_pictures_are_walked_as_pictures():
    rows = load_digits().data[:120]
    model = mercer.KernelPCA(2, kernel="rbf").fit(rows)
    steps = part(report(model, rows).page, "along", "Steps")
    assert (steps.width, steps.height) == (8, 8)
    assert steps.pixels.shape == (11, 64)


def test_a_kernel_matrix_has_no_columns_and_no_linear_map():
    K = X @ X.T
    page = report(mercer.KernelPCA(2, kernel="precomputed").fit(K), K).page
    keys = [section.key for section in page.sections]
    assert "along" not in keys
    assert "variables" not in keys


def test_other_rows_than_those_of_the_fit_are_called_so():
    model = mercer.KernelPCA(2, kernel="rbf").fit(X)
    page = report(model, X[:50], colours={"ring": RINGS[:50]}).page
    assert len(page.cloud.Z) == 50
    assert any("fitted to 120 rows" in fact for fact in page.facts)
    assert report(model, X).page.facts[-1].startswith("kernel")


def test_no_kernel_component_is_said_so():
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
