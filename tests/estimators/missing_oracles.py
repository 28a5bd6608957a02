"""Plain algorithms for missing cells, as their papers write them: slow, dense, one by one."""

import numpy as np

import mercer

FINE = 1e-11


def fit(X, k=2, missing="em", **parameters):
    weights = parameters.pop("sample_weight", None)
    parameters.setdefault("tol", FINE)
    return mercer.PCA(k, missing=missing, **parameters).fit(X, sample_weight=weights)


def alike(one, other, rtol=1e-8):
    """Axes, variances and mean are the same."""
    np.testing.assert_allclose(one.explained_variance_, other.explained_variance_, rtol=rtol)
    np.testing.assert_allclose(one.components_, other.components_, rtol=0, atol=rtol)
    np.testing.assert_allclose(one.mean_, other.mean_, rtol=rtol)


def iterated(X, k, standardize=False, weights=None, rounds=20_000):
    """Return the table that regularised iterative PCA fills: an SVD in every round."""
    X = np.array(X, float)
    n0, p = X.shape
    w = np.ones(n0) if weights is None else np.asarray(weights, float)
    n, missing = w.sum(), np.isnan(X)
    seen = np.where(missing, 0.0, w[:, None])
    filled = np.where(missing, (seen * np.nan_to_num(X)).sum(0) / seen.sum(0), X)
    for _ in range(rounds):
        mean = w @ filled / n
        spread = np.sqrt(w @ (filled - mean) ** 2 / n) if standardize else np.ones(p)
        Y = (filled - mean) / spread
        _, s, Vt = np.linalg.svd(np.sqrt(w / n)[:, None] * Y, full_matrices=False)
        values = s**2
        freedom = (n - 1) * p - (n - 1) * k - p * k + k**2
        noise = min(n * p / min(p, n - 1) * values[k:].sum() / freedom, values[k])
        shrunk = (values[:k] - noise) / values[:k]
        fitted = mean + (Y @ Vt[:k].T * shrunk) @ Vt[:k] * spread
        before, filled = filled, np.where(missing, fitted, X)
        if np.abs(filled - before).max() <= 1e-14 * np.abs(filled).max():
            break
    return filled


def likeliest(X, k, rounds=20_000):
    """Return mean, expected scatter / n and noise of probabilistic PCA, row by row."""
    X = np.array(X, float)
    n, p = X.shape
    missing = np.isnan(X)
    mean, C = np.nanmean(X, axis=0), np.diag(np.nanvar(X, axis=0))
    for _ in range(rounds):
        spread, filled = np.zeros((p, p)), X.copy()
        for i in range(n):
            o, u = ~missing[i], missing[i]
            if u.any():
                part = C[np.ix_(u, o)] @ np.linalg.inv(C[np.ix_(o, o)])
                filled[i, u] = mean[u] + part @ (X[i, o] - mean[o])
                spread[np.ix_(u, u)] += C[np.ix_(u, u)] - part @ C[np.ix_(o, u)]
        mean = filled.mean(axis=0)
        S = (spread + (filled - mean).T @ (filled - mean)) / n
        values, V = np.linalg.eigh(S)
        values, V = values[::-1], V[:, ::-1]
        noise = values[k:].mean()
        before = C
        C = (V[:, :k] * (values[:k] - noise)) @ V[:, :k].T + noise * np.eye(p)
        if np.abs(C - before).max() <= 1e-14 * np.abs(C).max():
            break
    return mean, S, noise


def log_likelihood(X, mean, C):
    """Return ln p of the observed cells under N(mean, C), row by row."""
    total = 0.0
    for row in X:
        o = ~np.isnan(row)
        if o.any():
            gap, part = row[o] - mean[o], C[np.ix_(o, o)]
            total -= 0.5 * gap @ np.linalg.solve(part, gap)
            total -= 0.5 * (np.linalg.slogdet(part)[1] + o.sum() * np.log(2 * np.pi))
    return total


def table(rows=60, columns=7, rank=3, share=0.2, seed=1, noise=0.5):
    """Return rows of low rank with noise, some cells missing, in columns of several scales."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, rank)) @ rng.standard_normal((rank, columns))
    X = X * rng.uniform(0.5, 3, columns) + noise * rng.standard_normal((rows, columns)) + 5
    X[rng.random(X.shape) < share] = np.nan
    return X
