import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import PCA, KernelPCA, RobustPCA, dropin

X = np.random.default_rng(0).normal(size=(40, 4)) * [4, 2, 1, 1]
OURS = "mercer-summary"


@pytest.mark.parametrize("kind", [PCA, KernelPCA, RobustPCA])
def test_a_fitted_model_shows_a_summary_and_one_that_is_not_its_diagram(kind):
    model = kind(2)
    assert OURS not in model._repr_html_()
    assert "sk-container" in model._repr_html_()
    model.fit(X)
    assert OURS in model._repr_html_()
    assert "sk-container" not in model._repr_html_()


@pytest.mark.parametrize("fitted", [False, True])
def test_notebooks_get_text_and_html_unless_display_is_text(fitted):
    model = PCA(2).fit(X) if fitted else PCA(2)
    bundle = model._repr_mimebundle_(include=None, exclude=None)
    assert bundle["text/plain"] == repr(model)
    assert (OURS in bundle["text/html"]) is fitted
    with config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(model, "_repr_html_")


def test_a_pipeline_keeps_the_diagram_of_all_its_steps():
    shown = make_pipeline(PCA(2).fit(X), StandardScaler())._repr_html_()
    assert "sk-container" in shown
    assert OURS not in shown


def test_the_faces_of_other_libraries_show_theirs_too():
    assert OURS in dropin.PCA(2).fit(X)._repr_html_()
    assert OURS in dropin.TruncatedSVD(2).fit(X)._repr_html_()


def test_a_stream_of_one_row_keeps_its_diagram():
    assert OURS not in PCA(2).partial_fit(X[:1])._repr_html_()
    assert OURS in PCA(2).partial_fit(X)._repr_html_()


def test_repr_is_what_it_was():
    assert repr(PCA(2).fit(X)) == "PCA(n_components=2)"


def test_a_frame_that_holds_models_shows():
    frame = pd.DataFrame({"model": [PCA(2).fit(X), PCA(2)]})
    assert "PCA(n_components=2)" in frame._repr_html_()
    assert "PCA(n_components=2)" in repr(frame)
