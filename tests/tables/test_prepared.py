"""From a table as people have it to rows that can be fitted."""

import datetime as dt
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse

from mercer import PCA
from mercer.errors import InputError
from mercer.sources import BlockSource
from mercer.tables import Asked, look, prepared, prepared_again

PENGUINS = Path(__file__).parents[1] / "data" / "penguins.csv"
BODY = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")


@pytest.fixture
def small(monkeypatch):
    """Let nothing be held."""
    monkeypatch.setattr("mercer.tables._table_reading.HELD", 8)


def mixed(rows=60, seed=0):
    """A table with a name, numbers, a date, text and gaps; an empty row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4)).round(3)
    X[rng.random(X.shape) < 0.02] = np.nan
    X[7] = np.nan
    start = dt.date(2021, 3, 4)
    texts = [
        None if i == 7 or i % 13 == 12 else ["red", "green", "blue"][i % 3] for i in range(rows)
    ]
    dates = [None if i == 7 else start + dt.timedelta(days=int(i * i)) for i in range(rows)]
    return pl.DataFrame(
        {
            "name": [f"r{i}" for i in range(rows)],
            "colour": texts,
            **{f"x{j}": pl.Series(X[:, j]).fill_nan(None) for j in range(4)},
            "when": dates,
            "n": rng.integers(0, 4, rows),
        }
    )


def written(frame, tmp_path, kind):
    path = tmp_path / f"table.{kind}"
    if kind == "csv":
        frame.write_csv(path, null_value="NA")
    else:
        frame.write_parquet(path)
    return path


def rows_of(made):
    if isinstance(made.rows, BlockSource):
        return np.concatenate(list(made.rows.blocks(7)))
    return made.rows.to_numpy()


def test_penguins_lose_two_empty_rows():
    made = prepared(look(PENGUINS, Asked(columns=BODY)))
    assert made.shape == (342, 4) == made.rows.shape
    assert (made.missing, made.n_missing, made.standardize) == ("raise", 0, True)
    assert made.said == (
        "2 of 344 rows hold nothing in the columns analysed and are left out:"
        " rows 4, 272 (counted from 1)",
        "columns differ in scale: sd of body_mass_g 802, of bill_depth_mm 1.97: standardised"
        " (--standardize no to keep units)",
    )
    assert sorted(set(range(344)) - set(made.kept.tolist())) == [3, 271]
    assert made.labels("species").shape == (342,)
    PCA(2, standardize=made.standardize, missing=made.missing).fit(made.rows)


def test_penguins_with_the_year_are_filled():
    made = prepared(look(PENGUINS))
    assert (made.shape, made.missing, made.n_missing) == ((344, 5), "em", 8)
    assert made.kept is None
    assert made.said[0] == (
        "8 of 1,720 cells are missing (0.5 %): filled by iterative PCA (--missing em)"
    )


ASKED = {
    "plain": Asked(),
    "rows": Asked(missing="rows"),
    "columns": Asked(missing="columns", columns=("x0", "x1", "n")),
    "encoded": Asked(categorical="encode", dates="number"),
    "whole rows": Asked(categorical="encode", dates="number", missing="rows"),
    "whole columns": Asked(categorical="encode", dates="number", missing="columns"),
    "first": Asked(rows=20, dates="number", missing="rows"),
    "weights": Asked(weights="n", drop=("x0",), standardize="yes"),
    "names": Asked(id="name", sup=("x3", "colour"), missing="ppca"),
}


@pytest.mark.parametrize("name", ASKED)
def test_text_is_parquet_and_held_is_read(name, tmp_path, monkeypatch):
    found = []
    for kind in ("csv", "parquet"):
        path = written(mixed(), tmp_path, kind)
        for held in (256e6, 8):
            monkeypatch.setattr("mercer.tables._table_reading.HELD", held)
            made = prepared(look(path, ASKED[name]))
            assert isinstance(made.rows, BlockSource) is (held == 8)
            found.append(made)
    first = found[0]
    for other in found[1:]:
        assert np.array_equal(rows_of(first), rows_of(other), equal_nan=True)
        assert first.shape == other.shape == rows_of(other).shape
        assert (first.said, first.missing, first.standardize, first.n_missing) == (
            other.said, other.missing, other.standardize, other.n_missing,
        )  # fmt: skip
        assert first.recipe.names == other.recipe.names
        assert (first.kept is None) is (other.kept is None)
        assert first.kept is None or np.array_equal(first.kept, other.kept)
        assert first.labels("name").tolist() == other.labels("name").tolist()
        if first.weights is not None:
            assert np.array_equal(first.weights, other.weights)
    assert len(first.labels("name")) == first.shape[0]


def test_the_rows_are_what_polars_would_make(tmp_path):
    frame = mixed()
    made = prepared(look(written(frame, tmp_path, "csv"), ASKED["encoded"]))
    frame = frame.filter(pl.Series(range(60)) != 7) if made.shape[0] == 59 else frame
    plain = frame.select("x0", "x1", "x2", "x3", "n").to_numpy()
    days = frame["when"].to_physical().cast(pl.Float64).fill_null(np.nan).to_numpy()
    codes = [
        (frame["colour"] == c).fill_null(False).to_numpy() for c in ("blue", "green", "red")
    ]
    expected = np.column_stack([plain, days, *codes])
    assert made.recipe.names[-4:] == ("when", "colour=blue", "colour=green", "colour=red")
    assert np.array_equal(rows_of(made), expected.astype(float), equal_nan=True)
    assert made.standardize


def test_encoding_twice_is_encoding_once(tmp_path):
    made = prepared(look(written(mixed(), tmp_path, "csv"), ASKED["encoded"]))
    path = tmp_path / "encoded.csv"
    made.rows.fill_nan(None).write_csv(path, null_value="NA")
    again = prepared(look(path, ASKED["encoded"]))
    assert again.recipe.names == made.recipe.names
    assert np.array_equal(rows_of(again), rows_of(made), equal_nan=True)


@pytest.mark.usefixtures("small")
def test_the_fit_is_the_same(tmp_path):
    path = written(mixed().drop_nulls(), tmp_path, "parquet")
    read = prepared(look(path, Asked(columns=("x*",))))
    assert isinstance(read.rows, BlockSource)
    fit = PCA(2, standardize=read.standardize).fit(read.rows)
    direct = PCA(2, standardize=read.standardize).fit(pl.read_parquet(path).select("^x.*$"))
    assert np.allclose(fit.explained_variance_, direct.explained_variance_, rtol=1e-10)
    assert list(fit.feature_names_in_) == ["x0", "x1", "x2", "x3"]


@pytest.mark.usefixtures("small")
def test_a_missing_cell_is_named_by_its_line_in_the_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\nNA,NA\n1,2\n3,4\n5,NA\n7,9\n")
    made = prepared(look(path, Asked(missing="em")))
    assert made.rows.place(2, 1) == "a.csv, line 5, column 'b'"
    with pytest.raises(InputError, match="line 5, column 'b'"):
        PCA(1).fit(made.rows)


def test_labels_stay_beside_the_rows(tmp_path):
    frame = mixed()
    made = prepared(look(written(frame, tmp_path, "csv"), Asked(missing="rows", drop=("n",))))
    names = frame["name"].to_list()
    assert made.id == "name"
    assert made.labels().tolist() == [names[i] for i in made.kept]
    frames = list(made.beside(("colour", "name"), 7))
    assert [frame.height for frame in frames[:-1]] == [7] * (len(frames) - 1)
    assert pl.concat(frames)["name"].to_list() == made.labels().tolist()


def test_weights_stay_beside_the_rows(tmp_path):
    frame = mixed()
    asked = Asked(weights="n", missing="rows")
    made = prepared(look(written(frame, tmp_path, "csv"), asked))
    assert made.weights.tolist() == frame["n"].gather(made.kept).to_list()
    assert "n" not in made.recipe.names
    zeros = int((made.weights == 0).sum())
    assert any(
        line.startswith(f"{zeros} of {made.shape[0]} rows weigh 0") for line in made.said
    )


def test_no_names_no_labels(tmp_path):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).normal(size=(9, 3)))
    made = prepared(look(tmp_path / "a.npy"))
    assert made.labels() is None
    assert made.recipe.names == ("0", "1", "2")
    assert made.said == (made.said[0],)
    assert "share a scale" in made.said[0]


BAD = {
    "many gaps": (Asked(), "x,y\n" + "1,\n2,\n3,4\n5,7\n", "more than 5 %"),
    "not one gap": (Asked(missing="error"), "x,y\n1,2\n3,\n4,9\n", "cells are missing"),
    "no row left": (Asked(missing="rows"), "x,y\n1,\n,2\n3,4\n", "too few rows"),
    "no column left": (Asked(missing="columns"), "x,y\n1,\n,2\n3,4\n", "too few columns"),
    "negative weight": (Asked(weights="w"), "x,w\n1,2\n3,-1\n4,1\n", "--weights"),
    "text for weights": (Asked(weights="w"), "x,w\n1,a\n3,b\n4,a\n", "--weights"),
    "dates refused": (Asked(dates="error"), "x,d\n1,2020-01-01\n2,2020-01-03\n", "--dates"),
    "text refused": (Asked(categorical="error"), "x,t\n1,a\n2,a\n4,b\n", "--categorical"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("held", [True, False])
def test_bad_tables_are_refused_in_three_lines(name, held, tmp_path, monkeypatch):
    asked, text, what = BAD[name]
    path = tmp_path / "bad.csv"
    path.write_text(text)
    if not held:
        monkeypatch.setattr("mercer.tables._table_reading.HELD", 8)
    with pytest.raises(InputError, match=what) as caught:
        prepared(look(path, asked))
    assert len(str(caught.value).splitlines()) == 3
    assert "bad.csv" in str(caught.value)


def test_a_method_that_cannot_fill():
    seen = look(PENGUINS)
    with pytest.raises(InputError, match="does not fill"):
        prepared(seen, fills=False)
    assert prepared(look(PENGUINS, Asked(missing="rows")), fills=False).shape == (342, 5)
    assert prepared(look(PENGUINS, Asked(columns=BODY)), fills=False).shape == (342, 4)


def test_sparse_rows_stay_sparse(tmp_path):
    dense = np.random.default_rng(0).poisson(0.3, size=(80, 12)).astype(float)
    dense[:, 3] = 0
    X = scipy.sparse.csr_array(dense)
    path = tmp_path / "a.npz"
    scipy.sparse.save_npz(path, X)
    made = prepared(look(path))
    assert (made.shape, made.rows.nnz is None, made.missing) == ((80, 11), False, "raise")
    again = prepared_again(path, made.recipe)
    found = [np.vstack([b.toarray() for b in m.rows.blocks(9)]) for m in (made, again)]
    assert np.array_equal(found[0], np.delete(dense, 3, axis=1))
    assert np.array_equal(found[0], found[1])


def test_a_number_names_rows_in_a_file_without_names(tmp_path):
    X = np.random.default_rng(0).normal(size=(6, 3))
    X[:, 0] = np.arange(6)
    np.save(tmp_path / "a.npy", X)
    made = prepared(look(tmp_path / "a.npy"))
    assert (made.id, made.recipe.names) == ("0", ("1", "2"))
    assert made.labels().tolist() == ["0", "1", "2", "3", "4", "5"]


@pytest.mark.parametrize("held", [256e6, 8])
def test_missing_text_is_missing_where_cells_must_be_there(tmp_path, monkeypatch, held):
    monkeypatch.setattr("mercer.tables._table_reading.HELD", held)
    path = tmp_path / "a.csv"
    path.write_text("x,t,u\n" + "1,a,c\n2,b,c\n4,NA,d\nNA,NA,NA\n7,a,d\n8,b,c\n")

    def made(missing):
        return prepared(look(path, Asked(categorical="encode", missing=missing)))

    auto = made("auto")
    assert (auto.shape, auto.kept.tolist()) == ((5, 5), [0, 1, 2, 4, 5])
    assert "2 missing cells are 0 in all of them" in auto.said[0]
    rows = made("rows")
    assert rows.kept.tolist() == [0, 1, 4, 5]
    assert rows.said[3] == (
        "1 of 6 rows has missing cells and is left out (--missing rows): row 3 (counted from 1)"
    )
    columns = made("columns")
    assert columns.recipe.names == ("x", "u=c", "u=d")
    assert rows_of(columns).tolist() == [[1, 1, 0], [2, 1, 0], [4, 0, 1], [7, 0, 1], [8, 1, 0]]
    assert [line[:3] for line in columns.said[:1]] == ["'u'"]
    assert columns.said[2].endswith("is left out (--missing columns): 't'")
    with pytest.raises(InputError, match="cells are missing") as caught:
        made("error")
    assert caught.value.got == "a.csv: 1 cell is missing, most in 't' 1"


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("why", ["weight 0", "left out"])
def test_rows_that_do_not_count_have_no_say_in_the_scale(why, held, tmp_path, monkeypatch):
    if not held:
        monkeypatch.setattr("mercer.tables._table_reading.HELD", 8)
    X = np.random.default_rng(5).normal(size=(60, 3))
    X[:10, 0] *= 1e5
    frame = pl.DataFrame(X, schema=["a", "b", "c"])
    asked = Asked(missing="rows")
    if why == "weight 0":
        frame = frame.with_columns(w=pl.Series([0] * 10 + [2] * 50))
        asked = Asked(weights="w")
    else:
        frame = frame.with_columns(b=pl.Series([None] * 10 + X[10:, 1].tolist()))
    made = prepared(look(written(frame, tmp_path, "csv"), asked))
    assert made.standardize is False
    assert any(line.startswith("columns share a scale") for line in made.said)
