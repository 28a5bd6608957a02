"""The benchmark of maps judges by residuals, and by correct rivals only."""

import numpy as np
import pytest
from benchmarks import manifold


def found(ours=1.0, arpack=2.0, lobpcg=0.5, lobpcg_residual=10.0, mine=1e-6):
    return {
        "mercer": {"seconds": [ours], "residual": mine},
        "arpack": {"seconds": [arpack], "residual": 1e-9},
        "lobpcg": {"seconds": [lobpcg], "residual": lobpcg_residual},
    }


@pytest.mark.parametrize(
    ("changed", "fastest", "holds"),
    [
        ({}, "arpack", True),
        ({"ours": 3.0}, "arpack", False),
        ({"lobpcg_residual": 1e-4}, "lobpcg", False),
        ({"mine": 1e-2}, "arpack", False),
    ],
)
def test_a_wrong_rival_sets_no_target(changed, fastest, holds):
    cell = manifold.judged(found(**changed))
    assert (cell["fastest_correct"], cell["holds"]) == (fastest, holds)


def test_residuals_are_those_of_the_graph():
    x = manifold.roll(500)
    model, rival = manifold.ours(x), manifold.theirs(x, "arpack")
    assert manifold.residual(model.graph_.weights, model.embedding_) < 1e-4
    assert manifold.residual(model.graph_.weights, rival.embedding_) < 1e-6
    noise = np.random.default_rng(0).standard_normal(model.embedding_.shape)
    assert manifold.residual(model.graph_.weights, noise) > 1e-3
