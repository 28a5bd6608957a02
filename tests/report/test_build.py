"""Which page a method gets."""

from importlib import import_module

import numpy as np
import pytest

import mercer
from mercer.report import PAGES, report

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
