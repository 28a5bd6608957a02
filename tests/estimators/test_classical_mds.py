import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sheets import SETS, apart, turned
from sklearn import manifold
from tests.claims import agree, hold, refuses

from mercer import PCA, ClassicalMDS
from mercer.errors import BudgetError, DataWarning, InputError
from mercer.estimators.manifold import classical_mds

RNG = np.random.default_rng(4)
X = RNG.standard_normal((50, 5)) * [5, 4, 3, 2, 1]


def by_lapack(D, k):
    n = len(D)
    H = np.eye(n) - 1 / n
    values, u = np.linalg.eigh(-0.5 * H @ D**2 @ H)
    return values[::-1][:k], u[:, ::-1][:, :k] * np.sqrt(values[::-1][:k])


def spoilt(i, j, value):
    """Return the distances of six rows with another cell."""
    D = cdist(X[:6], X[:6])
    D[i, j] = value
    return D


def test_rounding_is_no_fault_and_bad_cells_are_named():
    D = cdist(X[:6], X[:6])
    model = ClassicalMDS(metric="precomputed").fit(spoilt(1, 3, D[3, 1] * (1 + 1e-12)))
    plain = ClassicalMDS(metric="precomputed").fit(D)
    np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-9)
    assert D[0, 1] > 0  # not written to
    D = cdist(X, X)
    model = ClassicalMDS(metric="precomputed").fit(D)
    with pytest.raises(InputError, match="NaN") as caught:
        model.transform(np.where(np.arange(50) == 7, np.nan, D[:3]))
    assert "row 0, column 7" in str(caught.value)
    with pytest.raises(InputError, match="Negative") as caught:
        model.transform(-D[:1])
    refuses("features", model.transform, D[:, :9])


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "precomputed"])
def test_it_is_the_formula_and_scikit_learns(name, metric):
    rows = SETS[name][:200]
    D = cdist(rows, rows, "euclidean" if metric == "precomputed" else metric)
    given = D if metric == "precomputed" else rows
    model = ClassicalMDS(3, metric=metric).fit(given)
    values, z = by_lapack(D, 3)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    assert apart(model.embedding_, z) < 1e-6
    c = model.certificate_
    assert c.met
    hold(c, values)
    new = cdist(rows[::3] + 0.1, rows) if metric == "precomputed" else rows[::3] + 0.1
    assert model.transform(new).shape == (67, 3)
    scale = np.abs(model.embedding_).max()
    agree(model.transform(given), model.embedding_, 1e-8 * scale)
    if hasattr(manifold, "ClassicalMDS"):
        theirs = manifold.ClassicalMDS(n_components=3, metric=metric).fit(given)
        assert apart(model.embedding_, theirs.embedding_) < 1e-6


def test_of_euclidean_distances_it_is_pca():
    pca, model = PCA(3).fit(X), ClassicalMDS(3).fit(X)
    np.testing.assert_allclose(model.embedding_, turned(pca.transform(X), model.embedding_))
    np.testing.assert_allclose(model.explained_variance_ratio_, pca.explained_variance_ratio_)
    assert model.plan_.chosen.name == "primal"
    assert model.negative_share_ == 0
    given = ClassicalMDS(3, metric="precomputed").fit(cdist(X, X))
    agree(given.embedding_, turned(model.embedding_, given.embedding_), 1e-9)
    new = RNG.standard_normal((4, 5))
    agree(
        turned(given.transform(cdist(new, X)), model.transform(new)), model.transform(new), 1e-9
    )
    assert given.negative_share_ < 1e-12


def test_a_large_matrix_is_iterated_on(monkeypatch):
    monkeypatch.setattr(classical_mds, "_WHOLE", 500)
    rows = np.random.default_rng(0).standard_normal((1100, 3)) * [30, 20, 1]
    D = cdist(rows, rows, "cityblock")
    model = ClassicalMDS(2, metric="precomputed", tol=1e-12).fit(D)
    assert model.plan_.chosen.name == "stored"
    values, z = by_lapack(D, 2)
    assert model.certificate_.met
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-10)
    assert apart(model.embedding_, z) < 1e-5
    agree(model.transform(D), model.embedding_, 1e-8)
    assert model.negative_share_ > 0.01  # of a sample


class TestNegativeEigenvalues:
    D = cdist(X, X, "cityblock")

    def test_their_share_is_told_and_they_are_left_out(self):
        model = ClassicalMDS(50, metric="precomputed").fit(self.D)
        assert model.negative_share_ > 0.05
        assert np.all(model.eigenvalues_ >= 0)
        assert model.rank_ < 40
        np.testing.assert_array_equal(model.embedding_[:, model.rank_ :], 0)
        H = np.eye(50) - 1 / 50
        values = np.linalg.eigvalsh(-0.5 * H @ self.D**2 @ H)
        share = -values[values < 0].sum() / np.abs(values).sum()
        assert model.negative_share_ == pytest.approx(share, rel=1e-9)
        assert model.explained_variance_ratio_.sum() == pytest.approx(1 - share, rel=1e-9)

    def test_they_may_be_refused(self):
        with pytest.raises(InputError, match="negative eigenvalues"):
            ClassicalMDS(metric="precomputed", indefinite="raise").fit(self.D)

    def test_flipped_ones_count_by_modulus(self):
        model = ClassicalMDS(49, metric="precomputed", indefinite="flip").fit(self.D)
        assert np.any(model.eigenvalues_ < 0)
        assert np.all(np.diff(np.abs(model.eigenvalues_)) <= 0)
        agree(model.transform(self.D), model.embedding_, 1e-8 * np.abs(self.D).max())

    def test_a_shift_is_the_constant_of_lingoes_and_warns(self):
        with pytest.warns(DataWarning, match="shifted"):
            model = ClassicalMDS(49, metric="precomputed", indefinite="shift", tol=1e-9).fit(
                self.D
            )
        H = np.eye(50) - 1 / 50
        low = -np.linalg.eigvalsh(-0.5 * H @ self.D**2 @ H)[0]
        squared = cdist(model.embedding_, model.embedding_) ** 2
        wanted = self.D**2 + 2 * low * (1 - np.eye(50))
        agree(squared, wanted, 1e-7 * wanted.max())


class TestHardRows:
    def test_far_from_the_origin(self):
        near, far = ClassicalMDS(3).fit(X), ClassicalMDS(3).fit(X + 1e8)
        moved = (X + 1e8) - 1e8  # what float64 has kept of the rows
        assert apart(far.embedding_, ClassicalMDS(3).fit(moved).embedding_) < 1e-9
        assert apart(far.embedding_, near.embedding_) < 1e-6

    def test_points_on_a_line_have_one_axis(self):
        t = np.sort(RNG.random(20))
        D = np.abs(np.subtract.outer(t, t))
        model = ClassicalMDS(3, metric="precomputed").fit(D)
        assert model.rank_ == 1
        z = model.embedding_[:, 0]
        agree(z * np.sign(z[-1] - z[0]), t - t.mean(), 1e-12)
        np.testing.assert_array_equal(model.embedding_[:, 1:], 0)

    def test_equal_distances_have_no_axes_of_their_own(self):
        model = ClassicalMDS(2, metric="precomputed").fit(1.0 - np.eye(6))
        np.testing.assert_allclose(model.eigenvalues_, 0.5)
        assert model.certificate_.groups == ((0, 1, 2),)

    def test_float32_stays_and_integers_are_taken(self):
        D = np.abs(np.subtract.outer(np.arange(9), np.arange(9)))
        whole = ClassicalMDS(1, metric="precomputed").fit(D)
        narrow = ClassicalMDS(1, metric="precomputed").fit(D.astype(np.float32))
        assert narrow.embedding_.dtype == np.float32 == narrow.transform(D[:2]).dtype
        np.testing.assert_allclose(narrow.embedding_, whole.embedding_, rtol=1e-6)
        assert D[0, 8] == 8  # not written to


@pytest.mark.parametrize(
    ("model", "rows", "what"),
    [
        (ClassicalMDS(), [[1.0, 2.0]], "one row"),
        (ClassicalMDS(4), X[:3], "between 1 and n_samples"),
        (ClassicalMDS(metric="cosine"), np.eye(4)[[0, 1, 1]] * [[0], [1], [1]], "not defined"),
        (ClassicalMDS(metric="precomputed"), X, "square"),
        (ClassicalMDS(metric="precomputed"), np.zeros((4, 4)), "one place"),
        (ClassicalMDS(metric="precomputed"), spoilt(0, 0, 3.0), "to itself(.|\n)*3 at row 0"),
        (ClassicalMDS(metric="precomputed"), spoilt(1, 3, -1.0), "Negative(.|\n)*column 3"),
        (ClassicalMDS(metric="precomputed"), spoilt(1, 3, 9e2), "symmetric(.|\n)*900 at row 1"),
        (ClassicalMDS(metric="l7"), X, "metric"),
        (ClassicalMDS(indefinite="hope"), X, "indefinite"),
    ],
    ids=range(10),
)
def test_refusals(model, rows, what):
    refuses(what, model.fit, rows, kind=ValueError)
    assert not hasattr(model, "embedding_")


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "cosine", "precomputed"])
@pytest.mark.parametrize("power", [-1000, -300, 300, 1000])
def test_distances_have_no_unit(metric, power):
    """The map has the unit of the data; variances beyond float64 are told."""
    known = cdist(X, X, "cityblock") if metric == "precomputed" else X
    one = ClassicalMDS(2, metric=metric).fit(known)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        other = ClassicalMDS(2, metric=metric).fit(np.ldexp(known, power))
    free = metric == "cosine"
    assert [str(each.message).count("\n") for each in told] == [2] * (
        abs(power) > 500 and not free
    )
    unit = 0 if free else -power
    size = 1e-9 * np.abs(one.embedding_).max()
    agree(np.ldexp(other.embedding_, unit), one.embedding_, size)
    agree(other.explained_variance_ratio_, one.explained_variance_ratio_, 1e-12)
    if abs(power) < 500:
        agree(np.ldexp(other.eigenvalues_, 2 * unit) / one.eigenvalues_, 1.0, 1e-9)
    agree(np.ldexp(other.transform(np.ldexp(known, power)), unit), one.transform(known), size)


def test_a_share_of_the_axes_and_of_the_memory():
    with pytest.raises(BudgetError, match="memory"):
        ClassicalMDS(metric="cityblock", memory="1MB").fit(np.zeros((2000, 2)))
    model = ClassicalMDS(0.9).fit(X)
    whole = ClassicalMDS(5).fit(X).explained_variance_ratio_
    assert model.n_components_ == int(np.searchsorted(np.cumsum(whole), 0.9)) + 1
