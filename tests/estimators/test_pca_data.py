import numpy as np
import pytest
import scipy.sparse

from mercer import PCA
from mercer.errors import DataWarning

NAMES = [f"column {i}" for i in range(8)]


def frame_of(kind, table):
    if kind == "pandas":
        return pytest.importorskip("pandas").DataFrame(table, columns=NAMES)
    if kind == "polars":
        return pytest.importorskip("polars").DataFrame(dict(zip(NAMES, table.T, strict=True)))
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table(dict(zip(NAMES, table.T, strict=True)))


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def frame(request, table):
    return frame_of(request.param, table)


class TestFrames:
    def test_they_give_what_arrays_give(self, frame, table):
        model, plain = PCA(3).fit(frame), PCA(3).fit(table)
        np.testing.assert_allclose(model.components_, plain.components_, rtol=0, atol=1e-10)
        np.testing.assert_allclose(
            model.transform(frame), plain.transform(table), rtol=0, atol=1e-9
        )

    def test_the_names_are_kept(self, frame):
        model = PCA(3).fit(frame)
        assert model.feature_names_in_.tolist() == NAMES
        assert model.get_feature_names_out().tolist() == ["pca0", "pca1", "pca2"]
        names = PCA(3, whiten="zca").fit(frame).get_feature_names_out()
        assert names.tolist() == NAMES

    def test_columns_in_another_order_are_refused(self, frame):
        model = PCA(3).fit(frame)
        turned = frame[NAMES[::-1]] if not hasattr(frame, "select") else None
        turned = frame.select(NAMES[::-1]) if turned is None else turned
        with pytest.raises(ValueError, match="feature names"):
            model.transform(turned)

    def test_whole_and_mixed_numbers(self, table):
        pandas = pytest.importorskip("pandas")
        x = np.round(table)
        mixed = pandas.DataFrame(x, columns=NAMES)
        mixed[NAMES[0]] = mixed[NAMES[0]].astype("int32")
        mixed[NAMES[1]] = mixed[NAMES[1]].astype("float32")
        mixed[NAMES[2]] = mixed[NAMES[2]] > 0
        x[:, 2] = x[:, 2] > 0
        model = PCA(3).fit(mixed)
        np.testing.assert_allclose(
            model.components_, PCA(3).fit(x).components_, rtol=0, atol=1e-10
        )

    @pytest.mark.parametrize("kind", ["pandas", "polars"])
    def test_coordinates_as_a_frame(self, table, kind):
        frame = frame_of(kind, table)
        found = PCA(3).set_output(transform=kind).fit_transform(frame)
        assert type(found).__module__.split(".")[0] == kind
        assert list(found.columns) == ["pca0", "pca1", "pca2"]
        np.testing.assert_allclose(
            found.to_numpy(), PCA(3).fit_transform(table), rtol=0, atol=1e-9
        )

    def test_the_index_of_a_pandas_frame_is_kept(self, table):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(table, columns=NAMES, index=[f"r{i}" for i in range(120)])
        found = PCA(2).set_output(transform="pandas").fit(frame).transform(frame[:7])
        assert found.index.tolist() == [f"r{i}" for i in range(7)]


SPARSE = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


class TestSparse:
    @pytest.fixture
    def counts(self, rng):
        return rng.poisson(2, (90, 12)) * (rng.random((90, 12)) < 0.3) * 1.0

    @pytest.mark.parametrize("format", SPARSE)
    @pytest.mark.parametrize("family", ["array", "matrix"])
    def test_every_format(self, counts, format, family):
        x = getattr(scipy.sparse, f"{format}_{family}")(counts)
        model, plain = PCA(3).fit(x), PCA(3).fit(counts)
        np.testing.assert_allclose(model.components_, plain.components_, rtol=0, atol=1e-9)
        z = model.transform(x)
        assert isinstance(z, np.ndarray)
        np.testing.assert_allclose(z, plain.transform(counts), rtol=0, atol=1e-9)
        np.testing.assert_allclose(
            model.score_samples(x), plain.score_samples(counts), rtol=1e-9
        )

    @pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint16, np.int64, np.bool_])
    def test_every_kind_of_number(self, counts, dtype):
        x = counts.astype(dtype)
        model, plain = PCA(3).fit(scipy.sparse.csr_array(x)), PCA(3).fit(x)
        assert model.components_.dtype == plain.components_.dtype
        np.testing.assert_allclose(
            model.explained_variance_, plain.explained_variance_, rtol=1e-5
        )

    def test_long_indices(self, counts):
        x = scipy.sparse.csr_array(counts)
        x.indices, x.indptr = x.indices.astype(np.int64), x.indptr.astype(np.int64)
        np.testing.assert_allclose(
            PCA(3).fit(x).explained_variance_, PCA(3).fit(counts).explained_variance_
        )

    def test_explicit_zeros_are_zeros(self, counts):
        x = scipy.sparse.csr_array(counts)
        x.data[::3] = 0
        np.testing.assert_allclose(
            PCA(3).fit(x).explained_variance_, PCA(3).fit(x.toarray()).explained_variance_
        )

    def test_it_is_never_densified_whole(self, rng, monkeypatch):
        x = scipy.sparse.random_array((5000, 300), density=0.02, random_state=rng, format="csr")
        largest = []
        dense = scipy.sparse.csr_array.toarray

        def watched(self, *args, **kwargs):
            largest.append(self.shape[0] * self.shape[1])
            return dense(self, *args, **kwargs)

        monkeypatch.setattr(scipy.sparse.csr_array, "toarray", watched)
        PCA(3, tol=1e-3).fit(x).transform(x)
        assert all(cells < 0.5 * 5000 * 300 for cells in largest)

    @pytest.mark.parametrize("standardize", [False, True])
    def test_full_columns_far_from_zero(self, counts, rng, standardize):
        counts[:, 4] = 1e8 + rng.standard_normal(90)
        counts[:, 7] = 1e4 + 10 * rng.standard_normal(90)
        model = PCA(4, standardize=standardize).fit(scipy.sparse.csr_array(counts))
        plain = PCA(4, standardize=standardize).fit(counts)
        np.testing.assert_allclose(
            model.explained_variance_, plain.explained_variance_, rtol=1e-8
        )
        np.testing.assert_allclose(model.components_, plain.components_, rtol=0, atol=1e-6)


class TestNumbers:
    @pytest.mark.parametrize(
        "dtype",
        ["int8", "uint8", "int16", "int32", "int64", "uint64", "bool", "float16", ">f8"],
    )
    def test_they_become_float64(self, rng, dtype):
        x = rng.integers(0, 2 if dtype == "bool" else 50, (60, 5)).astype(dtype)
        model = PCA(3).fit(x)
        assert model.components_.dtype == np.float64
        assert model.transform(x).dtype == np.float64
        truth = PCA(3).fit(x.astype(np.float64)).explained_variance_
        np.testing.assert_allclose(model.explained_variance_, truth, rtol=1e-12)

    def test_float32_stays(self, table):
        x = table.astype(np.float32)
        for whiten in (False, True, "zca"):
            model = PCA(3, whiten=whiten, standardize=True).fit(x)
            assert model.components_.dtype == np.float32
            z = model.transform(x)
            assert z.dtype == np.float32
            assert model.inverse_transform(z).dtype == np.float32
            assert model.mean_.dtype == model.explained_variance_.dtype == np.float64
            assert model.scale_.dtype == np.float64

    def test_float32_is_as_good_as_its_digits(self, table):
        x = table.astype(np.float32)
        model, wide = PCA(3).fit(x), PCA(3).fit(x.astype(np.float64))
        np.testing.assert_allclose(
            model.explained_variance_, wide.explained_variance_, rtol=1e-6
        )
        np.testing.assert_allclose(model.components_, wide.components_, rtol=0, atol=1e-6)

    def test_large_integers_are_not_rounded_on_the_way(self, rng):
        x = rng.integers(-50, 50, (100, 4)) + 2**52
        truth = PCA(3).fit((x - 2**52).astype(float)).explained_variance_
        np.testing.assert_allclose(PCA(3).fit(x).explained_variance_, truth, rtol=1e-12)

    def test_integers_beyond_float64_are_named(self, rng):
        x = rng.integers(0, 2**10, (50, 3)) * 2**50
        x[:, 1] = rng.integers(0, 10, 50)
        with pytest.warns(DataWarning, match="2\\^53") as caught:
            PCA(2).fit(x)
        assert "2 such columns: 0, 2" in str(caught[0].message)
        assert caught[0].filename == __file__

    def test_lists_are_tables_too(self):
        model = PCA(1).fit([[1, 2], [3, 5], [5, 9]])
        assert model.n_features_in_ == 2


class TestMemory:
    @pytest.mark.parametrize("kind", ["F", "strided", "reversed", "read-only", "memmap"])
    def test_layout_does_not_matter(self, table, kind, tmp_path):
        held = {
            "F": lambda: np.asfortranarray(table),
            "strided": lambda: np.repeat(table, 3, axis=0)[::3],
            "reversed": lambda: np.ascontiguousarray(table[:, ::-1])[:, ::-1],
            "read-only": table.copy,
            "memmap": lambda: np.memmap(tmp_path / "x", float, "w+", shape=table.shape),
        }[kind]()
        if kind == "memmap":
            held[:] = table
        if kind == "read-only":
            held.flags.writeable = False
        model, plain = PCA(3).fit(held), PCA(3).fit(table)
        np.testing.assert_allclose(model.components_, plain.components_, rtol=0, atol=1e-10)
        np.testing.assert_allclose(
            model.transform(held), plain.transform(table), rtol=0, atol=1e-10
        )
        np.testing.assert_array_equal(held, table)

    @pytest.mark.parametrize("sparse", [False, True])
    def test_the_data_is_not_written_to(self, table, sparse):
        held = scipy.sparse.csr_array(table) if sparse else table.copy()
        model = PCA(3, standardize=True, whiten=True)
        z = model.fit_transform(held, sample_weight=np.arange(1.0, 121.0))
        before = z.copy()
        model.score(held)
        model.inverse_transform(z)
        np.testing.assert_array_equal(z, before)
        np.testing.assert_array_equal(held.toarray() if sparse else held, table)
