import dataclasses
import json
import sys
import warnings

import click
import numpy as np
import pytest
from tests.cli.typed import command, ok

from mercer.cli._usage import UsageError, from_click, nearest, no_command
from mercer.cli._voice import (
    Voice,
    as_begun,
    as_typed,
    exit_code,
    given_as_typed,
    harmless,
    one_line,
    plain,
)
from mercer.errors import (
    AccuracyWarning,
    BudgetError,
    DataWarning,
    InputError,
    MercerError,
    MissingExtraError,
    NotSupportedError,
    WorkerError,
)
from mercer.methods import COMMANDS, families

PARTS = {"got": "b", "fix": "c"}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RuntimeError("a"), 1),
        (WorkerError("a", **PARTS), 1),
        (click.UsageError("a"), 2),
        (UsageError("a", **PARTS), 2),
        (InputError("a", **PARTS), 3),
        (NotSupportedError("a", **PARTS), 3),
        (MissingExtraError("a", **PARTS), 4),
        (BudgetError("a", **PARTS), 5),
        (MemoryError(), 5),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
    ],
)
def test_every_error_has_one_exit_code(error, code):
    assert exit_code(error) == code


def failed(error, capsys, **settings):
    """Return the exit code, stdout and stderr of work that raises `error`."""
    with pytest.raises(SystemExit) as ended, Voice(**settings).speaking(["look"]):
        raise error
    out, err = capsys.readouterr()
    return ended.value.code, out, err


def test_an_error_is_three_lines_whatever_it_holds(capsys):
    error = InputError("Two\nlines.", got="a name\x1b[2J\r\nof a file", fix="pass header=False")
    code, out, err = failed(error, capsys)
    assert (code, out) == (3, "")
    assert err == "error: Two lines\n  got: a name\\x1b[2J of a file\n  fix: pass --no-header\n"
    _, out, err = failed(InputError("a", got="\udcff", fix="c"), capsys, as_json=True)
    parts = {"what": "a", "got": "\\udcff", "fix": "c", "code": 3}
    assert json.loads(out) == {"schema": "mercer/1", "ok": False, "error": parts}
    assert len(err.splitlines()) == 3
    code, _, err = failed(RuntimeError("here"), capsys, debug=True)
    assert code == 1
    assert "Traceback" in err
    assert err.splitlines()[-3].startswith("error: ")


def test_a_document_stands_alone_or_is_a_failure(capsys):
    voice = Voice(as_json=True)
    voice.result("", {"a": 1})
    with pytest.raises(SystemExit), voice.speaking():
        raise InputError("a", got="b", fix="c")
    assert json.loads(capsys.readouterr().out) == {
        "schema": "mercer/1",
        "ok": True,
        "a": 1,
        "warnings": [],
    }

    class Odd:
        def __str__(self):
            raise RuntimeError("no text")

    voice = Voice(as_json=True)
    with pytest.raises(SystemExit) as ended, voice.speaking():
        voice.result("", {"a": Odd()})
    assert ended.value.code == 1
    assert json.loads(capsys.readouterr().out)["ok"] is False


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (MemoryError("Unable to allocate 8 GiB"), 5, "Unable to allocate 8 GiB"),
        (MemoryError(), 5, "memory ran out"),
        (PermissionError(13, "Permission denied", "x.csv"), 3, "x.csv: Permission denied"),
        (OSError(28, "No space left on device"), 1, "got: No space left on device"),
        (OSError("No space left (os error 28)"), 1, "reading or writing failed"),
        (RuntimeError("a\n  b"), 1, "RuntimeError: a b"),
        (AssertionError(), 1, "AssertionError"),
    ],
)
def test_unforeseen_errors_are_three_lines_too(error, code, words, capsys):
    got, out, err = failed(error, capsys)
    assert (got, out) == (code, "")
    assert len(err.splitlines()) == 3
    assert words in err
    assert "Traceback" not in err


def test_warnings_are_kept_apart_by_what_they_are_about(capsys):
    voice = Voice()
    with voice.speaking():
        for _ in range(2):
            warnings.warn("few digits", AccuracyWarning, stacklevel=1)
            warnings.warn("odd data\n  fix: pass `tol`", DataWarning, stacklevel=1)
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    assert voice.missed == ["few digits"]
    assert voice.warned == ["odd data\n  fix: pass --tol"]
    err = capsys.readouterr().err
    assert err == "warning: few digits\nwarning: odd data\n  fix: pass --tol\n"


def test_quiet_leaves_out_all_but_missed_tolerances(capsys):
    with Voice(quiet=True).speaking():
        warnings.warn("few digits", AccuracyWarning, stacklevel=1)
        warnings.warn("odd data", DataWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: few digits\n"
    for voice in (Voice(), Voice(quiet=True, verbose=True)):
        voice.note("one", "two")
    assert capsys.readouterr().err == "one\ntwo\n"
    Voice().result("a\tb\n\x1b]0;c", {})
    assert capsys.readouterr().out == "a\tb\n\\x1b]0;c\n"


def test_plain_values_are_what_json_can_hold():
    @dataclasses.dataclass
    class Point:
        x: float
        y: object

    value = {
        1: Point(float("nan"), np.float32(2)),
        "a": (np.arange(2), np.inf, np.int8(3), np.bool_(True)),
        "s": {"b", "a"},
        "e": MercerError,
    }
    found = plain(value)
    assert found["1"] == {"x": None, "y": 2.0}
    assert found["a"] == [[0, 1], None, 3, True]
    assert found["s"] == ["a", "b"]
    json.dumps(found, allow_nan=False)


def test_work_is_followed_on_a_terminal_unless_quiet(monkeypatch):
    import contextlib

    from mercer import estimators

    seen = []

    @contextlib.contextmanager
    def progress():
        seen.append(True)
        yield

    monkeypatch.setattr(estimators, "progress", progress)
    with Voice().working():
        assert seen == []
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with Voice().working(), Voice(quiet=True).working():
        pass
    assert seen == [True]


# Methods and options by name, and names that are nearly right.


run = command("methods")


def test_methods_and_defaults_are_listed():
    lines = run().stdout.splitlines()
    named = [line.split()[0] for line in lines if line.startswith("  ")]
    assert sorted(named) == sorted(COMMANDS)
    assert [line[:-1] for line in lines if line.endswith(":")] == list(families())
    document = json.loads(run("--json").stdout)
    assert [method["name"] for method in document["methods"]] == list(COMMANDS)
    lines = run("pca").stdout.splitlines()
    for line in ("-k auto", "--standardize auto", "--missing auto", "--tol", "--seed 0"):
        assert line in lines
    assert "-k" in run("robust-pca").stdout.splitlines()


@pytest.mark.parametrize("name", COMMANDS)
def test_parameters_are_shown_as_they_are_typed(name):
    done = ok(run(name))
    assert max(map(len, done.stdout.splitlines())) <= 80
    method = json.loads(run(name, "--json").stdout)["method"]
    names = {one["name"]: one for one in method["parameters"]}
    counts = [one["name"] for one in names.values() if one["option"] == "-k"]
    assert counts == ["n_clusters" if name == "spectral-clustering" else "n_components"]
    assert all(one["option"].startswith(("-", "--")) for one in names.values())
    assert set(names) == set(COMMANDS[name].load()().get_params(deep=False))
    for one in names.values():
        head = one["option"].removesuffix("VALUE")
        assert f"\n{head}" in done.stdout


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("plna", ["plan", "look"], "plan"),
        ("trans", ["plan", "transform"], "transform"),
        ("--colour", ["--columns", "--color"], "--color"),
        ("--json", ["--version", "--help"], None),
        ("", ["plan"], None),
        ("--", ["--help"], None),
        ("PCA", ["pca"], "pca"),
    ],
)
def test_the_nearest_word(word, known, found):
    assert nearest(word, known) == found


def test_errors_of_usage_point_to_the_command():
    assert no_command("zzz", ["plan", "fit"]).fix == "take one of plan, fit"
    error = from_click(click.UsageError("No."), ["x" * 500])
    assert len(error.got) < 120
    assert from_click(click.UsageError("No."), ["fit", "x.csv"]).fix == "see mercer fit --help"


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ('allow memory="769 kB", or less', "allow --memory 769kB, or less"),
        ("say it: header=True or header=False", "say it: --header or --no-header"),
        ("pass encoding='latin-1', or", "pass --encoding latin-1, or"),
        ("pass key='a b'", "pass --key 'a b'"),
        ("enough `memory`, or standardize=True", "enough --memory, or --standardize yes"),
        ('missing="em" fills them', "--missing em fills them"),
        ("n_components=3.", "-k 3."),
        ("say which with key=", "say which with --key"),
        ("--set time=3", "--set time=3"),
        ('or components="largest"', "or --set components=largest"),
        ("take --set unseen=passive", "take --set unseen=passive"),
        ("take unseen='passive'.", "take --set unseen=passive."),
        ("lifetime=3, uptime=2", "lifetime=3, uptime=2"),
        ("nothing to do here", "nothing to do here"),
    ],
)  # fmt: skip
def test_advice_is_given_in_options(said, typed):
    assert as_typed(said) == typed


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ("delimiter='ab'", "--delimiter ab"),
        ("key='X'; there are none", "--key X; there are none"),
        ("x.csv, line 3: 'key=3'", "x.csv, line 3: 'key=3'"),
    ],
)
def test_what_was_given_is_shown_as_typed_and_cells_as_they_are(said, typed):
    assert given_as_typed(said) == typed


@pytest.mark.parametrize(
    ("said", "begun"),
    [
        ("A model is read from a file.", "a model is read from a file"),
        ("There is no file", "there is no file"),
        ("X contains NaN", "X contains NaN"),
        ("RBF has no parameter", "RBF has no parameter"),
        ("Anything", "Anything"),
    ],
)
def test_a_sentence_goes_on_behind_a_colon(said, begun):
    assert as_begun(said) == begun


def test_only_line_ends_and_tabs_are_left_of_what_steers_a_terminal():
    assert harmless("a\tb\nc\x1b[31m\x07\r\x9b") == "a\tb\nc\\x1b[31m\\x07\\r\\x9b"
    assert harmless("größe 量 −1") == "größe 量 −1"
    assert harmless("\u202e\udc80") == "\\u202e\\udc80"
    assert one_line("a\r\nb\x0bc\u2028d") == "a b c d"
