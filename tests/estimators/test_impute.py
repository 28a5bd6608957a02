import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from mixed_tables import mixed_frame, with_gaps

import mercer
from mercer.errors import InputError


def _arrow(frame):
    return pa.table({name: pa.array(frame[name], from_pandas=True) for name in frame})


@pytest.fixture(scope="module")
def case():
    whole = mixed_frame(400, noise=0.2).drop(columns="place")
    holed, holes = with_gaps(whole, 0.15)
    return whole, holed, holes


def test_held_out_cells_come_back_better_than_by_columns_alone(case):
    whole, holed, holes = case
    found = mercer.impute(holed)
    for at, name in enumerate(whole.columns):
        gaps, true = holes[:, at], whole[name][holes[:, at]]
        if whole[name].dtype.kind == "f":
            error = np.mean((found[name][gaps] - true) ** 2)
            assert error < 0.7 * np.mean((holed[name].mean() - true) ** 2)
        else:
            right = np.mean(found[name][gaps] == true)
            assert right > np.mean(holed[name].mode()[0] == true) + 0.2
    assert not found.isna().any().any()
    there = ~holes
    assert (found.to_numpy(object)[there] == whole.to_numpy(object)[there]).all()


def test_a_table_of_rank_two_without_noise_comes_back_exactly(rng):
    X = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 7)) + 3
    holed = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    np.testing.assert_allclose(mercer.impute(holed), X, rtol=0, atol=1e-4)


def test_the_kind_of_frame_stays(case):
    _whole, holed, _ = case
    holed = holed.assign(
        mood=pd.Categorical(holed["mood"], categories=["sad", "glad"], ordered=True),
        whole=pd.array([None, *range(1, 400)], dtype="Int64"),
        yes=pd.array([None, *([True, False] * 200)][:400], dtype="boolean"),
    )
    holed.index = holed.index[::-1]
    before = holed.copy()
    found = mercer.impute(holed)
    pd.testing.assert_frame_equal(holed, before)
    assert list(found.index) == list(holed.index)
    assert found["mood"].dtype == holed["mood"].dtype
    assert str(found["yes"].dtype) == "boolean"
    assert found["whole"].dtype.kind == "f"
    names = ["size", "mood"]
    for kind in (pl.from_pandas, _arrow):
        frame = kind(case[1])
        other = mercer.impute(frame)
        assert type(other) is type(frame)
        assert [str(t) for t in other.schema] == [str(t) for t in frame.schema]
        back = other.to_pandas()
        assert (
            back[names].astype(str) == found[names].astype(str).reset_index(drop=True)
        ).mean().min() > 0.97
    cells = mercer.impute(case[1].to_numpy(object))
    assert cells.dtype == object
    assert isinstance(
        mercer.impute(case[1][list("abcd")].dropna(how="all").to_numpy()), np.ndarray
    )


def test_complete_data_come_back_as_they_are(case):
    whole = case[0]
    assert mercer.impute(whole) is whole
    once = mercer.impute(case[1])
    assert mercer.impute(once) is once


def test_categories_alone_by_mca(case):
    whole, holed, _holes = case
    three = holed[["size", "mood"]].assign(code=pd.cut(whole["a"], 4, labels=False))
    three = three[~three.isna().all(axis=1)]
    found = mercer.impute(three, 2, "mca")
    assert not found.isna().any().any()
    assert set(found["size"]) == {"s", "m", "l"}
    assert found["code"].equals(three["code"])


def test_codes_are_filled_with_codes():
    given = pd.DataFrame({"x": [1.0, 1.1, 0.9, 5, 5.1, 4.9], "code": [1, 1, None, 7, 7, 7]})
    assert mercer.impute(given, 1, categorical=["code"])["code"].tolist() == [1, 1, 1, 7, 7, 7]


def test_new_rows_are_filled_by_a_model(case):
    whole, holed, _ = case
    model = mercer.FAMD(2, missing="fill").fit(holed)
    new = whole.iloc[:4].copy()
    new.loc[1, "size"] = None
    new.loc[2, "b"] = np.nan
    found = model.impute(new)
    assert found["size"].iloc[1] in ("s", "m", "l")
    assert abs(found["b"].iloc[2] - whole["b"].iloc[2]) < whole["b"].std()
    pd.testing.assert_frame_equal(found.drop(index=[1, 2]), whole.iloc[[0, 3]])


def test_constant_columns_are_filled_with_their_value():
    given = pd.DataFrame(
        {"x": [1.0, 2, 3, 9], "flat": [5, None, 5, 5], "one": ["a", "a", None, "a"]}
    )
    with pytest.warns(mercer.DataWarning, match="'flat', 'one'"):
        found = mercer.impute(given, 1)
    assert found["flat"].tolist() == [5] * 4
    assert found["one"].tolist() == ["a"] * 4


def test_what_cannot_be_filled_is_refused(case):
    holed = case[1].copy()
    holed.iloc[[3, 8]] = None
    with pytest.raises(InputError, match="row 3, 8 of 400"):
        mercer.impute(holed)
    with pytest.raises(InputError, match="'void'"):
        mercer.impute(case[1].assign(void=None))
    with pytest.raises(InputError, match="method='knn'"):
        mercer.impute(case[1], 2, "knn")
    with pytest.raises(InputError, match=r"infinity at row 2, column 0 \('a'\)"):
        mercer.impute(case[1].assign(a=[0, 1, np.inf] + [2.0] * 397))


@pytest.mark.parametrize("kind", ["cut", "cut as objects", "months", "dates"])
@pytest.mark.parametrize("method", ["famd", "mca"])
def test_filled_categories_are_cells_as_they_were_given(kind, method):
    rng = np.random.default_rng(0)
    z = rng.standard_normal(60)
    made = {
        "cut": pd.Series(pd.cut(z, 3)),
        "cut as objects": pd.Series(pd.cut(z, 3)).astype(object),
        "months": pd.Series(pd.PeriodIndex(np.where(z > 0, "2020-01", "2021-07"), freq="M")),
        "dates": pd.Series(pd.to_datetime(np.where(z > 0, "2020-01-01", "2021-01-01"))).dt.date,
    }[kind]
    other = np.where(z > 0.2, "r", "s") if method == "mca" else z
    given = pd.DataFrame({"z": other, "t": np.where(z > 0, "u", "v"), "c": made.mask(z > 1)})
    found = mercer.impute(given, 1, method)["c"]
    assert found.dtype == given["c"].dtype
    assert set(found) <= set(made)
    assert not found.isna().any()
