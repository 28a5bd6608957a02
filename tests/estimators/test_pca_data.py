"""Frames with their names, sparse rows that stay sparse, float32 that stays float32."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from mercer import PCA, dropin

NAMES = [f"column {i}" for i in range(8)]
FRAMES = {
    "pandas": lambda table: pd.DataFrame(table, columns=NAMES),
    "polars": lambda table: pl.DataFrame(dict(zip(NAMES, table.T, strict=True))),
    "pyarrow": lambda table: pa.table(dict(zip(NAMES, table.T, strict=True))),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_names_are_kept_and_others_refused(table, kind):
    frame = FRAMES[kind](table)
    model = PCA(3).fit(frame)
    assert model.feature_names_in_.tolist() == NAMES
    assert model.get_feature_names_out().tolist() == ["pca0", "pca1", "pca2"]
    names = PCA(3, whiten="zca").fit(frame).get_feature_names_out()
    assert names.tolist() == NAMES
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[NAMES[::-1]] if kind == "pandas" else frame.select(NAMES[::-1]))


def test_a_frame_of_mixed_numbers_and_truth_values(table):
    x = np.round(table)
    mixed = pd.DataFrame(x, columns=NAMES)
    mixed[NAMES[0]] = mixed[NAMES[0]].astype("int32")
    mixed[NAMES[1]] = mixed[NAMES[1]].astype("float32")
    mixed[NAMES[2]] = mixed[NAMES[2]] > 0
    x[:, 2] = x[:, 2] > 0
    found, wanted = PCA(3).fit(mixed).components_, PCA(3).fit(x).components_
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_coordinates_as_a_frame(table, kind):
    found = PCA(3).set_output(transform=kind).fit_transform(FRAMES[kind](table))
    assert type(found).__module__.split(".")[0] == kind
    assert list(found.columns) == ["pca0", "pca1", "pca2"]
    wanted = PCA(3).fit_transform(table)
    np.testing.assert_allclose(found.to_numpy(), wanted, rtol=0, atol=1e-9)


def test_the_index_of_a_pandas_frame_is_kept(table):
    frame = pd.DataFrame(table, columns=NAMES, index=[f"r{i}" for i in range(120)])
    found = PCA(2).set_output(transform="pandas").fit(frame).transform(frame[:7])
    assert found.index.tolist() == [f"r{i}" for i in range(7)]


class _Own(PCA):
    """Says itself how rows are projected, as a user may."""

    def transform(self, X):
        return np.abs(np.asarray(super().transform(X)))


class _Plain(PCA):
    """Changes nothing."""


@pytest.mark.parametrize("kind", [PCA, _Plain, _Own, dropin.PCA, dropin.IncrementalPCA])
def test_every_face_and_heir_gives_frames(table, kind):
    frame = pd.DataFrame(table, index=range(120, 0, -1)).add_prefix("x")
    model, axes = (
        kind(2).set_output(transform="pandas"),
        [f"{kind.__name__.lower()}{i}" for i in (0, 1)],
    )
    for found in (model.fit_transform(frame), model.fit(frame).transform(frame)):
        assert isinstance(found, pd.DataFrame)
        assert found.index.tolist() == frame.index.tolist()
        assert found.columns.tolist() == axes
    assert isinstance(model.set_output(transform="default").transform(frame), np.ndarray)


def test_a_file_is_no_frame(table, tmp_path):
    model = PCA(2).set_output(transform="pandas").fit(table)
    path = model.transform(table, out=tmp_path / "z.npy")
    assert path == tmp_path / "z.npy"
    np.testing.assert_array_equal(np.load(path), model.transform(table))


def test_sparse_rows_are_never_densified_whole(rng, monkeypatch):
    x = scipy.sparse.random_array((5000, 300), density=0.02, random_state=rng, format="csr")
    largest = []
    dense = scipy.sparse.csr_array.toarray

    def watched(self, *args, **kwargs):
        largest.append(self.shape[0] * self.shape[1])
        return dense(self, *args, **kwargs)

    monkeypatch.setattr(scipy.sparse.csr_array, "toarray", watched)
    PCA(3, tol=1e-3).fit(x).transform(x)
    assert all(cells < 0.5 * 5000 * 300 for cells in largest)


def test_float32_stays(table):
    x = table.astype(np.float32)
    for whiten in (False, True, "zca"):
        model = PCA(3, whiten=whiten, standardize=True).fit(x)
        z = model.transform(x)
        narrow = (model.components_, z, model.inverse_transform(z))
        assert all(array.dtype == np.float32 for array in narrow)
        wide = (model.mean_, model.explained_variance_, model.scale_)
        assert all(array.dtype == np.float64 for array in wide)


def test_large_integers_are_not_rounded_on_the_way(rng):
    x = rng.integers(-50, 50, (100, 4)) + 2**52
    truth = PCA(3).fit((x - 2**52).astype(float)).explained_variance_
    np.testing.assert_allclose(PCA(3).fit(x).explained_variance_, truth, rtol=1e-12)
