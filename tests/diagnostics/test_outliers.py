import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.diagnostics import fitted_limits, outliers
from mercer.errors import InputError


def plane(n=100, p=6, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((n, 2)) * [5, 2]
    axes = np.linalg.qr(rng.standard_normal((p, 2)))[0]
    return scores @ axes.T + 0.05 * rng.standard_normal((n, p)), axes


def test_a_row_eight_deviations_out_on_the_second_axis_is_flagged():
    X, axes = plane()
    X[17] = 8 * 2 * axes[:, 1]
    found = outliers(X, 2)
    assert found.flagged[0] == 17
    assert found.t2[17] > 3 * found.fitted.t2
    assert found.t2[17] > found.new.t2  # it does not widen the limit of new rows


def test_a_row_far_from_the_plane_is_flagged():
    X, axes = plane()
    away = np.linalg.svd(axes.T)[2][-1]
    X[33] += 3 * away  # near the centre of the plane, where its T² says nothing
    X[33] -= axes @ (axes.T @ X[33])
    found = outliers(X, 2)
    assert found.flagged[0] == 33
    assert found.q[33] > 100 * np.median(found.q)
    assert found.t2[33] < found.fitted.t2
    assert found.q[33] > found.new.q


@pytest.mark.parametrize("shape", [(40, 6), (15, 30)])
def test_numbers_are_those_of_the_definition(shape):
    X = np.random.default_rng(1).standard_normal(shape) + 3
    found = outliers(X, 3)
    Y = X - X.mean(axis=0)
    u, _, vt = np.linalg.svd(Y, full_matrices=False)
    assert_allclose(found.t2, (shape[0] - 1) * np.sum(u[:, :3] ** 2, axis=1), rtol=1e-9)
    assert_allclose(found.q, np.sum((Y - Y @ vt[:3].T @ vt[:3]) ** 2, axis=1), rtol=1e-9)


def test_each_limit_says_where_it_is_from():
    rng = np.random.default_rng(0)
    few = outliers(rng.standard_normal((40, 5)), 2)
    assert few.new.t2_from == few.new.q_from == "rows left out, normal"
    real = outliers(rng.standard_normal((40, 5)) * [9, 7, 1, 1, 1], 2, level=0.9)
    assert real.new.t2_from == real.new.q_from == "rows left out"
    many = outliers(rng.standard_normal((500, 5)), 2)
    assert (many.new.t2_from, many.new.q_from) == ("rows left out", "Jackson-Mudholkar")
    full = outliers(rng.standard_normal((40, 5)), 5)
    assert full.new.t2_from == "F law"
    assert full.fitted.q == full.new.q == 0
    assert not np.any(full.q)


def test_clean_rows_are_flagged_at_the_level():
    counts = [
        len(outliers(np.random.default_rng(i).standard_normal((200, 8)), 3).flagged)
        for i in range(10)
    ]
    assert 10 <= sum(counts) <= 70  # 40 are expected of 2,000 rows and two limits


def test_text_names_the_farthest_rows():
    X, axes = plane()
    X[17] = 16 * axes[:, 1]
    text = str(outliers(X, 2))
    assert "row 17: T²" in text
    assert "Beta law" in text


@pytest.mark.parametrize(
    ("X", "k"),
    [(np.ones(3), 1), (np.ones((4, 2)), 3), (np.ones((3, 5)), 2), (np.eye(4) * np.nan, 1)],
)
def test_impossible_tables_are_refused(X, k):
    with pytest.raises(InputError, match="outliers need"):
        outliers(X, k)


def test_constant_rows_give_no_warning():
    assert outliers(np.ones((5, 2)), 1).flagged.size == 0


def test_limits_of_the_fit_alone_are_those_of_outliers():
    table = np.random.default_rng(4).normal(size=(200, 7)) * 1e6
    assert fitted_limits(table, 3) == outliers(table, 3).fitted
