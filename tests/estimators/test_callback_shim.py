"""The shim alone, whatever the version of scikit-learn: the same calls, the same order."""

import copy

import pytest
from sklearn.base import BaseEstimator, clone

from mercer.estimators.walk import _callback_shim as shim


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
    with pytest.raises(ValueError, match="2 subtasks"):
        root.subcontext("d")
    with pytest.raises(ValueError, match="0 subtasks"):
        second.subcontext("d")


def test_all_are_torn_down_and_errors_are_gathered():
    good, bad, worse = Follower(), Follower(broken="one"), Follower(broken="two")
    model = Counter().set_callbacks(bad, good)
    with pytest.raises(ArithmeticError, match="one"):
        model.fit()
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
    with pytest.raises(KeyboardInterrupt):
        Counter().set_callbacks(first, refusing, last).fit()
    assert (first.words, refusing.words, last.words) == (
        ["setup", "teardown"],
        ["teardown"],
        [],
    )


def test_clones_keep_callbacks_and_copies_too():
    follower = Follower()
    model = Counter().set_callbacks(follower)
    assert clone(model)._skl_callbacks == [follower]
    assert copy.copy(model)._skl_callbacks == [follower]
    assert not hasattr(clone(Counter()), "_skl_callbacks")
    assert "_skl_callbacks" not in vars(model.set_callbacks())


def test_wrong_callbacks_are_refused():
    class Nosy(Follower):
        def on_fit_task_begin(self, estimator, context, *, secret):
            raise AssertionError

    for wrong in (Follower, object(), None):
        with pytest.raises(TypeError, match="protocol"):
            Counter().set_callbacks(wrong)
    with pytest.raises(TypeError, match="secret"):
        Counter().set_callbacks(Nosy()).fit()
