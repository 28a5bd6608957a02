"""The callback calls of scikit-learn 1.9, for the versions before it."""

import copy
import functools
import inspect
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Self

from sklearn.base import BaseEstimator

from mercer.errors import InputError, InputTypeError

_HOOKS = ("setup", "on_fit_task_begin", "on_fit_task_end", "teardown")


class CallbackContext:
    """One task of a fit: its name, its place in the tree, and the callbacks to call.

    Parameters
    ----------
    callbacks : list
        Objects with `setup`, `on_fit_task_begin`, `on_fit_task_end` and `teardown`.
    estimator_name, task_name : str
        What the task belongs to, and what it is called.
    max_subtasks : int or None
        Most tasks below it: 0 for a leaf, None where that is not known.
    parent : CallbackContext or None
        The task it is a part of.
    """

    source_estimator_name = source_task_name = None  # tasks of pipelines are not merged here
    sequential_subtasks = True

    def __init__(
        self,
        callbacks: list[Any],
        estimator_name: str,
        task_name: str,
        max_subtasks: int | None,
        parent: "CallbackContext | None" = None,
    ) -> None:
        self._callbacks, self.estimator_name = callbacks, estimator_name
        self.task_name, self.max_subtasks, self.parent = task_name, max_subtasks, parent
        self.task_id = 0 if parent is None else len(parent._children)
        self.root_uuid: uuid.UUID = uuid.uuid4() if parent is None else parent.root_uuid
        self.init_time = datetime.now(UTC)
        self._children: list[CallbackContext] = []

    def __iter__(self) -> Iterator["CallbackContext"]:
        """Yield this task and all below it, parents first."""
        yield self
        for child in self._children:
            yield from child

    def subcontext(
        self, task_name: str = "", max_subtasks: int | None = 0
    ) -> "CallbackContext":
        """Return a new task below this one."""
        if self.max_subtasks is not None and len(self._children) >= self.max_subtasks:
            raise InputError(
                f"the task {self.task_name!r} has its {self.max_subtasks} subtasks already",
                got=f"another one, {task_name!r}",
                fix="begin it with max_subtasks=None",
            )
        child = CallbackContext(
            self._callbacks, self.estimator_name, task_name, max_subtasks, self
        )
        self._children.append(child)
        return child

    def call_on_fit_task_begin(self, *, estimator: BaseEstimator, **given: object) -> Self:
        """Tell every callback that the task begins."""
        self._call("on_fit_task_begin", estimator, given)
        return self

    def call_on_fit_task_end(self, *, estimator: BaseEstimator, **given: object) -> bool:
        """Tell every callback that the task has ended; return whether any wants to stop."""
        return self._call("on_fit_task_end", estimator, given)

    def _call(self, hook: str, estimator: BaseEstimator, given: dict[str, object]) -> bool:
        stop = False
        for callback in self._callbacks:
            call = getattr(callback, hook)
            asked = [
                name
                for name, parameter in inspect.signature(call).parameters.items()
                if parameter.kind is parameter.KEYWORD_ONLY
            ]
            values = {name: _value(name, estimator, given) for name in asked}
            stop |= bool(call(estimator, self, **values))
        return stop


def _value(name: str, estimator: BaseEstimator, given: dict[str, object]) -> object:
    """Return what a callback asks for by name; the fitted estimator is made on demand."""
    if name not in ("X", "y", "metadata", "fitted_estimator"):
        raise InputTypeError(
            "a callback asks for what it cannot be given",
            got=f"the keyword {name!r}",
            fix="ask for X, y, metadata or fitted_estimator",
        )
    if name != "fitted_estimator":
        return given.get(name)
    attributes = given.get("reconstruction_attributes")
    if attributes is None:
        return None
    twin = copy.copy(estimator)
    twin.__dict__.update(attributes)
    return twin


class CallbackSupportMixin:
    """Adds `set_callbacks` to an estimator."""

    def set_callbacks(self, *callbacks: object) -> Self:
        """Let these follow every fit; none takes away those that were set.

        Parameters
        ----------
        *callbacks : objects
            Each with `setup`, `on_fit_task_begin`, `on_fit_task_end` and `teardown`.
        """
        for callback in callbacks:
            if isinstance(callback, type) or not all(hasattr(callback, h) for h in _HOOKS):
                raise TypeError(
                    "callbacks must be instances following the FitCallback protocol."
                )
        if callbacks:
            self._skl_callbacks: list[Any] = list(callbacks)
        else:
            self.__dict__.pop("_skl_callbacks", None)
        return self

    def __sklearn_clone__(self) -> Self:
        """Return a clone that is followed by the same callbacks."""
        twin: Self = super().__sklearn_clone__()  # type: ignore[misc]
        if hasattr(self, "_skl_callbacks"):
            twin._skl_callbacks = self._skl_callbacks
        return twin

    def _init_callback_context(
        self, task_name: str = "fit", *, max_subtasks: int | None = 0
    ) -> CallbackContext:
        callbacks = self._skl_callbacks
        context = CallbackContext(callbacks, type(self).__name__, task_name, max_subtasks)
        self._callback_fit_ctx, self._skl_callbacks_to_teardown = context, list[Any]()
        for callback in callbacks:
            self._skl_callbacks_to_teardown.append(callback)
            callback.setup(estimator=self, context=context)
        return context


def with_callbacks(method: Callable[..., object]) -> Callable[..., object]:
    """Return the method with every callback that was set up torn down after it."""

    @functools.wraps(method)
    def managed(estimator: BaseEstimator, *args: object, **kwargs: object) -> object:
        try:
            return method(estimator, *args, **kwargs)
        finally:
            _tear_down(estimator)

    return managed


def _tear_down(estimator: BaseEstimator) -> None:
    context = estimator.__dict__.pop("_callback_fit_ctx", None)
    errors = []
    for callback in estimator.__dict__.pop("_skl_callbacks_to_teardown", []):
        try:
            callback.teardown(estimator=estimator, context=context)
        except Exception as error:
            errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ExceptionGroup("callbacks failed when they were torn down", errors)
