import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import mercer
from mercer import PCA, KernelPCA, LandmarkFeatures, RandomFeatures, dropin
from mercer.errors import InputError
from mercer.estimators._held import held_rows

X = np.random.default_rng(0).standard_normal((300, 6)) * np.arange(1.0, 7) + 50


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "a.npy", X)
    return tmp_path / "a.npy"


def test_rows_in_memory_pass_as_they_are():
    for rows in (X, X.tolist(), pd.DataFrame(X), scipy.sparse.csr_array(X), None):
        assert held_rows(rows) is rows
    lazy = pl.DataFrame(X).lazy()
    assert held_rows(lazy) is lazy  # the door has a better word for these
    assert held_rows(mercer.scan(X)) is X


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
    with pytest.raises(InputError, match="needs rows in memory") as caught:
        REFUSING[name](FORMS[form](path))
    assert isinstance(caught.value, TypeError)
    assert len(str(caught.value).splitlines()) == 3
    assert form == "iterator" or "a.npy" in caught.value.got
    assert "mercer.PCA reads files" in caught.value.fix


def test_a_source_of_an_array_is_the_array():
    for model in (LandmarkFeatures(3), RandomFeatures(3), dropin.TruncatedSVD(3)):
        found = model.fit(mercer.scan(X)).transform(mercer.scan(X))
        np.testing.assert_array_equal(found, model.fit(X).transform(X))


@pytest.mark.parametrize("name", ["absent.csv", "absent.npy"])
def test_a_missing_file_is_said_in_three_lines(name):
    for model in (KernelPCA(2), dropin.KernelPCA(2), PCA(2), dropin.PCA(2)):
        with pytest.raises(InputError) as caught:
            model.fit(name)
        assert len(str(caught.value).splitlines()) == 3
        assert name in caught.value.got
