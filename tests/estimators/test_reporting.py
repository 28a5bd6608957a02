"""model.report: the same page as report(), after a fit only."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import mercer
from mercer.errors import InputError
from mercer.report import report

X = np.random.default_rng(0).normal(size=(60, 4)) * [4, 3, 2, 1]


@pytest.mark.parametrize(
    "model",
    [mercer.PCA(2), mercer.RobustPCA(2), mercer.KernelPCA(2, kernel="rbf")],
    ids=["pca", "robust", "kernel"],
)
def test_it_is_the_page_of_report(model, tmp_path):
    made = model.fit(X).report(
        X, tmp_path / "a.html", title="T", colours={"g": ["a", "b"] * 30}
    )
    other = report(model, X, title="T", colours={"g": ["a", "b"] * 30})
    assert made.page.verdict == other.page.verdict
    assert [s.key for s in made.page.sections] == [s.key for s in other.page.sections]
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == made.html


@pytest.mark.parametrize("model", [mercer.PCA(2), mercer.KernelPCA(2)], ids=["pca", "kernel"])
def test_an_unfitted_model_has_no_page(model, tmp_path):
    with pytest.raises(NotFittedError):
        model.report(X, tmp_path / "a.html")
    assert [path.name for path in tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        (X[:, :3], {}),
        (np.where(X > 3, np.nan, X), {}),
        (X, {"colours": {"g": ["a"]}}),
        (X, {"row_names": ["a"]}),
        ("none.csv", {}),
    ],
    ids=["columns", "missing", "colours", "names", "file"],
)
def test_a_refusal_leaves_the_old_page(rows, options, tmp_path):
    path = tmp_path / "a.html"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        mercer.PCA(2).fit(X).report(rows, path, **options)
    assert len(str(refused.value).splitlines()) == 3
    assert path.read_text(encoding="utf-8") == "old"


def test_an_older_page_is_replaced_by_a_new_one(tmp_path):
    path = tmp_path / "a.html"
    path.write_text("old", encoding="utf-8")
    mercer.PCA(2).fit(X).report(X, path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
