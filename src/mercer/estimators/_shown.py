"""How a notebook shows an estimator: a summary where it is fitted, else its diagram."""

from typing import Any

from sklearn.base import BaseEstimator


class ShownInNotebooks(BaseEstimator):
    """Mixin: a fitted model shows what it found; others keep their diagram."""

    def _repr_html_inner(self) -> str:
        """Return what `_repr_html_` returns; scikit-learn hides it where `display` is text."""
        if not _is_fitted(self):
            return str(super()._repr_html_inner())
        from mercer.estimators._summary import summary

        return summary(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Return text, and HTML where scikit-learn's `display` option wants diagrams."""
        if not _is_fitted(self):
            return dict(super()._repr_mimebundle_(**kwargs))
        html = {"text/html": self._repr_html_inner()} if hasattr(self, "_repr_html_") else {}
        return {"text/plain": repr(self), **html}


def _is_fitted(model: Any) -> bool:
    # Methods without shares set them to None when they are fitted.
    return hasattr(model, "explained_variance_ratio_")
