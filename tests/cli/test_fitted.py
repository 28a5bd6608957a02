import numpy as np
import polars as pl
import pytest

import mercer
from mercer.cli._voice import Voice
from mercer.cli.fitting._fit_stages import assumptions, fills_of, fitted, ready, stages_of
from mercer.cli.fitting._new_estimator import built
from mercer.errors import InputError
from mercer.tables import Asked, look, prepared


@pytest.fixture
def table(tmp_path):
    X = np.random.default_rng(0).standard_normal((70, 3)) * [5, 2, 1]
    pl.DataFrame({c: X[:, i] for i, c in enumerate("abc")}).write_parquet(
        tmp_path / "t.parquet"
    )
    return str(tmp_path / "t.parquet")


def test_every_assumption_is_said_before_the_plan(table, capsys):
    have = ready(Voice(), table, Asked(), "pca", built("pca", components="2"))
    said = capsys.readouterr().err
    assert all(line in said for line in have.said)
    assert said.index(have.said[-1]) < said.index("plan: 70 x 3")
    assert have.said == assumptions(have.seen, have.made)
    assert not hasattr(have.model, "components_")
    done = fitted(Voice(quiet=True), have)
    assert done.model.components_.shape == (2, 3)
    assert done.names == ("a", "b", "c")
    assert set(done.seconds) == {"look", "fit"}


def test_which_methods_fill():
    assert fills_of(mercer.PCA()) == ("em", "ppca")
    assert fills_of(mercer.KernelPCA()) == ("em",)
    assert fills_of(mercer.RobustPCA()) == ()


def test_a_kernel_gets_rows_in_memory_or_says_that_it_reads_once(table, monkeypatch, capsys):
    monkeypatch.setattr("mercer.tables._table_reading.HELD", 10)
    have = ready(Voice(), table, Asked(), "kernel-pca", mercer.KernelPCA(2))
    assert isinstance(have.made.rows, pl.DataFrame)
    assert have.plan.chosen.name == "eigen" or have.plan.chosen.bytes > 0
    monkeypatch.setattr("mercer.cli.fitting._fit_stages._HELD", 10)
    have = ready(Voice(), table, Asked(), "kernel-pca", mercer.KernelPCA(2))
    assert have.plan is None
    assert "read once" in capsys.readouterr().err


def test_a_method_without_a_checkpoint_says_so(table, tmp_path):
    have = ready(Voice(quiet=True), table, Asked(), "kernel-pca", mercer.KernelPCA(2))
    with pytest.raises(InputError, match="keeps no checkpoint"):
        fitted(Voice(quiet=True), have, str(tmp_path / "c"))


def test_a_file_is_walked_once_more_for_each_stage(table, monkeypatch):
    monkeypatch.setattr("mercer.tables._table_reading.HELD", 10)
    made = prepared(look(table, Asked()))
    found = mercer.plan(mercer.PCA(2), made.rows)
    few, more = (stages_of(found, made, writes=writes) for writes in (False, True))
    assert few["rows"] == found.problem.read_seconds > 0
    assert more["write"] > few["rows"]
    assert stages_of(None, made, writes=True) == {}
