import numpy as np
import polars as pl
import pytest

from mercer.cli._voice import Voice
from mercer.cli.fitting import _fit_run as _job
from mercer.errors import InputError
from mercer.tables import Asked

WANTED = {
    "output": None,
    "scores": None,
    "checkpoint": None,
    "force": False,
    "raw_csv": False,
} | {"columns_out": None}


@pytest.fixture
def table(tmp_path):
    X = np.random.default_rng(0).standard_normal((50, 3)) * [5, 2, 1]
    pl.DataFrame({c: X[:, i] for i, c in enumerate("abc")}).write_csv(tmp_path / "t.csv")
    return str(tmp_path / "t.csv")


def test_outputs_of_one_name_are_refused(table, tmp_path):
    same = str(tmp_path / "m.mercer")
    with pytest.raises(InputError, match="one file"):
        _job._outputs(table, {**WANTED, "output": same, "checkpoint": same})


def test_an_interrupted_fit_names_its_checkpoint(table, tmp_path, monkeypatch, capsys):
    kept = tmp_path / "c.mercer"

    def stopped(*_, **__):
        kept.write_bytes(b"x")
        raise KeyboardInterrupt

    monkeypatch.setattr("mercer.cli.fitting._fit_stages.fitted", stopped)
    options = {"method": "pca", "components": "2"}
    with pytest.raises(KeyboardInterrupt):
        _job.run(Voice(), table, Asked(), options, {**WANTED, "checkpoint": str(kept)})
    assert f"kept in {kept}" in capsys.readouterr().err
