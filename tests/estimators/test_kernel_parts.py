"""Kernel PCA of Dask collections: in core to 1e-10 on every layout, nothing gathered."""

import itertools
import pickle

import dask
import dask.array as da
import dask_rows
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import scipy.sparse.linalg
from dask_rows import LAYOUTS, NAMES, by_hand, table
from streams import SAME
from tests.claims import agree, hold, refuses

import mercer
from mercer import KernelPCA, LandmarkFeatures, dropin
from mercer.errors import InputError, NotSupportedError
from mercer.estimators.kernel import _fit_in_parts as module
from mercer.estimators.kernel._fit_in_parts import (
    LandmarksOfParts,
    ThinnedRows,
)
from mercer.kernels import RBF, Laplacian, Linear, Matern, NegativeDistance, Polynomial
from mercer.sources import PartBlocks, scan

pytestmark = [
    pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning"),
    pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning"),
    pytest.mark.usefixtures("every_chunk"),
]

KERNELS = [Matern(3.0, nu=1.5), Polynomial(2), NegativeDistance(), Laplacian(), Linear()]


def assert_same(found, whole, Z, expected, rtol=1e-10):
    for name in (*SAME, "alignment_"):  # what the landmarks leave may be rounding alone
        least = rtol * whole.eigenvalues_[0] if name == "residual_trace_" else 1e-12
        np.testing.assert_allclose(
            _dense(getattr(found, name)), _dense(getattr(whole, name)), rtol=rtol, atol=least
        )
    for end in ("lower", "upper"):
        np.testing.assert_allclose(
            getattr(found.certificate_, end), getattr(whole.certificate_, end), rtol=rtol
        )
    size = np.abs(expected).max()
    least = rtol if expected.dtype == np.float64 else 1e-6
    agree(Z, expected, least * size)
    assert Z.dtype == expected.dtype


def _dense(value):
    """Return plain numbers; of rows in one order, since equal pivots come in any."""
    found = value.toarray() if scipy.sparse.issparse(value) else np.asarray(value, float)
    return found[np.lexsort(found.round(8).T)] if found.ndim == 2 else found


@pytest.mark.parametrize("standardize", [False, True], ids=["as they are", "standardised"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_gives_the_model_of_the_rows_in_core(name, standardize):
    X = table(1300)
    options = {"landmarks": 60, "standardize": standardize, "random_state": 4}
    d = LAYOUTS[name](X)
    found = KernelPCA(3, **options).fit(d)
    held = scipy.sparse.csr_array(X) if name == "sparse" else X
    whole = KernelPCA(3, **options).fit(iter([held]))
    lazy = found.transform(d)
    assert dask.is_dask_collection(lazy)
    Z = lazy.compute()
    assert_same(found, whole, np.asarray(Z), whole.transform(held))
    agree(found.novelty(d).compute(), whole.novelty(held), 1e-10)
    assert found.n_samples_ == len(X)


@pytest.mark.parametrize("name", ["rows and columns", "unknown sizes", "frame"])
def test_many_rows_have_the_model_of_their_landmarks(name, monkeypatch):
    monkeypatch.setattr(module, "BUFFER", 300)  # the sample is thinned
    X = table(3000)
    found = KernelPCA(4, landmarks=40).fit(LAYOUTS[name](X))
    rows = np.asarray(found.landmarks_)
    at = (X[:, None] == rows).all(axis=2).any(axis=1)
    assert at.sum() == 40
    values, t = by_hand(found.kernel_, X, rows)
    np.testing.assert_allclose(found.eigenvalues_, values[:4], rtol=1e-10)
    assert found.residual_trace_ == pytest.approx(t, rel=1e-10)
    table_of = pd.DataFrame(rows, columns=NAMES[:4]) if name == "frame" else rows
    whole = KernelPCA(4, kernel=found.kernel_, landmarks=rows).fit(X)
    again = KernelPCA(4, kernel=found.kernel_, landmarks=table_of).fit(LAYOUTS[name](X))
    np.testing.assert_allclose(again.eigenvalues_, whole.eigenvalues_, rtol=1e-10)
    Z = np.asarray(again.transform(LAYOUTS[name](X)).compute())
    agree(Z, whole.transform(X), 1e-10)
    assert found.n_samples_ == again.n_samples_ == 3000


def test_cuts_do_not_matter_and_the_certificate_holds(monkeypatch):
    monkeypatch.setattr(module, "BUFFER", 300)
    X = table(3000)
    found = [KernelPCA(2, landmarks=40).fit(da.from_array(X, chunks=c)) for c in (3000, 411)]
    np.testing.assert_array_equal(found[0].landmarks_, found[1].landmarks_)
    assert found[0].kernel_ == found[1].kernel_
    X = table(3000)
    found = KernelPCA(5, kernel=RBF(4.0), landmarks=150).fit(LAYOUTS["rows"](X))
    K = RBF(4.0)(X)
    K -= K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    exact = scipy.sparse.linalg.eigsh(K, 5, which="LA", tol=0, return_eigenvectors=False)[::-1]
    hold(found.certificate_, exact)
    assert found.certificate_.met  # and is narrow enough to say something


@pytest.mark.parametrize("name", ["rows", "rows and columns", "unknown sizes", "frame"])
def test_weights_are_repeats(name):
    X = table(600)
    w = np.random.default_rng(5).integers(0, 3, len(X))
    d = LAYOUTS[name](X)
    whole_rows = d if name == "frame" else d.rechunk({1: -1})
    lengths = [len(block) for block in dask.compute(*np.ravel(whole_rows.to_delayed()))]
    spread = da.from_array(w.astype(float), chunks=(tuple(lengths),))
    found = KernelPCA(3, landmarks=40, standardize=True).fit(d, sample_weight=spread)
    repeated = np.repeat(X, w, axis=0)
    twice = KernelPCA(3, landmarks=40, standardize=True).fit(LAYOUTS[name](repeated))
    np.testing.assert_allclose(found.eigenvalues_, twice.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(found.certificate_.upper, twice.certificate_.upper, rtol=1e-9)
    Z, again = found.transform(d).compute(), twice.transform(d).compute()
    agree(Z, again, 1e-9)
    if name.startswith("rows"):  # weights in memory need known sizes
        again = KernelPCA(3, landmarks=40, standardize=True).fit(d, sample_weight=w)
        np.testing.assert_array_equal(found.eigenvalues_, again.eigenvalues_)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("given", [False, True], ids=["chosen", "given"])
def test_columns_have_weights(given, standardize):
    X, c = table(800), [2, 1, 0.5, 3]
    options = {"feature_weight": c, "standardize": standardize}
    options |= {"landmarks": X[:40] if given else 40, "kernel": RBF(3.0)}
    d = LAYOUTS["rows and columns"](X)
    found = KernelPCA(3, **options).fit(d)
    whole = KernelPCA(3, **options).fit(iter([X]))
    assert_same(found, whole, found.transform(d).compute(), whole.transform(X))


@pytest.mark.parametrize("seed", [0, None, "generator"])
def test_a_seed_is_drawn_once(seed):
    X = table(800)
    state = np.random.default_rng(2) if seed == "generator" else seed
    found = KernelPCA(2, landmarks=20, random_state=state).fit(LAYOUTS["rows"](X))
    values, _ = by_hand(found.kernel_, X, found.landmarks_)
    np.testing.assert_allclose(found.eigenvalues_, values[:2], rtol=1e-10)


def test_float32_and_names_stay():
    X = table(1200, dtype=np.float32)
    d = LAYOUTS["rows and columns"](X)
    found = KernelPCA(3, landmarks=50).fit(d)
    whole = KernelPCA(3, landmarks=50).fit(iter([X]))
    Z = found.transform(d)
    assert Z.dtype == np.float32
    assert_same(found, whole, Z.compute(), whole.transform(X))
    X = table(500)
    d = LAYOUTS["frame"](X)
    model = KernelPCA(2, landmarks=30).set_output(transform="pandas")
    found = model.fit_transform(d).compute()
    assert list(found.columns) == ["kernelpca0", "kernelpca1"]
    assert list(model.feature_names_in_) == NAMES[:4]
    refuses("feature names should match", model.transform, d.rename(columns={"a": "z"}))
    refuses("expecting 4 features", model.transform, da.from_array(X[:, :3], chunks=(100, 3)))


@pytest.mark.parametrize("wanted", [0.5, None, 7])
def test_how_many_axes_are_kept_is_as_of_a_stream(wanted):
    X = table(400)
    found = KernelPCA(wanted, landmarks=50).fit(LAYOUTS["unknown sizes"](X))
    whole = KernelPCA(wanted, landmarks=50).fit(iter([X]))
    assert found.n_components_ == whole.n_components_
    np.testing.assert_allclose(found.eigenvalues_, whole.eigenvalues_, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "passes"),
    [({}, 2), ({"standardize": True}, 3), ({"landmarks": table(30), "kernel": RBF(3.0)}, 1)],
    ids=["plain", "standardised", "known before"],
)
def test_parts_are_read_as_often_as_planned(options, passes):
    X, reads = table(900), []

    def read(block, block_info=None):
        reads.append(block_info[0]["chunk-location"])
        return block

    d = da.from_array(X, chunks=(200, 4)).map_blocks(read, dtype=X.dtype, meta=X[:0])
    model = KernelPCA(2, **{"landmarks": 30} | options)
    foreseen = mercer.plan(model, d)
    assert reads == []
    assert foreseen.chosen.passes == passes
    model.fit(d)
    assert len(reads) == passes * 5
    assert model.plan_.chosen.passes == passes
    assert "landmarks" in str(model.plan_)
    assert "5 parts" in str(model.plan_)
    del reads[:]
    lazy = model.transform(d), model.novelty(d), model.transform_bound(d)
    assert reads == []
    lazy[0][:200].compute()
    assert len(reads) == 1


def test_the_model_holds_no_data_and_no_graph():
    X = table(5000)
    found = KernelPCA(3, landmarks=30).fit(LAYOUTS["rows"](X))
    m, p, k = 30, 4, 3
    size = len(pickle.dumps(found))
    assert size < 8 * (4 * m * m + 4 * m * (p + k)) + 6000
    more = KernelPCA(3, landmarks=30).fit(LAYOUTS["rows"](table(1000)))
    assert abs(size - len(pickle.dumps(more))) < 200
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.transform(X[:9]), found.transform(X[:9]))


def test_a_fit_goes_on_like_a_stream(tmp_path):
    X, given = table(900), {"kernel": RBF(3.0), "landmarks": table(40, 1)}
    whole = KernelPCA(3, **given).fit(X)
    one = KernelPCA(3, **given).fit(LAYOUTS["rows"](X[:500]))
    two = KernelPCA(3, **given).fit(LAYOUTS["unknown sizes"](X[500:]))
    mercer.save(one, tmp_path / "one.mercer")
    one = mercer.load(tmp_path / "one.mercer")
    for model in (pickle.loads(pickle.dumps(one)).merge(two), one.partial_fit(X[500:])):
        np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-10)
        assert model.n_samples_ == 900


def test_there_and_back_is_lazy_too():
    X = table(1500)
    d = LAYOUTS["rows"](X)
    model = KernelPCA(3, landmarks=100)
    Z = model.fit_transform(d)
    back = model.inverse_transform(Z)
    assert dask.is_dask_collection(back)
    np.testing.assert_allclose(
        back.compute(), model.inverse_transform(model.transform(X)), rtol=1e-12
    )
    left = np.mean((back.compute() - X) ** 2) / np.mean((X - X.mean(axis=0)) ** 2)
    assert left < 0.5


def test_a_model_of_rows_in_core_projects_parts_and_fills_their_cells():
    X = table(400)
    d = LAYOUTS["rows and columns"](X)
    model = KernelPCA(3, tol_transform=0.1).fit(X)
    agree(model.transform(d).compute(), model.transform(X), 1e-12)
    agree(model.transform_bound(d).compute(), model.transform_bound(X), 1e-12)
    X = table(300)
    X[::7, 1] = np.nan
    model = KernelPCA(2, missing="em").fit(X)
    d = LAYOUTS["rows"](X)
    agree(model.transform(d).compute(), model.transform(X), 1e-12)
    agree(model.novelty(d).compute(), model.novelty(X), 1e-12)


NEEDS_ROWS = ["denoise", "reconstruction", "score", "attributions", "refine", "partial_fit"]


def _untouchable(X):
    def fail(_block):
        raise AssertionError("computed by accident")

    return da.from_array(X, chunks=(100, 4)).map_blocks(fail, dtype=X.dtype, meta=X[:0])


@pytest.mark.parametrize("method", NEEDS_ROWS)
def test_what_needs_rows_in_memory_computes_nothing(method):
    X = table(300)
    model = KernelPCA(2, landmarks=30).fit(LAYOUTS["rows"](X))
    for rows in (_untouchable(X), scan(_untouchable(X))):
        refuses("rows in memory", getattr(model, method), rows)


def test_what_is_not_there_is_refused_before_a_row_is_read():
    X = table(300)
    d = _untouchable(X)
    refuses("precomputed", KernelPCA(kernel="precomputed").fit, d, kind=NotSupportedError)
    refuses("in memory alone", dropin.KernelPCA().fit, d, kind=NotSupportedError)
    refuses("missing cells", KernelPCA(missing="em").fit, d, kind=NotSupportedError)
    for call in (
        lambda: LandmarkFeatures().fit(d),
        lambda: mercer.tune(d),
        lambda: KernelPCA().partial_fit(d),
        lambda: KernelPCA(landmarks=d).fit(LAYOUTS["rows"](X)),
    ):
        refuses("rows in memory", call)
    refuses("between 1 and n_samples=300", KernelPCA(301).fit, d)
    refuses("keep all their axes", KernelPCA(None).fit, da.zeros((20_000, 3), chunks=5000))
    with pytest.raises(NotSupportedError, match="positive definite"):
        KernelPCA(kernel="sigmoid").fit(LAYOUTS["rows"](X))
    with pytest.raises(NotSupportedError, match="not known"):
        KernelPCA(2, landmarks=30).fit(LAYOUTS["rows"](X)).prototypes()


@pytest.mark.parametrize("standardize", [False, True])
def test_a_bad_cell_is_named(standardize):
    X = table(500)
    X[321, 2] = np.nan
    model = KernelPCA(2, landmarks=20, standardize=standardize)
    refuses("row 321, column 2", model.fit, LAYOUTS["rows"](X))
    with pytest.raises(InputError, match="part 3, row 21, column 2"):
        model.fit(da.from_array(X, chunks=(100, 4))[da.from_array(X[:, 0] > 0, chunks=100)])
    assert not hasattr(model, "eigenvalues_")
    good = KernelPCA(2, landmarks=20).fit(table(500))
    refuses("row 321, column 2", good.transform(LAYOUTS["rows"](X)).compute)
    refuses("row 321, column 2", good.novelty(LAYOUTS["rows"](X)).compute)


@pytest.mark.parametrize("weights", ["zero", "few", "negative"])
def test_weights_that_count_nothing_are_refused(weights):
    X = table(300)
    w = {"zero": np.zeros(300), "few": np.full(300, 1e-3), "negative": -np.ones(300)}[weights]
    with pytest.raises(InputError, match="weights"):
        KernelPCA(2).fit(LAYOUTS["rows"](X), sample_weight=da.from_array(w, chunks=100))


def bits(model):
    parts = (model.eigenvalues_, model.dual_, model._level, model.certificate_.upper)
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


def test_threads_give_the_same_bits():
    d = LAYOUTS["rows and columns"](table())
    options = {"landmarks": 60, "standardize": True}
    here = bits(KernelPCA(3, **options).fit(d))
    with dask.config.set(scheduler="threads", num_workers=3):
        assert bits(KernelPCA(3, **options).fit(d)) == here


@pytest.mark.slow
def test_a_cluster_gives_the_same_bits_and_keeps_no_futures(cluster):
    X = table()
    d = LAYOUTS["unknown sizes"](X)
    options = {"landmarks": 60, "standardize": True}
    here = KernelPCA(3, **options).fit(d)
    with dask.config.set(scheduler=None), cluster.as_current():
        found = KernelPCA(3, **options).fit(d)
        assert not cluster.futures
        Z = found.transform(d).compute()
    assert bits(found) == bits(here)
    agree(Z, here.transform(X), 1e-12)


def test_a_refusal_on_a_worker_is_the_same(cluster):
    X = table(500)
    X[321, 2] = np.nan
    with (
        dask.config.set(scheduler=None),
        cluster.as_current(),
        pytest.raises(InputError, match="row 321, column 2"),
    ):
        KernelPCA(2).fit(LAYOUTS["rows"](X))


X = dask_rows.table(1000)


def part(start, stop, first=True, number=0):
    return PartBlocks(X[start:stop], number, start if first else None, None)


def sampled(cuts, most, total, first=True, weights=None):
    work = LandmarksOfParts(None, None, 0, most, total)
    edges = [0, *cuts, len(X)]
    found = [
        work.part(part(a, b, first), None if weights is None else weights[a:b])
        for a, b in itertools.pairwise(edges)
    ]
    while len(found) > 1:
        found = [work.merge(found[0], found[1]), *found[2:]]
    return found[0]


def test_parts_of_unknown_length_are_drawn_from_by_their_weight():
    found = sampled([100], 90, None, first=False)
    assert len(found.rows) <= 90
    assert found.count == 1000
    assert found.weights.sum() == pytest.approx(1000)
    short = (X[:100, None] == found.rows).all(axis=2).any(axis=0)
    assert found.weights[short].sum() == pytest.approx(100, abs=30)


@pytest.mark.parametrize("heavy", [1e5, 1e9, 1e15])
def test_a_heavy_row_leaves_places_for_the_others(heavy):
    w = np.r_[np.ones(400), heavy, heavy / 1e4, np.ones(598)]
    found = sampled([100, 640], 97, None, weights=w)
    assert 90 <= len(found.rows) <= 97
    assert found.weights.sum() == pytest.approx(w.sum())
    assert found.weights[(found.rows == X[400]).all(axis=1)] == pytest.approx([heavy])


def test_a_repeat_count_does_what_repeats_do():
    w = np.random.default_rng(3).integers(0, 5, len(X)).astype(float)
    few = ThinnedRows(X, w, len(X)).thinned(200)
    again = ThinnedRows(np.repeat(X, w.astype(int), axis=0), np.ones(int(w.sum())), 0).thinned(
        200
    )
    rows, at = np.unique(again.rows, axis=0, return_index=True)
    assert few.weights.sum() == pytest.approx(w.sum())
    np.testing.assert_array_equal(np.unique(few.rows, axis=0), rows)
    assert len(at) == len(few.rows)


def test_rows_of_no_weight_are_not_drawn_and_sparse_ones_stay_sparse():
    w = np.zeros(len(X))
    w[[3, 400, 990]] = [1, 7, 2]
    found = ThinnedRows(X, w, len(X)).thinned(10)
    np.testing.assert_array_equal(found.rows, X[[3, 400, 990]])
    np.testing.assert_allclose(found.weights, [1, 7, 2])
    none = ThinnedRows(X, np.zeros(len(X)), len(X)).thinned(10)
    assert none.weights.sum() == 0
    work = LandmarksOfParts(None, None, 0, 50, None)
    S = scipy.sparse.csr_array(np.where(X > 100, X, 0))
    one = work.part(PartBlocks(S[:700], 0, None, None), None)
    two = work.part(PartBlocks(S[700:], 1, None, None), None)
    assert scipy.sparse.issparse(work.merge(one, two).rows)
    dense = work.part(PartBlocks(S[:700], 0, None, None, dense=True), None)  # announced so
    assert isinstance(dense.rows, np.ndarray)


@pytest.mark.parametrize(("count", "words"), [(0, "no rows"), (1, "one row")])
def test_too_few_rows_in_all_parts_are_refused(count, words):
    X = table(60)
    few = LAYOUTS["unknown sizes"](X)
    few = few[few[:, 0] > np.sort(X[:, 0])[59 - count]]
    refuses(words, KernelPCA(1).fit, few)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_kernels_of_every_kind(kernel):
    X = table(1500)
    found = KernelPCA(3, kernel=kernel, landmarks=50).fit(LAYOUTS["rows and columns"](X))
    whole = KernelPCA(3, kernel=kernel, landmarks=50).fit(iter([X]))
    Z = found.transform(da.from_array(X, chunks=(400, 4))).compute()
    assert_same(found, whole, Z, whole.transform(X))


@pytest.mark.usefixtures("every_chunk")
@pytest.mark.parametrize("parts", [1, 5, 9])
def test_what_is_left_to_do_is_done_once_after_the_last_merge(parts):
    da = pytest.importorskip("dask.array")

    class Longest:
        done = 0

        def part(self, rows, weights):
            del weights
            return rows.shape[0]

        def merge(self, one, other):
            return one + other

        def finish(self, found):
            Longest.done += 1
            return f"{found} rows"

    source = scan(da.ones((90, 2), chunks=(90 // parts, 2)))
    assert source.parts == parts
    assert source.reduce(Longest()) == "90 rows"
    assert Longest.done == 1
    assert source.walks == 1
