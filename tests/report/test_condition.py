"""Data health on the page: findings, assumptions, columns."""

import dataclasses

import numpy as np

import mercer
from mercer.diagnostics import health
from mercer.report import column_table
from mercer.report._page_request import PageRequest
from mercer.report.facts._linear_summary import seen_from
from mercer.report.panels._data_panels import condition_section, findings_of

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


def test_a_row_that_draws_an_axis_is_found_by_its_name():
    rows = X.copy()
    rows[41] *= 200
    names = [f"person {i}" for i in range(100)]
    found = findings_of(seen_from(mercer.PCA(2).fit(rows), rows, row_names=names))
    assert any("person 41" in f"{f.what} {f.got}" for f in found)


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


def test_of_many_columns_the_first_are_listed():
    table = column_table(Look(tuple(Column(f"c{j}") for j in range(300))))
    assert len(table.rows) == 200
    assert table.note.startswith("100 more")
    assert column_table(Look((Column("", mean=None),))).rows[0][0] == ""
