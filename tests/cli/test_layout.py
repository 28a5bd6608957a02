"""How commands are laid out: names, docstrings, the work they do."""

import inspect

import numpy as np
import polars as pl
import pytest

import mercer
from mercer.cli._outputs import NAME, ROW, axis_names
from mercer.cli._voice import Voice, aligned
from mercer.cli.commands.methods_command import described, first_sentence, parameters_of
from mercer.cli.fitting import _fit_run as _job
from mercer.errors import InputError
from mercer.methods import COMMANDS
from mercer.tables import Asked


def test_words_stand_left_and_numbers_right():
    rows = [("name", "n", ""), ("a", "1", "why"), ("long name", "1,000", "")]
    assert aligned(rows, words=1) == [
        "name           n",
        "a              1  why",
        "long name  1,000",
    ]


def test_no_rows_are_no_lines():
    assert aligned([], words=1) == []


def test_axes_are_counted_from_one():
    assert axis_names(3) == ["PC1", "PC2", "PC3"]
    assert axis_names(0) == []
    assert not {NAME, ROW} & set(axis_names(9))


class Plain:
    """A class.

    Parameters
    ----------
    a, b : int
        Two numbers. And more.

        With a gap.
    c : {"x", "y"}
        One `of` two, such as 0.5 or 1.

    Attributes
    ----------
    d : int
        Not a parameter.
    """

    def __init__(self, a, b=2, c="x", e=None):
        pass


def test_a_docstring_is_read_by_its_sections():
    found = described(inspect.getdoc(Plain))
    assert list(found) == ["a", "b", "c"]
    assert found["b"] == ("int", "Two numbers. And more. With a gap.")
    assert found["c"] == ('{"x", "y"}', "One `of` two, such as 0.5 or 1.")


def test_parameters_have_defaults_and_one_sentence():
    a, b, c, e = parameters_of(Plain)
    assert (a.default, a.about) == ("", "Two numbers.")
    assert (b.default, b.takes) == ("2", "int")
    assert (c.default, c.about) == ("x", "One of two, such as 0.5 or 1.")
    assert (e.default, e.takes, e.about) == ("None", "", "")


def test_nothing_is_found_where_nothing_is_said():
    assert described("") == {}
    assert first_sentence("") == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_parameter_of_every_method_is_described(name):
    for one in parameters_of(COMMANDS[name].load(), mercer.PCA):
        assert one.takes, one.name
        assert one.about, one.name
        assert "PCA`" not in one.about


def test_a_parameter_may_be_described_elsewhere():
    class Pointing:
        """Something.

        Parameters
        ----------
        standardize : bool
            As for `KernelPCA`.
        memory : int
            See `Nothing`.
        whiten
            See `PCA`.
        """

        def __init__(self, standardize=False, memory=None, whiten=False):
            pass

    standardize, memory, whiten = parameters_of(Pointing, mercer.PCA)
    assert standardize.about not in ("", "As for KernelPCA.")
    assert memory.about.startswith("Bytes")
    assert whiten.takes


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
