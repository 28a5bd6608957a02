import numpy as np
import pytest
from written_mca import tables

from mercer.errors import InputError
from mercer.estimators.categories._adjusted_inertias import (
    beyond_one,
    inertias,
    kind_of,
    map_of,
    mapped,
)
from mercer.estimators.categories._category_codes import coded
from mercer.estimators.categories._indicator_table import Categories, active_of
from mercer.solvers import Certificate


def test_which_inertias():
    assert kind_of("indicator", None) == "indicator"
    assert kind_of("adjusted", None) == "greenacre"
    assert kind_of("adjusted", "benzecri") == "benzecri"
    assert kind_of("burt", None) == "burt"


def test_maps_of_eigenvalues():
    values = np.array([0.9, 0.25, 0.1])
    np.testing.assert_allclose(map_of("burt", 4)(values), values**2)
    adjusted = map_of("greenacre", 4)(values)
    np.testing.assert_allclose(adjusted, [(4 / 3 * 0.65) ** 2, 0, 0])
    with pytest.raises(InputError, match="n_features = 1"):
        map_of("benzecri", 1)


def test_one_variable_alone_is_not_beyond_itself():
    assert beyond_one(np.array([0.9, 0.25 * (1 + 1e-15), 0.25, 0.2]), 4) == 1


def test_greenacre_total_is_the_mean_inertia_of_crossed_tables(rng):
    X = tables(rng, 200)
    made = Categories(active_of(coded(X), None, ["x3=l2"]))
    values = np.linalg.eigvalsh(made.square)[::-1][:2]
    found = inertias("greenacre", values, made)
    codes = made.active.coded.codes
    crossed = []
    for a in range(4):
        for b in range(4):
            if a != b:
                P = np.zeros((5, 5))
                np.add.at(P, (codes[:, a], codes[:, b]), 1 / 200)
                r, c = P.sum(axis=1, keepdims=True), P.sum(axis=0)
                with np.errstate(invalid="ignore"):
                    parts = np.nan_to_num((P - r * c) ** 2 / (r * c))
                if a == 3:
                    parts[2] = 0
                if b == 3:
                    parts[:, 2] = 0
                crossed.append(parts.sum())
    assert found.total == pytest.approx(np.mean(crossed))
    assert found.levels.sum() == pytest.approx(found.total)


def test_a_certificate_goes_through_a_rising_map():
    values = np.array([0.8, 0.5])
    before = Certificate.of(
        values,
        np.array([0.8 + 1e-8, 0.5 + 1e-8, 0.3]),
        np.array([1e-7, 1e-7]),
        error=1e-9,
        tol=1e-6,
        zero_level=1e-15,
    )
    after = mapped(before, values, np.square)
    np.testing.assert_allclose(after.lower, before.lower**2)
    np.testing.assert_allclose(after.upper, before.upper**2)
    np.testing.assert_array_equal(after.sine, before.sine)
    assert np.all(after.gap <= [0.8**2 - 0.5**2, 0.5**2 - 0.3**2])
    assert after.next_upper == pytest.approx(before.next_upper**2)
