"""Data described in words and columns."""

import dataclasses
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import KernelPCA, plots
from mercer.errors import DataWarning, InputError
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


def test_traits_of_groups_are_tested_and_noise_has_none():
    found = mercer.describe_groups(SIDE["side"], FRAME.assign(coin=SIDE["coin"]))
    assert list(found.names) == ["left", "right"]
    right = {t.name: t for t in found.traits[1]}
    assert set(right) == {"with", "against"}
    assert right["with"].here == pytest.approx(FRAME["with"][FACTOR > 0].mean())
    assert right["with"].overall == pytest.approx(FRAME["with"].mean())
    assert found.words[1].startswith("right: high with; low against")


def test_levels_of_groups_have_their_shares():
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


def test_one_group_is_refused():
    with pytest.raises(InputError, match="two or more"):
        mercer.describe_groups(["a"] * 5, np.ones((5, 2)))


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


def test_shares_between_classes_are_squared_correlations():
    """For two classes η² is the squared correlation with the class."""
    two = y < 2
    found = separation(X[two], y[two], 2)
    wanted = [np.corrcoef(z, y[two])[0, 1] ** 2 for z in found.pca.T]
    np.testing.assert_allclose(found.eta2_pca, wanted, rtol=1e-10)
    assert found.lda.shape == (100, 1)


def test_no_axis_tells_classes_better_than_the_first_of_lda():
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


def test_mappings_and_arrays_and_nothing():
    assert columns_of(None, 3).numbers == {}
    assert list(columns_of(np.ones((3, 2)), 3, ["p", "q"]).numbers) == ["p", "q"]
    assert columns_of({"g": ["a", "b", "a"]}, 3).levels["g"][1] == ["a", "b"]


def test_text_that_looks_like_numbers_is_text_and_names_of_rows_are_skipped():
    found = columns_of(
        {"t": np.array(["1", "2"] * 20, object), "id": np.arange(40).astype(str)}, 40
    )
    assert list(found.levels) == ["t"]
    assert found.skipped == ("id",)


def test_columns_of_other_lengths_are_refused():
    with pytest.raises(InputError, match="one cell per row"):
        columns_of({"a": [1.0, 2.0]}, 3)
    with pytest.raises(InputError, match="frame, a table or a mapping"):
        columns_of(np.ones(3), 3)


def test_gaps_of_pandas_are_missing_in_every_type():
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


def test_names_of_any_kind_and_levels_in_their_order():
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


def test_rows_are_float64_and_as_many_as_asked_for(rng):
    X = (rng.normal(size=(50, 3)) + 1e6).astype(np.float32)
    rows, axes = rows_seen(KernelPCA(), X, 20, 0)
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(rows, X[evenly(50, 20)])
    assert 1 <= axes <= 3


def test_standardised_rows_have_one_unit_and_constant_columns_do_no_harm(rng):
    X = np.c_[rng.normal(size=(50, 2)) * [1e-8, 1e8], np.full(50, 7.0)]
    with pytest.warns(DataWarning, match="constant columns"):
        rows, axes = rows_seen(KernelPCA(standardize=True), X, 50, 0)
    expected = StandardScaler().fit_transform(X)[:, :2]
    ratio = rows[:, :2] / expected
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-9)
    assert np.ptp(rows[:, 2]) == 0
    assert axes == 2


def test_axes_are_those_of_95_per_cent(rng):
    X = rng.normal(size=(300, 6)) * [10, 10, 10, 1, 1, 1]
    share = np.cumsum(np.linalg.eigvalsh(np.cov(X.T))[::-1])
    assert rows_seen(KernelPCA(), X, 300, 0)[1] == np.sum(share < 0.95 * share[-1]) + 1


def test_sparse_rows_stay_sparse_until_they_are_few(rng):
    X = scipy.sparse.csc_array(np.maximum(rng.normal(size=(40, 6)) - 0.5, 0))
    rows, _ = rows_seen(KernelPCA(), X, 30, 0)
    assert scipy.sparse.issparse(rows)
    np.testing.assert_array_equal(few(rows, 40), rows.toarray())
    assert few(rows, 10).shape == (10, 6)


def test_a_bad_cell_is_found_even_if_its_row_is_not_looked_at(rng):
    X = rng.normal(size=(100, 3))
    X[1, 2] = np.nan
    with pytest.raises(InputError, match="NaN at row 1, column 2"):
        rows_seen(KernelPCA(), X, 10, 0)


@pytest.mark.parametrize("unit", [1e200, 1e-200])
def test_numbers_whose_squares_are_none_are_refused(rng, unit):
    with pytest.raises(InputError, match="leave the range of float64"):
        rows_seen(KernelPCA(), rng.normal(size=(20, 2)) * unit, 20, 0)
