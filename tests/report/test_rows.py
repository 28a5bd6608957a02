"""Rows far from the others: T², Q, limits and causes by their definitions."""

import numpy as np
import pytest
from scipy import stats

import mercer
from mercer.diagnostics import farthest_level
from mercer.plots import Points
from mercer.report.facts._linear_summary import KEPT, Farthest, seen_from
from mercer.report.panels._rows_panels import causes, extremes_of, row_table, rows_section

RNG = np.random.default_rng(13)


CLEAN = RNG.normal(size=(200, 2)) @ RNG.normal(size=(2, 5)) * 3 + RNG.normal(size=(200, 5))


X = CLEAN.copy()


V = np.linalg.svd(CLEAN - CLEAN.mean(axis=0))[2]


X[17] += 60 * V[0]


X[23] += 25 * V[4]


def by_definition(rows, k):
    """Return T² and Q of the rows, from a plain SVD."""
    centred = rows - rows.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:k]
    scores = centred @ axes.T
    t2 = np.sum(scores**2 / np.var(scores, axis=0, ddof=1), axis=1)
    return t2, np.sum((centred - scores @ axes) ** 2, axis=1)


def seen(rows, k=2, **options):
    return seen_from(mercer.PCA(k).fit(rows), rows, **options)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_the_table_has_the_numbers_of_the_definitions(scale):
    this = seen(X * scale)
    found = extremes_of(this)
    t2, q = by_definition(X, 2)
    n, k = X.shape[0], 2
    limit = (n - 1) ** 2 / n * stats.beta.ppf(farthest_level(n), k / 2, (n - k - 1) / 2)
    assert found.t2_limit == pytest.approx(limit)
    beyond = (t2 > limit) | (q * scale**2 > found.q_limit)
    assert found.total == beyond.sum()
    assert set(found.rows) <= set(np.flatnonzero(beyond))
    assert {17, 23} <= set(found.rows[:4])
    for row in row_table(this, found).rows:
        number = int(row[0].split()[1]) - 1  # counted from 1
        assert row[1] == pytest.approx(t2[number])
        assert row[2] == pytest.approx(q[number] * scale**2)
        assert ("T²" in row[3]) == (t2[number] > limit)
        assert ("Q" in row[3]) == (row[2] > found.q_limit)


def test_limits_and_causes():
    one, large = extremes_of(seen(X)), extremes_of(seen(X * 2.0**400))
    assert large.q_limit == one.q_limit * 2.0**800
    assert np.array_equal(one.rows, large.rows)
    rows = RNG.normal(size=(100, 6)) * [9, 7, 1, 1, 1, 1]
    rows[5, 3] += 30
    rows[6, 0] += 90
    this = seen(rows)
    assert causes(this, 5).startswith("Q: column 3") or "; Q: column 3" in causes(this, 5)
    assert causes(this, 6).startswith("T²: column 0")


def test_robust_and_unheld_rows(monkeypatch):
    rows = CLEAN.copy()
    rows[:30] += 400 * V[4] * RNG.normal(size=(30, 1))
    rows[150] += 12 * V[4]
    model = mercer.RobustPCA(2).fit(rows)
    found = extremes_of(seen_from(model, rows))
    plain = extremes_of(seen(rows))
    assert found.q_limit < 20
    assert plain.q_limit > 100
    assert found.total >= 30
    from mercer.report.facts import _linear_summary as _seen

    monkeypatch.setattr(_seen, "_HELD", 50)
    this = seen(X)
    assert len(this.held_at) <= 50
    away = next(row for row in range(len(X)) if row not in set(this.held_at))
    assert causes(this, away) == ""
    assert row_table(this, extremes_of(this)).note.count("of 200 rows") == 1


@pytest.mark.parametrize("count", [2, 3])
def test_too_few_rows_have_no_limits(count):
    this = seen(X[:count], 1 if count == 2 else 2)
    assert extremes_of(this) is None
    assert rows_section(this, None) is None


def test_ordinary_and_far_rows_are_drawn_and_named():
    grid = np.array([[a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)] * 20) * [3, 1]
    this = seen(grid, 1)
    section = rows_section(this, extremes_of(this))
    assert section.parts == ()
    assert "No row" in section.words[0]
    names = [f"</script>{i}" for i in range(200)]
    this = seen(X, row_names=names)
    section = rows_section(this, extremes_of(this))
    drawn = {t for m in section.parts[0].panel.marks for t in getattr(m, "titles", None) or ()}
    assert any(names[17] in title for title in drawn)
    assert section.parts[1].rows[0][0] in (names[17], names[23])


def test_of_many_rows_beyond_a_limit_those_between_are_drawn_too():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(100_000, 4)) * [4, 2, 1, 1]
    X[:15_000] *= rng.uniform(1, 12, size=(15_000, 1))
    seen = seen_from(mercer.PCA(2).fit(X), X)
    extremes = extremes_of(seen)
    assert extremes.total > 2500
    section = rows_section(seen, extremes)
    assert all(row[-1] for row in section.parts[1].rows)  # causes of every row that is listed
    clouds = [m for m in section.parts[0].panel.marks if isinstance(m, Points)]
    x = np.concatenate([cloud.x for cloud in clouds])
    drawn, all_rows = (np.asarray(v) / np.sqrt(extremes.t2_limit) for v in (x, seen.t2**0.5))
    between = [np.count_nonzero((v > 1) & (v < 1.5)) / len(v) for v in (drawn, all_rows)]
    assert len(x) < 3000
    assert 0.5 * between[1] < between[0] < 2 * between[1]


@pytest.mark.parametrize("block", [1, 7, 50, 400])
def test_the_farthest_rows_are_kept_whatever_the_blocks(block):
    rng = np.random.default_rng(0)
    X, t2, q = rng.normal(size=(400, 3)), rng.exponential(size=400), rng.exponential(size=400)
    found = Farthest.none(3)
    for start in range(0, 400, block):
        part = slice(start, start + block)
        found = found.with_rows(start, X[part], t2[part], q[part])
    wanted = np.union1d(np.argsort(-t2)[:KEPT], np.argsort(-q)[:KEPT])
    assert found.at.tolist() == wanted.tolist()
    np.testing.assert_array_equal(found.rows, X[wanted])
