"""model.report(X, path): the one import upwards, made when it is called."""

import os
from typing import Any

from mercer.estimators._parameters import check_fitted


class Reporting:
    """Mixed into every method: a page about a fit."""

    def report(
        self, X: Any = None, path: str | os.PathLike[str] | None = None, **options: Any
    ) -> Any:
        """Return one self-contained HTML page about this fit, written to `path` if given.

        Parameters
        ----------
        X : array, frame, path or source of shape (n_samples, n_features), or None
            The rows of the fit. Without them the page has no map and says so.
        path : path or None
            File to write, with a name that ends in .html; an older one is replaced.
        **options
            title, row_names, colours, choice and others of `mercer.report.report`.

        Returns
        -------
        Report
            With ``save(path)``; a notebook shows it.
        """
        from mercer.report import report

        check_fitted(self)
        made = report(self, X, **options)
        if path is not None:
            made.save(path)
        return made
