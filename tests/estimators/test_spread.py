"""PCA on Dask collections: lazy results, nothing computed by accident, nothing kept."""

import dataclasses
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from tests.claims import refused, refuses, warned

import mercer
from mercer import PCA, KernelPCA, dropin
from mercer.errors import DataWarning, InputError, NotSupportedError

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pytestmark = pytest.mark.usefixtures("every_chunk")


@pytest.fixture(name="X")
def _rows(rng):
    return rng.standard_normal((60, 5)) * [5, 4, 3, 2, 1] + 100


@pytest.fixture
def reads():
    return []


@pytest.fixture
def data(X, reads):
    """The rows as a Dask array that says when a chunk is computed."""

    def noted(block):
        reads.append(block.shape)
        return block

    return da.from_array(X, chunks=(25, 3)).map_blocks(noted, dtype=float, meta=X[:0])


def test_coordinates_are_lazy_and_right(X, data, reads):
    model = PCA(3).fit(data)
    reads.clear()
    found = model.transform(data)
    assert isinstance(found, da.Array)
    assert found.chunks == ((25, 25, 10), (3,))
    assert reads == []
    np.testing.assert_allclose(found.compute(), PCA(3).fit(X).transform(X), rtol=0, atol=1e-9)
    np.testing.assert_allclose(PCA(3).fit_transform(data).compute(), found.compute())


@pytest.mark.parametrize("whiten", [False, True, "zca"])
def test_rows_come_back_from_coordinates_lazily(X, data, reads, whiten):
    model = PCA(3, whiten=whiten).fit(data)
    reads.clear()
    back = model.inverse_transform(model.transform(data))
    assert reads == []
    assert back.chunks == ((25, 25, 10), (5,))
    same = PCA(3, whiten=whiten).fit(X)
    np.testing.assert_allclose(
        back.compute(), same.inverse_transform(same.transform(X)), rtol=1e-10
    )


def test_log_likelihoods_are_lazy_and_their_mean_is_one_pass(X, data, reads):
    model, same = PCA(3).fit(data), PCA(3).fit(X)
    reads.clear()
    each = model.score_samples(data)
    assert reads == []
    np.testing.assert_allclose(each.compute(), same.score_samples(X), rtol=1e-9)
    reads.clear()
    assert model.score(data) == pytest.approx(same.score(X), rel=1e-10)
    assert len(reads) == data.npartitions
    w = np.arange(60) % 3
    assert model.score(data, sample_weight=w) == pytest.approx(
        same.score(X, sample_weight=w), rel=1e-10
    )
    with pytest.raises(InputError, match="all sample weights are zero\n  got: 60 rows"):
        model.score(data, sample_weight=da.zeros(60, chunks=20))
    refuses("no rows have no mean", model.score, data[:0])


def test_pipelines_stay_lazy_and_later_fits_change_nothing(X, data, reads):
    model = PCA(3).fit(data)
    lazy = model.transform(data)
    before = lazy.compute()
    model.fit(X[:20] * 7)
    np.testing.assert_array_equal(lazy.compute(), before)
    model = make_pipeline(PCA(4), PCA(2)).fit(data)
    reads.clear()
    assert isinstance(model.transform(data), da.Array)
    assert reads == []


@pytest.mark.parametrize("kind", [PCA, dropin.PCA])
def test_frames_are_asked_for_and_stay_lazy(X, data, reads, kind):
    model = kind(2).set_output(transform="pandas").fit(data)
    reads.clear()
    found = model.transform(data)
    assert isinstance(found, dd.DataFrame)
    assert list(found.columns) == ["pca0", "pca1"]
    assert reads == []
    np.testing.assert_allclose(found.compute(), PCA(2).fit(X).transform(X), rtol=0, atol=1e-9)
    assert isinstance(model.fit_transform(data), dd.DataFrame)
    assert isinstance(model.fit_transform(X), pd.DataFrame)


def test_the_setting_of_scikit_learn_computes_nothing_and_takes_pandas(data, reads):
    model = PCA(2).fit(data)
    reads.clear()
    with config_context(transform_output="pandas"):
        assert isinstance(model.transform(data), dd.DataFrame)
    assert reads == []
    model = PCA(2).set_output(transform="polars").fit(data)
    refuses("pandas", model.transform, data, kind=NotSupportedError)


def test_a_frame_keeps_names_and_index(X):
    frame = pd.DataFrame(X, columns=list("abcde"), index=np.arange(60) * 2)
    mixed = dd.from_pandas(frame.assign(t="x"), npartitions=4)
    with pytest.warns(DataWarning, match="left out") as said:
        lazy = PCA(2).set_output(transform="pandas").fit_transform(mixed)
    assert len(said) == 1
    found = lazy.compute()
    pd.testing.assert_index_equal(found.index, frame.index)
    np.testing.assert_allclose(found, PCA(2).fit(X).transform(X), rtol=0, atol=1e-9)
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = PCA(2).fit(dd.from_pandas(frame, npartitions=4))
    assert list(model.feature_names_in_) == list("abcde")
    assert isinstance(model.transform(dd.from_pandas(frame, npartitions=2)), da.Array)
    with pytest.raises(InputError, match="'z' where 'a' was"):
        model.transform(dd.from_pandas(frame.rename(columns={"a": "z"}), npartitions=2))


def test_a_model_holds_no_rows_and_no_futures(rng, tmp_path):
    X = rng.standard_normal((5000, 8))
    model = PCA(2).fit(da.from_array(X, chunks=(500, 8)))
    assert len(pickle.dumps(model)) < 10_000
    assert len(pickle.dumps(PCA(2).fit(X[:100]))) > len(pickle.dumps(model)) - 2000
    mercer.save(model, tmp_path / "model")
    again = mercer.load(tmp_path / "model")
    np.testing.assert_array_equal(again.components_, model.components_)
    assert clone(model).n_components == 2


@pytest.mark.parametrize("tol", [None, 1e-12])
def test_every_block_is_read_as_often_as_the_plan_says(data, reads, tol):
    model = PCA(2, tol=tol).fit(data)
    assert len(reads) == model.plan_.chosen.passes * data.npartitions


@pytest.mark.parametrize(("path", "passes"), [("gram", 1), ("svd", 3)])
def test_choosing_the_number_of_components_is_a_pass_that_the_plan_counts(
    data, reads, path, passes
):
    """Beside a Gram matrix it needs no pass of its own."""

    class Forced(PCA):
        def _problem(self, source, weights=None):
            return dataclasses.replace(super()._problem(source, weights), allowed=(path,))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mercer.DataWarning)  # where there is none
        model = Forced("auto").fit(data)
    assert model.plan_.chosen.name == path
    assert len(reads) == passes * data.npartitions
    assert model.plan_.chosen.passes == passes


OTHERS = [
    mercer.LandmarkFeatures(), mercer.RandomFeatures(), mercer.RobustPCA(2),
    dropin.IncrementalPCA(2), dropin.TruncatedSVD(2), dropin.Nystroem(),
]  # fmt: skip
CALLS = [
    (model, call)
    for model in OTHERS
    for call in ("fit", "fit_transform", "partial_fit")
    if hasattr(model, call)
]


@pytest.mark.parametrize(
    ("model", "call"), CALLS, ids=[f"{type(model).__name__}-{call}" for model, call in CALLS]
)
def test_other_methods_refuse_and_compute_nothing(data, reads, model, call):
    with refused():
        getattr(clone(model), call)(data)
    assert reads == []


@pytest.mark.parametrize("call", ["partial_fit", "remove"])
def test_streams_take_batches_in_memory(X, data, reads, call):
    model = PCA(2).partial_fit(X)
    refuses("a batch is a table in memory", getattr(model, call), data)
    assert reads == []


def test_gaps_are_filled_and_no_axes_give_the_mean(X):
    X[[3, 40], [1, 2]] = np.nan
    model = PCA(2, missing="em").fit(X)
    X[50] = np.nan
    lazy = model.transform(da.from_array(X, chunks=(25, 3)))
    found = warned(r"nothing observed; .* zero(.|\n)*1 such rows: row 50", lazy.compute)
    assert np.all(found[50] == 0.0)
    with pytest.warns(DataWarning, match="nothing observed"):
        np.testing.assert_allclose(found, model.transform(X), rtol=0, atol=1e-9)
    with pytest.warns(DataWarning, match="no component beyond noise"):
        model = mercer.PCA("auto").fit(np.random.default_rng(0).normal(size=(300, 6)))
    Z = model.transform(da.zeros((20, 6), chunks=(7, 6)))
    assert Z.shape == (20, 0)
    back = model.inverse_transform(Z).compute(scheduler="sync")
    np.testing.assert_array_equal(back, np.broadcast_to(model.mean_, (20, 6)))


def test_checkpoints_are_refused_and_bad_cells_named(data, tmp_path, X):
    with pytest.raises(NotSupportedError, match="checkpoint"):
        PCA(2).fit(data, checkpoint=tmp_path / "kept")
    with pytest.raises(NotSupportedError, match="one file"):
        PCA(2).fit(data).transform(data, out=tmp_path / "z.npy")
    model = PCA(2).fit(data)
    X[37, 1] = np.nan
    bad = da.from_array(X, chunks=(25, 3))
    for lazy in (model.transform(bad), model.score_samples(bad)):
        refuses("NaN at row 37, column 1", lazy.compute)
    with pytest.raises(InputError, match="NaN at row 37, column 1"):
        model.inverse_transform(da.from_array(X[:, :2], chunks=(25, 2))).compute()


@pytest.mark.parametrize(("call", "columns"), [("transform", 4), ("inverse_transform", 3)])
def test_other_columns_are_refused_at_once(data, call, columns):
    refuses(r"columns|features", getattr(PCA(2).fit(data), call), data[:, :columns])


@pytest.mark.parametrize("model", [PCA(1), KernelPCA(1, landmarks=3)])
def test_no_columns_are_refused(model):
    refuses("0 feature", model.fit, da.ones((10, 0), chunks=(5, 0)))


@pytest.mark.parametrize("rows", [0, 1])
def test_too_few_rows_are_refused(rows):
    refuses(f"n_samples = {rows}", PCA(1).fit, da.ones((rows, 3)))


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("weight", [0.0, 1 / 60, 0.005, 1e100, 1e300, 1e307], ids=str)
@pytest.mark.parametrize("call", ["fit", "em", "kernel", "score"])
def test_weights_are_refused_as_in_memory(X, call, weight, known):
    given, data = np.full(len(X), weight), da.from_array(X, chunks=(20, 5))
    weights = da.from_array(given, chunks=20)
    if not known:
        data = data[data[:, 0] > -np.inf]
    model = {
        "fit": PCA(2),
        "em": PCA(2, missing="em"),
        "kernel": KernelPCA(2, landmarks=X[:9]),
        "score": PCA(2).fit(X),
    }[call]
    use = model.score if call == "score" else model.fit
    with pytest.raises(InputError) as here:
        use(X, sample_weight=given)
    with pytest.raises(InputError) as there:
        use(data, sample_weight=weights)
    assert there.value.what == here.value.what


@pytest.mark.parametrize("missing", [None, "em", "ppca"])
@pytest.mark.parametrize("rows", [0, 1])
def test_too_few_rows_of_unknown_number_are_refused(X, missing, rows):
    given = {} if missing is None else {"missing": missing}
    data = da.from_array(X, chunks=(20, 5))
    few = data[data[:, 0] > np.sort(X[:, 0])[len(X) - 1 - rows]]
    refuses(f"n_samples = {rows}.*\n.*pass at least two rows", PCA(2, **given).fit, few)


def test_more_components_than_rows_that_nobody_has_counted(X):
    data = da.from_array(X, chunks=(25, 3))
    few = data[data[:, 0] > np.sort(X[:, 0])[-4]]
    refuses(r"min\(n_samples, n_features\)=3", PCA(4).fit, few)
    data = dd.from_pandas(pd.DataFrame(np.arange(20.0).reshape(10, 2) ** 2), npartitions=2)
    refuses("got: n_components=3, X of 2 columns\n", PCA(3).fit, data)
