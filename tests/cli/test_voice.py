import dataclasses
import json
import sys
import warnings

import click
import numpy as np
import pytest

from mercer.cli._usage import UsageError
from mercer.cli._voice import Voice, exit_code, plain
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


def test_a_program_gets_the_same_as_a_document(capsys):
    _, out, err = failed(InputError("a", got="\udcff", fix="c"), capsys, as_json=True)
    parts = {"what": "a", "got": "\\udcff", "fix": "c", "code": 3}
    assert json.loads(out) == {"schema": "mercer/1", "ok": False, "error": parts}
    assert len(err.splitlines()) == 3


def test_an_error_after_the_result_adds_no_second_document(capsys):
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


def test_a_document_that_cannot_be_written_is_a_failure(capsys):
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


def test_debug_shows_where_an_error_arose(capsys):
    code, _, err = failed(RuntimeError("here"), capsys, debug=True)
    assert code == 1
    assert "Traceback" in err
    assert err.splitlines()[-3].startswith("error: ")


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


def test_a_missed_tolerance_is_said_even_where_it_is_quiet(capsys):
    with Voice(quiet=True).speaking():
        warnings.warn("few digits", AccuracyWarning, stacklevel=1)
        warnings.warn("odd data", DataWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: few digits\n"


def test_quiet_leaves_notes_out_and_verbose_adds_some(capsys):
    for voice in (Voice(), Voice(quiet=True, verbose=True), Voice(verbose=True)):
        voice.note("note")
        voice.detail("detail")
    assert capsys.readouterr().err == "note\nnote\ndetail\n"


def test_results_cannot_steer_a_terminal(capsys):
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
