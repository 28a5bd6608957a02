"""A small fit costs what its arithmetic costs: counted in calls, which no load changes."""

import sys

import numpy as np
import pytest
import sklearn.decomposition as peer
from sklearn.base import clone

import mercer
from mercer.arrays import _memory
from mercer.kernels import RBF

RNG = np.random.default_rng(0)
FLOWERS, IMAGES = RNG.normal(size=(150, 4)) * [4, 2, 1, 0.5], RNG.normal(size=(300, 20)) / 3


def calls(act):
    """Return how many functions an act calls, of Python and of C, once caches are filled."""
    act()
    count = 0

    def follow(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(follow)
    try:
        act()
    finally:
        sys.setprofile(before)
    return count


def transforming(model, x):
    fitted, row = model.fit(x), x[:1]
    return lambda: fitted.transform(row)


# Ours, theirs, and how many of their calls ours may take. They only go down.
PCA, THEIRS = mercer.PCA(2), peer.PCA(2)
KERNEL = mercer.KernelPCA(2, kernel=RBF.from_gamma(0.1))
THEIR_KERNEL = peer.KernelPCA(2, kernel="rbf", gamma=0.1)
COSTS = {
    "pca": (lambda: PCA.fit(FLOWERS), lambda: THEIRS.fit(FLOWERS), 1.0),
    "pca of 20 columns": (lambda: PCA.fit(IMAGES), lambda: THEIRS.fit(IMAGES), 1.2),
    "kernel": (lambda: KERNEL.fit(FLOWERS), lambda: THEIR_KERNEL.fit(FLOWERS), 0.8),
    "a row": (transforming(mercer.PCA(2), IMAGES), transforming(peer.PCA(2), IMAGES), 0.8),
    "a row of a kernel": (
        transforming(clone(KERNEL), IMAGES), transforming(clone(THEIR_KERNEL), IMAGES), 0.5,
    ),
    "clone": (lambda: clone(PCA), lambda: clone(THEIRS), 0.5),
    "clone of a kernel": (lambda: clone(KERNEL), lambda: clone(THEIR_KERNEL), 0.5),
}  # fmt: skip


@pytest.mark.parametrize("what", COSTS)
def test_no_more_calls_than_scikit_learn_makes(what):
    ours, theirs, share = COSTS[what]
    assert calls(ours) <= share * calls(theirs)


def test_the_system_is_not_read_in_every_fit(monkeypatch):
    asked = []
    monkeypatch.setattr(_memory, "_free_bytes", lambda: asked.append(1) or 10**10)
    monkeypatch.setattr(_memory, "_told", (-10.0, 0))
    for _ in range(20):
        mercer.PCA(2).fit(FLOWERS)
    assert len(asked) <= 2  # once a second


def test_no_text_is_built_for_a_plan_that_nobody_reads(monkeypatch):
    from mercer.planning import Path

    def written(_self):
        raise AssertionError("a plan was written out")

    monkeypatch.setattr(Path, "line", written)
    mercer.PCA(2).fit(FLOWERS)


def test_no_thread_is_begun_for_a_small_fit(monkeypatch):
    import threading

    def begun(_self):
        raise AssertionError("a thread was begun")

    monkeypatch.setattr(threading.Thread, "start", begun)
    mercer.PCA(5).fit(RNG.normal(size=(2000, 64)))
    mercer.KernelPCA(2).fit(FLOWERS)


@pytest.mark.parametrize("least", [1e-3, 1e-6, 1e-7])
@pytest.mark.parametrize("shape", [(300, 12), (40, 90)])
@pytest.mark.parametrize("far", [0.0, 1e4])
def test_graded_spectra_are_right_and_certified_by_the_next_path(least, shape, far):
    """Sums of squares lose what is 1e-7 of the largest: the path behind them does not."""
    rng = np.random.default_rng(3)
    m = min(shape) - 1
    u, v = (np.linalg.qr(rng.standard_normal((side, m)))[0] for side in shape)
    x = (u * np.geomspace(1, least, m)) @ v.T + far * 1e-8
    model = mercer.PCA(m).fit(x)
    exact = np.linalg.svd(x - x.mean(axis=0), compute_uv=False)[:m] ** 2 / (len(x) - 1)
    found, sure = model.explained_variance_, model.certificate_
    wide = exact > sure.zero_level
    assert np.all(np.abs(found - exact)[wide] <= 1e-5 * exact[wide])
    assert np.all((sure.lower <= exact * (1 + 1e-9)) & (exact <= sure.upper * (1 + 1e-9)))


def test_parameters_that_passed_once_are_still_refused_when_they_change():
    model = mercer.PCA(2).fit(FLOWERS)
    for wrong in (0, -1, 2.5, "two", True, np.nan):
        with pytest.raises(ValueError, match="n_components"):
            model.set_params(n_components=wrong).fit(FLOWERS)
    assert model.set_params(n_components=1).fit(FLOWERS).n_components_ == 1
