"""A table to its analysis in Python: what the command line does, of files and frames."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import mercer
from mercer.errors import InputError

DATA = Path(__file__).parents[1] / "data"
PENGUINS = DATA / "penguins.csv"
BODY = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


def test_a_frame_is_the_file():
    file = mercer.analyse(PENGUINS)
    frame = mercer.analyse(pl.read_csv(PENGUINS, null_values="NA"))
    assert file.method == frame.method == "pca"
    assert list(file.rows.recipe.columns) == list(frame.rows.recipe.columns) == BODY
    assert np.array_equal(file.model.explained_variance_, frame.model.explained_variance_)
    X = pl.read_csv(PENGUINS, null_values="NA").select(BODY).drop_nulls().to_numpy()
    values = np.linalg.eigvalsh(np.corrcoef(X.T))[::-1]
    k = file.model.n_components_
    assert np.allclose(file.model.explained_variance_, values[:k], rtol=1e-9)


def test_the_account_is_the_same_in_python_and_on_the_page():
    found = mercer.analyse(PENGUINS)
    assert found.verdict[0] == found.account
    assert str(found).splitlines()[0] == found.account
    assert "standardised" in found.account
    assert "species, island, sex and year colour the map" in found.account
    assert "<!doctype html" in found._repr_html_() or "iframe" in found._repr_html_()


@pytest.mark.parametrize("kind", ["pandas", "numpy"])
def test_other_tables_in_memory(kind, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(DATA / "USArrests.csv", index_col=0)
    given = frame if kind == "pandas" else frame.to_numpy()
    page = mercer.report(given, tmp_path / "p.html")
    assert (tmp_path / "p.html").read_text(encoding="utf-8") == page.html
    seen = mercer.look(given)
    assert seen.rows == 50
    assert seen.named("id") == (("state",) if kind == "pandas" else ())


def test_what_is_asked_goes_first():
    found = mercer.analyse(PENGUINS, columns=BODY[:3], standardize="no", n_components=1)
    assert found.model.n_components_ == 1
    assert not found.model.standardize
    assert found.rows.recipe.columns == tuple(BODY[:3])
    lda = mercer.analyse(DATA / "iris.csv", target="Species")
    assert lda.method == "lda"
    long = mercer.analyse(DATA / "HairEyeColor_long.csv", rows_by="Hair", columns_by="Eye")
    assert long.model.independence_.chi2 == pytest.approx(138.3, abs=0.05)
    with pytest.raises(InputError, match="no such method"):
        mercer.analyse(PENGUINS, method="pac")
    with pytest.raises(InputError, match="no parameter 'colour'"):
        mercer.analyse(PENGUINS, colour="species")
    with pytest.raises(InputError, match="no table"):
        mercer.analyse(object())
