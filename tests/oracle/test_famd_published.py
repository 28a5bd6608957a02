"""Numbers that FactoMineR 2.11 printed for the small mixed table of prince's tests (MIT)."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mercer import FAMD, MFA

DATA = Path(__file__).resolve().parents[1] / "data"
PRINTED = json.loads((DATA / "reference_values.json").read_text(encoding="utf-8"))[
    "famd_wikipedia"
]
TABLE = pd.DataFrame(PRINTED["data_inline"])


def test_eigenvalues_as_factominer_prints_them():
    model = FAMD(None).fit(TABLE)
    assert "FactoMineR 2.11" in PRINTED["source"]
    np.testing.assert_allclose(model.eigenvalues_, PRINTED["eigenvalues"], atol=5.1e-10)
    np.testing.assert_allclose(model.total_inertia_, 8, rtol=1e-13)


def test_rows_as_factominer_prints_them():
    model = FAMD(5).fit(TABLE)
    found = np.abs(model.row_coordinates_)
    np.testing.assert_allclose(found, PRINTED["abs_row_coords"], atol=5.1e-8)
    np.testing.assert_array_equal(model.transform(TABLE), model.row_coordinates_)


def test_one_group_for_each_column_is_famd():
    """MFA divides a single variable by 1, so that its axes are those printed for FAMD."""
    model = MFA({name: [name] for name in TABLE}, 5).fit(TABLE)
    np.testing.assert_allclose(model.eigenvalues_, PRINTED["eigenvalues"], atol=5.1e-10)


@pytest.mark.slow
def test_prince_finds_the_same_factors_of_groups():
    """prince 0.23 divides groups of numbers as we do; its eigenvalues are ours."""
    prince = pytest.importorskip("prince")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 6)), columns=list("abcdef")) @ np.triu(
        np.ones((6, 6))
    )
    X.columns = list("abcdef")
    groups = {"one": ["a", "b"], "two": ["c", "d", "e"], "three": ["f"]}
    peer = prince.MFA(n_components=3, engine="scipy").fit(X, groups=groups)
    model = MFA(groups, 3).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, peer.eigenvalues_, rtol=1e-6)
