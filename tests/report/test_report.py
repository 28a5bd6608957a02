"""Report: whole files or none, names that can be told, a frame for notebooks."""

import html
import re
import warnings
from importlib import import_module

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.report.family_tables import hair, iris, poison, renamed, symptoms
from tests.report.payloads import PAYLOADS
from tests.report.test_page import Reader

import mercer
from mercer.errors import InputError
from mercer.report import MISSING, PAGES, Report, report
from mercer.report._html_report import html_of
from mercer.report._page_parts import Page, Section, Table
from mercer.report._row_labels import colours_of, row_names_of

PAGE = Page("A title", ("3 rows",), ("Said.",), (Section("s", "S", ("w",)),))


def test_the_file_is_the_page(tmp_path):
    made = Report(PAGE)
    assert made.save(tmp_path / "a.html") == tmp_path / "a.html"
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == made.html == html_of(PAGE)
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]
    made.save(str(tmp_path / "b.HTM"))
    assert (tmp_path / "b.HTM").exists()
    lone = "bad \ud800 letter"
    table = Table(lone, (lone,), ((lone,),))
    made = Report(Page(lone, (lone,), (lone,), (Section("s", lone, (lone,), (table,)),)))
    made.save(tmp_path / "a.html")
    assert b"letter" in (tmp_path / "a.html").read_bytes()


@pytest.mark.parametrize("name", ["a.pdf", "a", "a.html.txt", "none/a.html"])
def test_a_name_that_will_not_do_is_refused_and_nothing_is_written(tmp_path, name):
    with pytest.raises(InputError) as refused:
        Report(PAGE).save(tmp_path / name)
    what, got, fix = str(refused.value).splitlines()
    assert what
    assert "got:" in got
    assert "fix:" in fix
    assert [path.name for path in tmp_path.iterdir()] == []


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path):
    path = tmp_path / "a.html"
    path.write_text("old", encoding="utf-8")
    broken = Page("t", (), (), (Section("s", "S", (), (object(),)),))
    with pytest.raises(AssertionError):
        Report(broken).save(path)
    assert path.read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def test_a_notebook_shows_the_page_in_a_frame():
    evil = Page('"><script>alert(1)</script>', (), ("</iframe>",), ())
    frame = Report(evil)._repr_html_()
    assert frame.count("<") == 2
    inside = re.search(r'srcdoc="([^"]*)"', frame)[1]
    assert html.unescape(inside) == html_of(evil)
    assert "allow-same-origin" not in frame
    assert repr(Report(PAGE)).startswith("<Report 'A title', 0.0")


def test_a_fit_writes_the_page_of_its_kind(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 3)) * [3, 2, 1]
    made = mercer.PCA(2).fit(X).report(X, tmp_path / "p.html")
    assert isinstance(made, Report)
    assert (tmp_path / "p.html").read_text(encoding="utf-8") == made.html
    X = RNG.normal(size=(40, 4))
    linear = report(mercer.PCA(2).fit(X), X).page
    kernel = report(mercer.KernelPCA(2).fit(X), X).page
    assert {"rows", "rebuilt"} <= {section.key for section in linear.sections}
    assert any(fact.startswith("kernel ") for fact in kernel.facts)


# Which page a method gets.
RNG = np.random.default_rng(3)


@pytest.mark.parametrize("kind", PAGES)
def test_every_kind_of_page_has_its_maker(kind):
    assert callable(import_module(PAGES[kind]).page_of)


# Names and colours as people pass them.


@pytest.mark.parametrize(
    "given",
    [
        ["a", None, "", float("nan")],
        np.array(["a", None, "", np.nan], object),
        pd.Series(["a", None, "", None]),
        pd.Series(["a", None, "", None], dtype="string"),
        pl.Series(["a", None, "", None]),
    ],
    ids=["list", "array", "pandas", "pandas string", "polars"],
)
def test_labels_without_a_value_are_called_missing(given):
    found = colours_of({"g": given}, 4)["g"]
    assert found.tolist() == ["a", MISSING, "", MISSING]
    assert row_names_of(given, 4) == ["a", None, "", None]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([1, 2, None], [1.0, 2.0, np.nan]),
        (pl.Series([1, 2, None]), [1.0, 2.0, np.nan]),
        (pd.Series([1, 2, None], dtype="Int64"), [1.0, 2.0, np.nan]),
        (np.array([1.5, np.nan, np.inf]), [1.5, np.nan, np.inf]),
        (np.array([1, 2, 3], np.uint8), [1, 2, 3]),
        ([10**30, 1, 2], [1e30, 1.0, 2.0]),
    ],
    ids=["list", "polars", "pandas", "float", "small", "large"],
)
def test_numbers_stay_numbers(given, expected):
    found = colours_of({"v": given}, 3)["v"]
    assert found.dtype.kind in "fiu"
    assert np.array_equal(found.astype(float), expected, equal_nan=True)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([True, False, True], ["True", "False", "True"]),
        (np.array([True, False, True]), ["True", "False", "True"]),
        ([(1, 2), (3, 4), "x"], ["(1, 2)", "(3, 4)", "x"]),
        ([(1, 2), (3, 4), (5, 6)], ["(1, 2)", "(3, 4)", "(5, 6)"]),
        (np.array(["2020-01-01", "NaT", "2021-01-01"], "M8[D]"),
         ["2020-01-01", MISSING, "2021-01-01"]),
        ([None, None, None], [MISSING] * 3),
        ([1, "a", None], ["1", "a", MISSING]),
    ],
    ids=["bool", "bools", "ragged", "pairs", "dates", "none", "mixed"],
)  # fmt: skip
def test_all_else_is_text(given, expected):
    assert colours_of({"g": given}, 3)["g"].tolist() == expected


def test_names_of_columns_are_text_and_not_empty():
    assert list(colours_of({"": ["a"], 3: ["b"]}, 1)) == ["(unnamed)", "3"]
    assert colours_of(None, 5) == {}
    assert row_names_of(None, 5) is None


@pytest.mark.parametrize("given", [["a"] * 4, np.zeros((5, 2)), [], pl.Series(["a"] * 6)])
def test_what_does_not_fit_the_rows_is_refused(given):
    for call in (lambda: colours_of({"size": given}, 5), lambda: row_names_of(given, 5)):
        with pytest.raises(InputError) as refused:
            call()
        what, got, fix = str(refused.value).splitlines()
        assert "for every row" in what
        assert str(len(given)) in got
        assert "order of the rows" in fix


# Harmful names of columns, levels, classes, rows and colours on every kind of page.


def page_of(kind, names):
    """Return the HTML of a kind of page whose every name is one of `names`."""
    rng = np.random.default_rng(0)
    y = None
    if kind == "counts":
        X = hair()
        X = pd.DataFrame(X.to_numpy(), names[: len(X)], names[7 : 7 + X.shape[1]])
        model = mercer.CorrespondenceAnalysis(2)
    elif kind == "topics":
        X = pd.DataFrame(rng.poisson(1, (30, 12)), columns=names[:12])
        model = mercer.TopicVectors(3)
    elif kind in ("mca", "famd", "mfa"):
        X = renamed(symptoms() if kind == "mca" else poison(), names)
        parts = {names[0]: list(X.columns[:5]), names[1]: list(X.columns[5:])}
        model = {
            "mca": mercer.MultipleCorrespondenceAnalysis(2),
            "famd": mercer.FAMD(2),
            "mfa": mercer.MFA(parts, 2),
        }[kind]
    else:
        rows, y = iris()
        X = renamed(rows, names)
        y = pd.Series(y).map(dict(zip(sorted(set(y)), names[3:6], strict=True))).to_numpy()
        model = {
            "lda": mercer.LinearDiscriminantAnalysis(),
            "kda": mercer.KernelDiscriminantAnalysis(),
            "fa": mercer.FactorAnalysis(1),
            "ppca": mercer.ProbabilisticPCA(2),
        }[kind]
    given = {"y": y} if kind in ("lda", "kda") else {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the noise of a column")  # of irises, one factor
        fitted = model.fit(X, **given)
    n = len(X)
    many = [names[i % len(names)] for i in range(n)]
    options = {"row_names": many, "title": names[2], "said": [names[4]], **given}
    if kind not in ("counts",):
        options["colours"] = {names[5]: many}
        options["sup"] = {names[6]: np.arange(n, dtype=float), names[8]: many[::-1]}
    return report(fitted, X, **options).html, report(fitted, title=names[2]).html


KINDS = ["counts", "mca", "famd", "mfa", "lda", "kda", "fa", "ppca", "topics"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_name_becomes_code(kind):
    plain = [f"plain {i}" for i in range(len(PAYLOADS))]
    for harmful, harmless in zip(page_of(kind, PAYLOADS), page_of(kind, plain), strict=True):
        read, known = Reader(harmful), Reader(harmless)
        assert len(read.scripts) == len(known.scripts)
        assert set(read.tags) <= set(known.tags)
        assert not [name for name in read.attributes if name.startswith("on")]
        code = [text for given, text in read.scripts if "type" not in given]
        assert code == [text for given, text in known.scripts if "type" not in given]
