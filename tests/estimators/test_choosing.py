from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse
from forced import FORCED
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_info

import mercer
from mercer import PCA, DataWarning
from mercer.arrays import beside, quiet_blas
from mercer.estimators.linear import _pca_choice as _choosing
from mercer.planning import leading_solver
from mercer.selection import Half, bi_cross_validation


def table(n, p, k=3, seed=0, size=2.0):
    rng = np.random.default_rng(seed)
    signal = rng.standard_normal((n, k)) @ rng.standard_normal((k, p)) * size
    return signal + rng.standard_normal((n, p)) * rng.uniform(0.5, 1.5, p)


@pytest.fixture
def few_axes(monkeypatch):
    """The iterative path does not find all axes."""
    monkeypatch.setattr(_choosing, "_ALL", 8)
    monkeypatch.setattr(_choosing, "_SOME", 6)


@pytest.mark.parametrize("path", ["gram", "svd", "krylov"])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.usefixtures("few_axes")
def test_every_path_in_memory(path, standardize):
    X = table(300, 40) + 1e5
    model = FORCED[path]("auto", standardize=standardize).fit(X)
    assert model.plan_.chosen.name == path
    assert model.n_components_ == model.choice_.k == 3
    assert model.choice_.seen == "all 300 rows"
    few = PCA(3, standardize=standardize).fit(X)
    assert_allclose(model.explained_variance_, few.explained_variance_, rtol=1e-6)
    assert model.components_.shape == (3, 40)
    assert model.transform(X).shape == (300, 3)


@pytest.mark.parametrize("path", ["dual", "svd", "krylov"])
@pytest.mark.usefixtures("few_axes")
def test_wide_tables(path):
    X = table(60, 300)
    model = FORCED[path]("auto").fit(X)
    assert model.choice_.k == 3
    assert model.choice_.seen == "all 60 rows"


def test_sparse_float32_weighted_sorted_and_repeated_rows():
    X = table(400, 30)
    sparse = scipy.sparse.csr_array(np.where(np.abs(X) > 1, X, 0))
    assert (
        PCA("auto").fit(sparse).n_components_
        == PCA("auto").fit(sparse.toarray()).n_components_
        >= 3
    )
    assert PCA("auto").fit(X.astype(np.float32)).n_components_ == 3
    weights = np.arange(400) % 3
    weighted = PCA("auto").fit(X, sample_weight=weights).choice_
    repeated = mercer.how_many(np.repeat(X, weights, axis=0))
    assert (weighted.k, weighted.interval) == (repeated.k, repeated.interval)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 20))
    X[:, 0] += np.repeat(np.arange(6), 100) * 3.0  # groups one after the other
    X[:, 1] += np.repeat(np.arange(6), 100) * 3.0
    assert PCA("auto").fit(X).n_components_ == 1
    noise = np.repeat(rng.standard_normal((300, 20)), 2, axis=0)  # every row twice
    with pytest.warns(DataWarning, match="next to each other are alike"):
        PCA("auto").fit(noise)
    with pytest.warns(DataWarning, match="no component"):
        assert PCA("auto").fit(noise, groups=np.arange(600) // 2).choice_.k == 0


@pytest.mark.parametrize("shape", [(500, 30), (50, 400)])
@pytest.mark.parametrize("standardize", [False, True])
def test_files(tmp_path, shape, standardize):
    X = table(*shape)
    np.save(tmp_path / "x.npy", X)
    model = PCA("auto", standardize=standardize).fit(tmp_path / "x.npy")
    assert model.n_components_ == 3
    assert model.choice_.seen == f"all {shape[0]} rows"


def test_the_gram_path_reads_a_file_once_more_than_never(tmp_path):
    np.save(tmp_path / "x.npy", table(500, 30))
    source = mercer.scan(tmp_path / "x.npy")
    passes = []
    read = type(source).blocks

    def counted(self, *args):
        passes.append(1)
        return read(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(source), "blocks", counted)
        FORCED["gram"]("auto").fit(source)
    assert len(passes) == 1


def test_numbers_are_those_of_the_halves_themselves():
    X = table(320, 12)
    choice = mercer.how_many(X, standardize=True)
    Y = X / X.std(axis=0, ddof=1)
    run, halves = 10, [[], []]
    for i in range(32):
        halves[i.bit_count() % 2].append(Y[i * run : (i + 1) * run])
    parts = [np.concatenate(half) for half in halves]
    expected = bi_cross_validation(*(Half(np.cov(Z.T) * (len(Z) - 1), len(Z)) for Z in parts))
    assert_allclose(choice.errors, expected.errors, rtol=1e-9)
    assert choice.rules[1].k == expected.k


def test_halves_are_compared_beside_the_pairs_or_before_them(monkeypatch):
    """One thread or several, one fit or four at the same time: the same answer."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((2500, 3)) @ rng.standard_normal((3, 120))
    X += rng.standard_normal(X.shape)
    begun = []
    monkeypatch.setattr(_choosing, "thread_count", lambda: 2)
    monkeypatch.setattr(_choosing, "beside", lambda call: begun.append(1) or beside(call))
    with ThreadPoolExecutor(4) as pool:
        fits = list(pool.map(lambda _: FORCED["gram"]("auto").fit(X), range(4)))
    assert len(begun) == 4
    monkeypatch.setattr(_choosing, "thread_count", lambda: 1)
    alone = FORCED["gram"]("auto").fit(X)
    assert len(begun) == 4
    for fit in fits:
        assert fit.n_components_ == alone.n_components_ == 3
        assert_allclose(fit.explained_variance_, alone.explained_variance_, rtol=1e-12)


@pytest.mark.parametrize("order", [17, 200, 599, 600, 601])
def test_what_runs_at_the_same_time_has_one_blas_thread(order):
    """Two LAPACK calls with two threads each would wait for each other."""
    assert (leading_solver(order, 1) is None) == (order <= 600)
    with quiet_blas(order):
        counts = {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}
    assert counts == {1} or order > 600


def test_noise_has_no_component_and_the_model_has_no_axis():
    X = np.random.default_rng(0).standard_normal((200, 20))
    with pytest.warns(DataWarning, match="no component beyond noise"):
        model = PCA("auto").fit(X)
    assert model.n_components_ == model.choice_.k == 0
    assert model.components_.shape == (0, 20)
    assert model.transform(X).shape == (200, 0)
    assert_allclose(model.inverse_transform(model.transform(X)), np.tile(X.mean(0), (200, 1)))
    assert_allclose(model.noise_variance_, X.var(axis=0, ddof=1).mean())


def test_sums_alone_are_enough():
    X = table(500, 20)
    stream = PCA("auto").partial_fit(X[:250]).partial_fit(X[250:])
    told = PCA.from_covariance(np.cov(X.T), X.mean(0), 500, n_components="auto")
    for model in (stream, told):
        assert model.n_components_ == 3
        assert model.choice_.rules[0].name in ("stepwise edge", "noise edge")
        assert "500 rows" in model.choice_.reason
    stream.partial_fit(np.random.default_rng(1).standard_normal((20_000, 20)))
    assert "20,500 rows" in stream.choice_.reason  # found anew
    assert PCA(2).partial_fit(X).choice_ is None


@pytest.mark.usefixtures("few_axes")
def test_large_tables_are_judged_by_sums_or_by_a_part(monkeypatch, tmp_path):
    monkeypatch.setattr(_choosing, "_WIDEST", 25)
    monkeypatch.setattr(_choosing, "_ROWS", 80)
    monkeypatch.setattr(_choosing, "_CELLS", 80 * 60)
    monkeypatch.setattr(_choosing, "_TALL", 1000)
    X = table(200, 100)
    gram = FORCED["gram"]("auto").fit(X)
    assert gram.choice_.k in (3, 4)
    assert gram.choice_.seen == "all 200 rows, 25 of 100 columns"
    part = FORCED["krylov"]("auto").fit(X)
    assert part.choice_.k in (3, 4)
    assert part.choice_.seen == "80 of 200 rows, 60 of 100 columns"
    np.save(tmp_path / "x.npy", X)
    file = FORCED["krylov"]("auto").fit(tmp_path / "x.npy")
    assert (file.choice_.k, file.choice_.seen) == (part.choice_.k, part.choice_.seen)


@pytest.mark.parametrize("shape", [(200, 12), (40, 100)])
@pytest.mark.parametrize("standardize", [False, True])
def test_the_order_of_rows_and_columns_has_no_part(shape, standardize):
    rng = np.random.default_rng(5)
    X = table(*shape, size=0.6)
    base = mercer.how_many(X, standardize=standardize)
    for _ in range(8):
        Y = X[rng.permutation(shape[0])][:, rng.permutation(shape[1])]
        other = mercer.how_many(Y, standardize=standardize)
        assert (other.k, other.interval) == (base.k, base.interval)


@pytest.mark.parametrize("size", [4.0, 10.0, 40.0, 1e6])
def test_one_row_makes_no_component_and_is_named(size):
    X = np.random.default_rng(4).standard_normal((200, 20))
    X[17] = size
    choice = mercer.how_many(X)
    assert choice.k == 0
    assert choice.outlying == (17,)
    assert "Row 17 (counted from 0) lies far out" in choice.reason
    X = table(200, 20)
    X[17] = size * X.std()
    assert mercer.how_many(X).k == 3  # and hides none


def test_rows_of_one_subject_count_together():
    rng = np.random.default_rng(1)
    who = np.repeat(np.arange(30), 10)
    X = rng.standard_normal((30, 12))[who] + 0.3 * rng.standard_normal((300, 12))
    assert mercer.how_many(X).k > 0
    names = np.array([f"s{i}" for i in who])
    assert mercer.how_many(X, groups=names).k == 0
    signal = X + 3 * rng.standard_normal((30, 1))[who] @ rng.standard_normal((1, 12))
    order = rng.permutation(300)
    grouped = mercer.how_many(signal[order], groups=who[order])
    assert grouped.k == mercer.how_many(signal, groups=who).k == 1
    with pytest.raises(mercer.errors.InputError, match="one name or number per row"):
        PCA("auto").fit(X, groups=who[:-1])


def test_more_components_than_axes_were_looked_for(monkeypatch):
    monkeypatch.setattr(_choosing, "_ALL", 10)
    monkeypatch.setattr(_choosing, "_SOME", 2)
    with pytest.warns(DataWarning, match="3 components are beyond noise; the first 2 are kept"):
        model = PCA("auto").fit(table(200, 40, seed=1))
    assert model.n_components_ == 2
    assert any(rule.k is None for rule in model.choice_.rules)


@pytest.mark.parametrize("X", [np.eye(2), np.eye(3), [[1.0], [2.0], [4.0]], np.eye(5)[:, :2]])
def test_tiny_tables_have_an_answer(X):
    with pytest.warns(DataWarning, match="no component"):
        assert PCA("auto").fit(X).n_components_ == 0


@pytest.mark.parametrize("rule", ["bic", "aic"])
@pytest.mark.parametrize("shape", [(300, 20), (40, 90)])
def test_information_criteria_decide_as_in_probabilistic_pca(rule, shape):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((shape[0], 3)) @ rng.standard_normal((3, shape[1])) * 3
    X += rng.standard_normal(shape)
    model = PCA(rule).fit(X + 1e6)
    assert model.n_components_ == mercer.ProbabilisticPCA(rule).fit(X).n_components_
    assert model.choice_.rules[0].name == rule.upper()
    assert {r.name: r.k for r in mercer.how_many(X).rules}[rule.upper()] == model.n_components_
    assert rule.upper() in model.choice_.reason
    parts = PCA(rule)
    for part in np.array_split(X, 3):
        parts.partial_fit(part)
    assert parts.n_components_ == model.n_components_
    doubled = PCA(rule).fit(np.repeat(X, 2, axis=0))
    assert (
        PCA(rule).fit(X, sample_weight=np.full(len(X), 2)).n_components_
        == doubled.n_components_
    )


def test_no_axis_is_an_answer_of_a_criterion():
    X = np.random.default_rng(0).standard_normal((500, 6))
    with pytest.warns(DataWarning, match="no component beyond noise"):
        assert PCA("bic").fit(X).n_components_ == 0
