"""Bent sheets and other point sets for embeddings, and how two embeddings are compared."""

import numpy as np
from sklearn import datasets


def roll(n=500, seed=0):
    """A swiss roll with its sheet (n, 2): length along the spiral, and height."""
    rows, t = datasets.make_swiss_roll(n, random_state=seed)
    along = 0.5 * (t * np.sqrt(1 + t**2) + np.arcsinh(t))
    return rows, np.column_stack([along, rows[:, 1]])


def s_curve(n=500, seed=0):
    rows, t = datasets.make_s_curve(n, random_state=seed)
    return rows, np.column_stack([t, rows[:, 1]])


def digits(n=400):
    return datasets.load_digits().data[:n]


SETS = {"roll": roll()[0], "s": s_curve()[0], "digits": digits()}


def apart(a, b):
    """Return the largest sine between the spans of centred columns."""
    qa, qb = (np.linalg.qr(z - z.mean(axis=0))[0] for z in (a, b))
    return np.linalg.norm(qa - qb @ (qb.T @ qa), 2)


def turned(a, b):
    """Return columns of a with the signs of b."""
    return a * np.sign(np.sum(a * b, axis=0))


def correlations(a, b):
    """Return the correlation of each column of a with its partner in b, turned onto a."""
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    u, _, vt = np.linalg.svd(b.T @ a)
    b = b @ (u @ vt)
    return np.array([np.corrcoef(a[:, i], b[:, i])[0, 1] for i in range(a.shape[1])])


def affine_error(z, sheet):
    """Return the share of the sheet's coordinates that is no affine function of z."""
    design = np.column_stack([np.ones(len(z)), z])
    left = sheet - design @ np.linalg.lstsq(design, sheet, rcond=None)[0]
    return np.linalg.norm(left) / np.linalg.norm(sheet - sheet.mean(axis=0))
