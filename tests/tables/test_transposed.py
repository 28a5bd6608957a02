"""Tables with variables in rows."""

import numpy as np
import polars as pl
import pytest

from mercer import PCA
from mercer.errors import BudgetError, InputError
from mercer.sources import scan
from mercer.tables import Asked, Recipe, look, prepared, prepared_again

GENES = [f"g{i}" for i in range(12)]
SAMPLES = [f"s{i}" for i in range(7)]
TURN = Asked(transpose=True)


def genes(seed=0):
    X = np.random.default_rng(seed).normal(size=(12, 7)).round(4)
    return pl.DataFrame({"gene": GENES, **{s: X[:, j] for j, s in enumerate(SAMPLES)}})


def written(frame, path):
    getattr(frame, f"write_{path.suffix[1:]}")(path)
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_transposed_is_the_plain_table_of_the_transpose(tmp_path, kind):
    frame = genes()
    made = prepared(look(written(frame, tmp_path / f"a.{kind}"), TURN))
    turned = frame.drop("gene").transpose(column_names=GENES)
    plain = prepared(look(written(turned, tmp_path / "b.csv")))
    assert made.rows.equals(plain.rows)
    assert (
        (made.shape, made.standardize) == (plain.shape, plain.standardize) == ((7, 12), False)
    )
    assert made.said[1:] == plain.said
    assert made.said[0] == (
        "rows and columns exchanged (--transpose): 7 rows, 12 columns named by 'gene'"
    )
    assert made.labels().tolist() == SAMPLES
    assert np.allclose(
        PCA(2).fit(made.rows).explained_variance_, PCA(2).fit(plain.rows).explained_variance_
    )


def test_another_file_by_the_names_of_the_variables(tmp_path):
    path = written(genes(), tmp_path / "a.csv")
    made = prepared(look(path, TURN))
    recipe = Recipe.of(made.recipe.plain())
    moved = genes().sample(fraction=1.0, shuffle=True, seed=3)
    more = pl.concat([moved, moved.head(1).with_columns(gene=pl.lit("other"))])
    noted = more.with_columns(note=pl.Series(["u", "v"] * 6 + ["u"]))
    again = prepared_again(written(noted, tmp_path / "b.csv"), recipe)
    assert again.rows.equals(made.rows)
    assert again.labels().tolist() == SAMPLES
    assert again.said == ("columns of text are left out: 'note'",)
    few = prepared_again(written(genes().select("gene", "s3"), tmp_path / "c.csv"), recipe)
    assert few.rows.equals(made.rows[3:4])


def test_variables_that_are_not_there(tmp_path):
    recipe = prepared(look(written(genes(), tmp_path / "a.csv"), TURN)).recipe
    frame = genes().with_columns(gene=pl.Series(["G0", *GENES[1:]]))
    with pytest.raises(InputError) as caught:
        prepared_again(written(frame, tmp_path / "b.csv"), recipe)
    assert caught.value.what == "1 of 12 variables of the model are not there"
    assert caught.value.got == "b.csv: no row is called 'g0'"
    with pytest.raises(InputError, match="lacks 1 of the 1 columns"):
        prepared_again(written(frame.drop("gene"), tmp_path / "c.csv"), recipe)


def test_gaps_are_those_of_variables(tmp_path):
    frame = genes().with_columns(
        s2=pl.when(pl.col("gene") == "g4").then(None).otherwise("s2"), s5=pl.lit(None, float)
    )
    frame = frame.with_columns(s5=pl.Series([None] * 11 + [1.0]))
    path = written(frame, tmp_path / "a.csv")
    assert prepared(look(path, TURN)).missing == "em"
    some = prepared(look(path, Asked(transpose=True, missing="rows")))
    assert some.labels().tolist() == ["s0", "s1", "s3", "s4", "s6"]
    assert some.kept.tolist() == [0, 1, 3, 4, 6]
    less = prepared(look(path, Asked(transpose=True, missing="columns")))
    assert less.recipe.names == ("g11",)
    frame = frame.drop("s5")
    path = written(frame, tmp_path / "b.csv")
    filled = prepared(look(path, TURN))
    assert (filled.missing, filled.n_missing) == ("em", 1)
    with pytest.raises(InputError, match="'g4' 1"):
        prepared_again(path, filled.recipe)
    assert prepared_again(path, filled.recipe, missing="em").n_missing == 1


def test_variables_that_do_not_vary_are_left_out_as_columns_are(tmp_path):
    X = np.random.default_rng(4).normal(size=(40, 30)).round(3)
    X[np.random.default_rng(5).random(X.shape) < 0.02] = np.nan
    X[[3, 7]], X[11], X[5, 4] = 0.0, np.nan, 2000.0
    names = [f"g{i}" for i in range(40)]
    columns = {f"s{j}": pl.Series(X[:, j]).fill_nan(None) for j in range(30)}
    frame = pl.DataFrame({"gene": names, **columns})
    made = prepared(look(written(frame, tmp_path / "a.csv"), TURN))
    turned = frame.drop("gene").transpose(column_names=names)
    plain = prepared(look(written(turned, tmp_path / "b.csv")))
    assert made.rows.columns == plain.rows.columns
    assert np.array_equal(made.rows.to_numpy(), plain.rows.to_numpy(), equal_nan=True)
    assert (
        (made.missing, made.standardize) == (plain.missing, plain.standardize) == ("em", True)
    )
    assert made.said[1:3] == (
        "1 of 40 variables is without a number and left out: 'g11'",
        "2 of 40 variables are constant and left out: 'g3', 'g7'",
    )
    assert made.said[3:] == plain.said


def test_the_first_variables_and_none_that_varies(tmp_path):
    path = written(genes().select("gene", "s1"), tmp_path / "a.csv")
    with pytest.raises(InputError, match="no variable varies"):
        prepared(look(path, TURN))
    path = written(genes(), tmp_path / "a.csv")
    made = prepared(look(path, Asked(transpose=True, rows=4)))
    assert made.recipe.names == tuple(GENES[:4])
    assert made.shape == (7, 4)


def test_memory_is_looked_at_before_anything_is_read(tmp_path, monkeypatch):
    path = written(genes(), tmp_path / "a.csv")
    seen, recipe = look(path, TURN), prepared(look(path, TURN)).recipe
    kind = type(scan(path, columns=["s1"]))
    monkeypatch.setattr(kind, "_read", lambda *_: pytest.fail("rows were read"))
    with pytest.raises(BudgetError, match="nothing was read") as caught:
        prepared(seen, memory=1000)
    assert caught.value.got == "a.csv: 12 x 7 take 2.02 kB, 1 kB allowed"
    with pytest.raises(BudgetError):
        prepared_again(path, recipe, memory=1000)


@pytest.mark.parametrize(("name", "what"), [("g1", "the same as of row 2"), ("", "is empty")])
def test_names_must_tell_variables_apart(tmp_path, name, what):
    frame = genes().with_columns(gene=pl.Series([*GENES[:11], name]))
    path = written(frame, tmp_path / "a.csv")
    with pytest.raises(InputError, match="name of its own") as caught:
        prepared(look(path, Asked(transpose=True, id="gene")))
    assert what in caught.value.got
    assert "row 12" in caught.value.got


def test_rows_are_numbered_where_they_have_no_names(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.random.default_rng(1).normal(size=(5, 3)))
    made = prepared(look(path, TURN))
    assert made.recipe.names == ("row 1", "row 2", "row 3", "row 4", "row 5")
    assert prepared_again(path, made.recipe).rows.equals(made.rows)
    np.save(path, np.zeros((4, 3)))
    with pytest.raises(InputError, match="as many rows") as caught:
        prepared_again(path, made.recipe)
    assert caught.value.got == "a.npy: 4 rows, and 5 in the fit"
    X = np.random.default_rng(1).normal(size=(5, 3))
    X[1, 2] = np.nan
    path = tmp_path / "a.npy"
    np.save(path, X)
    made = prepared(look(path, Asked(transpose=True, missing="columns")))
    assert made.recipe.names == ("row 1", "row 3", "row 4", "row 5")
    assert prepared_again(path, made.recipe).rows.equals(made.rows)


@pytest.mark.parametrize("role", ["weights", "sup", "color"])
def test_columns_beside_the_rows_are_refused(tmp_path, role):
    path = written(genes(), tmp_path / "a.csv")
    value = "s1" if role == "weights" else ("s1",)
    with pytest.raises(InputError, match=f"--{role} .*--transpose|--{role}"):
        prepared(look(path, Asked(transpose=True, **{role: value})))
    made = prepared(look(path, TURN))
    with pytest.raises(InputError, match="--transpose"):
        made.beside(("s1",), 5)


@pytest.mark.parametrize("option", [{"categorical": "encode"}, {"dates": "number"}])
def test_text_and_dates_cannot_be_rows(tmp_path, option):
    days = pl.Series([f"2020-01-{i // 2 + 1:02}" for i in range(12)])
    frame = genes().with_columns(kind=pl.Series(["a", "b"] * 6), when=days)
    path = written(frame, tmp_path / "a.csv")
    with pytest.raises(InputError, match=f"--{next(iter(option))}.*--transpose"):
        prepared(look(path, Asked(transpose=True, **option)))
