"""Classes to tell apart, and a reference for them in extended precision."""

import numpy as np

from mercer import LinearDiscriminantAnalysis


class Forced(LinearDiscriminantAnalysis):
    """One path, and nothing behind it."""

    path = "svd"

    def _allowed(self):
        return (self.path,)

    def _problem(self, source, weights=None):
        import dataclasses

        return dataclasses.replace(super()._problem(source, weights), allowed=(self.path,))


class Gram(Forced):
    path = "gram"


class Svd(Forced):
    path = "svd"


def classes(n=90, p=5, groups=3, seed=0, apart=2.0):
    """Rows of normal classes with one covariance, and their labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % groups
    means = apart * rng.normal(size=(groups, p))
    mix = np.eye(p) + 0.4 * rng.normal(size=(p, p))
    return means[y] + rng.normal(size=(n, p)) @ mix, y


def reference(X, y, weights=None):
    """Return eigenvalues and axes of LDA, means and whitening in extended precision."""
    X = np.asarray(X).astype(np.longdouble)
    X = X - X[0]  # exact, and leaves all digits to the differences
    w = np.ones(len(X), np.longdouble) if weights is None else weights.astype(np.longdouble)
    labels = np.unique(y)
    n, groups, p = w.sum(), len(labels), X.shape[1]
    W, rows = np.zeros((p, p), np.longdouble), []
    mean = (w @ X) / n
    for label in labels:
        at = y == label
        here = (w[at] @ X[at]) / w[at].sum()
        gone = X[at] - here
        W += (w[at, None] * gone).T @ gone
        rows.append(np.sqrt(w[at].sum() / (groups - 1)) * (here - mean))
    lower = cholesky(W / (n - groups))
    m = np.array([forward(lower, row) for row in rows])  # rows times L^-T
    _, s, vt = np.linalg.svd(m.astype(np.float64), full_matrices=False)
    axes = np.array([backward(lower, v.astype(np.longdouble)) for v in vt]).T
    k = min(groups - 1, p)
    return s[:k] ** 2, axes[:, :k].astype(np.float64)


def cholesky(a):
    lower = np.zeros_like(a)
    for i in range(len(a)):
        for j in range(i + 1):
            rest = a[i, j] - lower[i, :j] @ lower[j, :j]
            lower[i, j] = np.sqrt(rest) if i == j else rest / lower[j, j]
    return lower


def forward(lower, b):
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    return x


def backward(lower, b):
    x = np.zeros_like(b)
    for i in reversed(range(len(b))):
        x[i] = (b[i] - lower[i + 1 :, i] @ x[i + 1 :]) / lower[i, i]
    return x


def sine(a, b):
    """Return the sine of the largest angle between two spaces of columns."""
    qa, qb = np.linalg.qr(a)[0], np.linalg.qr(b)[0]
    return float(np.linalg.norm(qb - qa @ (qa.T @ qb), 2))
