"""What a page about categories knows, against counts and correlations by hand."""

import numpy as np
import pandas as pd
import polars as pl
from tests.report.family_tables import eta2, poison, symptoms

import mercer
from mercer.report.facts._categories_summary import categories_seen

X, FULL = symptoms(), poison()
MODEL = mercer.MultipleCorrespondenceAnalysis(2).fit(X)


def test_levels_are_counted():
    seen = categories_seen(MODEL, X)
    for name in X:
        for level, number in X[name].value_counts().items():
            assert seen.counts[f"{name}={level}"] == number
    assert list(seen.levels) == list(range(len(MODEL.column_names_)))
    assert sum(seen.counts.values()) == X.size


def test_links_are_correlation_ratios_and_squared_correlations():
    seen = categories_seen(mercer.FAMD(2).fit(FULL), FULL)
    Z = seen.Z
    for j, name in enumerate(seen.model.variables_):
        column = FULL[name].to_numpy()
        number = name in seen.numbers
        for a in range(2):
            by_hand = (
                np.corrcoef(column.astype(float), Z[:, a])[0, 1] ** 2
                if number
                else eta2(Z[:, a], column)
            )
            assert np.isclose(seen.links[j, a], by_hand)
    assert set(seen.numbers) == {"Age", "Time"}
    assert seen.band is None
    assert seen.adjusted == {}


def test_supplementary_columns_are_placed_and_change_nothing():
    sup = {"Age": FULL["Age"].to_numpy(float), "old": np.where(FULL["Age"] > 8, "yes", "no")}
    seen = categories_seen(MODEL, X, sup)
    assert seen.beside.numbers == ["Age"]
    r = np.corrcoef(FULL["Age"], seen.Z[:, 0])[0, 1]
    assert np.isclose(seen.beside.correlations[0, 0], r)
    assert np.isclose(seen.beside.eta2[0, 0], eta2(seen.Z[:, 0], sup["old"]))
    assert categories_seen(MODEL, X.iloc[:9], {"Age": np.arange(9.0)}).beside is None


def test_cells_without_a_level_are_missing_ones():
    frame = X.copy()
    frame.iloc[4, 0] = None
    model = mercer.MultipleCorrespondenceAnalysis(2, missing="passive").fit(frame)
    sick = categories_seen(model, frame).categories["Sick"]
    assert sick.levels[sick.at[4]] == "(missing)"
    assert sick.levels[sick.at[5]] == frame["Sick"].iloc[5]


def test_polars_tells_the_same():
    frame = pl.from_pandas(X.reset_index(drop=True))
    model = mercer.MultipleCorrespondenceAnalysis(2).fit(frame)
    assert np.allclose(categories_seen(model, frame).links, categories_seen(MODEL, X).links)


def test_large_tables_are_not_shuffled(monkeypatch):
    monkeypatch.setattr("mercer.report.facts._categories_summary._CHANCE", 10)
    assert categories_seen(MODEL, X).beyond is None


def test_a_single_variable_has_no_adjusted_share():
    frame = pd.DataFrame({"x": list("aabbcc")})
    model = mercer.MultipleCorrespondenceAnalysis(2).fit(frame)
    assert categories_seen(model, frame).adjusted == {}
