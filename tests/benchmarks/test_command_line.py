import polars as pl
import pytest
from benchmarks import command_line


@pytest.mark.slow
def test_a_small_file_is_made_once_and_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(command_line, "DATA", tmp_path)
    path = command_line._made(600)
    assert pl.read_parquet(path).shape == (600, 50)
    assert command_line._made(600) == path
    cell = command_line._fit(600)
    assert cell["components"] == 8
    assert cell["planned_bytes"] > 0
    assert cell["libraries_bytes"] > 1e6
    assert set(cell["stages"]) == {"look", "fit", "rows", "write"}


def test_the_start_is_measured(monkeypatch):
    monkeypatch.setattr(command_line, "TIMES", 1)
    cell = command_line.CASES["start-help"]()
    assert 0 < cell["seconds"] == cell["each"][0]
    own = command_line.CASES["own-look"]()
    assert 0 < own["seconds"] < 1
    assert 20 < own["modules"] < 100
