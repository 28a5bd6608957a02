"""Rates that were measured are kept for the processes of a user, and plans go by them."""

import dataclasses
import json

import numpy as np
import pytest
from click.testing import CliRunner

import mercer
from mercer.arrays import Rates, thread_count
from mercer.cli.app import commands
from mercer.store import _machine_record, keep_rates, kept_rates

SLOW = Rates(1, (6e9, 3e9), (4e9, 1.6e9), (2e8, 1e8), 8e8, 3e8, 6e8, 2e8)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder of the user's that is empty at first."""
    monkeypatch.setattr(_machine_record, "_folder", lambda: tmp_path / "cache" / "mercer")
    _machine_record.forget_rates()
    yield tmp_path / "cache" / "mercer"
    _machine_record.forget_rates()


def test_what_is_kept_is_found_by_threads(folder):
    assert kept_rates(1) is None
    two = dataclasses.replace(SLOW, threads=2, eigen=4e8)
    keep_rates([SLOW, two])
    assert kept_rates(1) == SLOW
    assert kept_rates(2) == two
    assert kept_rates(3) is None
    assert [path.suffix for path in folder.iterdir()] == [".json"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"format": 2, "rates": {}}', '{"format": 1, "rates": {"1": {}}}',
     '{"format": 1, "rates": {"one": {}}}', '{"format": 1, "rates": 7}'],
)  # fmt: skip
def test_a_damaged_record_is_none(folder, text):
    keep_rates([SLOW])
    next(folder.iterdir()).write_text(text)
    _machine_record.forget_rates()
    assert kept_rates(1) is None


@pytest.mark.usefixtures("folder")
def test_rates_that_are_none_are_not_gone_by():
    keep_rates([dataclasses.replace(SLOW, eigen=0.0)])
    assert kept_rates(1) is None


@pytest.mark.usefixtures("folder")
def test_plans_go_by_what_is_kept():
    x = np.random.default_rng(0).standard_normal((400, 60))
    count = thread_count()
    usual = mercer.plan(mercer.PCA(3), x)
    keep_rates([dataclasses.replace(SLOW, threads=count)])
    made = mercer.plan(mercer.PCA(3), x)
    assert "seconds measured on this machine" in str(made)
    assert made.chosen.seconds > usual.chosen.seconds
    first, again = (mercer.PCA(3).fit(x) for _ in range(2))
    assert np.array_equal(first.components_, again.components_)


def test_the_doctor_measures_and_says_so(folder):
    told = CliRunner().invoke(commands, ["doctor", "--json"]).stdout
    assert json.loads(told)["rates"] is None
    assert "doctor --measure" in CliRunner().invoke(commands, ["doctor"]).stdout
    found = json.loads(CliRunner().invoke(commands, ["doctor", "--measure", "--json"]).stdout)
    assert found["rates"]["threads"] == thread_count()
    assert found["rates"]["eigen"] > 0
    assert str(folder) not in json.dumps(found)
    assert kept_rates(thread_count()) is not None
