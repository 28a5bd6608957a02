import numpy as np
import pytest

import mercer
from mercer.studies import _resampled_axes as study
from mercer.studies._resampled_axes import DrawFrame, Poisson, by_columns, by_rows, multinomial


def table(n, p, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) * np.linspace(4, 1, p) + 0.3


def refits(X, counts, k, **options):
    """A plain loop: every draw is fitted by PCA with its counts."""
    for weights in counts:
        yield mercer.PCA(k, **options).fit(X, sample_weight=weights.astype(float))


def agree(drawn, model):
    assert np.allclose(drawn.variances, model.explained_variance_, rtol=1e-9)
    share = model.explained_variance_ratio_[0]
    assert drawn.total == pytest.approx(model.explained_variance_[0] / share)
    cosines = np.abs(np.sum(drawn.axes * model.components_, axis=1))
    assert np.allclose(cosines, 1, atol=1e-9)


def choices(p):
    weight, axes = np.linspace(1, 3, p), np.eye(3, p)
    return [
        ({}, DrawFrame(False, np.ones(p), axes), 1.0),
        ({"standardize": True}, DrawFrame(True, np.ones(p), axes), 1.0),
        ({"feature_weight": weight}, DrawFrame(False, np.sqrt(weight), axes), np.sqrt(weight)),
        (
            {"standardize": True, "feature_weight": weight},
            DrawFrame(True, np.sqrt(weight), axes),
            1.0,
        ),
    ]


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize(("n", "p"), [(40, 8), (30, 90)])
def test_draws_are_those_of_a_plain_loop_of_fits(n, p, number):
    options, frame, factor = choices(p)[number]
    X = table(n, p)
    counts = multinomial(np.ones(n), 6, seed=4)
    rows = (X - X.mean(axis=0)) * factor
    if n > p:
        halves = iter([rows[:17], rows[17:]])
        found = by_columns(halves, lambda at: counts[:, at], 6, frame)
    else:
        found = by_rows(rows, counts, frame)
    for drawn, model in zip(found, refits(X, counts, 3, **options), strict=True):
        agree(drawn, model)


@pytest.mark.parametrize(("n", "p"), [(40, 8), (30, 90)])
def test_variances_along_the_axes_of_all_rows_are_those_of_repeated_rows(n, p):
    X = table(n, p)
    axes = np.linalg.qr(np.random.default_rng(2).standard_normal((p, 2)))[0].T
    counts = multinomial(np.ones(n), 2, seed=0)
    frame, rows = DrawFrame(False, np.ones(p), axes), X - X.mean(axis=0)
    plain = by_columns(iter([rows]), lambda at: counts[:, at], 2, frame)
    for one, weights in zip(by_rows(rows, counts, frame), counts, strict=True):
        scores = np.repeat(X, weights, axis=0) @ axes.T
        assert np.allclose(one.along, np.var(scores, axis=0, ddof=1))
        assert np.allclose(next(plain).along, one.along)


def test_many_columns_are_added_up_one_draw_at_a_time(monkeypatch):
    X = table(60, 8)
    counts = multinomial(np.ones(60), 3, seed=0)
    frame = DrawFrame(False, np.ones(8), np.eye(2, 8))
    plain = list(by_columns(iter([X]), lambda at: counts[:, at], 3, frame))
    monkeypatch.setattr(study, "_PAIRS", 4)
    monkeypatch.setattr(study, "_BYTES", 8 * 8 * 7)
    other = list(by_columns(iter([X]), lambda at: counts[:, at], 3, frame))
    for one, two in zip(plain, other, strict=True):
        assert np.allclose(one.variances, two.variances)


def test_draws_repeat_and_more_of_them_begin_alike():
    counts = multinomial(np.array([1.0, 2.0, 0.0, 5.0]), 30, seed=1)
    assert np.all(counts.sum(axis=1) == 8)
    assert np.all(counts[:, 2] == 0)
    assert counts[:, 3].mean() == pytest.approx(5, abs=0.8)
    assert np.array_equal(multinomial(np.array([1.0, 2.0, 0.0, 5.0]), 3, seed=1), counts[:3])
    assert not np.array_equal(multinomial(np.ones(4), 1, 1), multinomial(np.ones(4), 1, 2))


def test_poisson_counts_do_not_depend_on_the_blocks():
    whole = Poisson(3, 5)(slice(0, 1000))
    parts = Poisson(3, 5)
    pieces = [parts(slice(a, b)) for a, b in ((0, 1), (1, 400), (400, 1000))]
    assert np.array_equal(np.concatenate(pieces, axis=1), whole)
    assert whole.mean() == pytest.approx(1, abs=0.1)
    assert whole.var() == pytest.approx(1, abs=0.15)
    twice = Poisson(2, 0, np.array([0.0, 4.0]))(slice(0, 2))
    assert np.all(twice[:, 0] == 0)


def test_fewer_rows_drawn_than_axes_leave_axes_of_zero():
    X = table(4, 9)
    counts = np.array([[4, 0, 0, 0], [2, 2, 0, 0]], np.uint32)
    found = list(
        by_rows(X - X.mean(axis=0), counts, DrawFrame(False, np.ones(9), np.eye(3, 9)))
    )
    assert np.allclose(found[0].variances, 0)
    assert np.count_nonzero(found[1].variances > 1e-9) == 1
    assert found[1].axes.shape == (3, 9)


@pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")
@pytest.mark.parametrize(("n", "p"), [(40, 8), (30, 90)])
def test_a_rare_value_that_is_not_drawn_leaves_a_constant_column(n, p):
    X = table(n, p)
    X[:, 1], X[0, 1] = 0.1, 1.0
    frame = DrawFrame(True, np.ones(p), np.eye(3, p))
    counts = multinomial(np.ones(n), 12, seed=4)
    assert 0 < np.count_nonzero(counts[:, 0] == 0) < 12
    rows = X - X.mean(axis=0)
    if n > p:
        found = by_columns(iter([rows]), lambda at: counts[:, at], 12, frame)
    else:
        found = by_rows(rows, counts, frame)
    for drawn, model in zip(found, refits(X, counts, 3, standardize=True), strict=True):
        agree(drawn, model)
