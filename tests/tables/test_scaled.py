import numpy as np
import pytest

from mercer.errors import BudgetError
from mercer.sources import ArrayBlocks, DenseSource
from mercer.tables import Asked, Recipe, in_memory, look, prepared, prepared_again
from mercer.tables.preparing._table_scales import divided, scaled

X = np.random.default_rng(0).normal(size=(40, 3)) * [1.0, 50.0, 1e4]
RECIPE = Recipe(("a", "b", "c"), ("a", "b", "c"))


def written(tmp_path, rows=X, name="t.csv"):
    head = "a,b,c"
    np.savetxt(tmp_path / name, rows, delimiter=",", header=head, comments="", fmt="%.17g")
    return tmp_path / name


def test_rows_are_divided_where_the_method_does_not(tmp_path):
    seen = look(written(tmp_path), Asked())
    made = prepared(seen, scales="table")
    assert not made.standardize
    assert np.allclose(made.rows.to_numpy().std(axis=0, ddof=1), 1.0)
    assert np.allclose(list(made.recipe.scales.values()), X.std(axis=0, ddof=1))
    assert "standardised" in "\n".join(made.said)
    assert prepared(seen, scales="method").standardize
    free = prepared(seen, scales="none")
    assert not free.standardize
    assert not free.recipe.scales
    assert "scale" not in "\n".join(free.said)


def test_new_rows_are_divided_by_the_deviations_of_the_fit(tmp_path):
    recipe = prepared(look(written(tmp_path), Asked()), scales="table").recipe
    new = written(tmp_path, X[:5] * 3, "new.csv")
    again = prepared_again(new, Recipe.of(recipe.plain()))
    assert np.allclose(again.rows.to_numpy(), X[:5] * 3 / X.std(axis=0, ddof=1))


def test_a_turned_table_is_divided_too(tmp_path):
    lines = ["gene,s1,s2,s3,s4", "a,1,2,3,4", "b,100,900,300,500"]
    (tmp_path / "g.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    asked = Asked(transpose=True)
    made = prepared(look(tmp_path / "g.csv", asked), scales="table")
    assert np.allclose(made.rows.to_numpy().std(axis=0, ddof=1), 1.0)
    again = prepared_again(tmp_path / "g.csv", Recipe.of(made.recipe.plain()))
    assert again.rows.equals(made.rows)


def test_a_constant_column_stays_as_it_is():
    import polars as pl

    frame = pl.DataFrame({"a": [1.0, 2.0], "b": [3.0, 3.0], "c": [0.0, 4.0]})
    rows, recipe = scaled(frame, RECIPE, None)
    assert rows["b"].to_list() == [3.0, 3.0]
    assert recipe.scales["b"] == 1.0
    assert divided(frame, RECIPE, None) is frame


def test_rows_are_held_or_refused():
    source = ArrayBlocks(DenseSource(X))
    assert np.array_equal(in_memory(source, RECIPE, None).to_numpy(), X)
    with pytest.raises(BudgetError, match="needs all rows in memory"):
        in_memory(source, RECIPE, 100.0)
