"""Kernel PCA of rows that linear PCA has completed."""

import numpy as np
import pytest
from tests.estimators.missing_oracles import iterated, table

import mercer
import mercer.dropin
from mercer.errors import DataWarning, InputError

SAID = "filled by linear PCA"


def fitted(X, **parameters):
    with pytest.warns(DataWarning, match=SAID):
        return mercer.KernelPCA(3, missing="em", **parameters).fit(X)


@pytest.mark.parametrize(
    "parameters", [{}, {"landmarks": 110, "tol": 0.5}, {"standardize": True}], ids=str
)
def test_is_kernel_pca_of_the_completed_rows(parameters):
    X = table(rows=120)
    found = fitted(X, **parameters)
    filled = iterated(X, found.completion_.axes.shape[1], parameters.get("standardize", False))
    plain = mercer.KernelPCA(3, **parameters).fit(filled)
    np.testing.assert_allclose(found.eigenvalues_, plain.eigenvalues_, rtol=1e-5)
    np.testing.assert_allclose(found.transform(X), found.transform(found.completion_.filled(X)))
    assert found.n_missing_ == np.isnan(X).sum()
    assert found.missing_counts_.shape == (7,)


def test_fit_transform_is_transform():
    X = table(rows=80)
    model = mercer.KernelPCA(2, missing="em")
    with pytest.warns(DataWarning, match=SAID):
        Z = model.fit_transform(X)
    np.testing.assert_allclose(Z, model.transform(X), rtol=0, atol=1e-10)
    assert model.novelty(X).shape == (80,)


def test_complete_rows_are_as_ever_and_later_gaps_are_filled():
    X = np.nan_to_num(table())
    found, plain = mercer.KernelPCA(2, missing="em").fit(X), mercer.KernelPCA(2).fit(X)
    assert np.array_equal(found.eigenvalues_, plain.eigenvalues_)
    assert found.n_missing_ == 0
    assert np.isfinite(found.transform(table())).all()


def test_rows_of_weight_zero_are_left_out():
    X = table()
    bare = fitted(X, kernel=mercer.kernels.RBF(12.0))
    far, w = np.r_[np.full((3, X.shape[1]), 9.96921e36), X], np.r_[0, 0, 0, np.ones(len(X))]
    model = mercer.KernelPCA(3, kernel=mercer.kernels.RBF(12.0), missing="em")
    with pytest.warns(DataWarning, match=SAID):
        model.fit(far, sample_weight=w)
    np.testing.assert_allclose(model.eigenvalues_, bare.eigenvalues_, rtol=1e-9)


def test_empty_rows_are_left_out():
    X = table()
    X[4] = np.nan
    with pytest.warns(DataWarning, match=SAID), pytest.warns(DataWarning, match="such rows: 4"):
        found = mercer.KernelPCA(2, missing="em").fit(X)
    with pytest.warns(DataWarning, match="projected as the mean"):
        assert np.isfinite(found.transform(X)).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda X: mercer.KernelPCA(2).fit(X),
        lambda X: mercer.KernelPCA(2, missing="em").partial_fit(X),
        lambda X: mercer.KernelPCA(2, missing="em").fit(iter([X])),
        lambda X: mercer.KernelPCA(2, missing="em", kernel="precomputed").fit(X[:7]),
        lambda X: mercer.dropin.KernelPCA(2).fit(X),
    ],
    ids=["raise", "partial_fit", "stream", "precomputed", "dropin"],
)
def test_where_cells_are_not_filled_they_are_refused(call):
    with pytest.raises(InputError, match="cells are missing"):
        call(table())


@pytest.mark.parametrize("standardize", [False, True])
def test_rows_with_gaps_can_be_planned(standardize):
    X = np.random.default_rng(0).standard_normal((40, 3))
    X[4, 1] = np.nan
    model = mercer.KernelPCA(2, missing="em", standardize=standardize)
    assert mercer.plan(model, X).problem.rows == 40
    assert np.isnan(X[4, 1])
    with pytest.raises(InputError, match="missing"):
        mercer.plan(mercer.KernelPCA(2, standardize=True), X)
