import types

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from mercer.estimators.linear.probabilistic_pca import observed_densities


def model(k, p=4, noise=0.3, scale=None):
    rng = np.random.default_rng(k)
    v = np.linalg.qr(rng.normal(size=(p, p)))[0][:, :k]
    values = np.arange(k, 0, -1) + noise
    return types.SimpleNamespace(
        noise_variance_=noise if k < p else 0.0,
        loadings_=v * np.sqrt(np.maximum(values - noise, 0)),
        components_=v.T,
        explained_variance_=values,
        mean_=rng.normal(size=p),
        scale_=scale,
    )


@pytest.mark.parametrize("k", [0, 1, 3, 4])
@pytest.mark.parametrize(
    "scale", [None, np.array([1.0, 2.0, 0.5, 3.0])], ids=["plain", "scaled"]
)
def test_marginals_of_the_normal_law(k, scale):
    made = model(k, scale=scale)
    s = made.loadings_ @ made.loadings_.T + made.noise_variance_ * np.eye(4)
    if k == 4:
        s = (made.components_.T * made.explained_variance_) @ made.components_
    s = s if scale is None else s * np.outer(scale, scale)
    rows = np.random.default_rng(9).normal(size=(12, 4))
    rows[np.random.default_rng(8).random(rows.shape) < 0.4] = np.nan
    rows[5] = np.nan
    found = observed_densities(made, rows)
    for row, density in zip(rows, found, strict=True):
        seen = ~np.isnan(row)
        law = (
            multivariate_normal(made.mean_[seen], s[np.ix_(seen, seen)]) if seen.any() else None
        )
        assert density == pytest.approx(
            0.0 if law is None else law.logpdf(row[seen]), abs=1e-10
        )


def test_infinite_cells_are_no_gaps():
    with pytest.raises(FloatingPointError):
        observed_densities(model(1), np.array([[np.inf, 0, 0, np.nan]]))
