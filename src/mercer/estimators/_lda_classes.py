"""What a method that tells classes apart does with new rows."""

from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin

from mercer.arrays import Array
from mercer.estimators._parameters import check_fitted


class TellsClasses(ClassifierMixin):
    """Mixin: predictions from δ_g(x), the log posterior of each class up to a constant."""

    classes_: Array

    def _decisions(self, X: Any) -> Array:
        """Return δ (n, G) of rows, float64."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> Array:
        """Return δ_g(x) = z·c_g - ½‖c_g‖² + ln π_g, (n, G); δ₁ - δ₀ (n,) for two classes.

        z and c_g are the canonical coordinates of the row and of the class mean, in units of
        the maximum-likelihood covariance within classes.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows.
        """
        check_fitted(self)
        found = self._decisions(X)
        return found[:, 1] - found[:, 0] if found.shape[1] == 2 else found

    def predict(self, X: Any) -> Array:
        """Return the most probable class (n,) of each row.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows.
        """
        check_fitted(self)
        return np.asarray(self.classes_[np.argmax(self._decisions(X), axis=1)])

    def predict_log_proba(self, X: Any) -> Array:
        """Return the log of the posterior probabilities (n, G), exact where these are tiny.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows.
        """
        check_fitted(self)
        found = self._decisions(X)
        return np.asarray(found - logsumexp(found, axis=1, keepdims=True))

    def predict_proba(self, X: Any) -> Array:
        """Return the posterior probabilities (n, G) of the classes, in the order of classes_.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows.
        """
        return np.asarray(np.exp(self.predict_log_proba(X)))
