import numpy as np
import pandas as pd
import pytest
from mixed_tables import mixed_frame

from mercer import MFA
from mercer.errors import DataWarning, InputError
from mercer.estimators.mixed import mfa as _mfa_groups
from mercer.estimators.mixed.mfa import groups_of, likeness
from mercer.operators import Framed

NAMES = ["a", "b", "c"]


def plain(matrix):
    m, n = matrix.shape
    return Framed(
        matrix, left=np.ones(m), right=np.ones(n), level=np.zeros(m), profile=np.zeros(n)
    )


def test_every_column_is_in_one_group():
    assert groups_of(None, NAMES).owner.tolist() == [0, 0, 0]
    found = groups_of({"x": ["c", 0], "y": "b"}, NAMES)
    assert found.names == ("x", "y")
    assert found.owner.tolist() == [0, 1, 0]
    assert groups_of([[0], [1, 2]], NAMES).names == ("group0", "group1")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"x": ["a", "b"]}, "'c' in none"),
        ({"x": ["a", "b"], "y": ["b", "c"]}, r"column 1 \('b'\) in 'x' and 'y'"),
        ({"x": NAMES, "y": []}, "'y' with no column"),
        ({"x": ["a", "b", "d"]}, "'d'"),
        ([[0, 1, 7]], "7"),
    ],
)
def test_groups_that_cannot_be(wanted, said):
    with pytest.raises(InputError, match=said):
        groups_of(wanted, NAMES)


@pytest.mark.parametrize("shape", [(40, 9), (7, 20)])
def test_what_groups_share_is_the_product_of_their_row_matrices(rng, monkeypatch, shape):
    a = rng.normal(size=shape)
    parts = (np.array([0, 2, 4]), np.array([1, 3]), np.arange(5, shape[1]))
    rows = [a[:, own] @ a[:, own].T for own in parts]
    expected = [[np.sum(one * other) for other in rows] for one in rows]
    lg, rv = likeness(plain(a), parts)
    np.testing.assert_allclose(lg, expected, rtol=1e-10)
    np.testing.assert_allclose(np.diagonal(rv), 1)
    assert rv.min() >= 0
    assert rv.max() <= 1
    monkeypatch.setattr(_mfa_groups, "_SMALL", 0)
    monkeypatch.setattr(_mfa_groups, "_BLOCK", 4)
    np.testing.assert_allclose(likeness(plain(a), parts)[0], expected, rtol=1e-10)


def test_a_group_that_does_not_vary_is_refused():
    given = mixed_frame(30)[["a", "b"]].assign(flat=1.0, one="u")
    with (
        pytest.raises(InputError, match="group 'dull'"),
        pytest.warns(DataWarning, match="'flat', 'one'"),
    ):
        MFA({"live": ["a", "b"], "dull": ["flat", "one"]}).fit(given)


def test_a_sparse_table_has_the_same_groups(rng):
    codes = rng.integers(0, 30, size=(200, 4))
    given = pd.DataFrame({f"u{q}": codes[:, q].astype(str) for q in range(4)})
    groups = {"one": ["u0", "u1"], "two": ["u2", "u3"]}
    model = MFA(groups, 2).fit(given)
    assert model.plan_.problem.nnz == 800
    parts = []
    for columns in groups.values():
        z = pd.get_dummies(given[columns]).to_numpy(float)
        y = (z - z.mean(axis=0)) / np.sqrt(z.mean(axis=0)) / np.sqrt(200)
        parts.append(y / np.linalg.svd(y, compute_uv=False)[0])
    s = np.linalg.svd(np.hstack(parts), compute_uv=False)
    np.testing.assert_allclose(model.eigenvalues_, s[:2] ** 2, rtol=1e-6)
    cross = np.sum((parts[0].T @ parts[1]) ** 2)
    np.testing.assert_allclose(model.lg_[0, 1], cross, rtol=1e-6)
