import types

import numpy as np
import pytest

from mercer.studies.drifting import _drift_comparisons as found
from mercer.studies.drifting._drift_axes import Turn


def columns(**changes):
    parts = {
        "names": ("a", "b", "c", "d", "e"),
        "shift_sd": np.array([0.1, -2.0, 3.0, 1.5, 1.2]),
        "shift_se": np.array([1.0, -20.0, 30.0, 15.0, 12.0]),
        "shift_chance": np.array([0.9, 0.0, 0.0, 0.001, 0.002]),
        "ratio": np.array([1.0, 0.5, 1.1, 1.0, 3.0]),
        "ratio_chance": np.array([1.0, 0.01, 0.9, 1.0, 0.001]),
    }
    return found.ComparedColumns(**{**parts, **changes})


def test_where_none_changed_the_nearest_is_named():
    calm = columns(shift_chance=np.ones(5), ratio_chance=np.ones(5))
    assert found.column_means(calm, 0.05)[1].startswith("The mean has moved of c by")
    assert found.column_means(calm, 0.05)[1].count("sd (") == 1
    assert found.column_ratios(calm, 0.05)[0] == 1.0


def test_findings_are_corrected_for_their_number_and_ordered():
    asked = {"one": (0.02, "first"), "two": (0.001, "second"), "three": (0.9, "third")}
    comparisons = found.settled(asked, 0.95)
    assert [one.what for one in comparisons] == ["two", "one", "three"]
    assert [one.chance for one in comparisons] == pytest.approx([0.003, 0.04, 0.9])
    assert [one.changed for one in comparisons] == [True, True, False]
    assert not any(one.changed for one in found.settled({"one": (0.02, "")} | asked, 0.99)[1:])


def test_turns_and_variances_name_axes_and_planes():
    turns = (Turn((0,), 12.0, 3.0, 0.001), Turn((1, 2), 5.0, 4.0, 0.7))
    chance, says = found.axes_turned(turns, 0.05)
    assert chance == 0.001
    assert says.endswith("angles to the new axes: PC1 12.0° (chance makes 3.0°).")
    chance, says = found.axis_variances(
        turns, np.array([1.0, 2.5]), np.array([0.8, 0.001]), 0.05
    )
    assert chance == pytest.approx(0.002)
    assert says.endswith("the plane of PC2 and PC3 (2.5 times).")


def test_alarms_are_counted_above_the_limit():
    seen = found.alarms_of(np.array([1.0, 5.0, 7.0, 2.0]), 5.0)
    assert (seen.count, seen.share, seen.limit) == (1, 0.25, 5.0)
    assert found.alarms_of(np.ones(3), np.inf).limit is None


def test_outlying_rows_are_compared_with_those_of_the_fit():
    model = types.SimpleNamespace(outliers_=np.arange(10), n_samples_=200)
    same, says = found.outlying(model, np.arange(100) < 5)
    assert same > 0.3
    assert says == "5 of 100 rows (5.0 %) are outlying; 5 % were at fit."
    assert found.outlying(model, np.arange(100) < 30)[0] < 1e-4
