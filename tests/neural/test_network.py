"""A fitted kernel PCA is a network: the same numbers, exact gradients, trainable, exported."""

import numpy as np
import onnxruntime
import pytest
import torch
from tests.claims import hushed, refuses

import mercer
from mercer import PCA, KernelPCA
from mercer.errors import NotSupportedError
from mercer.kernels import (
    RBF,
    AdditiveChiSquared,
    ArcCosine,
    ChiSquared,
    Constant,
    Cosine,
    FeatureMap,
    Intersection,
    Laplacian,
    Linear,
    Log,
    Matern,
    Multiquadric,
    NegativeChiSquared,
    NegativeDistance,
    NegativeHamming,
    Overlap,
    Periodic,
    PeriodicDistance,
    Polynomial,
    PowerExponential,
    RationalQuadratic,
    Sigmoid,
    exp,
    mapped,
    normalize,
    warp,
)
from mercer.neural import fine_tune, network

FAR = np.array([1e6, -3e5, 2.0, 0.0, 77.0])
EACH = (3.0, 1.0, 2.0, 0.5, 1.0)  # a lengthscale for each column


def rows(n, seed=0, far=0.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 5)) * np.array(EACH) + far * FAR


KERNELS = {
    "linear": Linear(),
    "polynomial": Polynomial(3, gamma=0.01),
    "polynomial of many features": Polynomial(30, gamma=1e-3),
    "polynomial, broken power": Polynomial(2.5, gamma=1e-3, coef0=9.0),
    "sigmoid": Sigmoid(0.01),
    "cosine": Cosine(),
    "steps": ArcCosine(0),
    "ramps": ArcCosine(1),
    "rbf": RBF(3.0),
    "rbf by column": RBF(EACH),
    "laplacian": Laplacian(EACH),
    "matern 0.5": Matern(4.0, 0.5),
    "matern 1.5": Matern(4.0, 1.5),
    "matern 2.5": Matern(EACH, 2.5),
    "rational quadratic": RationalQuadratic(3.0, 1.5),
    "power exponential": PowerExponential(4.0, 0.7),
    "negative distance": NegativeDistance(0.5),
    "multiquadric": Multiquadric(),
    "log": Log(),
    "periodic": Periodic(EACH, (7.0, 5.0, 3.0, 9.0, 8.0)),
    "periodic distance": PeriodicDistance(1.0, 30.0),
    "sum": 0.3 * RBF(3.0) + 0.1 * Linear() + 2.0,
    "product": RBF(5.0) * Matern(6.0),
    "columns": RBF(2.0).on([0, 3]) + Linear().on(2),
    "power": (RBF(3.0) + Constant(0.5)) ** 3,
    "exp": exp(0.2 * NegativeDistance()),
    "normalised": normalize(RBF(3.0) + 0.1 * Linear()),
    "features of columns": Polynomial(2, gamma=1.0).on([2, 0]) + Linear(),
    "chi squared": ChiSquared(1.0),
    "additive chi squared": AdditiveChiSquared(),
    "negative chi squared": NegativeChiSquared(),
    "intersection": Intersection(),
}
COUNTS = {name for name in KERNELS if "chi" in name or name == "intersection"}


def fitted(name, options, dtype=np.float64, k=3):
    """Return a model, rows of which some are those of the fit, and the network."""
    kernel, X = KERNELS[name], rows(60)
    new = np.concatenate([rows(20, seed=1), X[:5]])
    if name in COUNTS:
        X, new = np.abs(X), np.abs(new)
    X, new = X.astype(dtype), new.astype(dtype)
    if "landmarks" in options and not kernel.flag.centred:
        options = {"n_components": k}
    made = KernelPCA(**({"n_components": k, "kernel": kernel, "indefinite": "clip"} | options))
    model = hushed(made.fit, X)
    return model, new, network(model)


def apart(found, wanted):
    found = found.detach().numpy() if hasattr(found, "detach") else found
    assert found.dtype == wanted.dtype
    return np.max(np.abs(found - wanted)) / np.max(np.abs(wanted))


@pytest.mark.parametrize("options", [{}, {"landmarks": 20}], ids=str)
@pytest.mark.parametrize("name", KERNELS)
def test_it_is_transform_and_the_way_back_with_exact_gradients(name, options):
    model, new, net = fitted(name, options)
    z = model.transform(new)
    assert apart(net(torch.from_numpy(new)), z) < 1e-10
    way = "ridge" if model._engine is None or name != "linear" else None
    assert apart(net.decode(torch.from_numpy(z)), model.inverse_transform(z, way)) < 1e-10
    few = torch.from_numpy(new[:2].copy()).requires_grad_()
    assert torch.autograd.gradcheck(net, (few,))
    assert torch.autograd.gradcheck(net.reconstruct, (few,), fast_mode=True)


@pytest.mark.parametrize("name", KERNELS)
def test_rows_of_float32_are_as_transform_to_its_rounding(name):
    """Kernels with a kink at equal rows: transform's own tiles are float32, off by 1e-4."""
    model, new, net = fitted(name, {}, np.float32)
    rough = name in ("polynomial, broken power", "negative distance")
    assert apart(net(torch.from_numpy(new)), model.transform(new)) < (1e-4 if rough else 1e-5)
    double, _, _ = fitted(name, {})
    single = network(double, dtype="float32")
    found = single(torch.from_numpy(new)).detach().numpy().astype(float)
    assert apart(found, double.transform(new.astype(float))) < (1e-4 if rough else 1e-5)


@pytest.mark.parametrize("options", [{}, {"standardize": True}, {"landmarks": 20}], ids=str)
@pytest.mark.parametrize("kernel", [Linear(), RBF(3.0), Laplacian(8.0)], ids=repr)
def test_far_from_the_origin_no_digit_is_lost(kernel, options):
    X, new = rows(60, far=1.0), rows(20, seed=1, far=1.0)
    model = hushed(KernelPCA(2, kernel=kernel, **options).fit, X)
    found = network(model)(torch.from_numpy(new))
    # What is left is the rounding of the rows themselves: 1e6·2⁻⁵³ of a deviation.
    assert apart(found, model.transform(new)) < 1e-9


@pytest.mark.parametrize(
    "options", [{}, {"whiten": True}, {"whiten": "zca"}, {"standardize": True}]
)
def test_pca_is_a_network_without_a_kernel(options):
    model = PCA(3, **options).fit(rows(50, far=1.0))
    net, new = network(model), rows(9, seed=1, far=1.0)
    z = model.transform(new)
    assert apart(net(torch.from_numpy(new)), z) < 1e-9
    assert apart(net.decode(torch.from_numpy(z)), model.inverse_transform(z)) < 1e-12


def test_gradients_of_every_parameter_are_exact():
    for name in ("rbf by column", "matern 1.5", "laplacian", "normalised"):
        _, new, net = fitted(name, {"landmarks": 6}, k=2)
        few = torch.from_numpy(new[:3].copy())
        names, values = zip(*net.named_parameters(), strict=True)

        def out(*given, names=names, net=net, few=few):
            held = dict(zip(names, given, strict=True))
            return torch.func.functional_call(net, held, (few,))

        assert torch.autograd.gradcheck(out, tuple(v.detach().requires_grad_() for v in values))
        assert "kernel.rows" in names
        assert "code.weight" in names


def test_it_is_frozen_or_trained_and_the_model_stays():
    model, new, net = fitted("rbf", {"landmarks": 20})
    before, x = model.transform(new), torch.from_numpy(new)
    assert not any(p.requires_grad for p in network(model, trainable=False).parameters())
    net.kernel.requires_grad_(False)
    steps = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-2)
    losses = []
    for _ in range(30):
        loss = ((net.reconstruct(x) - x) ** 2).mean()
        steps.zero_grad()
        loss.backward()
        steps.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.8 * losses[0]
    assert np.array_equal(net.kernel.rows.detach().numpy(), model.landmarks_)
    np.testing.assert_array_equal(model.transform(new), before)


def test_its_state_is_loaded_into_another_and_moves_to_float32():
    model, new, net = fitted("matern 1.5", {})
    other = network(hushed(KernelPCA(3, kernel=Matern(2.0)).fit, rows(60, seed=5)))
    other.load_state_dict(net.state_dict())
    x = torch.from_numpy(new)
    assert torch.equal(other(x), net(x))
    assert apart(net.float()(x.float()).double(), model.transform(new)) < 1e-5


def run(path, rows):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {"X": rows})[0]


@pytest.mark.parametrize("name", KERNELS)
def test_its_graph_is_the_same_also_after_training(name, tmp_path):
    _, new, net = fitted(name, {"landmarks": 12, "standardize": name not in COUNTS})
    with torch.no_grad():
        for number, parameter in enumerate(net.parameters()):
            parameter.mul_(1 + 0.01 * (1 + number % 3))
    x, path = torch.from_numpy(new), tmp_path / "net.onnx"
    for back, of in ((False, net), (True, net.reconstruct)):
        net.export_onnx(path, reconstruct=back)
        with torch.no_grad():
            assert apart(run(path, new), of(x).numpy()) < 1e-10


def test_a_graph_of_float32_and_of_pca(tmp_path):
    model, path = PCA(2).fit(rows(30)), tmp_path / "net.onnx"
    new = rows(4, seed=1).astype(np.float32)
    for back, wanted in ((False, model.transform(new)), (True, None)):
        network(model).export_onnx(path, reconstruct=back, dtype="float32")
        wanted = model.inverse_transform(model.transform(new)) if back else wanted
        assert apart(run(path, new), np.asarray(wanted, np.float32)) < 1e-5


def test_many_rows_without_gradients_go_in_blocks():
    model, _, net = fitted("rbf", {})
    many = rows(150_000, seed=3)
    with torch.no_grad():
        found = net(torch.from_numpy(many)).numpy()
    np.testing.assert_allclose(found[::5000], model.transform(many[::5000]), atol=1e-10)
    assert net(torch.from_numpy(many[:0])).shape == (0, 3)
    whole = torch.arange(10).reshape(2, 5)
    assert torch.equal(net(whole), net(whole.double()))


def test_codes_are_trained_to_tell_classes_or_numbers_and_never_do_worse():
    X = rows(300) / np.array(EACH)
    model = hushed(KernelPCA(2, kernel="rbf(lengthscale=2)", landmarks=25).fit, X)
    net, before = network(model), model.transform(X)
    wave = X[:, 0] * X[:, 1]
    for y, least in ((np.where(wave > 0, "up", "down"), 0.15), (wave, 0.5), (wave > 0, 0.15)):
        tuned = fine_tune(net, X, y)
        assert tuned.score > tuned.score_before + least
        assert tuned.history[:, 1].min() < tuned.history[0, 1]
        found = tuned.predict(X)
        right = (
            np.mean(found == y) if y.dtype.kind != "f" else 1 - np.var(found - y) / np.var(y)
        )
        assert right > 0.6
    assert (
        np.array_equal(net(torch.from_numpy(X)).detach().numpy(), before)
        or apart(net(torch.from_numpy(X)), before) < 1e-10
    )
    frozen = network(model)
    frozen.kernel.requires_grad_(False)
    tuned = fine_tune(frozen, X, wave, epochs=5)
    assert torch.equal(tuned.network.kernel.rows, net.kernel.rows)
    noise = np.random.default_rng(1).normal(size=300)
    tuned = fine_tune(net, X, noise, epochs=20)
    assert tuned.history[-1, 0] < tuned.history[0, 0]
    with torch.no_grad():
        assert tuned.score >= tuned.score_before
    refuses("frozen", fine_tune, network(model, trainable=False), X, wave)
    refuses("one value for every row", fine_tune, net, X, wave[:5])
    refuses("one class", fine_tune, net, X, np.zeros(300, int))
    refuses("finite", fine_tune, net, X, np.full(300, np.nan))


def by_two(X):
    return X[:, :2]


REFUSED = {
    "share of equal columns": (Overlap(), "moves in jumps"),
    "negative share": (NegativeHamming() * 2.0, "moves in jumps"),
    "function": (lambda x, y: RBF(3.0)(x, y), "a function of yours"),
    "feature map": (FeatureMap(by_two), "a function of yours"),
    "map": (mapped(RBF(1.0), by_two), "a function of yours"),
    "warp": (warp(RBF(3.0), lambda x: np.ones(len(x))), "a function of yours"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_kernel_without_a_gradient_is_refused(name):
    kernel, words = REFUSED[name]
    model = hushed(KernelPCA(2, kernel=kernel).fit, np.round(rows(40)))
    refuses("no gradient", network, model, kind=NotSupportedError)
    with pytest.raises(NotSupportedError) as caught:
        network(model)
    assert words in caught.value.got


def test_what_is_no_network_is_refused():
    X = rows(30)
    precomputed = hushed(KernelPCA(2, kernel="precomputed").fit, RBF(3.0)(X))
    texts = KernelPCA(2, kernel=lambda a, b: float(len({*a} & {*b}))).fit(
        ["ab", "bc", "cd", "de"]
    )
    for model in (precomputed, texts):
        refuses("tables of numbers", network, model, kind=NotSupportedError)
    refuses("only PCA", network, mercer.RandomFeatures(5).fit(X), kind=NotSupportedError)
    refuses("dtype", network, PCA(2).fit(X), dtype="float16")
    filled = PCA(2, missing="em").fit(X)
    refuses("missing cells", network, filled, kind=NotSupportedError)
    net = network(
        hushed(KernelPCA(2, kernel=ChiSquared(1.0)).fit, np.abs(X)), reconstruction=False
    )
    refuses("without its way back", net.decode, torch.zeros(1, 2), kind=NotSupportedError)
    refuses("not negative", net, torch.from_numpy(-np.abs(X)))
