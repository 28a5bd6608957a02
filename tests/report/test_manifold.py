"""The page of a map of curved data."""

import numpy as np
import pytest
from sklearn.datasets import make_s_curve, make_swiss_roll
from sklearn.manifold import trustworthiness

import mercer
from mercer.report import report

ROLL, ALONG = make_swiss_roll(300, random_state=0)
METHODS = [
    mercer.LaplacianEigenmaps(3),
    mercer.DiffusionMaps(2),
    mercer.ClassicalMDS(2),
    mercer.Isomap(2, neighbours=8),
    mercer.LocallyLinearEmbedding(2, method="modified", neighbours=8),
]


@pytest.mark.parametrize("model", METHODS, ids=lambda m: type(m).__name__)
@pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")
@pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning")
def test_every_method_has_its_page(model):
    model.fit(ROLL)
    page = report(model, ROLL, colours={"along": ALONG}).page
    keys = [section.key for section in page.sections]
    assert keys[:2] == ["map", "neighbours"]
    assert keys[-1] == "method"
    assert ("graph" in keys) == hasattr(model, "facts_")
    words = " ".join(page.verdict)
    assert ("no shares" in words) == (model.explained_variance_ratio_ is None)
    wanted = trustworthiness(ROLL, model.embedding_, n_neighbors=10)
    assert f"trustworthiness {wanted:.3f}" in words
    np.testing.assert_allclose(page.cloud.Z, model.embedding_[:, :6])


def test_a_column_that_runs_along_the_map_is_said():
    curve, along = make_s_curve(300, random_state=0)
    model = mercer.Isomap(2, neighbours=8).fit(curve)
    verdict = report(model, curve, colours={"along": along}).page.verdict
    assert any(line.startswith("along follows the map closely") for line in verdict)


def test_new_rows_are_placed_and_one_coordinate_is_enough():
    model = mercer.Isomap(1, neighbours=8).fit(ROLL)
    page = report(model, ROLL[:40]).page
    np.testing.assert_allclose(page.cloud.Z[:, :1], model.transform(ROLL[:40]))


def test_a_graph_in_pieces_says_so():
    two = np.r_[ROLL[:100], ROLL[:60] + 1e3]
    with pytest.warns(mercer.DataWarning):
        model = mercer.LaplacianEigenmaps(2, components="largest").fit(two)
    page = report(model, two[:100]).page
    table = next(s for s in page.sections if s.key == "graph").parts[0]
    assert dict(table.rows)["rows left out"] == 60
