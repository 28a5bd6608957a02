import sys
import threading

import numpy as np
import pytest

import mercer
from mercer.arrays import Lanes, task
from mercer.estimators.walk import _progress

X = np.random.default_rng(0).standard_normal((500, 30)) * 0.8 ** np.arange(30)


def test_nothing_is_shown_where_there_is_no_terminal(capsys):
    with mercer.progress():
        mercer.KernelPCA(2).fit(X)
    assert capsys.readouterr() == ("", "")


def slow(pause):
    def work(_lane, numbers):
        for _ in numbers:
            pause.wait(0.06)

    return work


def test_the_bar_names_the_pass_and_counts_blocks(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    with mercer.progress(force=True), task("pass 3", "2e-04 reached"):
        Lanes(2).run(slow(threading.Event()), 30)
    out, err = capsys.readouterr()
    assert out == ""
    assert "pass 3, 2e-04 reached" in err
    assert " of 30 blocks" in err
    assert "-:--:--" in err or "0:00:0" in err


@pytest.mark.parametrize("method", [mercer.PCA, mercer.KernelPCA])
def test_fits_are_the_same_with_bars(method, capsys):
    plain = method(2).fit_transform(X)
    with mercer.progress(force=True), mercer.progress(force=True):
        shown = method(2).fit_transform(X)
    np.testing.assert_array_equal(plain, shown)
    capsys.readouterr()


def test_an_interrupted_block_leaves_no_display_behind(capsys):
    for error in (KeyboardInterrupt, ValueError):
        with pytest.raises(error), mercer.progress(force=True), task("pass 1"):
            raise error
        assert _progress._showing == [False]
    with mercer.progress(force=True), task("pass 2"):
        pass
    assert "\x1b[?25h" in capsys.readouterr().err  # the cursor is shown again


def test_a_task_that_failed_gives_its_line_to_the_next(capsys):
    with mercer.progress(force=True):
        with pytest.raises(ValueError, match="gone"), task("pass 1"):
            raise ValueError("gone")
        with task("pass 2"):
            Lanes(1).run(slow(threading.Event()), 3)
    capsys.readouterr()


def test_listening_may_begin_inside_a_task(capsys):
    with task("outer"), mercer.progress(force=True):
        Lanes(1).run(slow(threading.Event()), 3)
    assert _progress._showing == [False]
    assert "Traceback" not in capsys.readouterr().err


def test_rich_is_loaded_only_when_it_draws(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with mercer.progress():
        mercer.PCA(2).fit(X)
    with pytest.raises(ImportError), mercer.progress(force=True):
        pass
    assert _progress._showing == [False]
