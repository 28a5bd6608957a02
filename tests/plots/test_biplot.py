import numpy as np
import pytest

from mercer.errors import InputError
from mercer.plots import Arrows, Points, biplot, biplot_coordinates, figure

rng = np.random.default_rng(0)
X = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4)) * [1, 5, 2, 1]
X = X - X.mean(axis=0)
U, s, Vt = np.linalg.svd(X, full_matrices=False)
Z, lam = U * s, s**2 / 49
NAMES = ["a", "b", "c", "d"]


@pytest.mark.parametrize("scaling", ["form", "covariance", "symmetric"])
def test_products_of_rows_and_columns_rebuild_the_data(scaling):
    G, H = biplot_coordinates(Z, Vt, lam, scaling)
    assert np.allclose(G @ H.T, X)


def test_the_form_biplot_keeps_products_of_rows():
    G, H = biplot_coordinates(Z, Vt, lam, "form")
    assert np.allclose(G @ G.T, X @ X.T)
    assert np.allclose(H.T @ H, np.eye(4))


def test_the_covariance_biplot_keeps_the_covariance():
    G, H = biplot_coordinates(Z, Vt, lam, "covariance")
    assert np.allclose(H @ H.T, np.cov(X.T))
    assert np.allclose(G.T @ G / 49, np.eye(4))
    assert np.allclose(np.linalg.norm(H, axis=1), X.std(axis=0, ddof=1))


def test_the_symmetric_biplot_shares_the_spread_alike():
    G, H = biplot_coordinates(Z, Vt, lam, "symmetric")
    assert np.allclose(G.T @ G / 49, H.T @ H)


def test_an_axis_without_variance_is_no_division():
    G, H = biplot_coordinates(np.zeros((3, 2)), np.eye(2), [0.0, 1.0], "covariance")
    assert np.isfinite(G).all()
    assert np.isfinite(H).all()


@pytest.mark.parametrize("scaling", ["form", "covariance", "symmetric"])
def test_the_panel_states_its_scaling_and_its_factor(scaling):
    panel = biplot(Z, Vt, lam, NAMES, scaling=scaling)
    assert scaling in panel.axes.title
    G, H = biplot_coordinates(Z, Vt, lam, scaling)
    (cloud,) = (m for m in panel.marks if isinstance(m, Points))
    assert np.allclose([cloud.x, cloud.y], G[:, :2].T)
    (arrows,) = (m for m in panel.marks if isinstance(m, Arrows))
    order = np.argsort(-np.linalg.norm(H[:, :2], axis=1))
    factor = float(panel.axes.note.partition("×")[2].partition(";")[0] or 1)
    assert np.allclose([arrows.x, arrows.y], factor * H[order, :2].T)
    assert panel.axes.equal


def test_arrows_reach_no_farther_than_the_rows():
    for scale in (1e-6, 1.0, 1e6):
        panel = biplot(Z, Vt, scale * lam, NAMES, scaling="covariance")
        (cloud,) = (m for m in panel.marks if isinstance(m, Points))
        (arrows,) = (m for m in panel.marks if isinstance(m, Arrows))
        reach = max(map(abs, (*arrows.x, *arrows.y)))
        far = max(map(abs, (*cloud.x, *cloud.y)))
        assert 0.2 * far < reach <= far * (1 + 1e-9)


def test_only_the_longest_arrows_are_drawn_and_it_says_so():
    panel = biplot(Z, Vt, lam, NAMES, most=2)
    (arrows,) = (m for m in panel.marks if isinstance(m, Arrows))
    assert len(arrows.x) == 2
    assert "the 2 longest of 4 arrows" in panel.axes.note


def test_rows_at_the_origin_and_columns_without_weight_draw():
    assert "<svg" in figure([biplot(0 * Z, Vt, lam, NAMES)])
    assert "<svg" in figure([biplot(Z, 0 * Vt, lam, NAMES)])
    assert "<svg" in figure([biplot(Z[:, :1], Vt[:1], lam[:1], NAMES, (0, 0))])


@pytest.mark.parametrize(
    "arguments",
    [
        {"scaling": "row"},
        {"names": ["a"]},
        {"Z": Z[:, :2]},
        {"variances": lam[:2]},
        {"axes": (0, 4)},
        {"labels": ["a"]},
    ],
)
def test_what_does_not_fit_is_refused(arguments):
    given = {"Z": Z, "components": Vt, "variances": lam, "names": NAMES} | arguments
    with pytest.raises(InputError):
        biplot(**given)
