"""Callbacks of scikit-learn: one task per pass, and one per tenth of a long pass."""

from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator

from mercer.arrays import listening
from mercer.estimators.walk._parameters import Attributes

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before scikit-learn 1.9
    from mercer.estimators.walk._callback_shim import CallbackSupportMixin, with_callbacks

__all__ = ["CallbackSupportMixin", "followed"]

_PARTS = 10  # of a pass, each a task of its own


def followed(
    estimator: BaseEstimator, X: object, y: object, fit: Callable[[], dict[str, Any]]
) -> Attributes:
    """Return ``fit()``, the fitted attributes; the callbacks of `estimator` follow it.

    Nothing is published here: a callback that raises leaves the estimator as it was.
    """
    if not getattr(estimator, "_skl_callbacks", None):
        return fit()
    fitted: Attributes = _followed(estimator, X, y, fit)
    return fitted


@with_callbacks  # type: ignore[untyped-decorator,unused-ignore]
def _followed(
    estimator: BaseEstimator, X: object, y: object, fit: Callable[[], dict[str, Any]]
) -> Attributes:
    root = estimator._init_callback_context(max_subtasks=None)
    root.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    with listening(_Reporter(estimator, root)):
        fitted = fit()
    root.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes=fitted)
    return fitted


class _Reporter:
    """Turns what the solvers say into the tasks of a callback context."""

    def __init__(self, estimator: BaseEstimator, root: Any) -> None:
        self.estimator, self.root, self.context = estimator, root, root
        self.parts = 0

    def begin(self, name: str, note: str) -> None:
        self.context, self.parts = self.root.subcontext(name, max_subtasks=_PARTS), 0
        self.context.call_on_fit_task_begin(estimator=self.estimator, metadata={"note": note})

    def advance(self, done: int, total: int, words: str = "") -> None:
        while self.parts < _PARTS * done // max(total, 1):
            part = self.context.subcontext("part")
            part.call_on_fit_task_begin(estimator=self.estimator)
            part.call_on_fit_task_end(estimator=self.estimator)
            self.parts += 1

    def end(self, name: str) -> None:
        self.context.call_on_fit_task_end(estimator=self.estimator)
