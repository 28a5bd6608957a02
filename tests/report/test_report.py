"""Report: whole files or none, names that can be told, a frame for notebooks."""

import errno
import html
import re
from importlib import import_module

import numpy as np
import pytest

import mercer
from mercer.errors import InputError
from mercer.report import PAGES, Report, report
from mercer.report._html_report import html_of
from mercer.report._page_parts import Page, Section, Table

# Report: whole files or none, names that can be told, a frame for notebooks.
PAGE = Page("A title", ("3 rows",), ("Said.",), (Section("s", "S", ("w",)),))


def test_the_file_is_the_page(tmp_path):
    made = Report(PAGE)
    assert made.save(tmp_path / "a.html") == tmp_path / "a.html"
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == made.html == html_of(PAGE)
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]
    made.save(str(tmp_path / "b.HTM"))
    assert (tmp_path / "b.HTM").exists()


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


def test_a_full_disk_leaves_the_old_page(tmp_path, monkeypatch):
    path = tmp_path / "a.html"
    path.write_text("old", encoding="utf-8")

    def full(*_):
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr("mercer.store.write_all", full)
    with pytest.raises(OSError, match="no space left"):
        Report(PAGE).save(path)
    assert path.read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def test_a_notebook_shows_the_page_in_a_frame():
    evil = Page('"><script>alert(1)</script>', (), ("</iframe>",), ())
    frame = Report(evil)._repr_html_()
    assert frame.count("<") == 2
    inside = re.search(r'srcdoc="([^"]*)"', frame)[1]
    assert html.unescape(inside) == html_of(evil)
    assert "allow-same-origin" not in frame


def test_a_line_says_what_it_is():
    assert repr(Report(PAGE)).startswith("<Report 'A title', 0.0")


def test_the_page_is_made_once():
    made = Report(PAGE)
    assert made.html is made.html


def test_half_a_letter_does_no_harm(tmp_path):
    lone = "bad \ud800 letter"
    table = Table(lone, (lone,), ((lone,),))
    made = Report(Page(lone, (lone,), (lone,), (Section("s", lone, (lone,), (table,)),)))
    made.save(tmp_path / "a.html")
    assert b"letter" in (tmp_path / "a.html").read_bytes()


def test_a_fit_writes_what_it_returns(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 3)) * [3, 2, 1]
    made = mercer.PCA(2).fit(X).report(X, tmp_path / "p.html")
    assert isinstance(made, Report)
    assert (tmp_path / "p.html").read_text(encoding="utf-8") == made.html


# Which page a method gets.
RNG = np.random.default_rng(3)


ROWS = RNG.normal(size=(60, 2)) @ RNG.normal(size=(2, 5)) + 0.1 * RNG.normal(size=(60, 5))


@pytest.mark.parametrize("kind", PAGES)
def test_every_kind_of_page_has_its_maker(kind):
    assert callable(import_module(PAGES[kind]).page_of)


def test_methods_get_the_page_of_their_kind():
    X = RNG.normal(size=(40, 4))
    linear = report(mercer.PCA(2).fit(X), X).page
    kernel = report(mercer.KernelPCA(2).fit(X), X).page
    assert {"rows", "rebuilt"} <= {section.key for section in linear.sections}
    assert any(fact.startswith("kernel ") for fact in kernel.facts)


def test_a_model_alone_says_what_is_missing():
    model = mercer.PCA(2).fit(ROWS)
    page = model.report().page
    assert page.cloud is None
    assert "No rows were given" in " ".join(page.verdict)
    assert [section.key for section in page.sections] == ["components", "variables", "method"]


def test_the_model_writes_its_own_page(tmp_path):
    path = tmp_path / "page.html"
    mercer.PCA(2).fit(ROWS).report(ROWS, path, title="Mine")
    assert "<title>Mine</title>" in path.read_text(encoding="utf-8")
