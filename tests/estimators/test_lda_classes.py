import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from mercer import LinearDiscriminantAnalysis
from mercer.estimators.groups._class_labels import TellsClasses


class Given(TellsClasses, BaseEstimator):
    """Decisions that are known."""

    def __init__(self, delta):
        self.delta = delta

    def fit(self):
        self.classes_ = np.array(list("abc"))[: self.delta.shape[1]]
        return self

    def _decisions(self, X):
        return self.delta[X]


def test_probabilities_of_decisions_far_apart():
    delta = np.array([[0.0, 1000.0, -1000.0], [5.0, 5.0, -np.inf]])
    model = Given(delta).fit()
    rows = np.array([0, 1])
    np.testing.assert_allclose(model.predict_proba(rows), [[0, 1, 0], [0.5, 0.5, 0]])
    assert model.predict_log_proba(rows)[0, 0] == -1000  # not the log of zero
    assert model.predict(rows).tolist() == ["b", "a"]
    assert model.decision_function(rows).shape == (2, 3)


def test_two_classes_have_one_decision():
    model = Given(np.array([[1.0, 3.0], [2.0, 0.0]])).fit()
    assert model.decision_function(np.array([0, 1])).tolist() == [2.0, -2.0]


@pytest.mark.parametrize(
    "name", ["predict", "predict_proba", "predict_log_proba", "decision_function"]
)
def test_an_unfitted_model_says_so(name):
    with pytest.raises(NotFittedError):
        getattr(LinearDiscriminantAnalysis(), name)(np.eye(3))
