"""What a model shows of itself: its summary, its diagram, its page."""

import html
import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.claims import hushed, refuses, warned

import mercer
from mercer import PCA, KernelPCA, RobustPCA, dropin, load, save
from mercer.errors import DataWarning
from mercer.report import report

WINE = load_wine()
X = WINE.data
NASTY = [
    "</script><b>\"'&x", "<script>alert(1)</script>", "</style><img src=x onerror=alert(1)>",
    "a\x00\x08\u202eb\nc", "]]><svg onload=alert(1)>", "&lt;b&gt; {{7*7}} ${x}",
]  # fmt: skip


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen, self.open, self.words = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def read(text):
    tags = Tags()
    tags.feed(text)
    tags.close()
    assert tags.open == []
    return tags


def summary(model):
    return model._repr_html_()


def words(model):
    return " ".join(" ".join(read(summary(model)).words).split())


def test_it_says_what_was_fitted_how_and_why_so_many():
    frame = pd.DataFrame(X, columns=WINE.feature_names)
    with pytest.warns(DataWarning, match="next to each other"):  # the wines stand by cultivar
        model = PCA("auto", standardize=True).fit(frame)
    said = words(model)
    assert "178 rows × 13 columns, standardised." in said
    assert f"Path {model.plan_.chosen.name}" in said
    assert model.choice_.reason in said
    assert "Axis 1 weighs most: flavanoids +0.42, total_phenols +0.39" in said
    assert f"{model.explained_variance_[0]:.5g}" in said
    assert "5 of 5 eigenvalues within 1e-06" in said


def test_the_table_holds_shares_and_certified_intervals(tmp_path):
    model = PCA(2).fit(X)
    rows = [attrs["title"] for tag, attrs in read(summary(model)).seen if "title" in attrs]
    for i, title in enumerate(rows):
        low, high = map(float, title.removeprefix("in [").removesuffix("]").split(", "))
        assert low == pytest.approx(model.certificate_.lower[i], rel=1e-11)
        assert high == pytest.approx(model.certificate_.upper[i], rel=1e-11)
    assert len(rows) == 2
    assert f"{100 * model.explained_variance_ratio_[0]:.1f}" in words(model)
    model = PCA(3).fit(pd.DataFrame(X, columns=WINE.feature_names))
    save(model, tmp_path / "wine.mercer")
    assert words(load(tmp_path / "wine.mercer")) == words(model)


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (2, "2 axes kept, as asked"),
        (1, "1 axis kept, as asked"),
        (0.9, "for 90 % of the variance"),
        ("mle", "by Minka's estimate"),
        (None, "13 axes kept, all there are: 100.0 %"),
    ],
)
def test_the_number_of_axes_has_a_reason(wanted, reason):
    assert reason in words(PCA(wanted, standardize=True).fit(X))


def test_axes_that_are_equal_or_none():
    said = words(PCA(2).fit(np.eye(6)))
    assert "Axes 1, 2 and the next cannot be told apart" in said
    noise = np.random.default_rng(0).normal(size=(200, 10))
    model = warned("no axis is kept", PCA("auto").fit, noise)
    assert "0 axes kept. No component beyond noise" in words(model)
    assert "<table" not in summary(model)


def test_outlying_rows_are_named_and_robust_intervals_hold_the_variance():
    table = X.copy()
    table[:3] += 1e4
    model = RobustPCA(2).fit(table)
    assert f"{len(model.outliers_)} of 178 rows lie apart and do not count: 0, 1, 2" in words(
        model
    )
    bounds = re.findall(r"<td>([0-9.]+e-[0-9]+)</td>", summary(model))
    assert all(float(b) < 1e-6 * model.explained_variance_[0] for b in bounds)
    assert "–" in words(RobustPCA(2, method="spherical").fit(table))


def test_a_kernel_model_names_its_kernel_and_filled_cells_are_counted():
    model = KernelPCA(3, standardize=True).fit(X)
    said = words(model)
    assert f"Kernel {model.kernel_!r}" in said
    assert f"effective rank is {model.effective_rank_:.1f}" in said
    assert "weighs most" not in said
    assert f"{model.eigenvalues_[0]:.5g}" in said
    table = X.copy()
    table[::9, 3] = np.nan
    assert "20 missing cells were filled" in words(PCA(2, missing="em").fit(table))


@pytest.mark.parametrize("name", NASTY)
def test_names_that_look_like_markup_stay_words(name):
    frame = pd.DataFrame(X[:, :4], columns=[name, *"bcd"])
    text = summary(PCA(3, standardize=True).fit(frame))
    plain = pd.DataFrame(X[:, :4], columns=list("abcd"))
    tags, usual = read(text), read(summary(PCA(3, standardize=True).fit(plain)))
    assert tags.seen == usual.seen
    shown = "".join(c for c in " ".join(name.split()) if c.isprintable())
    shown = shown if len(shown) <= 40 else shown[:39] + "…"
    assert shown in " ".join(tags.words)


def test_it_stands_alone_and_stays_small_whatever_the_words():
    model = KernelPCA(2).fit(X[:30])
    model.kernel = "<script>alert(1)</script>"
    assert "<script" not in summary(model)
    assert html.escape("<script>", quote=False) in summary(model)
    text = summary(PCA().fit(load_digits().data))
    body = text.replace("http://www.w3.org/2000/svg", "")
    assert "http" not in body
    assert "url(" not in body
    assert "<script" not in body
    assert " on" not in re.sub(r">[^<]*<", "><", body)
    rng = np.random.default_rng(0)
    names = [f"{'long name & more ' * 20}{j}" for j in range(300)]
    model = PCA(300).fit(pd.DataFrame(rng.normal(size=(400, 300)), columns=names))
    assert len(summary(model).encode()) < 30_000


@pytest.mark.parametrize(
    "model",
    [
        lambda: PCA(2, whiten="zca").fit(X),
        lambda: PCA(1).fit(sparse.random(30, 8, 0.3, "csr", random_state=0)),
        lambda: PCA(2).partial_fit(X[:90]).partial_fit(X[90:]),
        lambda: PCA.from_covariance(np.diag([3.0, 2.0, 1.0]), np.zeros(3), 50),
        lambda: PCA(2).fit(X.astype(np.float32)),
        lambda: PCA(2).fit(np.c_[X[:, :2], np.zeros(178)]),
        lambda: PCA(2).fit(1e-170 * X),
        lambda: KernelPCA(2, kernel="precomputed").fit(X @ X.T),
        lambda: KernelPCA(2, landmarks=20, tol=0.5).fit(X),
        lambda: KernelPCA(2, kernel="linear").fit(X),
    ],
    ids=[
        *("zca", "sparse", "stream", "covariance", "float32", "constant", "tiny"),
        *("precomputed", "landmarks", "linear"),
    ],
)
def test_every_kind_of_fit_has_a_summary(model):
    fitted = hushed(model)
    assert len(words(fitted)) > 100


FAMILY = {
    "counts": (mercer.CorrespondenceAnalysis(2), X.round(), "of counts", "of the inertia"),
    "levels": (
        mercer.MultipleCorrespondenceAnalysis(2),
        np.array(list("abcabcbbacbaabcacb")).reshape(6, 3),
        "8 levels",
        "of the inertia",
    ),
    "mixed": (mercer.FAMD(2), X, "13 numbers and levels", "of the inertia"),
    "classes": (mercer.LinearDiscriminantAnalysis(), X, "3 classes", "between the classes"),
    "kernel": (mercer.KernelDiscriminantAnalysis(), X, "looked in hold", "between the classes"),
    "factors": (mercer.FactorAnalysis(2), X, "likelihood is climbed", "of the variance"),
    "topics": (mercer.TopicVectors(2), X.round(), "centred", "of the variance"),
    "isomap": (mercer.Isomap(2, neighbours=30), X, "13 columns.", "of the variance"),
    "lle": (mercer.LocallyLinearEmbedding(2), X / X.std(axis=0), "no meaning", "have no"),
    "eigenmaps": (mercer.LaplacianEigenmaps(2), X / X.std(axis=0), "no meaning", "have no"),
    "walk": (mercer.DiffusionMaps(2), X / X.std(axis=0), "no meaning", "have no"),
}


@pytest.mark.parametrize("name", FAMILY)
def test_every_method_is_shown_in_its_own_words(name):
    model, rows, *expected = FAMILY[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = model.fit(rows, WINE.target) if "classes" in expected[1] else model.fit(rows)
    text = model._repr_html_()
    assert text.startswith('<div class="mercer-summary">')
    said = words(model)
    assert all(part in said for part in expected)
    if model.explained_variance_ratio_ is None:
        assert "share %" not in said
        assert "<svg" not in text
    else:
        assert f"{100 * np.sum(model.explained_variance_ratio_):.1f} %" in said


ROWS = np.random.default_rng(0).normal(size=(40, 4)) * [4, 2, 1, 1]
OURS = "mercer-summary"


@pytest.mark.parametrize("kind", [PCA, KernelPCA, RobustPCA])
def test_a_fitted_model_shows_a_summary_and_one_that_is_not_its_diagram(kind):
    model = kind(2)
    assert OURS not in model._repr_html_()
    assert "sk-container" in model._repr_html_()
    model.fit(ROWS)
    assert OURS in model._repr_html_()
    assert "sk-container" not in model._repr_html_()


@pytest.mark.parametrize("fitted", [False, True])
def test_notebooks_get_text_and_html_unless_display_is_text(fitted):
    model = PCA(2).fit(ROWS) if fitted else PCA(2)
    bundle = model._repr_mimebundle_(include=None, exclude=None)
    assert bundle["text/plain"] == repr(model)
    assert (OURS in bundle["text/html"]) is fitted
    with config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(model, "_repr_html_")


def test_who_shows_a_summary_and_who_a_diagram():
    shown = make_pipeline(PCA(2).fit(ROWS), StandardScaler())._repr_html_()
    assert "sk-container" in shown
    assert OURS not in shown
    for model in (dropin.PCA(2).fit(ROWS), dropin.TruncatedSVD(2).fit(ROWS)):
        assert OURS in model._repr_html_()
    assert OURS not in PCA(2).partial_fit(ROWS[:1])._repr_html_()
    assert OURS in PCA(2).partial_fit(ROWS)._repr_html_()
    frame = pd.DataFrame({"model": [PCA(2).fit(ROWS), PCA(2)]})
    assert "PCA(n_components=2)" in frame._repr_html_()
    assert "PCA(n_components=2)" in repr(frame)


TABLE = np.random.default_rng(0).normal(size=(60, 4)) * [4, 3, 2, 1]


@pytest.mark.parametrize(
    "model",
    [mercer.PCA(2), mercer.RobustPCA(2), mercer.KernelPCA(2, kernel="rbf")],
    ids=["pca", "robust", "kernel"],
)
def test_it_is_the_page_of_report(model, tmp_path):
    (tmp_path / "a.html").write_text("old", encoding="utf-8")
    made = model.fit(TABLE).report(
        TABLE, tmp_path / "a.html", title="T", colours={"g": ["a", "b"] * 30}
    )
    other = report(model, TABLE, title="T", colours={"g": ["a", "b"] * 30})
    assert made.page.verdict == other.page.verdict
    assert [s.key for s in made.page.sections] == [s.key for s in other.page.sections]
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == made.html


@pytest.mark.parametrize("model", [mercer.PCA(2), mercer.KernelPCA(2)], ids=["pca", "kernel"])
def test_an_unfitted_model_has_no_page(model, tmp_path):
    refuses(None, model.report, TABLE, tmp_path / "a.html", kind=NotFittedError)
    assert [path.name for path in tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        (TABLE[:, :3], {}), (np.where(TABLE > 3, np.nan, TABLE), {}),
        (TABLE, {"colours": {"g": ["a"]}}), (TABLE, {"row_names": ["a"]}), ("none.csv", {}),
    ],
    ids=["columns", "missing", "colours", "names", "file"],
)  # fmt: skip
def test_a_refusal_leaves_the_old_page(rows, options, tmp_path):
    path = tmp_path / "a.html"
    path.write_text("old", encoding="utf-8")
    refuses(None, mercer.PCA(2).fit(TABLE).report, rows, path, **options)
    assert path.read_text(encoding="utf-8") == "old"
