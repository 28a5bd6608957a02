"""Numbers printed by others for real tables."""

import numpy as np
import pytest
import sklearn.decomposition
from forced import FORCED, fit, suits
from printed import DATA, PUBLISHED, same_up_to_sign

from mercer import PCA
from mercer.selection._thresholds import stick


def read(name, columns):
    return np.genfromtxt(DATA / name, delimiter=",", skip_header=1, usecols=columns)


ARRESTS = read("USArrests.csv", range(1, 5))
IRIS = read("iris.csv", range(1, 5))
EVENTS = read("decathlon.csv", range(1, 11))


@pytest.mark.parametrize("path", ["auto", "svd", "gram"])
def test_arrests_as_prcomp_prints_them(path):
    printed = PUBLISHED["USArrests_prcomp"]
    found = fit(path, ARRESTS, None, standardize=True)
    np.testing.assert_allclose(np.sqrt(found.explained_variance_), printed["sdev"], atol=5.1e-8)
    np.testing.assert_allclose(found.explained_variance_, printed["var"], atol=5.1e-8)
    np.testing.assert_allclose(
        found.explained_variance_ratio_, printed["pve"], rtol=0, atol=5.1e-8
    )
    same_up_to_sign(found.components_.T, printed["rotation"], 5.1e-8)


@pytest.mark.parametrize("path", ["auto", "svd", "gram"])
def test_iris_as_prcomp_prints_it(path):
    printed = PUBLISHED["iris_prcomp_scaled"]
    found = fit(path, IRIS, None, standardize=True)
    np.testing.assert_allclose(np.sqrt(found.explained_variance_), printed["sdev"], rtol=1e-12)
    same_up_to_sign(found.components_.T, printed["rotation"], 5.1e-8)


def test_decathlon_as_factominer_prints_it():
    """Inertias of correlations sum to the number of events, whichever way n is counted."""
    printed = PUBLISHED["decathlon_PCA"]["eigenvalues"]
    found = PCA(standardize=True).fit(EVENTS)
    np.testing.assert_allclose(found.explained_variance_, printed, atol=5.1e-8)
    assert found.explained_variance_.sum() == pytest.approx(10.0, rel=1e-14)


def test_decastar_with_supplementary_athletes():
    """13 athletes are analysed, the others are projected: 1/n there, 1/(n-1) here."""
    printed = PUBLISHED["prince_decastar_PCA"]
    lines = (DATA / "decathlon.csv").read_text(encoding="utf-8").splitlines()[1:]
    names = [line.split(",")[0].strip('"') for line in lines]
    active = np.array([line.split(",")[-1].strip('"') == "Decastar" for line in lines])
    assert active.sum() == 13
    found = PCA(5, standardize=True).fit(EVENTS[active])
    np.testing.assert_allclose(
        found.explained_variance_, printed["eigenvalues_3dig"], atol=5.1e-4
    )
    ratio = 100 * found.explained_variance_ratio_
    np.testing.assert_allclose(ratio, printed["percent"], atol=5.1e-3)
    scores = found.transform(EVENTS) * np.sqrt(13 / 12)  # deviations there divide by n
    rows = printed["sup_rows_last5"]
    wanted = np.array(list(rows.values()))
    ours = scores[[i for i, name in enumerate(names) if name.title() in rows]]
    assert ours.shape == wanted.shape
    signs = np.sign((ours * wanted).sum(axis=0))
    np.testing.assert_allclose(ours * signs, wanted, atol=1e-6)


def test_iris_density():
    """Log-likelihood of the Gaussian model against the formula written out."""
    found = PCA(2).fit(IRIS)
    covariance = found.get_covariance()
    np.testing.assert_allclose(
        found.get_precision() @ covariance, np.eye(4), rtol=0, atol=1e-11
    )
    centred = IRIS - IRIS.mean(axis=0)
    distance = np.einsum("ij,jk,ik->i", centred, np.linalg.inv(covariance), centred)
    wanted = -0.5 * (4 * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1] + distance)
    np.testing.assert_allclose(found.score_samples(IRIS), wanted, rtol=1e-12)


PEERS = {
    "arrests": ARRESTS,
    "iris": IRIS,
    "events": EVENTS,
    "tall": np.random.default_rng(0).standard_normal((300, 40)) * 0.9 ** np.arange(40) + 2,
    "wide": np.random.default_rng(1).standard_normal((50, 200)) * 0.97 ** np.arange(200) - 1,
}


@pytest.mark.parametrize("path", FORCED)
@pytest.mark.parametrize("name", PEERS)
def test_scikit_learn_full_solver(name, path):
    """The peer that is right on ordinary data, attribute by attribute."""
    X = PEERS[name]
    if not suits(path, *X.shape, 3):
        return
    for whiten in (False, True):
        peer = sklearn.decomposition.PCA(3, svd_solver="full", whiten=whiten).fit(X)
        found = fit(path, X, 3, whiten=whiten)
        near = {"rtol": 1e-9} if path != "krylov" else {"rtol": 2e-6}
        for attribute in (
            "explained_variance_",
            "explained_variance_ratio_",
            "singular_values_",
        ):
            np.testing.assert_allclose(
                getattr(found, attribute), getattr(peer, attribute), **near
            )
        np.testing.assert_allclose(found.mean_, peer.mean_, rtol=1e-12, atol=1e-14)
        assert found.noise_variance_ == pytest.approx(peer.noise_variance_, rel=1e-5)
        assert found.n_components_ == peer.n_components_
        loose = 1e-8 if path != "krylov" else 4 * float(found.certificate_.sine.max()) + 1e-8
        same_up_to_sign(found.components_.T, peer.components_.T, loose)
        scores, theirs = found.transform(X), peer.transform(X)
        signs = np.sign((scores * theirs).sum(axis=0))
        size = np.abs(theirs).max()
        np.testing.assert_allclose(scores * signs, theirs, rtol=0, atol=10 * loose * size)
        # Whitened, the peer multiplies its covariance by λ once too often: a model's density
        # does not depend on how its coordinates are scaled.
        if X.shape[0] > X.shape[1] and not whiten:
            white = fit(path, X, 3, whiten=True)
            assert white.score(X) == pytest.approx(found.score(X), rel=1e-12)
            assert found.score(X) == pytest.approx(peer.score(X), rel=1e-5)
            ours, wanted = found.get_covariance(), peer.get_covariance()
            np.testing.assert_allclose(
                ours, wanted, rtol=0, atol=10 * loose * np.abs(wanted).max()
            )


@pytest.mark.parametrize("name", ["arrests", "iris", "events", "tall"])
def test_choices_of_the_peer(name):
    X = PEERS[name]
    for wanted in (0.5, 0.9, 0.99, "mle", None):
        peer = sklearn.decomposition.PCA(wanted, svd_solver="full").fit(X)
        assert PCA(wanted).fit(X).n_components_ == peer.n_components_


def test_the_broken_stick_of_varespec_as_vegan_prints_it():
    """44 species, standardised: 23 pieces of a stick as long as the total variance."""
    printed = PUBLISHED["varespec_broken_stick"]["bstick"]
    found = PCA(standardize=True).fit(read("varespec.csv", range(1, 45)))
    assert found.rank_ == len(printed) == 23
    total = found.explained_variance_.sum()
    assert total == pytest.approx(44)
    np.testing.assert_allclose(stick(23) * total, printed, atol=5.1e-8)
