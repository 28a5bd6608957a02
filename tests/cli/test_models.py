import numpy as np
import polars as pl
import pytest

import mercer
from mercer.cli._model_argument import axes_of, filling_of, loaded, recipe_of
from mercer.errors import InputError

X = np.random.default_rng(0).standard_normal((20, 3))


@pytest.fixture
def files(tmp_path):
    frame = pl.DataFrame({c: X[:, i] for i, c in enumerate("abc")})
    frame.write_csv(tmp_path / "t.csv")
    mercer.save(mercer.PCA(2).fit(frame), tmp_path / "m.mercer")
    return str(tmp_path / "m.mercer"), str(tmp_path / "t.csv")


def test_a_model_of_python_has_the_names_of_its_frame(files):
    model = loaded(*files, "transform")
    assert recipe_of(model).columns == ("a", "b", "c")
    assert axes_of(model) == ["PC1", "PC2"]
    with pytest.raises(InputError, match="names of its columns"):
        recipe_of(mercer.PCA(2).fit(X))


def test_an_unfitted_model_is_refused(tmp_path, files):
    mercer.save(mercer.PCA(2), tmp_path / "u.mercer")
    with pytest.raises(InputError, match="not fitted"):
        loaded(str(tmp_path / "u.mercer"), files[1], "transform")


def test_a_model_that_filled_cells_fills_those_of_new_rows():
    gappy = X.copy()
    gappy[3, 1] = np.nan
    assert filling_of(mercer.PCA(1, missing="em").fit(gappy)) == "em"
    assert filling_of(mercer.PCA(1).fit(X)) == "raise"


def test_models_of_python_say_what_their_columns_are():
    frame = pl.DataFrame({"a": ["x", "y", "x"], "b": [1, 2, 2]})
    recipe = recipe_of(mercer.MultipleCorrespondenceAnalysis(1).fit(frame))
    assert recipe.table == "categories"
    assert recipe.categories == {"a": "text", "b": "whole"}
    counts = pl.DataFrame({"a": [3, 1], "b": [1, 4]})
    assert recipe_of(mercer.CorrespondenceAnalysis(1).fit(counts)).table == "counts"


def test_a_model_that_does_not_say_is_refused():
    model = mercer.FAMD()
    model.feature_names_in_ = ("a", "b")
    with pytest.raises(InputError, match="which columns are categories"):
        recipe_of(model)


def test_a_model_of_categories_says_what_becomes_of_missing_cells():
    kind = mercer.MultipleCorrespondenceAnalysis
    assert filling_of(kind(missing="passive")) == "passive"
    assert filling_of(kind()) == "raise"
