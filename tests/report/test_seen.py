import numpy as np
import pytest

import mercer
from mercer.diagnostics import q, t2
from mercer.report.facts import _linear_summary as room
from mercer.report.facts._linear_summary import seen_from

RNG = np.random.default_rng(3)
X = RNG.normal(size=(700, 3)) @ RNG.normal(size=(3, 9)) * 2 + RNG.normal(size=(700, 9)) + 50


def test_t2_and_q_are_those_of_the_definitions():
    model = mercer.PCA(3, standardize=True).fit(X)
    seen = seen_from(model, X)
    rows = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    Z = rows @ model.components_.T
    assert np.allclose(seen.t2, t2(Z, model.explained_variance_))
    assert np.allclose(seen.q, q(rows, model.components_))
    assert np.allclose(seen.held, rows[seen.held_at])


def test_a_file_gives_what_the_array_gives(tmp_path):
    np.save(tmp_path / "x.npy", X)
    model = mercer.PCA("auto").fit(X)
    here, there = seen_from(model, X), seen_from(model, tmp_path / "x.npy")
    for name in ("t2", "q", "held", "Z", "at", "held_at"):
        assert np.allclose(getattr(here, name), getattr(there, name), atol=1e-5)


def test_few_components_are_widened_without_touching_the_model():
    model = mercer.PCA(1).fit(X)
    seen = seen_from(model, X)
    assert model.n_components_ == 1
    assert len(seen.wide.components_) == 9
    assert seen.axes_of_verdict == 1


@pytest.mark.parametrize("n", [50, 400])
def test_of_too_many_rows_a_sample_is_drawn_with_the_farthest(monkeypatch, n):
    monkeypatch.setattr(room, "MOST_ROWS", 100)
    monkeypatch.setattr(room, "SAMPLE", 100)
    table = X[:n].copy()
    table[7] += 1000
    seen = seen_from(mercer.PCA(2).fit(table), table)
    assert len(seen.at) == min(n, 100)
    assert 7 in seen.at
    assert len(seen.t2) == n
    assert np.all(np.diff(seen.at) > 0)


def test_a_row_has_a_name():
    model = mercer.PCA(2).fit(X)
    assert seen_from(model, X).row_name(4) == "row 5"
    assert seen_from(model, X, row_names=[f"r{i}" for i in range(700)]).row_name(4) == "r4"


def test_rows_that_are_held_keep_no_block_alive():
    seen = seen_from(mercer.PCA(2).fit(X), X)
    assert seen.held.base is None or seen.held.base.nbytes == seen.held.nbytes
