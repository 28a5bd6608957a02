"""Data described in words and columns."""

import dataclasses
import json
from math import comb

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from scipy import stats
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import KernelPCA, plots
from mercer.diagnostics._group_tests import drawn_tail
from mercer.errors import DataWarning, InputError
from mercer.estimators.walk import _row_clusters as room
from mercer.studies import separation
from mercer.studies._descriptor_columns import coded, columns_of
from mercer.studies._plain_result import plain
from mercer.studies._study_rows import evenly, few, rows_seen

RNG = np.random.default_rng(0)


N = 200


FACTOR = RNG.standard_normal(N)


FRAME = pd.DataFrame(
    {
        "with": FACTOR + 0.2 * RNG.standard_normal(N),
        "against": -FACTOR + 0.2 * RNG.standard_normal(N),
        "noise": 0.3 * RNG.standard_normal(N),
    }
)


COIN = np.array(["h", "t"] * (N // 2))[np.argsort(np.argsort(FACTOR))]  # turns by rank


SIDE = {"side": np.where(FACTOR > 0, "right", "left"), "coin": COIN}


def test_an_axis_is_told_by_its_columns_and_levels():
    model = mercer.PCA(2).fit(FRAME)
    found = mercer.describe_axes(model, FRAME, sup=SIDE, axes=2)
    names = [trait.name for trait in found.traits[0]]
    assert {"with", "against", "side", "side=left", "side=right"} <= set(names)
    assert not {"coin", "coin=h"} & set(names)
    trait = next(t for t in found.traits[0] if t.name == "with")
    z = model.transform(FRAME)[:, 0]
    assert trait.size == pytest.approx(np.corrcoef(FRAME["with"], z)[0, 1])
    turned = np.sign(trait.size)
    right = next(t for t in found.traits[0] if t.name == "side=right")
    assert np.sign(right.size) == turned
    assert "grows with" in found.words[0]
    assert "falls with" in found.words[0]
    assert list(found.names) == ["pca0", "pca1"]


def test_traits_and_levels_of_groups_are_tested():
    found = mercer.describe_groups(SIDE["side"], FRAME.assign(coin=SIDE["coin"]))
    assert list(found.names) == ["left", "right"]
    right = {t.name: t for t in found.traits[1]}
    assert set(right) == {"with", "against"}
    assert right["with"].here == pytest.approx(FRAME["with"][FACTOR > 0].mean())
    assert right["with"].overall == pytest.approx(FRAME["with"].mean())
    assert found.words[1].startswith("right: high with; low against")
    colours = np.where((FACTOR > 0) & (RNG.random(N) < 0.9), "red", "blue")
    found = mercer.describe_groups(SIDE["side"], {"colour": colours})
    red = next(t for t in found.traits[1] if t.name == "colour=red")
    inside = FACTOR > 0
    assert red.here == pytest.approx(np.mean(colours[inside] == "red"))
    law = stats.hypergeom(N, np.sum(colours == "red"), np.sum(inside))
    assert red.p == pytest.approx(2 * law.sf(np.sum(colours[inside] == "red") - 1), rel=1e-6)
    assert "often colour=red" in found.words[1]
    assert found.plain()["names"] == ["left", "right"]


def test_groups_of_chance_are_like_all_rows():
    quiet = 0
    for _ in range(40):
        found = mercer.describe_groups(
            RNG.choice(["a", "b", "c"], 90), RNG.normal(size=(90, 8))
        )
        quiet += not any(found.traits)
    assert quiet >= 32


def test_what_cannot_be_described_is_refused():
    with pytest.raises(InputError, match="two or more"):
        mercer.describe_groups(["a"] * 5, np.ones((5, 2)))
    with pytest.raises(InputError, match="one cell per row"):
        columns_of({"a": [1.0, 2.0]}, 3)
    with pytest.raises(InputError, match="frame, a table or a mapping"):
        columns_of(np.ones(3), 3)


@dataclasses.dataclass(frozen=True)
class Inner:
    numbers: np.ndarray
    word: str = "a"


@dataclasses.dataclass(frozen=True)
class Outer:
    parts: tuple[Inner, ...]
    count: int = 3


def test_values_inside_values_become_plain_data():
    found = plain(Outer((Inner(np.array([[1.5, 2.0]])), Inner(np.arange(2)))))
    assert found == {
        "parts": [{"numbers": [[1.5, 2.0]], "word": "a"}, {"numbers": [0, 1], "word": "a"}],
        "count": 3,
    }
    assert json.loads(json.dumps(found)) == found


X, y = load_iris(return_X_y=True)


def test_separation_is_told_by_squared_correlations():
    two = y < 2
    found = separation(X[two], y[two], 2)
    wanted = [np.corrcoef(z, y[two])[0, 1] ** 2 for z in found.pca.T]
    np.testing.assert_allclose(found.eta2_pca, wanted, rtol=1e-10)
    assert found.lda.shape == (100, 1)
    found = separation(X, y, 2)
    assert found.gain >= 0
    rng = np.random.default_rng(0)
    from mercer.studies._separation import eta2

    assert eta2(X @ rng.normal(size=(4, 500)), y).max() <= found.eta2_lda[0] + 1e-12
    assert "LDA" in str(found)


@pytest.mark.parametrize("groups", [2, 3])
def test_both_maps_are_drawn(groups):
    few = y < groups
    panels = separation(X[few], np.array(list("abc"))[y[few]]).panels()
    text = plots.figure(panels)
    assert "PCA" in text
    assert "LDA" in text


CELLS = {"a": [1, 2, None], "b": ["x", None, "y"], "c": [True, False, True]}


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_frames_give_numbers_and_levels(kind):
    found = columns_of(kind(CELLS), 3)
    np.testing.assert_array_equal(found.numbers["a"], [1, 2, np.nan])
    at, kinds = found.levels["b"]
    assert (at.tolist(), kinds) == ([0, -1, 1], ["x", "y"])
    assert found.levels["c"][1] == ["False", "True"]


def test_mappings_arrays_and_text_that_looks_like_numbers():
    assert columns_of(None, 3).numbers == {}
    assert list(columns_of(np.ones((3, 2)), 3, ["p", "q"]).numbers) == ["p", "q"]
    assert columns_of({"g": ["a", "b", "a"]}, 3).levels["g"][1] == ["a", "b"]
    found = columns_of(
        {"t": np.array(["1", "2"] * 20, object), "id": np.arange(40).astype(str)}, 40
    )
    assert list(found.levels) == ["t"]
    assert found.skipped == ("id",)


def test_gaps_names_and_levels_of_every_kind():
    frame = pd.DataFrame(
        {
            "object": pd.Series(["a", pd.NA, "b"], dtype=object),
            "string": pd.Series(["a", None, "b"], dtype="string"),
            "flag": pd.Series([True, None, False], dtype="boolean"),
            "date": pd.to_datetime(["2020-01-01", None, "2021-01-01"]),
        }
    )
    for at, kinds in columns_of(frame, 3).levels.values():
        assert len(kinds) == 2
        assert at.tolist().index(-1) == 1
    assert coded([pd.NA, "x", pd.NaT])[0].tolist() == [-1, 0, -1]
    table = np.arange(6.0).reshape(3, 2)
    for labels, names in (
        ([10, 5], ["10", "5"]),
        (pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]), ["a 1", "a 2"]),
    ):
        assert list(columns_of(pd.DataFrame(table, columns=labels), 3).numbers) == names
    with pytest.raises(InputError, match="called 'a'"):
        columns_of(pd.DataFrame(table, columns=["a", "a"]), 3)
    with pytest.raises(InputError, match="1 names, 2 columns"):
        columns_of(table, 3, ["a"])
    assert coded([10, 2, 10])[1] == ["2", "10"]
    assert coded(pd.cut([-5.0, 3.0], [-6, 0, 4]))[1] == ["(-6, 0]", "(0, 4]"]


@pytest.mark.parametrize(("n", "most", "count"), [(10, 20, 10), (2001, 2000, 2000), (7, 2, 2)])
def test_rows_are_spread_from_the_first_to_the_last(n, most, count):
    found = evenly(n, most)
    assert (len(found), found[0], found[-1]) == (count, 0, n - 1)
    assert len(np.unique(found)) == count


def test_rows_and_axes_that_are_looked_at(rng):
    X = (rng.normal(size=(50, 3)) + 1e6).astype(np.float32)
    rows, axes = rows_seen(KernelPCA(), X, 20, 0)
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(rows, X[evenly(50, 20)])
    assert 1 <= axes <= 3
    X = rng.normal(size=(300, 6)) * [10, 10, 10, 1, 1, 1]
    share = np.cumsum(np.linalg.eigvalsh(np.cov(X.T))[::-1])
    assert rows_seen(KernelPCA(), X, 300, 0)[1] == np.sum(share < 0.95 * share[-1]) + 1
    X = scipy.sparse.csc_array(np.maximum(rng.normal(size=(40, 6)) - 0.5, 0))
    rows, _ = rows_seen(KernelPCA(), X, 30, 0)
    assert scipy.sparse.issparse(rows)
    np.testing.assert_array_equal(few(rows, 40), rows.toarray())
    assert few(rows, 10).shape == (10, 6)
    X = rng.normal(size=(100, 3))
    X[1, 2] = np.nan
    with pytest.raises(InputError, match="NaN at row 1, column 2"):
        rows_seen(KernelPCA(), X, 10, 0)


def test_standardised_rows_have_one_unit_and_constant_columns_do_no_harm(rng):
    X = np.c_[rng.normal(size=(50, 2)) * [1e-8, 1e8], np.full(50, 7.0)]
    with pytest.warns(DataWarning, match="constant columns"):
        rows, axes = rows_seen(KernelPCA(standardize=True), X, 50, 0)
    expected = StandardScaler().fit_transform(X)[:, :2]
    ratio = rows[:, :2] / expected
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-9)
    assert np.ptp(rows[:, 2]) == 0
    assert axes == 2


@pytest.mark.parametrize("unit", [1e200, 1e-200])
def test_numbers_whose_squares_are_none_are_refused(rng, unit):
    with pytest.raises(InputError, match="leave the range of float64"):
        rows_seen(KernelPCA(), rng.normal(size=(20, 2)) * unit, 20, 0)


DRAWS = np.random.default_rng(0)
CENTRES = np.array([[0, 0, 0, 0], [9, 0, 0, 0], [0, 9, 0, 0], [9, 9, 9, 0]])
TRUTH = np.repeat(np.arange(4), 50)
ROWS = CENTRES[TRUTH] + DRAWS.standard_normal((200, 4))


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


def test_rows_are_gathered_and_joined_by_ward(monkeypatch):
    model = mercer.PCA(2).fit(ROWS)
    found = mercer.cluster(model, ROWS, clusters=5, consolidate=False)
    wanted = fcluster(linkage(model.transform(ROWS), "ward"), 5, "maxclust")
    assert adjusted_rand_score(wanted, found.labels) == 1
    monkeypatch.setattr(room, "_TREE", 100)
    monkeypatch.setattr(room, "_SEEDS", 30)
    found = mercer.cluster(mercer.PCA(3).fit(ROWS), ROWS, clusters=4)
    assert adjusted_rand_score(TRUTH, found.labels) == 1


def test_weighted_points_make_the_tree_of_repeated_ones():
    points = DRAWS.standard_normal((12, 2))
    weights = DRAWS.integers(1, 5, 12)
    whole = np.repeat(points, weights, axis=0)
    home = np.repeat(np.arange(12), weights)
    for g in (2, 3, 5):
        few = fcluster(room._weighted_ward(points, weights.astype(float)), g, "maxclust")
        many = fcluster(linkage(whole, "ward"), g, "maxclust")
        assert adjusted_rand_score(few[home], many) == 1


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


def families(seed, n=100):
    rng = np.random.default_rng(seed)
    X, beside = rng.standard_normal((n, 20)), rng.standard_normal((n, 20))
    sup = {f"s{j}": beside[:, j] for j in range(20)}
    found = mercer.describe_axes(mercer.PCA(3).fit(X), X, sup=sup)
    return [any(t.name.startswith("s") for t in traits) for traits in found.traits]


def test_columns_beside_are_a_family_of_their_own():
    listed = [one for seed in range(40) for one in families(seed)]
    assert np.mean(listed) <= 0.1  # 120 axes; 5 % where the columns are independent


def test_a_few_rows_of_columns_with_long_tails_have_no_traits():
    false = 0
    for seed in range(100):
        X = np.exp(np.random.default_rng(seed).standard_normal((100, 20)))
        found = mercer.describe_groups(["a"] * 6 + ["b"] * 94, X)
        false += bool(found.traits[0])
    assert false <= 11  # 5 of 100, and two standard errors and a half


@pytest.mark.parametrize("m", [1, 2, 6, 40])
def test_chances_of_a_draw_are_those_of_many_draws(m):
    rng = np.random.default_rng(0)
    x = np.exp(rng.standard_normal(100))
    x = (x - x.mean()) / x.std()
    sums = np.array([x[rng.permutation(100)[:m]].sum() for _ in range(20_000)])
    for level in (0.9, 0.99, 0.999):
        inside = np.isin(np.arange(100), rng.permutation(100)[:m])
        while x[inside].sum() < np.quantile(sums, level):
            inside = np.isin(np.arange(100), rng.permutation(100)[:m])
        seen = np.mean(sums >= x[inside].sum())
        assert drawn_tail(x, inside) == pytest.approx(seen, rel=0.15, abs=1e-3)
    top = np.argsort(-x)[:m]
    assert drawn_tail(x, np.isin(np.arange(100), top)) == pytest.approx(
        1 / comb(100, m), rel=0.9
    )


def grouped(kind, seed, n=120, axes=2):
    rng = np.random.default_rng([seed, axes])
    if kind == "t5":
        return rng.standard_t(5, (n, axes))
    if kind == "uniform":
        return rng.uniform(size=(n, axes))
    X, at = rng.standard_normal((n, axes)), rng.integers(0, int(kind), n)
    X[:, 0] += 7 * (at % 2)
    X[:, 1] += 7 * (at // 2)
    return X


@pytest.mark.parametrize("kind", ["1", "t5", "uniform", "2", "4"])
@pytest.mark.parametrize("axes", [2, 6])
def test_no_groups_is_an_answer_and_groups_are_counted(kind, axes):
    wanted = int(kind) if kind.isdigit() else 1
    found = []
    for seed in range(8):
        X = grouped(kind, seed, axes=axes)
        made = mercer.cluster(mercer.PCA(axes).fit(X), X)
        found.append(len(made.sizes))
        assert (str(made).startswith("No groups: 120 rows")) == (len(made.sizes) == 1)
    assert found.count(wanted) >= 7
