import click
import pytest
from click.testing import CliRunner

from mercer.cli._options import (
    asked_from,
    data_argument,
    data_options,
    listed,
    method_options,
    speaking_options,
)
from mercer.cli._voice import Voice
from mercer.errors import InputError
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


def test_without_a_word_everything_is_to_be_found():
    assert asked_from(given()) == Asked()


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


def test_header_may_be_said_either_way():
    assert asked_from(given("--header")).reading == {"header": True}
    assert asked_from(given("--no-header")).reading == {"header": False}


def test_method_options_have_defaults_that_say_nothing():
    found = given(decorate=method_options)
    assert found == {
        "method": "pca", "components": "auto", "kernel": None, "tol": None, "memory": None,
        "time": None, "seed": 0, "settings": (),
    }  # fmt: skip


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
