"""Supplementary columns, beside the rows that are fitted."""

import numpy as np
import polars as pl
import pytest

from mercer.tables import Asked, look, prepared, supplementary


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("most", [256e6, 8])
def test_numbers_and_labels(tmp_path, monkeypatch, kind, most):
    monkeypatch.setattr("mercer.tables._table_reading.HELD", most)
    frame = pl.DataFrame(
        {
            "x": [1.0, None, 3.0, 4.5, 5.0],
            "y": [2.0, None, 1.0, 7.0, 3.0],
            "age": [30, 40, None, 60, 70],
            "sex": ["f", "m", "f", None, "m"],
        }
    )
    path = tmp_path / f"a.{kind}"
    getattr(frame, f"write_{kind}")(path)
    found = supplementary(prepared(look(path, Asked(sup=("age", "sex"), rows=4))))
    assert found.names == ("age",)
    assert np.array_equal(found.numbers, [[30], [np.nan], [60]], equal_nan=True)
    assert {name: cells.tolist() for name, cells in found.labels.items()} == {
        "sex": ["f", "f", ""]
    }


def test_none_asked_for(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n2,5\n3,9\n")
    found = supplementary(prepared(look(tmp_path / "a.csv")))
    assert (found.names, found.numbers.shape, found.labels) == ((), (3, 0), {})
