"""Callbacks see the tasks of a fit in their order, whatever the version of scikit-learn."""

import copy
import pickle
import sys
import threading
import time

import numpy as np
import pytest
from forced import FORCED
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.claims import refuses

import mercer
from mercer.arrays import Lanes, task
from mercer.estimators.walk import _callback_shim as shim
from mercer.estimators.walk import _progress
from mercer.estimators.walk._callbacks import _Reporter

X = np.random.default_rng(0).standard_normal((400, 30)) * 0.8 ** np.arange(30)
METHODS = [mercer.PCA, mercer.KernelPCA]


class Diary:
    """A callback that writes everything down, and raises where it is told to."""

    def __init__(self, fail=None):
        self.words, self.fail = [], fail
        self.contexts = []

    def setup(self, estimator, context):
        self._write("setup", estimator, context)

    def on_fit_task_begin(self, estimator, context):
        self._write("begin", estimator, context)

    def on_fit_task_end(self, estimator, context):
        self._write("end", estimator, context)

    def teardown(self, estimator, context):
        self._write("teardown", estimator, context)

    def _write(self, word, estimator, context):
        assert context.estimator_name == type(estimator).__name__
        self.contexts.append(context)
        self.words.append((word, context.task_name))
        if (word, context.task_name) == self.fail or word == self.fail:
            raise InjectedError


class Asking(Diary):
    """A callback that asks for what it may be given."""

    def on_fit_task_begin(self, estimator, context, *, metadata=None):
        if context.task_name[:4] == "pass":
            self.words.append(metadata["note"])

    def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
        if context.parent is None:
            self.shape = fitted_estimator.transform(X).shape
            assert not hasattr(estimator, "n_components_")  # not published yet


class InjectedError(Exception):
    pass


@pytest.mark.parametrize("method", METHODS)
def test_tasks_come_in_order(method):
    diary = Diary()
    model = method(2).set_callbacks(diary)
    assert model.fit(X) is model
    words = diary.words
    assert words[:2] == [("setup", "fit"), ("begin", "fit")]
    assert words[-2:] == [("end", "fit"), ("teardown", "fit")]
    opened = []
    for word, name in words[1:-1]:
        if word == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert opened == []
    root = diary.contexts[0]
    assert root.parent is None
    assert len({context.root_uuid for context in diary.contexts}) == 1
    tasks = [context for context in root if context.parent is root]
    assert [context.task_id for context in tasks] == list(range(len(tasks)))
    assert all(len(list(context)) <= 11 for context in tasks)


def test_passes_and_the_matrix_of_a_kernel_are_tasks():
    diary = Diary()
    model = FORCED["krylov"](2).set_callbacks(diary).fit(X)
    passes = [name for word, name in diary.words if word == "begin" and name[:4] == "pass"]
    assert passes == [f"pass {i + 1}" for i in range(len(passes))]
    assert len(passes) >= 2
    assert model.certificate_.met
    asking = Asking()
    FORCED["krylov"](2).set_callbacks(asking).fit(X)
    first, *notes = [word for word in asking.words if isinstance(word, str)]
    assert first == ""
    reached = [float(note.removesuffix(" reached")) for note in notes if note]
    assert reached
    assert reached == sorted(reached, reverse=True)
    diary = Diary()
    mercer.KernelPCA(2).set_callbacks(diary).fit(X)
    assert ("begin", "kernel matrix") in diary.words


@pytest.mark.parametrize("method", METHODS)
def test_a_followed_fit_is_the_same_and_its_callbacks_travel(method):
    plain, followed = method(2).fit(X), method(2).set_callbacks(Diary()).fit(X)
    np.testing.assert_array_equal(plain.transform(X), followed.transform(X))
    assert vars(followed).keys() - vars(plain).keys() == {"_skl_callbacks"}
    followed.set_callbacks()
    assert vars(followed).keys() == vars(plain).keys()
    asking = Asking()
    method(2).set_callbacks(asking).fit(X)
    assert asking.shape == (400, 2)
    diary = Diary()
    model = method(2).set_callbacks(diary)
    clone(model).fit(X)
    assert diary.words[-1] == ("teardown", "fit")
    fresh = pickle.loads(pickle.dumps(method(2).set_callbacks(diary)))
    assert fresh.fit(X).n_components_ == 2
    for wrong in (Diary, print, 3):
        refuses("protocol", method(2).set_callbacks, wrong, kind=TypeError)


FAILURES = ["setup", "begin", "end", "teardown", ("end", "part"), ("end", "fit")]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("fail", FAILURES, ids=str)
@pytest.mark.parametrize("fitted", [True, False])
def test_a_callback_that_raises_leaves_the_estimator_as_it_was(method, fail, fitted):
    model = method(2)
    if fitted:
        model.fit(X[:50, :7])
    model.set_callbacks(Diary(fail))
    old = dict(vars(model))
    for call in (model.fit, model.fit_transform):
        refuses(None, call, X, kind=InjectedError)
        assert vars(model).keys() == old.keys()
        assert all(vars(model)[name] is old[name] for name in old)
    if fail != "teardown":
        assert model._skl_callbacks[0].words[-1][0] == "teardown"
    model.set_callbacks().fit(X)


def test_a_callback_stops_a_long_pass_within_two_seconds():
    rows = np.random.default_rng(1).standard_normal((150_000, 120), dtype=np.float32)
    diary = Diary(("begin", "part"))
    model = FORCED["krylov"](5).set_callbacks(diary)
    began = []
    plain = _Reporter.advance

    def advance(self, done, total, words=""):  # noqa: ARG001
        began.append((time.perf_counter(), done, total))
        plain(self, done, total)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Reporter, "advance", advance)
        refuses(None, model.fit, rows, kind=InjectedError)
    assert time.perf_counter() - began[-1][0] < 2
    assert not hasattr(model, "components_")


def test_a_refused_table_sets_nothing_up():
    diary = Diary()
    model = mercer.PCA(2).set_callbacks(diary)
    refuses("2D", model.fit, X[0], kind=ValueError)
    assert diary.words == []


@pytest.mark.parametrize("method", METHODS)
def test_the_bars_of_scikit_learn(method, capsys):
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    method(2).set_callbacks(callback.ProgressBar()).fit(X)
    assert f"{method.__name__} - fit" in capsys.readouterr().out
    lines = make_pipeline(StandardScaler(), method(2))
    lines[-1].set_callbacks(Diary())
    lines.fit(X)
    assert lines[-1]._skl_callbacks[0].words[-1] == ("teardown", "fit")
    assert "_parent_callback_ctx" not in vars(lines[-1])


@pytest.mark.filterwarnings("ignore:The estimator StandardScaler does not support")
@pytest.mark.parametrize("method", METHODS)
def test_bars_of_a_pipeline_reach_the_method(method, capsys):
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    lines = make_pipeline(StandardScaler(), method(2))
    lines.set_callbacks(callback.ProgressBar()).fit(X)
    assert f"{method.__name__} - fit" in capsys.readouterr().out
    assert "_skl_callbacks" not in vars(lines[-1])


class Counter(shim.CallbackSupportMixin, BaseEstimator):
    """Counts to `n`, one task each."""

    def __init__(self, n=3):
        self.n = n

    @shim.with_callbacks
    def fit(self, X=None, y=None):
        root = self._init_callback_context(max_subtasks=self.n)
        root.call_on_fit_task_begin(estimator=self, X=X, y=y)
        for i in range(self.n):
            inner = root.subcontext(f"step {i}").call_on_fit_task_begin(estimator=self)
            if inner.call_on_fit_task_end(estimator=self):
                break
        root.call_on_fit_task_end(
            estimator=self, X=X, reconstruction_attributes={"sum_": self.n}
        )
        return self


class Follower:
    def __init__(self, stop=None, broken=False):
        self.words, self.stop, self.broken, self.fitted = [], stop, broken, None

    def setup(self, estimator, context):
        self.words.append("setup")

    def teardown(self, estimator, context):
        self.words.append("teardown")
        if self.broken:
            raise ArithmeticError(self.broken)

    def on_fit_task_begin(self, estimator, context, *, X=None):
        self.words.append(f"begin {context.task_name} {X}")

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.words.append(f"end {context.task_name}")
        self.fitted = fitted_estimator
        return context.task_name == self.stop


def test_the_order_of_calls():
    follower = Follower()
    model = Counter(2).set_callbacks(follower).fit(7)
    assert follower.words == [
        "setup",
        "begin fit 7",
        "begin step 0 None",
        "end step 0",
        "begin step 1 None",
        "end step 1",
        "end fit",
        "teardown",
    ]
    assert follower.fitted.sum_ == 2
    assert not hasattr(model, "sum_")
    assert vars(model) == {"n": 2, "_skl_callbacks": [follower]}


def test_a_callback_may_wish_to_stop():
    follower = Follower(stop="step 1")
    Counter(9).set_callbacks(follower).fit()
    assert sum(word.startswith("begin step") for word in follower.words) == 2


def test_the_tree_of_tasks():
    root = shim.CallbackContext([], "Counter", "fit", 2)
    first, second = root.subcontext("a", max_subtasks=None), root.subcontext("b")
    inner = first.subcontext("c")
    assert [context.task_name for context in root] == ["fit", "a", "c", "b"]
    assert [context.task_id for context in (root, first, inner, second)] == [0, 0, 0, 1]
    assert inner.parent is first
    assert inner.root_uuid == root.root_uuid
    refuses("2 subtasks", root.subcontext, "d", kind=ValueError)
    refuses("0 subtasks", second.subcontext, "d", kind=ValueError)


def test_all_are_torn_down_and_errors_are_gathered():
    good, bad, worse = Follower(), Follower(broken="one"), Follower(broken="two")
    model = Counter().set_callbacks(bad, good)
    refuses("one", model.fit, kind=ArithmeticError)
    assert good.words[-1] == "teardown"
    with pytest.raises(ExceptionGroup) as caught:
        model.set_callbacks(bad, good, worse).fit()
    assert len(caught.value.exceptions) == 2
    assert "_callback_fit_ctx" not in vars(model)


def test_only_those_set_up_are_torn_down():
    class Refusing(Follower):
        def setup(self, estimator, context):
            raise KeyboardInterrupt

    first, refusing, last = Follower(), Refusing(), Follower()
    refuses(None, Counter().set_callbacks(first, refusing, last).fit, kind=KeyboardInterrupt)
    assert (first.words, refusing.words, last.words) == (
        ["setup", "teardown"],
        ["teardown"],
        [],
    )


def test_wrong_callbacks_are_refused_and_clones_keep_others():
    class Nosy(Follower):
        def on_fit_task_begin(self, estimator, context, *, secret):
            raise AssertionError

    for wrong in (Follower, object(), None):
        refuses("protocol", Counter().set_callbacks, wrong, kind=TypeError)
    refuses("secret", Counter().set_callbacks(Nosy()).fit, kind=TypeError)
    follower = Follower()
    model = Counter().set_callbacks(follower)
    assert clone(model)._skl_callbacks == [follower]
    assert copy.copy(model)._skl_callbacks == [follower]
    assert not hasattr(clone(Counter()), "_skl_callbacks")
    assert "_skl_callbacks" not in vars(model.set_callbacks())


ROWS = np.random.default_rng(0).standard_normal((500, 30)) * 0.8 ** np.arange(30)


def test_nothing_is_shown_or_loaded_where_there_is_no_terminal(capsys, monkeypatch):
    with mercer.progress():
        mercer.KernelPCA(2).fit(ROWS)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with mercer.progress():
        mercer.PCA(2).fit(ROWS)
    with pytest.raises(ImportError), mercer.progress(force=True):
        pass
    assert _progress._showing == [False]


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
    plain = method(2).fit_transform(ROWS)
    with mercer.progress(force=True), mercer.progress(force=True):
        shown = method(2).fit_transform(ROWS)
    np.testing.assert_array_equal(plain, shown)
    capsys.readouterr()


def test_a_display_ends_whatever_happens(capsys):
    for error in (KeyboardInterrupt, ValueError):
        with pytest.raises(error), mercer.progress(force=True), task("pass 1"):
            raise error
        assert _progress._showing == [False]
    with mercer.progress(force=True), task("pass 2"):
        pass
    assert "\x1b[?25h" in capsys.readouterr().err  # the cursor is shown again
    with mercer.progress(force=True):
        with pytest.raises(ValueError, match="gone"), task("pass 1"):
            raise ValueError("gone")
        with task("pass 2"):
            Lanes(1).run(slow(threading.Event()), 3)
    capsys.readouterr()
    with task("outer"), mercer.progress(force=True):
        Lanes(1).run(slow(threading.Event()), 3)
    assert _progress._showing == [False]
    assert "Traceback" not in capsys.readouterr().err
