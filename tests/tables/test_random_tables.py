"""Tables drawn at random: text is Parquet, held is read, and a second look is the first."""

import dataclasses
import datetime as dt

import numpy as np
import polars as pl
import pytest
from tests.tables.table_files import rows_of

from mercer.errors import MercerError
from mercer.tables import Asked, Recipe, look, prepared, prepared_again

TEXTS = ("a", "b", "c d", 'q"x', "x,y", "=1+1", "é")
NAMES = ("x", "y", "^z$", "a b", "id", "w=1", "é")
KINDS = {
    "number": (pl.Float64, lambda r: round(float(r.normal()) * 10.0 ** r.integers(-2, 4), 3)),
    "whole": (pl.Int64, lambda r: int(r.integers(-5, 20))),
    "text": (pl.String, lambda r: str(r.choice(TEXTS))),
    "date": (pl.Date, lambda r: dt.date(2000, 1, 1) + dt.timedelta(int(r.integers(9999)))),
    "time": (pl.Datetime("us"), lambda r: dt.datetime(2000, 1, 1, 0, 0, int(r.integers(60)))),
    "flag": (pl.Boolean, lambda r: bool(r.integers(2))),
    "constant": (pl.Float64, lambda _: 4.5),
    "empty": (pl.Float64, lambda _: None),
}


def drawn(rng):
    """A table of 3 to 40 rows with gaps, and sometimes a row without a cell."""
    n, columns = int(rng.integers(3, 40)), []
    for place in range(int(rng.integers(1, 8))):
        dtype, cell = KINDS[rng.choice(list(KINDS))]
        gaps = rng.choice([0, 0, 0.03, 0.3])
        cells = [None if rng.random() < gaps else cell(rng) for _ in range(n)]
        columns.append(pl.Series(f"{rng.choice(NAMES)}{place}", cells, dtype))
    frame = pl.DataFrame(columns)
    if rng.random() < 0.4:
        at = int(rng.integers(n))
        frame = pl.concat([frame[:at], frame.clear(1), frame[at:]])
    return frame


def asked_for(rng, names):
    asked = Asked(
        missing=str(rng.choice(["auto", "em", "rows", "columns", "error"])),
        dates=str(rng.choice(["ignore", "number"])),
        categorical=str(rng.choice(["ignore", "encode"])),
        standardize=str(rng.choice(["auto", "yes", "no"])),
    )
    extra = [{}, {}, {}, {"rows": int(rng.integers(2, 20))}, {"transpose": True}]
    return dataclasses.replace(asked, **extra[rng.integers(5)], weights=_weights(rng, names))


def _weights(rng, names):
    return names[0] if rng.random() < 0.2 else None


def outcome(path, asked, held, monkeypatch):
    """What was made of a table, or the error."""
    monkeypatch.setattr("mercer.tables._table_reading.HELD", 256e6 if held else 8)
    try:
        made = prepared(look(path, asked))
        again = prepared_again(
            path,
            Recipe.of(made.recipe.plain()),
            missing="em",
            rows=None if asked.transpose else asked.rows,
        )
    except MercerError as error:
        return str(error)
    rows = rows_of(made)
    assert rows.shape == made.shape
    if made.kept is None and again.kept is None:
        assert np.array_equal(rows, rows_of(again), equal_nan=True)
    labels = made.labels()
    assert labels is None or len(labels) == len(rows)
    facts = (made.shape, made.said, made.missing, made.standardize, made.n_missing)
    kept = None if made.kept is None else made.kept.tolist()
    return *facts, made.recipe.names, kept, rows.tobytes()


def tried(seed, tmp_path, monkeypatch):
    rng = np.random.default_rng(seed)
    frame = drawn(rng)
    asked = asked_for(rng, frame.columns)
    text, typed = tmp_path / "t.csv", tmp_path / "t.parquet"
    # "NA" would be a name of a row, as good as any other; an empty line would be no row.
    mark = "NA" if frame.width == 1 else ""
    frame.write_csv(text, null_value=mark, datetime_format="%Y-%m-%dT%H:%M:%S")
    frame.write_parquet(typed)
    headed = dataclasses.replace(asked, reading={"header": True})
    found = [outcome(text, headed, held, monkeypatch) for held in (True, False)]
    found += [outcome(typed, asked, held, monkeypatch) for held in (True, False)]
    assert found[0] == found[1]
    assert found[2] == found[3]
    if isinstance(found[0], str) or isinstance(found[2], str):
        assert str(found[0]).splitlines()[0] == str(found[2]).splitlines()[0]
        assert len(str(found[0]).splitlines()) == 3
    else:
        assert found[0] == found[2]


@pytest.mark.parametrize("seed", range(12))
def test_some_tables(seed, tmp_path, monkeypatch):
    tried(seed, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12, 132))
def test_many_tables(seed, tmp_path, monkeypatch):
    tried(seed, tmp_path, monkeypatch)
