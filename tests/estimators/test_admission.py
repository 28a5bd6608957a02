"""What is let in: tables as they come, refusals that name the place, rows in memory."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.claims import agree, refused, refuses

import mercer
from mercer import PCA, KernelPCA, LandmarkFeatures, RandomFeatures, dropin
from mercer.errors import InputError

X = np.random.default_rng(0).standard_normal((300, 6)) * np.arange(1.0, 7) + 50


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "a.npy", X)
    return tmp_path / "a.npy"


FORMS = {
    "text": str,
    "path": lambda path: path,
    "source": mercer.scan,
    "iterator": lambda path: iter([np.load(path)]),
}
REFUSING = {
    "svd": lambda data: dropin.TruncatedSVD(3).fit(data),
    "svd transform": lambda data: dropin.TruncatedSVD(3).fit(X).transform(data),
    "svd back": lambda data: dropin.TruncatedSVD(3).fit(X).inverse_transform(data),
    "pca back": lambda data: PCA(3).fit(X).inverse_transform(data),
    "landmarks": lambda data: LandmarkFeatures(3).fit(data),
    "landmarks transform": lambda data: LandmarkFeatures(3).fit(X).transform(data),
    "random": lambda data: RandomFeatures(3).fit(data),
    "random transform": lambda data: RandomFeatures(3).fit(X).transform(data),
    "nystroem": lambda data: dropin.Nystroem(n_components=3).fit(data),
    "kernel face": lambda data: dropin.KernelPCA(3).fit(data),
    "kernel": lambda data: KernelPCA(3, kernel="linear").fit(X).transform(data),
    "singular": lambda data: dropin.PCA(2).fit(X[:, :1] * [1.0, 2, 3]).score(data),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", REFUSING)
def test_files_are_refused_where_rows_are_needed(name, form, path):
    with refused(InputError, match="needs rows in memory") as caught:
        REFUSING[name](FORMS[form](path))
    assert isinstance(caught.value, TypeError)
    assert form == "iterator" or "a.npy" in caught.value.got
    assert "mercer.PCA reads files" in caught.value.fix


def test_a_source_of_an_array_is_the_array():
    for model in (LandmarkFeatures(3), RandomFeatures(3), dropin.TruncatedSVD(3)):
        found = model.fit(mercer.scan(X)).transform(mercer.scan(X))
        np.testing.assert_array_equal(found, model.fit(X).transform(X))


@pytest.mark.parametrize("name", ["absent.csv", "absent.npy"])
def test_a_missing_file_is_said_in_three_lines(name):
    for model in (KernelPCA(2), dropin.KernelPCA(2), PCA(2), dropin.PCA(2)):
        with refused(InputError) as caught:
            model.fit(name)
        assert name in caught.value.got


@pytest.mark.parametrize(
    ("labels", "texts"),
    [
        ([7, 5], ["7", "5"]),
        (pd.interval_range(0, 2), ["(0, 1]", "(1, 2]"]),
    ],
    ids=["numbers", "intervals"],
)
def test_labels_that_are_no_text_become_text(labels, texts):
    counts = pd.DataFrame([[1, 2], [3, 4], [5, 1]])
    assert not hasattr(mercer.TopicVectors(1).fit(counts), "feature_names_in_")  # places
    model = mercer.TopicVectors(1).fit(counts.set_axis(labels, axis=1))
    assert model.feature_names_in_.tolist() == texts


def _by_number(name):
    rng = np.random.default_rng(0)
    if name == "FAMD":
        return pd.DataFrame(
            {30: rng.normal(size=40), 10: rng.normal(size=40), 20: ["a", "b"] * 20}
        )
    return pd.DataFrame(rng.integers(1, 4, (40, 3)), columns=[30, 10, 20])


@pytest.mark.parametrize(
    "name", ["CorrespondenceAnalysis", "MultipleCorrespondenceAnalysis", "FAMD"]
)
def test_columns_called_by_numbers_are_not_taken_by_their_places(name):
    given = _by_number(name)
    model = getattr(mercer, name)(2).fit(given)
    assert [str(c) for c in model.feature_names_in_] == ["30", "10", "20"]
    agree(model.transform(given), model.row_coordinates_, 1e-12)
    refuses("same order", model.transform, given[[10, 30, 20]])


@pytest.mark.parametrize(
    "model",
    [
        mercer.LinearDiscriminantAnalysis(),
        mercer.KernelDiscriminantAnalysis(),
        mercer.FactorAnalysis(1),
        mercer.TopicVectors(1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_numbers_as_names_are_names_for_methods_of_numbers(model):
    rng = np.random.default_rng(0)
    given = pd.DataFrame(rng.poisson(5.0, (40, 3)) + 1, columns=[30, 10, 20])
    fitted = model.fit(given, ["a", "b"] * 20)
    assert fitted.transform(given).shape == (40, 1)
    ask = getattr(fitted, "predict", fitted.transform)
    refuses("same order", ask, given[[10, 30, 20]])


def test_what_is_a_table_after_all():
    masked = np.ma.masked_array(np.arange(6.0).reshape(3, 2))
    assert PCA(1).fit(masked).rank_ == 1
    objects = np.array([[1, 2.5], [3, 4], [9, 1]], dtype=object)
    assert PCA(1).fit(objects).components_.dtype == np.float64
    assert PCA(2).fit(X).transform(X[:1]).shape == (1, 2)
    lazy = PCA(1).fit(pl.LazyFrame({"a": [1.0, 2.0], "b": [0.0, 5.0]}))
    assert (lazy.n_samples_, list(lazy.feature_names_in_)) == (2, ["a", "b"])


def test_remedies_and_names_are_told():
    with pytest.raises(InputError) as caught:
        PCA(1).fit(pd.Series([1.0, 2.0, 3.0]))
    assert "to_frame" in caught.value.fix
    frame = pd.DataFrame({"height": [1.0, 2.0], "name": ["a", "b"], "born": ["x", "y"]})
    frame["when"] = pd.to_datetime(["2020-01-01", "2020-01-02"])
    with pytest.raises(InputError) as caught:
        PCA(1).fit(frame)
    named = ("3 of 4 columns", "'name'", "'born'", "'when'")
    assert all(words in caught.value.got for words in named)
    refuses("8 features", PCA(1).fit(np.eye(3)).transform, np.eye(8))


@pytest.mark.parametrize("kind", ["int64", "float32", "float64"])
def test_numbers_of_one_kind_in_a_frame_are_not_copied(kind):
    rows = np.random.default_rng(0).integers(0, 99, (40_000, 24)).astype(kind)
    peaks = []
    for table in (rows, rows, pd.DataFrame(rows)):
        tracemalloc.start()
        PCA(2).fit(table)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < peaks[1] + rows.nbytes / 2
