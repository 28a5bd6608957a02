import inspect

import click
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import mercer
from mercer.cli._options import (
    asked_from,
    data_argument,
    data_options,
    listed,
    method_options,
    speaking_options,
)
from mercer.cli._voice import Voice, aligned
from mercer.cli.commands.methods_command import described, first_sentence, parameters_of
from mercer.cli.fitting import _fit_run as _job
from mercer.errors import InputError
from mercer.methods import COMMANDS
from mercer.tables import Asked


def given(*words, decorate=data_options):
    """Return what a command gets for these words."""
    kept = {}

    @click.command()
    @decorate
    def command(**options):
        kept.update(options)

    command.main(list(words), standalone_mode=False)
    return kept


def test_options_have_defaults_that_say_nothing():
    assert asked_from(given()) == Asked()
    assert asked_from(given("--header")).reading == {"header": True}
    assert asked_from(given("--no-header")).reading == {"header": False}
    found = given(decorate=method_options)
    assert found == {
        "method": "auto", "components": "auto", "kernel": None, "tol": None, "memory": None,
        "time": None, "seed": 0, "settings": (),
    }  # fmt: skip


def test_every_word_reaches_its_place():
    words = [
        "--columns", "a, b", "--columns", "q*", "--drop", "7-9", "--id", "name", "--color", "g",
        "--weights", "w", "--sup", "s,t", "--missing", "rows", "--standardize", "yes",
        "--dates", "number", "--categorical", "encode", "--transpose", "--rows", "100",
        "--delimiter", ";", "--no-header", "--na", "-", "--na", "n/a", "--encoding", "latin-1",
        "--key", "X",
    ]  # fmt: skip
    options = given(*words)
    assert asked_from(options) == Asked(
        columns=("a", "b", "q*"),
        drop=("7-9",),
        id="name",
        color=("g",),
        weights="w",
        sup=("s", "t"),
        missing="rows",
        standardize="yes",
        dates="number",
        categorical="encode",
        transpose=True,
        rows=100,
        reading={
            "delimiter": ";",
            "header": False,
            "na": ("", "NA", "NaN", "nan", "null", "-", "n/a"),
            "encoding": "latin-1",
            "key": "X",
        },
    )
    assert options == {}  # all were taken out: the rest are the method's


@pytest.mark.parametrize(
    ("words", "found"), [((), ()), (("a,b", " c "), ("a", "b", "c")), ((",",), ())]
)
def test_lists_with_commas(words, found):
    assert listed(words) == found


def test_a_command_gets_a_voice_and_its_errors_become_exit_codes():
    seen = []

    @click.command()
    @data_argument
    @speaking_options
    def command(voice, data):
        seen.append((voice, data))
        raise InputError("a", got="b", fix="c")

    done = CliRunner().invoke(command, ["x.csv", "--json", "-v"])
    assert done.exit_code == 3
    assert seen[0][1] == "x.csv"
    assert (seen[0][0].as_json, seen[0][0].verbose, seen[0][0].quiet) == (True, True, False)
    assert isinstance(seen[0][0], Voice)


# How commands are laid out: names, docstrings, the work they do.


def test_words_stand_left_and_numbers_right():
    rows = [("name", "n", ""), ("a", "1", "why"), ("long name", "1,000", "")]
    assert aligned(rows, words=1) == [
        "name           n",
        "a              1  why",
        "long name  1,000",
    ]


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
    a, b, c, e = parameters_of(Plain)
    assert (a.default, a.about) == ("", "Two numbers.")
    assert (b.default, b.takes) == ("2", "int")
    assert (c.default, c.about) == ("x", "One of two, such as 0.5 or 1.")
    assert (e.default, e.takes, e.about) == ("None", "", "")
    assert (described(""), first_sentence("")) == ({}, "")


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
    options = {"method": "auto", "components": "2"}
    with pytest.raises(KeyboardInterrupt):
        _job.run(Voice(), table, Asked(), options, {**WANTED, "checkpoint": str(kept)})
    assert f"kept in {kept}" in capsys.readouterr().err
