"""When two fits say the same: eigenvalues, and axes as far as their gap determines them."""

import numpy as np
from jacobi import WIDE, sine

TIGHT = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-5}


def allowance(*fits):
    """Return the relative error the paths of these fits may have between them."""
    tight = max(TIGHT[found.components_.dtype] for found in fits)
    certified = [f.certificate_ for f in fits if f.plan_ is not None and iterated(f)]
    return tight + sum(2 * c.reached for c in certified)


def iterated(found):
    return found.plan_.chosen.name == "krylov"


def runs(values, tight):
    """Cut 0…k where neighbours are far enough apart for axes to be compared at `tight`."""
    top = values[0]
    cuts = [0]
    for i in range(1, len(values)):
        if values[i - 1] - values[i] > max(1e-3, 1e3 * tight) * top:
            cuts.append(i)
    return list(zip(cuts, [*cuts[1:], len(values)], strict=True))


def assert_same_values(a, b, factor=1.0, tight=None):
    """Eigenvalues of `b` are those of `a` times `factor`, relative to the largest."""
    tight = allowance(a, b) if tight is None else tight
    assert a.n_components_ == b.n_components_
    wanted = np.asarray(a.explained_variance_) * factor
    np.testing.assert_allclose(b.explained_variance_, wanted, rtol=0, atol=tight * wanted[0])


def assert_same_axes(a, b, turned=None, tight=None):
    """Axes of `b` span what the axes of `a` (or `turned`) span, run by run of near ties.

    The last run is left out: what stands behind it is not known.
    """
    tight = allowance(a, b) if tight is None else tight
    axes = a.components_ if turned is None else turned
    values = np.asarray(a.explained_variance_)
    full = a.n_components_ >= min(a.n_samples_ - 1, a.n_features_in_)
    for start, stop in runs(values, tight):
        if (stop == len(values) and not full) or values[stop - 1] < 1e-6 * values[0]:
            break
        edges = [values[i - 1] - values[i] for i in (start, stop) if 0 < i < len(values)]
        gap = min([*edges, values[0]]) / values[0]
        loose = tight / gap
        loose += sum(f.certificate_.sine[start:stop].max() * 2 for f in (a, b) if iterated(f))
        assert sine(b.components_[start:stop], axes[start:stop].T.astype(WIDE)) <= loose


def assert_same(a, b, tight=None):
    """Two fits to what is the same data say the same."""
    assert_same_values(a, b, tight=tight)
    assert_same_axes(a, b, tight=tight)
    loose = allowance(a, b) if tight is None else tight
    np.testing.assert_allclose(
        b.explained_variance_ratio_, a.explained_variance_ratio_, rtol=0, atol=loose
    )
    assert b.rank_ == a.rank_
    spread = float(np.max(a.explained_variance_))
    assert abs(a.noise_variance_ - b.noise_variance_) <= loose * spread


ARRAYS = (
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "mean_",
)
CERTIFIED = ("lower", "upper", "residual", "gap", "converged")


def assert_identical(a, b):
    """Two fits agree to the last bit."""
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
        assert getattr(a, name).dtype == getattr(b, name).dtype
    for name in CERTIFIED:
        np.testing.assert_array_equal(
            getattr(a.certificate_, name), getattr(b.certificate_, name), err_msg=name
        )
    assert a.certificate_.groups == b.certificate_.groups
    assert a.noise_variance_ == b.noise_variance_
    assert (a.rank_, a.n_components_) == (b.rank_, b.n_components_)
