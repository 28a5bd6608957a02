import numpy as np
import pytest
from written_mca import tables

import mercer
from mercer.errors import DataWarning, NotSupportedError
from mercer.estimators.categories import _mca_fitted as _mca_null
from mercer.estimators.categories._category_codes import coded
from mercer.estimators.categories._indicator_table import Categories, active_of
from mercer.estimators.categories._mca_fitted import choice_of_axes, permuted

MCA = mercer.MultipleCorrespondenceAnalysis


def test_permuted_tables_keep_shares_and_lose_association(rng):
    X = tables(rng, 400, strength=2.0)
    active = active_of(coded(X), None, None)
    null = permuted(active, 10, None, 0)
    assert null.shape == (39, 10)
    np.testing.assert_allclose(null.sum(axis=1), 10 / 4)  # (J - Q)/Q whatever the order
    assert null.max() < Categories(active).square.trace()
    assert np.all(null[:, 0] < np.linalg.eigvalsh(Categories(active).square)[-1])


def test_whole_weights_are_repeated_rows(rng):
    X = tables(rng, 60)
    counts = rng.integers(0, 4, 60)
    one = permuted(active_of(coded(X), counts.astype(float), None), 10, 5, 1)
    two = permuted(active_of(coded(np.repeat(X, counts, axis=0)), None, None), 10, 5, 1)
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-14)


def test_fractional_weights_and_missing_cells_are_drawn_too(rng):
    X = tables(rng, 60)
    X[rng.random(X.shape) < 0.2] = None
    active = active_of(coded(X, missing="passive"), rng.random(60) * 2, None)
    null = permuted(active, active.axes, 5, 1)
    assert np.isfinite(null).all()


def test_one_hidden_number_is_found_and_independence_is_none(rng):
    found = MCA("auto").fit(tables(rng, 300, strength=1.5))
    assert found.n_components_ in (1, 2)
    assert found.choice_.k == found.n_components_
    assert "permuted columns" in found.choice_.reason
    with pytest.warns(DataWarning, match="no axis is kept"):
        none = MCA("auto").fit(tables(rng, 300, strength=0.0))
    assert none.n_components_ == 0
    assert none.transform(tables(rng, 5)).shape == (5, 0)


def test_a_null_of_a_huge_table_is_refused(rng, monkeypatch):
    monkeypatch.setattr(_mca_null, "_ROWS", 10)
    made = Categories(active_of(coded(tables(rng, 60)), None, None))
    with pytest.raises(NotSupportedError, match="60 rows"):
        choice_of_axes(np.ones(2), made, 0)


@pytest.mark.parametrize(
    ("options", "rule"),
    [({}, lambda v: v), ({"table": "burt"}, np.square)],
    ids=["indicator", "burt"],
)
def test_the_band_holds_independent_columns_and_no_hidden_number(rng, options, rule):
    inside = MCA(3, **options).fit(tables(rng, 400, strength=0.0))
    low, high = inside.null_band()
    values = inside.eigenvalues_
    assert np.all((low[:3] < values * 1.05) & (values < high[:3] * 1.05))
    outside = MCA(1, **options).fit(tables(rng, 400, strength=1.5))
    band = outside.null_band(draws=19)
    assert outside.eigenvalues_[0] > band[1, 0]
    assert band.shape == (2, 10)
    plain = MCA(1).fit(tables(rng, 400, strength=1.5))
    np.testing.assert_allclose(rule(plain.null_band(draws=19)).mean(), band.mean(), rtol=0.05)
