import dataclasses

import numpy as np
import pytest
from sklearn.datasets import load_digits

import mercer
from mercer.diagnostics import health, q, t2
from mercer.report import column_table
from mercer.report._page_request import PageRequest
from mercer.report.facts import _linear_summary as room
from mercer.report.facts._linear_summary import image_shape, is_curve, seen_from
from mercer.report.panels._data_panels import condition_section, findings_of

rng = np.random.default_rng(3)
ROWS = rng.normal(size=(700, 3)) @ rng.normal(size=(3, 9)) * 2 + rng.normal(size=(700, 9)) + 50


def test_rows_are_seen_by_definition_and_from_a_file(tmp_path):
    model = mercer.PCA(3, standardize=True).fit(ROWS)
    seen = seen_from(model, ROWS)
    rows = (ROWS - ROWS.mean(axis=0)) / ROWS.std(axis=0, ddof=1)
    Z = rows @ model.components_.T
    assert np.allclose(seen.t2, t2(Z, model.explained_variance_))
    assert np.allclose(seen.q, q(rows, model.components_))
    assert np.allclose(seen.held, rows[seen.held_at])
    np.save(tmp_path / "x.npy", ROWS)
    model = mercer.PCA("auto").fit(ROWS)
    here, there = seen_from(model, ROWS), seen_from(model, tmp_path / "x.npy")
    for name in ("t2", "q", "held", "Z", "at", "held_at"):
        assert np.allclose(getattr(here, name), getattr(there, name), atol=1e-5)


def test_few_components_are_widened_without_touching_the_model():
    model = mercer.PCA(1).fit(ROWS)
    seen = seen_from(model, ROWS)
    assert model.n_components_ == 1
    assert len(seen.wide.components_) == 9
    assert seen.axes_of_verdict == 1
    seen = seen_from(mercer.PCA(2).fit(ROWS), ROWS)
    assert seen.held.base is None or seen.held.base.nbytes == seen.held.nbytes


@pytest.mark.parametrize("n", [50, 400])
def test_of_too_many_rows_a_sample_is_drawn_with_the_farthest(monkeypatch, n):
    monkeypatch.setattr(room, "MOST_ROWS", 100)
    monkeypatch.setattr(room, "SAMPLE", 100)
    table = ROWS[:n].copy()
    table[7] += 1000
    seen = seen_from(mercer.PCA(2).fit(table), table)
    assert len(seen.at) == min(n, 100)
    assert 7 in seen.at
    assert len(seen.t2) == n
    assert np.all(np.diff(seen.at) > 0)


def centred(X):
    return X - X.mean(axis=0)


def walks(n=200, p=144):
    return np.cumsum(np.random.default_rng(0).normal(size=(n, p)), axis=1)


def factors(n=300, p=64):
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, 3)) @ rng.normal(size=(3, p)) + 0.3 * rng.normal(size=(n, p))


def test_digits_are_pictures():
    assert image_shape(centred(load_digits().data)) == (8, 8)
    order = np.random.default_rng(0).permutation(64)
    assert image_shape(centred(load_digits().data[:, order])) is None


@pytest.mark.parametrize("X", [walks(), factors(), walks()[:, :100], np.ones((50, 49))])
def test_curves_factors_and_constants_are_no_pictures(X):
    assert image_shape(centred(X)) is None


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_walks_are_curves_in_any_unit(scale):
    assert is_curve(centred(walks()) * scale)


@pytest.mark.parametrize("X", [factors(), load_digits().data, walks()[:, ::-1][:, :10]])
def test_others_are_no_curves(X):
    assert not is_curve(centred(X))


@pytest.mark.parametrize(("height", "width"), [(12, 10), (10, 12), (14, 8), (16, 16)])
def test_pictures_need_not_be_square(height, width):
    rng = np.random.default_rng(height)
    yy, xx = np.mgrid[:height, :width]
    rows = []
    for _ in range(60):
        y, x, r = rng.uniform(0, height), rng.uniform(0, width), rng.uniform(1.5, 3)
        rows.append(np.exp(-((yy - y) ** 2 + (xx - x) ** 2) / r**2).ravel())
    rows = np.array(rows) + 0.02 * rng.standard_normal((60, height * width))
    assert image_shape(rows - rows.mean(axis=0)) == (height, width)


# Data health on the page: findings, assumptions, columns.


RNG = np.random.default_rng(16)
X = RNG.normal(size=(100, 2)) @ RNG.normal(size=(2, 5)) * 3 + RNG.normal(size=(100, 5))


@dataclasses.dataclass(frozen=True)
class Column:
    """A column as a look at a file sees it."""

    name: str
    kind: str = "number"
    role: str = "analysed"
    missing: int = 0
    mean: float | None = 1.0
    deviation: float | None = 2.0
    why: str = ""


@dataclasses.dataclass(frozen=True)
class Look:
    """Columns of a file."""

    columns: tuple[Column, ...]


def test_findings_are_those_of_the_rows_and_coordinates():
    model = mercer.PCA().fit(X)
    found = findings_of(seen_from(model, X))
    rows = X - X.mean(axis=0)
    expected = health(
        rows, rows @ model.components_.T, model.explained_variance_,
        names=[f"column {j}" for j in range(5)], row_names=np.arange(100),
        inseparable=model.certificate_.groups, rows=100,
    )  # fmt: skip
    assert [f.code for f in found] == [f.code for f in expected]
    assert findings_of(seen_from(model, X, colours={"size": np.arange(100.0)})) == found


def test_odd_rows_and_many_columns():
    rows = X.copy()
    rows[41] *= 200
    names = [f"person {i}" for i in range(100)]
    found = findings_of(seen_from(mercer.PCA(2).fit(rows), rows, row_names=names))
    assert any("person 41" in f"{f.what} {f.got}" for f in found)
    table = column_table(Look(tuple(Column(f"c{j}") for j in range(300))))
    assert len(table.rows) == 200
    assert table.note.startswith("100 more")
    assert column_table(Look((Column("", mean=None),))).rows[0][0] == ""


def test_the_section_lists_what_was_assumed():
    section = condition_section((), PageRequest("a", said=("one", "</script>")))
    assert section.words[0].startswith("Nothing odd was found")
    assert "was not asked" in condition_section(None, PageRequest("a")).words[0]
    assert section.parts[0].rows == (("one",), ("</script>",))
    full = condition_section(
        (object(), object()), PageRequest("a", columns=column_table(Look((Column("a"),))))
    )
    assert full.words[0].startswith("2 findings")
    assert type(full.parts[0]).__name__ == "Findings"
    assert full.parts[1].rows[0][:4] == ("a", "number", "analysed", 0)
