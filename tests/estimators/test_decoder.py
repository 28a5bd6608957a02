import numpy as np
import pytest
import scipy.sparse

from mercer import KernelPCA
from mercer.estimators.kernel import _preimages
from mercer.estimators.kernel._preimages import Decoder, learn
from mercer.kernels import RBF


def curve(n, seed=0, noise=0.0):
    """Return scores on a parabola (n, 2) and the rows (n, 3) that they stand for."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1, 1, n)
    scores = np.column_stack([t, t**2 - 1 / 3])
    rows = np.column_stack([np.cos(2 * t), np.sin(2 * t), 0.3 * t])
    return scores, rows + noise * rng.standard_normal(rows.shape)


def test_a_curve_comes_back():
    scores, rows = curve(300)
    fresh, wanted = curve(100, seed=1)
    decoder = learn(scores, rows, None)
    assert isinstance(decoder, Decoder)
    np.testing.assert_allclose(decoder.decode(fresh), wanted, rtol=0, atol=1e-4)


def test_a_linear_map_comes_back():
    rng = np.random.default_rng(0)
    scores, map_ = rng.standard_normal((200, 3)) * [5, 1, 0.2], rng.standard_normal((3, 6))
    decoder = learn(scores, scores @ map_ + 7, None)
    new = rng.standard_normal((50, 3)) * [5, 1, 0.2]
    np.testing.assert_allclose(decoder.decode(new), new @ map_ + 7, rtol=0, atol=1e-3)


def test_noise_is_not_learned():
    """With rows that have nothing to do with the scores the best answer is the mean."""
    rng = np.random.default_rng(0)
    scores, rows = rng.standard_normal((400, 3)), rng.standard_normal((400, 5)) + 3
    back = learn(scores, rows, None).decode(rng.standard_normal((200, 3)))
    assert np.mean((back - 3) ** 2) < 0.1


def test_noise_beside_a_curve_is_smoothed():
    scores, rows = curve(500, noise=0.2)
    fresh, wanted = curve(200, seed=1)
    back = learn(scores, rows, None).decode(fresh)
    assert np.mean((back - wanted) ** 2) < 0.05 * 0.2**2 * 20


def test_the_mean_of_the_rows_is_kept():
    scores, rows = curve(200)
    decoder = learn(scores, rows + 1e6, None)
    np.testing.assert_allclose(decoder.mean, (rows + 1e6).mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(decoder.decode(scores).mean(axis=0), decoder.mean, rtol=1e-10)


def test_weights():
    """The mean is that of repeated rows, and what has no weight has no say."""
    scores, rows = curve(80, noise=0.1)
    counts = np.random.default_rng(0).integers(1, 4, 80)
    weighted = learn(scores, rows, counts.astype(float))
    np.testing.assert_allclose(
        weighted.mean, np.repeat(rows, counts, axis=0).mean(axis=0), rtol=1e-12
    )
    weights = np.ones(80)
    weights[::4] = 0
    spoiled = rows.copy()
    spoiled[::4] = 1e6
    fresh, _ = curve(50, seed=3)
    one, two = learn(scores, rows, weights), learn(scores, spoiled, weights)
    np.testing.assert_allclose(one.decode(fresh), two.decode(fresh), rtol=0, atol=1e-9)


def test_sparse_rows():
    scores, rows = curve(100)
    rows[rows < 0] = 0
    one, two = learn(scores, rows, None), learn(scores, scipy.sparse.csr_array(rows), None)
    np.testing.assert_array_equal(one.decode(scores), two.decode(scores))


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_rows(n):
    scores, rows = curve(n)
    back = learn(scores, rows, None).decode(scores)
    assert back.shape == (n, 3)
    assert np.isfinite(back).all()
    spread = np.sum((rows - rows.mean(axis=0)) ** 2)
    assert np.sum((back - rows) ** 2) <= spread * (1 + 1e-9)


def test_scores_of_zeros():
    """An axis without variance, or none at all: the mean comes back, no NaN."""
    rows = curve(30)[1]
    back = learn(np.zeros((30, 2)), rows, None).decode(np.zeros((4, 2)))
    np.testing.assert_allclose(
        back, np.broadcast_to(rows.mean(axis=0), (4, 3)), rtol=0, atol=1e-12
    )
    scores = np.column_stack([curve(30)[0], np.zeros(30)])
    assert np.isfinite(learn(scores, rows, None).decode(scores)).all()


@pytest.mark.parametrize("factor", [1e-150, 1e-6, 1e6, 1e150])
def test_the_unit_of_the_scores_does_not_matter(factor):
    scores, rows = curve(100)
    one, two = learn(scores, rows, None), learn(scores * factor, rows, None)
    np.testing.assert_allclose(
        one.decode(scores), two.decode(scores * factor), rtol=0, atol=1e-6
    )


def test_many_rows_are_mapped_in_blocks(monkeypatch):
    monkeypatch.setattr(_preimages, "_LANDMARKS", 100)
    monkeypatch.setattr(_preimages, "_BLOCK", 64)
    scores, rows = curve(1000)
    decoder = learn(scores, rows, None)
    assert len(decoder.landmarks) <= 100
    np.testing.assert_allclose(decoder.decode(scores), rows, rtol=0, atol=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("penalty", [1e-3, 1.0])
def test_the_error_is_that_of_rows_left_out_one_by_one(monkeypatch, penalty, weighted):
    """Against regressions that were learned anew without each row."""
    monkeypatch.setattr(_preimages, "_PENALTIES", np.array([penalty]))
    scores, rows = curve(30, noise=0.1)
    share = np.random.default_rng(0).random(30) + 0.5 if weighted else np.ones(30)
    share /= share.sum()
    empty = np.zeros(0)
    shell = Decoder(1.0, RBF(0.5), scores[::3], empty, np.zeros((0, 0)), empty)
    found, made = _preimages._regress(shell, scores, rows, share)
    f = shell.features(scores)
    size = f.shape[1]
    centred = f - share @ f
    alpha = penalty * np.trace(centred.T @ (share[:, None] * centred)) / size
    errors = []
    for i in range(30):
        others = np.arange(30) != i
        w = share[others] / share[others].sum()
        mean, about = w @ rows[others], w @ f[others]
        g, x = f[others] - about, rows[others] - mean
        # The penalty stands beside the sum over the rows that remain, not their mean.
        gram = g.T @ (share[others][:, None] * g) + alpha * np.eye(size)
        beta = np.linalg.solve(gram, g.T @ (share[others][:, None] * x))
        errors.append(np.sum((rows[i] - mean - (f[i] - about) @ beta) ** 2))
    unit = np.max(np.abs(rows - share @ rows)) ** 2
    assert found == pytest.approx(share @ np.array(errors) / unit, rel=1e-8)
    assert made.mean.shape == (3,)


HARD = {
    "twins": lambda rng: np.where(rng.random((70, 6)) < 0.4, rng.random((70, 6)), 0.0),
    "heavy tails": lambda rng: rng.standard_t(2, (400, 8)) @ rng.standard_normal((8, 8)),
    "few": lambda rng: rng.standard_normal((25, 10)),
}


@pytest.mark.parametrize("kernel", ["rbf", "poly(degree=2)", "matern"])
@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("name", HARD)
def test_new_rows_do_not_run_away(name, k, kernel):
    """No worse than the mean by much, on rows that were not there."""
    X = HARD[name](np.random.default_rng(0))
    train, test = X[: len(X) * 2 // 3], X[len(X) * 2 // 3 :]
    model = KernelPCA(k, kernel=kernel).fit(train)
    back = model.decoder_.decode(model.transform(test))
    assert np.sum((back - test) ** 2) < 1.5 * np.sum((test - train.mean(axis=0)) ** 2)
