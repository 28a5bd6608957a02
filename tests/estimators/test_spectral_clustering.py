"""Spectral clustering: labels of scikit-learn where clusters are apart, and our own words."""

import numpy as np
import pytest
import sklearn.cluster
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from tests.claims import hushed, refuses

import mercer
from mercer import SpectralClustering

CORNERS = [[0, 0], [9, 0], [0, 9]]
TABLES = {
    "circles": (*make_circles(300, factor=0.4, noise=0.04, random_state=0), 2),
    "moons": (*make_moons(300, noise=0.03, random_state=0), 2),
    "blobs": (*make_blobs(240, centers=CORNERS, cluster_std=1, random_state=0), 3),
}


def same(one, other):
    return adjusted_rand_score(one, other) == 1


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("neighbours", [8, 15])
def test_labels_are_those_of_scikit_learn_and_the_truth(name, neighbours):
    X, kind, count = TABLES[name]
    rival = sklearn.cluster.SpectralClustering(
        count, affinity="nearest_neighbors", n_neighbors=neighbours, random_state=0
    )
    wanted = hushed(rival.fit_predict, X, kind=UserWarning)  # of a graph in pieces
    model = SpectralClustering(count, neighbours=neighbours).fit(X)
    assert same(model.labels_, wanted)
    assert same(model.labels_, kind)
    assert sorted(set(model.labels_)) == list(range(count))
    assert SpectralClustering(neighbours=neighbours).fit(X).n_clusters_ == count
    assert np.array_equal(model.predict(X), model.labels_)
    order = np.random.default_rng(0).permutation(len(X))
    assert same(
        SpectralClustering(count, neighbours=neighbours).fit_predict(X[order]), kind[order]
    )


def test_all_pairs_and_given_weights():
    X, kind, count = TABLES["blobs"]
    W = np.exp(-cdist(X, X, "sqeuclidean") / 2)
    heat = SpectralClustering(count, neighbours=None, weights="heat", scale=1.0).fit(X)
    given = SpectralClustering(count, metric="precomputed").fit(W)
    assert same(heat.labels_, kind)
    assert same(given.labels_, kind)
    assert np.array_equal(given.predict(W[:7]), given.labels_[:7])


def test_new_rows_files_and_lonely_points(tmp_path):
    X, kind, count = TABLES["moons"]
    model = SpectralClustering(count, neighbours=9).fit(X[::2])
    assert adjusted_rand_score(model.predict(X[1::2]), kind[1::2]) > 0.95
    mercer.save(model, tmp_path / "moons.mercer")
    again = mercer.load(tmp_path / "moons.mercer")
    assert np.array_equal(again.labels_, model.labels_)
    assert np.array_equal(again.predict(X), model.predict(X))
    far = np.concatenate([X, [[50.0, 50.0]]])
    lonely = SpectralClustering(3, radius=0.4).fit(far)
    assert np.bincount(lonely.labels_).min() == 1


def test_what_cannot_be_parted_is_refused():
    X, _, _ = TABLES["blobs"]
    refuses("more pieces than clusters", SpectralClustering(2, neighbours=5).fit, X)
    refuses("more clusters than rows", SpectralClustering(300).fit, X)
    refuses("n_clusters", SpectralClustering(0).fit, X)
    refuses("missing|NaN|finite", SpectralClustering(2).fit, np.full((20, 2), np.nan))
