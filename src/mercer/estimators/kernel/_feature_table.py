"""FeatureTable: what methods share whose result is a table of features of a kernel."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from mercer.estimators.walk._admission import admit, held_rows, refuse_bad_cells
from mercer.estimators.walk._parameters import Explaining, set_by_name
from mercer.sources import Source


class FeatureTable(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, metaclass=Explaining
):
    """Abstract: features (n, m) of rows in memory, finite ones; no eigenproblem of a plan."""

    set_params = set_by_name

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: sparse input is taken, float32 is kept."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        return tags

    def _admit(self, X: Any, *, reset: bool) -> Source:
        """Return the source of X, every cell finite."""
        source = admit(self, held_rows(X), reset=reset)
        refuse_bad_cells(source, getattr(self, "feature_names_in_", None))
        return source


def kept_type(source: Source) -> Any:
    """Return the type of the features: float32 for float32 rows."""
    return np.float32 if source.products.itemsize == 4 else np.float64
