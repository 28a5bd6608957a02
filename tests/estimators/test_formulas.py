import polars as pl
import pytest

from mercer.estimators.walk._coordinate_files import harmless, harmless_columns

PAYLOADS = [
    "=1+1",
    '=HYPERLINK("http://x","y")',
    "+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+9)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "＝1+1",
    "-a",
]
SAFE = ["", "a=b", "'=1", "-5", "+5", "-1.5e-3", ".5", "1-2", "x@y", " plain", "7"]


@pytest.mark.parametrize("text", PAYLOADS, ids=range(len(PAYLOADS)))
def test_payloads_get_a_quote(text):
    assert harmless(text) == "'" + text


@pytest.mark.parametrize("text", SAFE, ids=range(len(SAFE)))
def test_other_text_and_numbers_stay(text):
    assert harmless(text) == text


def test_columns_are_treated_as_single_texts_are():
    cells = [*PAYLOADS, *SAFE, None]
    frame = pl.DataFrame({"=name": cells, "n": [-1.5] * len(cells)})
    found = harmless_columns(frame)
    assert found.columns == ["'=name", "n"]
    assert found["n"].to_list() == frame["n"].to_list()
    assert found["'=name"].to_list() == [c if c is None else harmless(c) for c in cells]


def test_categories_become_text():
    frame = pl.DataFrame({"a": pl.Series(["=1", "b"], dtype=pl.Categorical)})
    assert harmless_columns(frame)["a"].to_list() == ["'=1", "b"]
