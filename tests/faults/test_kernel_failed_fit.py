"""A fit that fails changes nothing, and a refusal names the place."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse
from interruptions import AtCall, InjectedError, traced, untouched
from kernel_fits import FORCED, blobs, fit

from mercer import KernelPCA
from mercer.errors import InputError, MercerError
from mercer.kernels import RBF, Function, Overlap, Polynomial, Sigmoid

MODELS = {
    "lapack": lambda: FORCED["lapack"](2, kernel=RBF(1.0)),
    "stored": lambda: FORCED["stored"](2, kernel=RBF()),
    "tiles": lambda: FORCED["tiles"](2, kernel=RBF()),
    "primal": lambda: FORCED["primal"](2, kernel=Polynomial(2)),
    "landmarks": lambda: KernelPCA(2, landmarks=30, tol=100),
}
CALLS = [(name, "fit") for name in MODELS]
CALLS += [("landmarks", "partial_fit"), ("landmarks", "refine")]


@pytest.mark.parametrize(("name", "call"), CALLS)
def test_an_error_at_any_call(name, call):
    """Some sixty calls of the package fail in their turn, until the fit succeeds."""
    make, start = MODELS[name], "partial_fit" if call == "partial_fit" else "fit"
    first, second = blobs(60, 3), blobs(70, 3, 1)

    def begun():
        return getattr(make(), start)(first)

    counter = AtCall(10**9, None)
    traced(counter, lambda: getattr(begun(), call)(second))
    calls = 10**9 - counter.left
    assert calls > 50
    model = begun()
    kept, rows = model.transform(first), 130 if call == "partial_fit" else 70
    for number in range(1, calls, max(3, calls // 60) | 1):
        old = dict(vars(model))
        error = KeyboardInterrupt() if number % 2 else InjectedError()
        try:
            traced(AtCall(number, error), partial(getattr(model, call), second))
        except (InjectedError, KeyboardInterrupt):
            pass
        else:
            break
        if not untouched(model, old):  # the last step is publication: all of it is new
            assert model.n_samples_ == rows
            model = begun()
    np.testing.assert_array_equal(begun().transform(first), kept)


BAD = [((5, 2), np.nan), ((7, 0), np.inf), ((0, 1), -np.inf)]
KERNELS = [
    "rbf", "linear", "poly(degree=2)", "laplacian", "cosine", "matern", "overlap", "arccosine",
    "sigmoid(gamma=0.1)", "rbf + linear",
]  # fmt: skip


@pytest.mark.parametrize(("number", "kernel"), list(enumerate(KERNELS)), ids=KERNELS)
def test_a_bad_cell_is_named(number, kernel):
    (row, column), value = BAD[number % len(BAD)]
    place = f"row {row}, column {column}"
    X = blobs(40, 3) / 4
    model = fit("auto", X, 2, kernel=kernel, indefinite="clip")
    Z = model.transform(X)
    old = dict(vars(model))
    Y = X.copy()
    Y[row, column] = value
    for call in (model.fit, model.transform, model.score, model.fit_transform):
        with pytest.raises(InputError) as error:
            call(Y)
        assert place in error.value.got, (call.__name__, error.value.got)
        assert untouched(model, old)
    np.testing.assert_array_equal(model.transform(X), Z)
    sparse = scipy.sparse.csr_array(Y)
    if kernel in ("rbf", "linear"):
        with pytest.raises(InputError) as error:
            KernelPCA(2, kernel=kernel).fit(sparse)
        assert place in error.value.got


def test_bad_coordinates_and_columns_are_named():
    model = fit("auto", blobs(40, 3), 2)
    Z = model.transform(blobs(40, 3))
    Z[3, 1] = np.nan
    with pytest.raises(InputError) as error:
        model.inverse_transform(Z)
    assert "row 3, column 1" in error.value.got
    import pandas as pd

    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0], "colour": ["red", "blue", "red"]})
    with pytest.raises(InputError) as error:
        KernelPCA(1).fit(frame)
    assert "'colour'" in error.value.got


FAULTS = {
    "text": ([["a", 1.0], ["b", 2.0]], "row 0, column 0"),
    "one row": (np.ones((1, 3)), "(1, 3)"),
    "empty": (np.empty((0, 3)), "(0, 3)"),
    "no columns": (np.empty((4, 0)), "(4, 0)"),
    "one column": (np.arange(5.0), "(5,)"),
    "complex": (np.eye(4) * 1j, "complex"),
    "three axes": (np.ones((2, 3, 4)), "(2, 3, 4)"),
    "a string": ("rows", "rows"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_refusals_say_what_was_given(name):
    X, words = FAULTS[name]
    model = fit("auto", blobs(30, 3), 2)
    old = dict(vars(model))
    with pytest.raises(MercerError) as error:
        model.fit(X)
    text = str(error.value)
    assert text.count("\n") == 2
    assert words in text, text
    assert untouched(model, old)


@pytest.mark.parametrize(
    "change",
    [
        {"kernel": Sigmoid(1.0, -1.0)},
        {"kernel": RBF(1e12)},
        {"n_components": 1000},
        {"indefinite": "no"},
        {"memory": "10kB"},
        {"kernel": Function(lambda x, y: x[:, :1] - y[:, :1].T)},
        {"kernel": Function(lambda _x, _y: np.zeros(3))},
    ],
    ids=str,
)
def test_a_refused_fit_leaves_the_old_model(change):
    X = blobs(60, 3)
    model = KernelPCA(2).fit(X)
    Z = model.transform(X)
    model.set_params(**change)
    old = dict(vars(model))
    with pytest.raises((MercerError, MemoryError)):
        model.fit(X)
    assert untouched(model, old)
    np.testing.assert_array_equal(model.transform(X), Z)


def test_other_columns_are_refused_and_codes_never_seen_are_not():
    model = fit("auto", blobs(30, 3), 2)
    for kernel in ("rbf", "linear", "poly(degree=2)"):
        model = fit("auto", blobs(30, 3), 2, kernel=kernel)
        with pytest.raises(MercerError) as error:
            model.transform(blobs(5, 4))
        assert str(error.value).count("\n") == 2
    X = np.random.default_rng(0).integers(0, 3, (40, 4)).astype(float)
    model = fit("auto", X, 2, kernel=Overlap())
    assert np.isfinite(model.transform(X + 10)).all()


def test_a_failing_function_is_passed_on():
    def broken(_x, _y):
        raise InjectedError

    model = fit("auto", blobs(40, 3), 2)
    old = dict(vars(model))
    model.kernel = broken
    old["kernel"] = broken
    with pytest.raises(InjectedError):
        model.fit(blobs(1200, 3))
    assert untouched(model, old)
