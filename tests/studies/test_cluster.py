import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.metrics import adjusted_rand_score

import mercer
from mercer.errors import InputError
from mercer.studies import _cluster as room

RNG = np.random.default_rng(0)
CENTRES = np.array([[0, 0, 0, 0], [9, 0, 0, 0], [0, 9, 0, 0], [9, 9, 9, 0]])
TRUTH = np.repeat(np.arange(4), 50)
ROWS = CENTRES[TRUTH] + RNG.standard_normal((200, 4))


@pytest.mark.parametrize("clusters", ["auto", 4])
def test_clusters_that_are_there_are_found_and_described(clusters):
    model = mercer.PCA(3).fit(ROWS)
    found = mercer.cluster(model, ROWS, clusters=clusters)
    assert adjusted_rand_score(TRUTH, found.labels) == 1
    assert found.sizes.sum() == 200
    assert found.within[0] == 1
    assert np.all(np.diff(found.within) <= 1e-12)
    Z = model.transform(ROWS)
    for g in range(4):
        own = found.labels == g + 1
        np.testing.assert_allclose(found.centres[g], Z[own].mean(axis=0))
        nearest = np.argmin(np.sum((Z - found.centres[g]) ** 2, axis=1))
        assert nearest in found.typical[g]
        assert set(found.distinct[g]) <= set(np.flatnonzero(own))
    assert np.all(np.diff(found.centres[:, 0]) >= 0)
    assert str(found).count("rows, cluster") == 4


def test_without_moving_rows_it_is_wards_tree():
    model = mercer.PCA(2).fit(ROWS)
    found = mercer.cluster(model, ROWS, clusters=5, consolidate=False)
    wanted = fcluster(linkage(model.transform(ROWS), "ward"), 5, "maxclust")
    assert adjusted_rand_score(wanted, found.labels) == 1


def test_weighted_points_make_the_tree_of_repeated_ones():
    points = RNG.standard_normal((12, 2))
    weights = RNG.integers(1, 5, 12)
    whole = np.repeat(points, weights, axis=0)
    home = np.repeat(np.arange(12), weights)
    for g in (2, 3, 5):
        few = fcluster(room._weighted_ward(points, weights.astype(float)), g, "maxclust")
        many = fcluster(linkage(whole, "ward"), g, "maxclust")
        assert adjusted_rand_score(few[home], many) == 1


def test_many_rows_are_gathered_first(monkeypatch):
    monkeypatch.setattr(room, "_TREE", 100)
    monkeypatch.setattr(room, "_SEEDS", 30)
    found = mercer.cluster(mercer.PCA(3).fit(ROWS), ROWS, clusters=4)
    assert adjusted_rand_score(TRUTH, found.labels) == 1


@pytest.mark.parametrize("clusters", [1, 200, "many", 2.5])
def test_impossible_numbers_are_refused(clusters):
    with pytest.raises(InputError, match="two clusters or more"):
        mercer.cluster(mercer.PCA(2).fit(ROWS), ROWS, clusters=clusters)


def test_rows_at_one_point_are_not_parted(rng):
    X = rng.standard_normal((30, 3))
    model = mercer.PCA(2).fit(X)
    with pytest.raises(InputError, match="at one point"):
        mercer.cluster(model, np.tile(X[:1], (9, 1)))
    assert mercer.cluster(model, X, clusters=np.int64(3)).sizes.tolist() != []
    with pytest.raises(InputError, match="clusters=True"):
        mercer.cluster(model, X, clusters=True)
