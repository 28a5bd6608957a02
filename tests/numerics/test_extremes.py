"""Every method at every scale: the same fit in other units, or a word where there is none."""

import dataclasses
import functools
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from mercer.errors import AccuracyWarning, DataWarning, InputError
from mercer.methods import METHODS

ROWS = 36
BEFORE, STEP = 0, 8  # powers of two between which the degree of each attribute is seen
TIGHT = {np.float64: 1e-6, np.float32: 2e-3}
COARSE = 0.1  # below 2^-1022 the stored numbers themselves have few digits left
# What judges rounding is no function of the data alone.
ROUNDING = ("reached", "residual", "sine", "zero_level", "next_upper", "extension_error_")
ROUNDING += (
    "far",
    "slope_",
    "gap",
    "duality_gap",
    "distance_error",
    "tensions_",
    "groups",
    "converged",
)
PARTS = ("certificate_", "facts_", "flatness_", "tests_")
FREE = ("log_likelihood_", "aic_", "bic_")  # logarithms of densities: sums, no powers

OPTIONS = {
    "MFA": {"groups": {"one": [0, 1], "other": [2, 3]}},
    "LocallyLinearEmbedding": {"n_components": 1, "neighbours": 8},
    "MaximumVarianceUnfolding": {"n_components": 1, "neighbours": 9},
    "LandmarkFeatures": {"n_landmarks": 4},
    "RandomFeatures": {"n_features": 6},
    "dropin.Nystroem": {"n_components": 4, "random_state": 0},
    "SpectralClustering": {"n_clusters": 3},
    "Autoencoder": {"n_components": 2, "layers": (8,), "epochs": 3},
}
STANDARD = {
    f"{name}, standardised": (name, {"standardize": True})
    for name in ("PCA", "RobustPCA", "ProbabilisticPCA", "KernelPCA")
}
GIVEN = {
    f"{name}, {options}": (name, options)
    for name, options in (
        ("ClassicalMDS", {"metric": "cityblock"}),
        ("Isomap", {"landmarks": 20, "neighbours": 8}),
        ("KernelPCA", {"kernel": "linear"}),
        ("LinearDiscriminantAnalysis", {"shrinkage": "auto"}),
        ("LaplacianEigenmaps", {"neighbours": None, "weights": "heat"}),
        ("LaplacianEigenmaps", {"weights": "self-tuning"}),
    )
}
# What other libraries make, with penalties and steps in their own units, is not promised.
OWN = [name for name, method in METHODS.items() if ".guests." not in method.home]
CASES = {name: (name, OPTIONS.get(name, {"n_components": 2})) for name in OWN}
CASES |= {
    name: (kind, {"n_components": 1 if "Linear" in kind else 2, **options})
    for name, (kind, options) in (STANDARD | GIVEN).items()
}


@functools.cache
def tables():
    """Return rows on a bent strip, their classes, counts, and categories."""
    rng = np.random.default_rng(7)
    t = np.sort(rng.uniform(0, 3, ROWS))
    strip = np.column_stack([3 * np.cos(t), 3 * np.sin(t), t, 0.1 * t**2])
    rows = np.round(strip + 0.05 * rng.normal(size=strip.shape), 4)
    words = pd.DataFrame({"a": rng.integers(0, 3, ROWS), "b": rng.integers(0, 2, ROWS)})
    counts = rng.poisson(5, rows.shape) + 1.0
    return rows, (t > 1).astype(int) + (t > 2), counts, words.astype(str)


def given(method, dtype, power):
    rows, classes, counts, words = tables()
    if method.takes == "categories":
        return (words,)
    if method.takes == "counts":
        return (np.ldexp(counts.astype(dtype), power),)
    scaled = np.ldexp(rows.astype(dtype), power)
    return (scaled, classes) if method.takes == "groups" else (scaled,)


def unless_refused(act, *arguments):
    """Return what a call gives, or None where it is refused in three lines."""
    try:
        return act(*arguments)
    except InputError as error:
        refusal = str(error)
    assert refusal.count("\n") == 2
    return None


def numbers_of(model):
    """Return every number that a fit has published, by name, but those refused when asked."""
    found = {}

    def add(name, value):
        if isinstance(value, float | np.floating):
            found[name] = np.array(float(value))
        elif scipy.sparse.issparse(value):
            found[name] = value.toarray()
        elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
            found[name] = value.astype(np.float64)
        elif dataclasses.is_dataclass(value) and name.split(".")[0] in PARTS:
            for field in dataclasses.fields(value):
                add(f"{name}.{field.name}", getattr(value, field.name))

    for name in {*dir(type(model)), *vars(model)}:
        public = name.endswith("_") and not name.startswith("_")
        made = isinstance(getattr(type(model), name, None), property)  # when it is asked for
        if public and (name in vars(model) or made):
            add(name, unless_refused(getattr, model, name))
    return found


def fitted(case, dtype, power):
    """Return the numbers of a fit, or None where it is refused, and the words of the fit."""
    name, options = CASES[case]
    method = METHODS[name]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("error")
        warnings.simplefilter("always", DataWarning)
        warnings.simplefilter("ignore", AccuracyWarning)
        model = unless_refused(method.load()(**options).fit, *given(method, dtype, power))
        found = None if model is None else numbers_of(model)
    words = [str(each.message) for each in told]
    assert all(each.count("\n") == 2 for each in words)
    return found, words


@functools.cache
def known(case, dtype):
    """Return the numbers at scale one, and of each the power that it has of the scale."""
    one, _ = fitted(case, dtype, BEFORE)
    other, _ = fitted(case, dtype, STEP)
    degrees = {}
    for name, values in one.items():
        there = (values != 0) & np.isfinite(values)
        if name in FREE or other[name].shape != values.shape or not there.any():
            continue
        at = np.unravel_index(np.argmax(np.where(there, np.abs(values), 0)), values.shape)
        found = float(np.log2(np.abs(other[name][at] / values[at]))) / STEP
        if abs(found - round(found)) < 1e-2:
            degrees[name] = round(found)
    return one, degrees


def check(case, dtype, power):
    one, degrees = known(case, dtype)
    found, words = fitted(case, dtype, power)
    if found is None:
        assert abs(power) > 240, "refused within the range of squares"
        return
    told = any("range of float64" in each for each in words)
    for name, values in one.items():
        if name not in found:  # it was refused when it was read
            continue
        now = found[name]
        lost = np.isfinite(values) & ~np.isfinite(now)
        assert not np.isnan(now[lost]).any(), f"{name}: not a number"
        assert told or not lost.any(), f"{name}: {now[lost]} without a word"
        if name not in degrees or name.rpartition(".")[2] in ROUNDING:
            continue
        # Both at the size of one: what is beyond the range, or has few digits there, is told.
        with np.errstate(over="ignore", under="ignore"):
            there = np.ldexp(np.abs(values), power * degrees[name])
            back = np.ldexp(now, -power * degrees[name])
        held = (there > 1e-290) & (there < 1e300) & np.isfinite(now)
        gone = (there == 0) & (values != 0)
        assert told or degrees[name] != 2 or not gone.any(), f"{name}: zero without a word"
        apart = np.abs(back - values)[held]
        size = np.max(np.abs(values[held]), initial=0.0)
        tight = TIGHT[dtype] if power > -1010 else COARSE
        assert np.all(apart <= tight * size), f"{name}: off by {apart.max() / size:.1e}"


POWERS = {
    np.float64: (-1060, -1000, -700, -400, -100, 100, 400, 700, 1000),
    np.float32: (-60, 60, 110),
}
ENDS = {-1060, -1000, 700, -60}  # in the suite; the rest takes longer


@pytest.mark.parametrize("dtype", POWERS, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("case", CASES)
def test_the_same_fit_in_units_at_the_ends_of_the_range(case, dtype):
    for power in POWERS[dtype]:
        if power in ENDS:
            check(case, dtype, power)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", POWERS, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("case", CASES)
def test_the_same_fit_in_any_unit(case, dtype):
    top = {np.float64: 1000, np.float32: 110}[dtype]
    drawn = np.random.default_rng(11).integers(-top if dtype is np.float64 else -60, top, 12)
    for power in {*POWERS[dtype], *drawn.tolist()}:
        check(case, dtype, power)
