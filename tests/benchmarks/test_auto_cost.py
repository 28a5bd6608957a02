import numpy as np
import pytest
from benchmarks import __main__ as command
from benchmarks import auto_cost


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_table_has_five_factors(dtype):
    rows = auto_cost.table(20, dtype)
    assert rows.shape == (2000, 20)
    assert rows.dtype == dtype
    np.testing.assert_array_equal(rows, auto_cost.table(20, dtype))
    values = np.linalg.eigvalsh(np.cov(rows.T))[::-1]
    assert values[4] > 1.5 * values[5]


def test_both_fits_are_timed_in_turns():
    cell = auto_cost.cost(20, "float64", turns=3)
    assert cell["turns"] == 3
    assert abs(cell["components"] - auto_cost.FACTORS) <= 1
    whole = cell["seconds"] / cell["rival_seconds"] - 1
    assert cell["extra_with_all_rules"] == pytest.approx(whole)
    assert set(cell["all_seconds"]) == {"plain", "deciding", "auto"}
    assert cell["holds"] == (cell["extra"] <= 0.1)


def test_the_command_runs_it(monkeypatch):
    asked = []
    monkeypatch.setattr(auto_cost, "run", lambda out, case: asked.append((out.name, case)))
    assert command.main(["auto_cost", "--case", "p400*"]) == 0
    assert asked == [("auto_cost.json", "p400*")]
    assert len(auto_cost.CASES) == 6
