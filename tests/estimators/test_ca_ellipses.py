import numpy as np
import pytest
import scipy.sparse

from mercer import CorrespondenceAnalysis
from mercer.errors import InputError, NotSupportedError

HAIR = np.array([[68, 119, 26, 7], [15, 54, 14, 10], [5, 29, 14, 16], [20, 84, 17, 94]])


def by_formula(table, standard):
    """Covariance of a row's place given its total: (Σp_jγγᵀ - ffᵀ)/R, the multinomial's."""
    R = table.sum(axis=1)
    p = table / R[:, None]
    f = p @ standard
    second = np.einsum("ij,jk,jl->ikl", p, standard, standard)
    return (second - f[:, :, None] * f[:, None, :]) / R[:, None, None]


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_draws_have_the_covariance_of_the_law(kind):
    table = 20 * HAIR
    model = CorrespondenceAnalysis(2).fit(table)
    found = model.ellipses(kind(table), draws=2000)
    for ours, exact in (
        (found.row_covariances, by_formula(table, model.column_standard_)),
        (found.column_covariances, by_formula(table.T, model.row_standard_)),
    ):
        size = np.sqrt(np.einsum("ikk->ik", exact))
        unit = size[:, :, None] * size[:, None, :]
        np.testing.assert_allclose(ours / unit, exact / unit, atol=0.12)
    np.testing.assert_array_equal(found.row_centres, model.row_coordinates_)
    assert found.radius == pytest.approx(np.sqrt(-2 * np.log(0.05)))
    again = model.ellipses(kind(table), draws=2000)
    np.testing.assert_array_equal(again.row_covariances, found.row_covariances)


def test_weights_and_empty_rows_are_those_of_the_fit():
    table = np.concatenate([HAIR, np.zeros((1, 4), int), HAIR])
    weights = np.array([2.0] * 4 + [1] + [0] * 4)
    with pytest.warns(UserWarning, match="no counts"):
        model = CorrespondenceAnalysis(2).fit(table, sample_weight=weights)
    plain = CorrespondenceAnalysis(2).fit(2 * HAIR)
    found, wanted = model.ellipses(table, draws=50), plain.ellipses(2 * HAIR, draws=50)
    assert found.row_covariances.shape == (4, 2, 2)
    np.testing.assert_allclose(found.row_covariances, wanted.row_covariances, rtol=1e-8)


def test_points_that_are_seldom_drawn():
    table = np.concatenate([HAIR, [[1, 0, 0, 0]]])
    found = CorrespondenceAnalysis(2).fit(table).ellipses(table, draws=40)
    assert np.isfinite(found.row_covariances).all()


def test_what_cannot_be_drawn_is_refused():
    model = CorrespondenceAnalysis(2).fit(HAIR)
    with pytest.raises(NotSupportedError, match="16 cells"):
        model.ellipses(HAIR, draws=10**8)
    with pytest.raises(InputError, match="shares say nothing"):
        CorrespondenceAnalysis(2).fit(HAIR / 592).ellipses(HAIR / 592)
    with pytest.raises(InputError, match="level=1"):
        model.ellipses(HAIR, level=1.0)
    with pytest.raises(InputError, match="the rows must be those of the fit"):
        model.ellipses(HAIR[:2])
