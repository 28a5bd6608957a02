import numpy as np
import pytest
import scipy.sparse

from mercer import CorrespondenceAnalysis
from mercer.errors import BudgetError

HAIR = np.array([[68, 119, 26, 7], [15, 54, 14, 10], [5, 29, 14, 16], [20, 84, 17, 94]])


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_squares_sum_to_chi_square(kind):
    model = CorrespondenceAnalysis(2).fit(HAIR)
    found = model.residuals(kind(HAIR))
    E = np.outer(HAIR.sum(axis=1), HAIR.sum(axis=0)) / HAIR.sum()
    np.testing.assert_allclose(found.standardised, (HAIR - E) / np.sqrt(E), rtol=1e-12)
    assert np.sum(found.standardised**2) == pytest.approx(model.independence_.chi2)
    r, c = model.row_masses_, model.column_masses_
    root = np.sqrt(np.outer(1 - r, 1 - c))
    np.testing.assert_allclose(found.adjusted, (HAIR - E) / np.sqrt(E) / root, rtol=1e-12)


def test_adjusted_residuals_are_standard_normal_without_association(rng):
    chances = np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.3]).ravel()
    drawn = [rng.multinomial(1000, chances).reshape(3, 3) for _ in range(400)]
    found = [CorrespondenceAnalysis(1).fit(t).residuals(t).adjusted for t in drawn]
    np.testing.assert_allclose(np.std(found, axis=0), 1, atol=0.12)


def test_huge_counts_empty_columns_and_little_memory():
    exact = CorrespondenceAnalysis(2).fit(HAIR).residuals(HAIR).standardised
    huge = HAIR * 2.0**1000
    found = CorrespondenceAnalysis(2).fit(huge).residuals(huge)
    np.testing.assert_allclose(found.standardised, exact * 2.0**500, rtol=1e-12)
    table = np.column_stack([HAIR, np.zeros(4)])
    with pytest.warns(UserWarning, match="no counts"):
        model = CorrespondenceAnalysis(2).fit(table)
    found = model.residuals(table)
    assert found.standardised.shape == table.shape
    assert not found.standardised[:, 4].any()
    with pytest.raises(BudgetError, match="4 x 4 cells"):
        CorrespondenceAnalysis(2, memory=10**7).fit(HAIR).set_params(memory=100).residuals(HAIR)
