"""Autoencoders: never above their start, PCA where linear, the same twice, in files."""

import logging

import numpy as np
import onnxruntime
import pytest
import torch
from sklearn.datasets import load_digits, load_wine
from tests.claims import hushed, refused, refuses

import mercer
from mercer import PCA, Autoencoder, KernelPCA
from mercer.errors import InputError

DIGITS = load_digits().data


def bent(n=300, seed=0):
    """Return rows near a curve in five columns."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 3, n)
    curve = np.c_[np.cos(2 * t), np.sin(2 * t), t, t**2, np.cos(t)]
    return curve + 0.02 * rng.normal(size=curve.shape)


def angle(model, pca):
    """Return the largest angle between the plane of a linear network and PCA's, in degrees."""
    q = np.linalg.qr(model.past_decoder_.T)[0]
    cosines = np.linalg.svd(q.T @ pca.components_.T, compute_uv=False)
    return np.degrees(np.arccos(np.clip(cosines.min(), -1, 1)))


@pytest.mark.parametrize(
    ("name", "k", "standardize"), [("digits", 5, False), ("wine", 2, True), ("curve", 2, False)]
)
def test_from_random_weights_a_linear_network_finds_the_plane_of_pca(name, k, standardize):
    X = {"digits": DIGITS, "wine": load_wine().data, "curve": bent()}[name]
    model = Autoencoder(k, layers=(), start="random", standardize=standardize).fit(X)
    pca = PCA(k, standardize=standardize).fit(X)
    assert model.errors_["start"] > 0.9
    assert angle(model, pca) < 1
    lost = 1 - pca.explained_variance_ratio_.sum()
    assert model.errors_["fit"] == pytest.approx(lost, abs=1e-6)


def test_it_never_ends_above_its_start():
    """Noise has nothing to learn; what is learned of it by heart must not be kept."""
    noise = np.random.default_rng(0).normal(size=(60, 8))
    for X, start in (
        (noise, "pca"),
        (bent(60), "pca"),
        (bent(60), KernelPCA(2, kernel="rbf(lengthscale=1)")),
        (bent(60, 3) + 1e6, KernelPCA(2, standardize=True)),
    ):
        model = Autoencoder(2, layers=(16,), epochs=25, start=start).fit(X)
        assert model.errors_["fit"] <= model.errors_["start"]
        if start == "pca":
            pca = PCA(2).fit(X)
            spread = np.sum((X - X.mean(0)) ** 2)
            lost = np.sum((X - pca.inverse_transform(pca.transform(X))) ** 2) / spread
        else:
            kernel = model.start_
            back = kernel.inverse_transform(kernel.transform(X), "ridge")
            lost = np.sum((X - back) ** 2) / np.sum((X - X.mean(0)) ** 2)
        assert 1 - model.score(X) <= lost * (1 + 1e-9)
        assert model.errors_["start"] == pytest.approx(lost, rel=1e-6)


def test_before_training_it_is_its_start():
    X = bent()
    model, pca = Autoencoder(2, epochs=0).fit(X), PCA(2).fit(X)
    np.testing.assert_allclose(model.transform(X), pca.transform(X), atol=1e-12)
    np.testing.assert_allclose(
        model.inverse_transform(model.transform(X)), pca.inverse_transform(pca.transform(X)),
        atol=1e-12,
    )  # fmt: skip
    kernel = KernelPCA(2, kernel="rbf(lengthscale=1)")
    model, alone = Autoencoder(2, epochs=0, start=kernel).fit(X), kernel.fit(X)
    np.testing.assert_allclose(model.transform(X), alone.transform(X), atol=1e-12)


def test_a_curve_is_held_by_one_number():
    X, new = bent(600), bent(200, seed=5)
    model = Autoencoder(1, layers=(32,), epochs=80).fit(X)
    line = 1 - PCA(1).fit(X).explained_variance_ratio_[0]
    assert 1 - model.score(new) < 0.25 * line
    assert model.history_.shape == (model.n_iter_ + 1, 2)
    left = model.reconstruction_errors(new)
    assert np.sum(left) / np.sum((new - X.mean(0)) ** 2) == pytest.approx(1 - model.score(new))


def test_digits_by_ten_numbers_below_pca_on_rows_it_has_not_seen():
    """A fifth of the epochs, on one split; all five are among the slow tests."""
    order = np.random.default_rng(0).permutation(len(DIGITS))
    new, X = DIGITS[order[:359]], DIGITS[order[359:]]
    model = Autoencoder(10, epochs=25).fit(X)
    assert 1 - model.score(new) < 0.14


@pytest.mark.slow
def test_digits_by_ten_numbers_over_five_splits():
    """Mean held-out error ≤ .125, and below the tuned kernel map on the same splits."""
    found, kernel = [], []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(DIGITS))
        new, X = DIGITS[order[:359]], DIGITS[order[359:]]
        spread = np.sum((new - X.mean(0)) ** 2)
        found.append(1 - Autoencoder(10, random_state=seed).fit(X).score(new))
        tuned = hushed(mercer.tune, X, n_components=10).estimator().fit(X)
        back = tuned.inverse_transform(tuned.transform(new))
        kernel.append(np.sum((new - back) ** 2) / spread)
    assert np.mean(found) <= 0.125, found
    assert np.mean(found) < np.mean(kernel), (found, kernel)


def test_two_fits_are_the_same_bits_and_torch_is_left_as_it_was():
    X = bent()
    before, threads = torch.random.get_rng_state(), torch.get_num_threads()
    one, other = (Autoencoder(2, layers=(16,), epochs=4, random_state=7).fit(X) for _ in "ab")
    assert np.array_equal(one.transform(X), other.transform(X))
    assert torch.equal(before, torch.random.get_rng_state())
    assert torch.get_num_threads() == threads
    third = Autoencoder(2, layers=(16,), epochs=4, random_state=8).fit(X)
    assert not np.array_equal(one.transform(X), third.transform(X))
    wider = Autoencoder(2, layers=(16,), epochs=4, random_state=7).fit(2.0**40 * X)
    assert np.array_equal(wider.transform(2.0**40 * X), 2.0**40 * one.transform(X))


def test_it_stops_early_on_rows_held_out_and_when_the_time_is_up(caplog):
    noise = np.random.default_rng(0).normal(size=(80, 8))
    model = Autoencoder(2, layers=(32,), epochs=500, decay=0.0, noise=0.0).fit(noise)
    assert model.n_iter_ < 200
    with caplog.at_level(logging.INFO, logger="mercer"):
        short = Autoencoder(2, epochs=10**6, time=1e-9).fit(noise)
    assert short.n_iter_ == 1
    assert any("before training" in record.message for record in caplog.records)


def test_progress_is_shown_epoch_by_epoch():
    from mercer.arrays import listening

    heard = []

    class Listener:
        def begin(self, name, note):
            heard.append(name)

        def advance(self, done, total, words=""):
            heard.append((done, total, words))

        def end(self, name):
            heard.append(name)

    with listening(Listener()):
        Autoencoder(2, layers=(8,), epochs=3).fit(bent(40))
    assert heard[-4:-1] == [(i + 1, 3, heard[-4 + i][2]) for i in range(3)]
    assert "held-out error" in heard[-2][2]


def test_float32_rows_give_float32_codes_near_those_of_float64():
    X = bent() + 100
    single = Autoencoder(2, layers=(16,), epochs=5).fit(X.astype(np.float32))
    double = Autoencoder(2, layers=(16,), epochs=5).fit(X)
    codes = single.transform(X.astype(np.float32))
    assert codes.dtype == np.float32
    assert single.inverse_transform(codes).dtype == np.float32
    np.testing.assert_allclose(codes, double.transform(X), atol=1e-3)


@pytest.mark.parametrize("start", ["pca", "random", KernelPCA(1)], ids=str)
def test_a_file_holds_it_without_code_or_torch(start, tmp_path, monkeypatch):
    X = bent()
    model = Autoencoder(2, layers=(16,), epochs=3, start=start).fit(X)
    mercer.save(model, tmp_path / "a.mercer")
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    again = mercer.load(tmp_path / "a.mercer")
    assert np.array_equal(again.transform(X), model.transform(X))
    codes = model.transform(X[:5])
    assert np.array_equal(again.inverse_transform(codes), model.inverse_transform(codes))
    assert again.errors_ == model.errors_
    with refused(mercer.errors.MissingExtraError) as caught:
        Autoencoder(2).fit(X)
    assert "mercer[torch]" in caught.value.fix


@pytest.mark.parametrize("activation", ["silu", "tanh", "relu"])
@pytest.mark.parametrize("start", ["pca", "random", KernelPCA(2, standardize=True)], ids=str)
def test_its_graph_gives_the_same_codes(start, activation, tmp_path):
    X, path = bent() + 1000, tmp_path / "net.onnx"
    options = {"layers": (16, 8), "epochs": 3, "start": start, "activation": activation}
    model = Autoencoder(2, **options).fit(X)
    mercer.export_onnx(model, path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    wanted = model.transform(X)
    found = session.run(None, {"X": X})[0]
    assert np.max(np.abs(found - wanted)) < 1e-9 * np.max(np.abs(wanted))


def test_batches_of_a_stream_improve_it_and_a_file_between_them_changes_nothing(tmp_path):
    model, new = Autoencoder(1, layers=(32,), noise=0.02, batch=16), bent(200, seed=99)
    model.partial_fit(bent(200))
    first = model.score(new)
    for seed in range(1, 20):
        model.partial_fit(bent(200, seed=seed))
        if seed == 10:
            mercer.save(model, tmp_path / "a.mercer")
            other = mercer.load(tmp_path / "a.mercer")
        if seed > 10:
            other.partial_fit(bent(200, seed=seed))
    assert model.n_samples_ == 20 * 200
    assert 1 - model.score(new) < 0.6 * (1 - first)
    assert np.array_equal(other.transform(new), model.transform(new))
    before = model.transform(new)
    refuses("5 features", model.partial_fit, new[:, :3], kind=ValueError)
    refuses("ran away", model.partial_fit, 1e200 * new)
    assert np.array_equal(model.transform(new), before)


REFUSED = {
    "more numbers than columns": (lambda: Autoencoder(6).fit(bent()), "n_components=6"),
    "equal rows": (lambda: Autoencoder(1).fit(np.ones((12, 3))), "no variance"),
    "one row": (lambda: Autoencoder(1).fit(bent(1)), "one row|1 sample|two rows"),
    "a missing cell": (lambda: Autoencoder(2).fit(np.full((9, 4), np.nan)), "missing|finite"),
    "text": (lambda: Autoencoder(2).fit([["a", "b"], ["c", "d"]]), "number"),
    "layers of nothing": (lambda: Autoencoder(2, layers=(0,)).fit(bent()), "layers"),
    "layers of words": (lambda: Autoencoder(2, layers=("8",)).fit(bent()), "layers"),
    "a kernel without layers": (
        lambda: Autoencoder(2, layers=(), start=KernelPCA()).fit(bent()), "needs layers",
    ),
    "another start": (lambda: Autoencoder(2, start="kernel").fit(bent()), "start"),
    "share of all rows": (lambda: Autoencoder(2, held_out=1.0).fit(bent()), "held_out"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_in_three_lines(name):
    act, words = REFUSED[name]
    with refused(InputError, match=words):
        act()


def test_few_rows_are_fitted():
    few = Autoencoder(1, layers=(4,), epochs=3).fit(bent(3))
    assert few.transform(bent(3)).shape == (3, 1)


def test_its_plan_and_its_page_say_what_it_does():
    X = bent()
    model = Autoencoder(2, layers=(16, 8), epochs=4)
    assert "5-16-8-2-8-16-5" in mercer.plan(model, X).remark
    page = model.fit(X).report(X).html
    for words in ("The network", "How it learned", "Map of the codes", "no certificate"):
        assert words in page
    assert "The network" in model.report().html
