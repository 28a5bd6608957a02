import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.cli.typed import ok

from mercer.cli.app import commands
from mercer.cli.commands.tune_command import within


def run(*words):
    return CliRunner().invoke(commands, ["tune", *map(str, words)])


@pytest.fixture
def table(tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 3))
    frame = pl.DataFrame({c: X[:, i] for i, c in enumerate("abc")})
    frame = frame.with_columns(a=pl.when(pl.int_range(60) == 4).then(None).otherwise("a"))
    frame.write_csv(tmp_path / "t.csv")
    return tmp_path / "t.csv"


def test_the_choice_and_why(table):
    done = ok(run(table, "--kernel", "rbf(lengthscale=2)", "--json"))
    said = json.loads(done.stdout)
    assert said["criterion"] == "linear is enough"
    assert said["best"].startswith("linear")
    assert len(said["candidates"]["kernel"]) == 2
    assert said["reason"]
    assert "filled by PCA first" in done.stderr
    assert "60 rows looked at" in done.stderr


def test_a_kernel_that_is_none(table):
    done = run(table, "--kernel", "rfb")
    assert done.exit_code in (2, 3)
    assert "rbf" in done.stderr


def test_time_limits_the_rows(monkeypatch):
    seen = []

    def study(rows):
        seen.append(rows)
        now[0] += (rows / 200) ** 2
        return rows

    now = [0.0]
    monkeypatch.setattr("mercer.cli.commands.tune_command.clock.perf_counter", lambda: now[0])
    assert within(study, 2000, None) == 2000
    assert within(study, 2000, 17.0) == 800
    assert within(study, 2000, 1.5) == 200
    assert within(study, 2000, 1e6) == 2000
    assert within(study, 150, 1.0) == 150
    assert seen == [2000, 200, 800, 200, 200, 2000, 150]
