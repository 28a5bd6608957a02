import numpy as np
import polars as pl
import pytest
import scipy.sparse

import mercer
from mercer.errors import InputError
from mercer.studies._model_health import runs


def table(n=300, p=6, seed=0):
    rng = np.random.default_rng(seed)
    few = rng.standard_normal((n, 2)) * [6, 3]
    axes = np.linalg.qr(rng.standard_normal((p, 2)))[0]
    return few @ axes.T + rng.standard_normal((n, p)) * 0.5


def codes(model, X, **more):
    return [finding.code for finding in mercer.health(model, X, **more)]


def odd():
    """Units, a copy, a constant, and one row far out."""
    X = table()
    X = np.c_[X, X[:, 0], np.ones(300)]
    X[:, 3] *= 1e4
    X[41, 3] = 1e7
    return X


def test_ordinary_rows_are_healthy():
    X = table()
    assert codes(mercer.PCA(2).fit(X), X) == []
    X = table()
    X[:, 3] *= 1e4
    assert codes(mercer.PCA(2).fit(X), X) == ["M104"]
    assert codes(mercer.PCA(2, standardize=True).fit(X), X) == []
    frame = pl.DataFrame({f"f{i}": column for i, column in enumerate(odd().T)})
    model = mercer.PCA(2).fit(frame)
    assert mercer.health(model, frame)[0].got.startswith("f3: ")
    names = [f"n{i}" for i in range(8)]
    assert mercer.health(model, frame, names=names)[0].got.startswith("n3: ")


@pytest.mark.parametrize("whiten", [False, True, "zca"])
def test_findings_of_a_fit(whiten):
    X = odd()
    found = mercer.health(mercer.PCA(2, whiten=whiten).fit(X), X)
    assert [f.code for f in found][:2] == ["M104", "M103"]
    assert {"M109", "M110"} < {f.code for f in found}
    assert "row 41" in found[1].got


def test_files_and_sparse_rows_give_the_same_findings(tmp_path):
    X = odd()
    np.save(tmp_path / "x.npy", X)
    model = mercer.PCA(2).fit(X)
    assert mercer.health(model, tmp_path / "x.npy") == mercer.health(model, X)
    X = odd()
    model = mercer.PCA(2).fit(scipy.sparse.csr_array(X))
    assert codes(model, scipy.sparse.csr_array(X)) == codes(mercer.PCA(2).fit(X), X)
    few = X.astype(np.float32)
    assert "M104" in codes(mercer.PCA(2).fit(few), few)


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_rows_of_any_size(scale):
    X = odd()
    plain = codes(mercer.PCA(2).fit(X), X)
    assert codes(mercer.PCA(2).fit(X * scale), X * scale) == plain


def test_long_tables_are_looked_at_in_runs(tmp_path):
    X = np.random.default_rng(0).standard_normal((20_000, 4)) * [3, 2, 1, 0.5]
    X[12_347, 1] = 9000
    found = mercer.health(mercer.PCA(1).fit(X), X)
    assert found[0].code == "M103"
    assert "row 12347" in found[0].got
    X = np.cumsum(np.random.default_rng(0).standard_normal((20_000, 5)), axis=0)
    np.save(tmp_path / "x.npy", X)
    assert "M102" in codes(mercer.PCA(1).fit(X), tmp_path / "x.npy")
    assert runs(7, 10).tolist() == list(range(7))
    found = runs(1_000_000, 5000)
    assert len(found) == 5000
    assert np.mean(np.diff(found) == 1) > 0.98
    assert found[-1] == 999_999
    assert len(runs(5050, 5000)) <= 5050


def test_rows_that_a_fit_filled_or_left_out():
    X = table()
    X[np.random.default_rng(1).uniform(size=X.shape) < 0.05] = np.nan
    model = mercer.PCA(2, missing="em").fit(X)
    assert codes(model, X) == []
    with pytest.raises(InputError, match="missing"):
        mercer.health(mercer.PCA(2).fit(table()), X)
    X = table()
    X[:5] = [0, 0, 0, 0, 0, 900]
    assert "M103" in codes(mercer.PCA(1).fit(X), X)
    assert codes(mercer.RobustPCA(2).fit(X), X) == []


def test_planes_of_a_fit_are_named():
    X = np.concatenate([np.eye(5), -np.eye(5)]) * [9, 1, 1, 0.1, 0.01]
    (plane,) = [f for f in mercer.health(mercer.PCA(4).fit(X), X) if f.code == "M106"]
    assert plane.what.startswith("PC2 and PC3")


def test_groups():
    rng = np.random.default_rng(0)
    labels = np.arange(40) % 2
    X = rng.standard_normal((40, 3000))
    gap = X[labels == 0].mean(axis=0) - X[labels == 1].mean(axis=0)
    X = X[:, np.argsort(-np.abs(gap))[:40]]
    model = mercer.PCA(1).fit(X)
    assert codes(model, X, groups=list("ab" * 20))[0] == "M105"
    with pytest.raises(InputError, match="groups has one entry"):
        mercer.health(model, X, groups=labels[:5])


def test_rows_that_come_once():
    X = table()
    model = mercer.PCA(2).fit(X)
    assert codes(model, iter([X[:100], X[100:]]), groups=np.arange(300) % 2) == []
    with pytest.raises(InputError, match="groups has one entry"):
        mercer.health(model, iter([X[:100], X[100:]]), groups=[1, 2])
    X = table()
    model = mercer.PCA(2).fit(X)
    source = mercer.scan(iter([X[:100], X[100:]]))
    assert codes(model, source) == []
    with pytest.raises(InputError, match="are gone"):
        mercer.health(model, source)


def test_kernels_are_asked_what_makes_sense():
    rng = np.random.default_rng(0)
    X = np.c_[rng.uniform(-1, 1, (400, 2)) * [1.2, 1.0], np.zeros(400)]
    model = mercer.KernelPCA(3, kernel="rbf(lengthscale=2)").fit(X)
    found = mercer.health(model, X)
    assert [f.code for f in found] == ["M101", "M110"]
    assert "curve of PC1" in found[0].what
    K = model.kernel_.block(X)
    given = mercer.KernelPCA(3, kernel="precomputed").fit(K)
    assert codes(given, K) == ["M101"]
    X = np.random.default_rng(0).standard_normal((5000, 3)) * [5, 2, 1]
    model = mercer.KernelPCA(2, kernel="linear").fit(X)
    assert codes(model, X) == []


def test_no_component_and_no_fit():
    X = np.random.default_rng(0).standard_normal((300, 8))
    with pytest.warns(mercer.DataWarning):
        model = mercer.PCA("auto").fit(X)
    assert model.n_components_ == 0
    assert codes(model, X) == []
    X = table()
    with pytest.raises(Exception, match="fitted"):
        mercer.health(mercer.PCA(2), X)


@pytest.mark.parametrize("shape", [(2, 1), (2, 5), (3, 2)])
def test_the_smallest_tables(shape):
    X = np.random.default_rng(0).standard_normal(shape)
    assert set(codes(mercer.PCA(1).fit(X), X)) <= {"M106"}
