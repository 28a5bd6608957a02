"""Filled categories against factor analysis of mixed data, and against the truth."""

import numpy as np
import pandas as pd
import pytest
from written_mca import like, tables

import mercer
from mercer.errors import InputError
from mercer.estimators.categories._category_codes import coded
from mercer.estimators.categories.multiple_correspondence import filler_of, softened

MCA = mercer.MultipleCorrespondenceAnalysis


@pytest.fixture(name="pair")
def _pair(rng):
    whole = tables(rng, 200, strength=2.0)
    holed = whole.copy()
    holed[rng.random(whole.shape) < 0.15] = None
    holed[0] = whole[0]
    return whole, holed


def test_soft_cells_are_rows_of_the_indicator(rng, pair):
    _, holed = pair
    weights = rng.random(200) + 0.5
    table = softened(
        coded(holed, missing="fill"), holed, filler_of(holed, 2, None), unseen="raise"
    )
    z = table.indicator().toarray()
    np.testing.assert_allclose(z.sum(axis=1), 4)
    whole = (table.codes >= 0).all(axis=1)
    assert set(np.unique(z[whole])) == {0.0, 1.0}
    np.testing.assert_allclose(table.shares(weights), weights @ z)
    np.testing.assert_allclose(
        table.burt(weights), z.T @ (weights[:, None] * z), rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(table.burt(), z.T @ z, rtol=0, atol=1e-12)
    kept = rng.random(z.shape[1]) < 0.6
    np.testing.assert_allclose(table.indicator(kept).toarray(), z[:, kept])


def test_the_axes_are_those_of_mixed_data_without_numbers(pair):
    _, holed = pair
    found, mixed = MCA(2, missing="fill").fit(holed), mercer.FAMD(2, missing="fill").fit(holed)
    np.testing.assert_allclose(found.eigenvalues_, mixed.eigenvalues_ / 4, rtol=1e-6)
    like(found.row_coordinates_, mixed.row_coordinates_ / 2, 1e-5)
    np.testing.assert_allclose(
        found.transform(holed), found.row_coordinates_, rtol=0, atol=1e-12
    )


def test_the_numbers_about_points_add_up(pair):
    _, holed = pair
    for options in ({}, {"table": "burt"}, {"correction": "greenacre"}, {"exclude": ["x1=l0"]}):
        found = MCA(None, missing="fill", **options).fit(holed)
        np.testing.assert_allclose(found.column_inertias_.sum(), found.total_inertia_)
        np.testing.assert_allclose(found.column_contributions_.sum(axis=0), 1)
        np.testing.assert_allclose(found.row_contributions_.sum(axis=0), 1)
    plain = MCA(None, missing="fill").fit(holed)
    np.testing.assert_allclose(plain.row_inertias_.sum(), plain.total_inertia_)
    np.testing.assert_allclose(plain.row_cos2_.sum(axis=1), 1, rtol=0, atol=1e-6)
    np.testing.assert_allclose(plain.explained_variance_ratio_.sum(), 1)


def test_what_was_lost_is_nearer_than_with_other_policies(pair):
    whole, holed = pair
    truth = MCA(1).fit(whole).row_coordinates_[:, 0]

    def close(missing):
        rows = MCA(1, missing=missing).fit(holed).row_coordinates_[:, 0]
        return abs(np.corrcoef(rows, truth)[0, 1])

    assert close("fill") > max(close("passive"), close("level"))


def test_a_table_without_gaps_is_left_alone_and_new_rows_are_filled(pair):
    whole, holed = pair
    found, plain = MCA(2, missing="fill").fit(whole), MCA(2).fit(whole)
    np.testing.assert_array_equal(found.row_coordinates_, plain.row_coordinates_)
    rows = found.transform(holed)
    there = np.array([None not in row.tolist() for row in holed])
    np.testing.assert_allclose(rows[there], plain.row_coordinates_[there])
    passive = MCA(2, missing="passive").fit(whole).transform(holed)
    truth = plain.row_coordinates_
    assert np.sum((rows - truth) ** 2) < np.sum((passive - truth) ** 2)


def test_weights_frames_and_files(rng, pair, tmp_path):
    _, holed = pair
    counts = rng.integers(1, 3, 200)
    weighted = MCA(2, missing="fill").fit(holed, sample_weight=counts)
    repeated = MCA(2, missing="fill").fit(np.repeat(holed, counts, axis=0))
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-6)
    frame = pd.DataFrame(holed, columns=list("abcd"))
    found = MCA(2, missing="fill").fit(frame)
    assert "_given" not in vars(found)
    mercer.save(found, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_array_equal(again.transform(frame), found.transform(frame))


def test_a_stranger_is_no_gap(pair):
    _, holed = pair
    found = MCA(2, missing="fill").fit(holed)
    new = holed[:3].copy()
    new[1, 1] = "never"
    with pytest.raises(InputError, match="'never' at row 1, column 1"):
        found.transform(new)
