"""Correspondence analyses that others have printed, to their printed precision."""

import numpy as np
import pandas as pd
import pytest
from printed import DATA, PUBLISHED, same_up_to_sign

from mercer import CorrespondenceAnalysis


class Gram(CorrespondenceAnalysis):
    def _allowed(self):
        return ("gram", "dual")


each_path = pytest.mark.parametrize("kind", [CorrespondenceAnalysis, Gram])


def table(name):
    return pd.read_csv(DATA / name, index_col=0, skipinitialspace=True)


@each_path
def test_hair_and_eyes_of_592_students(kind):
    """XploRe tutorial, chapter 13.3."""
    printed = PUBLISHED["hair_eye_CA"]
    model = kind(None).fit(table(printed["data"]))
    np.testing.assert_allclose(model.eigenvalues_, printed["eigenvalues"], atol=5.1e-5)
    shares = 100 * model.explained_variance_ratio_
    np.testing.assert_allclose(shares, printed["percent"], atol=5.1e-5)
    assert model.independence_.chi2 == pytest.approx(printed["chi2"], abs=0.051)
    contributions = 100 * model.column_contributions_
    np.testing.assert_allclose(contributions, printed["col_contrib_percent"], atol=5.1e-5)
    points = model.column_coordinates_ / np.sqrt(model.total_)
    same_up_to_sign(points, printed["col_coords_divided_by_sqrt_n"], 5.1e-5)


@each_path
def test_three_species_at_three_sites(kind):
    """Legendre & Legendre 1998, pp. 458-460, by way of scikit-bio's tests."""
    printed = PUBLISHED["legendre_CA"]
    model = kind(None).fit(table(printed["data"]))
    np.testing.assert_allclose(model.eigenvalues_, printed["eigenvalues"], atol=5.1e-9)
    ratio = model.explained_variance_ratio_
    np.testing.assert_allclose(ratio, printed["proportion"], atol=5.1e-7)
    for scaling, name in (("rowprincipal", "scaling1"), ("colprincipal", "scaling2")):
        sites, species = model.map(scaling)
        points = np.concatenate([sites, species])
        wanted = np.concatenate([printed[f"{name}_samples"], printed[f"{name}_features"]])
        same_up_to_sign(points, wanted, 5.1e-6)


@each_path
def test_punctuation_of_six_french_writers(kind):
    """Abdi & Williams 2010, table 4; signs of rows and columns contradict each other there."""
    printed = PUBLISHED["french_writers_CA"]
    model = kind(2).fit(table(printed["data"]))
    np.testing.assert_allclose(model.eigenvalues_, printed["eigenvalues"], atol=5.1e-5)
    same_up_to_sign(model.row_coordinates_, printed["row_coords"], 5.1e-5)
    columns = printed["col_coords_as_published(opposite sign to rows!)"]
    same_up_to_sign(model.column_coordinates_, columns, 5.1e-5)
    np.testing.assert_allclose(model.row_contributions_, printed["row_contrib"], atol=5.1e-5)
    np.testing.assert_allclose(model.row_cos2_, printed["row_cos2"], atol=5.1e-5)
    row = pd.DataFrame([printed["sup_row_counts"]], columns=model.column_names_)
    new = np.abs(model.transform(row)[0])
    np.testing.assert_allclose(new, printed["sup_row_coord_abs"], atol=5.1e-5)
    beside = np.abs(model.supplementary_columns(table("french_writers_supp.csv")))
    np.testing.assert_allclose(beside, printed["sup_col_coord_abs"], atol=5.1e-5)


@each_path
def test_music_and_colours(kind):
    """Abdi & Bera 2014; the block states its own tolerance."""
    printed = PUBLISHED["music_color_CA"]
    model = kind(2).fit(table(printed["data"]))
    near = printed["tolerance"]
    np.testing.assert_allclose(model.eigenvalues_, printed["eigenvalues"], atol=near)
    assert model.total_inertia_ == pytest.approx(printed["total_inertia"], abs=near)
    same_up_to_sign(model.column_coordinates_, printed["col_coords"], near)


def test_fishers_table_of_caithness():
    """5387 children: the first canonical correlation is known as 0.4464 (Fisher 1940)."""
    model = CorrespondenceAnalysis(None).fit(table("caith_5387.csv"))
    assert np.sqrt(model.eigenvalues_[0]) == pytest.approx(0.4464, abs=5.1e-5)
    assert model.total_ == 5387
