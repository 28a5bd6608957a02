import dataclasses
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer.diagnostics import CODES, Finding, health
from mercer.diagnostics.health_checks._health_input import numbered, units
from mercer.errors import InputError

from .fits import factors, found, parts

KINDS = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "uniform": lambda rng, shape: rng.uniform(size=shape),
    "unequal": lambda rng, shape: rng.standard_normal(shape) * rng.uniform(0.5, 2, shape[1]),
    "scale": lambda rng, shape: np.clip(np.round(rng.standard_normal(shape) + 3), 1, 5),
}
# Of noise these are true: its axes have no direction, and explain nothing of other rows.
TRUE_OF_NOISE = {"M106", "M107"}


def rates(draws, make, k):
    """How often each code appears."""
    counts = Counter()
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        X = make(rng)
        labels = np.arange(len(X)) % 2
        counts.update(list(found(X, k, groups=labels)))
    return {code: count / draws for code, count in counts.items()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(30, 5), (30, 40), (300, 10)])
def test_noise_gives_no_false_alarm(shape, kind):
    seen = rates(40, lambda rng: KINDS[kind](rng, shape), min(4, shape[1] - 1))
    assert {c: r for c, r in seen.items() if c not in TRUE_OF_NOISE and r > 0.025} == {}


@pytest.mark.parametrize("shape", [(60, 8), (300, 12), (1000, 30)])
def test_ordinary_factors_give_no_false_alarm(shape):
    seen = rates(40, lambda rng: factors(*shape, rng), 3)
    assert {code: rate for code, rate in seen.items() if rate > 0.025} == {}


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("shape", [(30, 5), (30, 40), (100, 10), (300, 10), (500, 60)])
def test_false_alarms_in_500_draws(shape):
    k = min(4, shape[1] - 1)
    for kind, make in KINDS.items():
        seen = rates(500, lambda rng, make=make: make(rng, shape), k)
        false = {code: rate for code, rate in seen.items() if code not in TRUE_OF_NOISE}
        assert all(rate <= 0.01 for rate in false.values()), f"noise, {kind}: {false}"
    if shape[0] >= 100:
        seen = rates(500, lambda rng: factors(*shape, rng), 3)
        assert all(rate <= 0.02 for rate in seen.values()), f"factors: {seen}"


def test_the_important_comes_first_and_each_code_once():
    rng = np.random.default_rng(0)
    X = factors(400, 6, rng)
    X = np.c_[X, X[:, 0] + X[:, 1], np.full(400, 2.0)]
    X[:, 2] *= 1e4
    X[9, 2] = 1e7
    codes = list(found(X, 3))
    assert codes[:2] == ["M104", "M103"]
    assert codes[-1] == "M110"
    assert set(codes) <= set(CODES)


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize(
    "X",
    [
        np.zeros((5, 3)),
        np.array([[1.0], [2.0]]),
        np.arange(6.0).reshape(2, 3),
        np.arange(30.0).reshape(30, 1),
        np.eye(7),
        np.repeat(np.eye(3), 50, axis=0),
        np.c_[np.arange(40.0), np.ones(40)],
        np.ones((1, 4)),
    ],
    ids=["zeros", "2x1", "2x3", "one column", "eye", "repeated", "a constant", "one row"],
)
def test_odd_tables_are_looked_at(X, scale):
    X = X * scale
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        unit = X / scale
        scores, variances, _ = parts(unit, min(2, *X.shape))
        findings = health(
            X, scores * scale, variances * scale * scale, groups=np.arange(len(X)) % 2
        )
    assert all(finding.code in CODES and finding.got for finding in findings)


@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_findings_do_not_depend_on_the_unit(factor):
    rng = np.random.default_rng(0)
    X = factors(300, 6, rng)
    X = np.c_[X * [1, 1, 1, 1, 1, 500], X[:, 0]]
    scores, variances, _ = parts(X, 3)
    with np.errstate(over="ignore", under="ignore"):
        moved = health(X * factor + factor, scores * factor, variances * factor * factor)
    plain = health(X, scores, variances)
    assert [f.code for f in moved] == [f.code for f in plain] == ["M104", "M109"]


def test_no_axes_and_large_tables():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4))
    assert health(X, np.zeros((40, 0)), np.zeros(0)) == ()
    assert health(None, X[:, :0], np.zeros(0)) == ()
    walk = np.cumsum(rng.standard_normal((200, 1)), axis=0)
    assert [f.code for f in health(None, walk, [walk.var()])] == ["M102"]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30_000, 4)) * [3000, 2, 1, 0.5]
    assert list(found(X, 2, groups=np.arange(30_000) % 3)) == ["M104"]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"variances": [1.0]}, "every axis has a variance"),
        ({"names": ["a"]}, "names are those of the columns"),
        ({"groups": [1, 2]}, "groups name the group"),
        ({"scores": np.full((30, 2), np.nan)}, "coordinates of finite numbers"),
        ({"table": np.full((30, 4), np.inf)}, "a table of finite numbers"),
    ],
)
def test_what_does_not_fit_is_refused(change, match):
    X = np.random.default_rng(0).standard_normal((30, 4))
    given = {"table": X, "scores": X[:, :2], "variances": [1.0, 1.0]} | change
    table, scores, variances = (given.pop(name) for name in ("table", "scores", "variances"))
    with pytest.raises(InputError, match=match):
        health(table, scores, variances, **given)


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150, 1e300, 5e-300])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_units_are_free_of_scale_and_offset(scale, offset):
    X = np.random.default_rng(0).standard_normal((50, 3)) * [1, 10, 0.1]
    plain, sizes = units(X)
    moved, others = units((X + offset) * scale)
    assert_allclose(moved, plain, atol=1e-8)
    assert_allclose(others / others.max(), sizes / sizes.max(), rtol=1e-8)
    assert_allclose(np.mean(moved**2, axis=0), 1)
    assert_allclose(sizes / sizes[0], X.std(axis=0) / X.std(axis=0)[0])


def test_columns_that_do_not_vary_and_largest_numbers():
    X = np.full((9, 4), 3.0)
    X[:, 1] = 1e8 + np.arange(9) % 2 * 1e-8  # the spacing of floats: rounding
    X[:, 2] = 1e8 + np.arange(9) % 2 * 1e-3
    X[0, 3] += 1e-12
    table, sizes = units(X)
    assert_array_equal(sizes > 0, [False, False, True, True])
    assert not table[:, :2].any()
    top = np.finfo(np.float64).max
    table, sizes = units(np.array([[top, -top], [-top, top], [top, top]]))
    assert np.isfinite(table).all()
    assert np.isfinite(sizes).all()


def test_groups_become_numbers_and_codes_are_documented():
    assert numbered(None, 3) is None
    assert numbered(["a", "a", "a"], 3) is None  # one group is none
    assert_array_equal(numbered(["b", "a", "b"], 3), [1, 0, 1])
    assert_array_equal(numbered(np.array([7, 7, 2]), 3), [1, 1, 0])
    with pytest.raises(InputError, match="one label"):
        numbered(["a"], 3)
    lines = DOCS.read_text(encoding="utf-8").splitlines()
    for code in CODES:
        assert sum(line.startswith(f"| {code} |") for line in lines) == 1, code
    assert {line[2:6] for line in lines if line.startswith("| M")} == set(CODES)


DOCS = Path(__file__).resolve().parents[2] / "docs" / "warnings.md"


def test_three_lines_one_line_and_plain():
    finding = Finding("M104", "units", "mass: 99 %", "standardise")
    assert str(finding).splitlines() == [
        "M104 units",
        "  got: mass: 99 %",
        "  fix: standardise",
    ]
    assert finding.line == "M104 units: mass: 99 %"
    assert Finding(**json.loads(json.dumps(finding.plain()))) == finding
    with pytest.raises(dataclasses.FrozenInstanceError):
        finding.code = "M999"
