"""Wilks' Λ: whether classes differ at all, and along how many axes."""

import dataclasses
from typing import Any

import numpy as np
from scipy.special import chdtrc, fdtrc

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


@dataclasses.dataclass(frozen=True, eq=False)
class WilksTests:
    """Sequential tests: the j-th asks whether the axes from j on tell classes apart.

    Attributes
    ----------
    wilks : ndarray of shape (s,)
        Λ_j = Π_{i ≥ j} 1/(1 + μ_i), μ the roots of scatter between by scatter within;
        s = min(p, G - 1).
    correlations : ndarray of shape (s,)
        Canonical correlations √(μ/(1 + μ)).
    chi2, chi2_dof, chi2_p : ndarray of shape (s,)
        Bartlett: -(n - 1 - (p + G)/2)·ln Λ_j, with (p - j)(G - 1 - j) degrees of freedom,
        j from 0.
    f, f_dof1, f_dof2, f_p : ndarray of shape (s,)
        Rao's F, exact for one or two columns or axes.
    """

    wilks: FloatArray
    correlations: FloatArray
    chi2: FloatArray
    chi2_dof: FloatArray
    chi2_p: FloatArray
    f: FloatArray
    f_dof1: FloatArray
    f_dof2: FloatArray
    f_p: FloatArray

    def __str__(self) -> str:
        """Return one line per test."""
        lines = ["axes from   Wilks' Λ        χ²   dof         p         F    dof       p"]
        for j in range(len(self.wilks)):
            lines.append(
                f"{j + 1:9d}  {self.wilks[j]:9.6f} {self.chi2[j]:9.2f} {self.chi2_dof[j]:5.0f}"
                f" {self.chi2_p[j]:9.2g} {self.f[j]:9.3f}"
                f" {self.f_dof1[j]:3.0f}/{self.f_dof2[j]:<.4g} {self.f_p[j]:.2g}"
            )
        return "\n".join(lines)


def wilks_tests(roots: FloatArray, n: float, p: int, groups: int) -> WilksTests | None:
    """Return the tests of normal classes with one covariance; None where none is defined.

    Parameters
    ----------
    roots : ndarray of shape (s,) or less
        μ, descending; those missing are zero.
    n : float
        Rows, Σw.
    p : int
        Columns that are not combinations of others.
    groups : int
        G.
    """
    s = min(p, groups - 1)
    if s == 0 or n - groups - p < 0 or n - 1 - (p + groups) / 2 <= 0:
        return None
    mu = np.zeros(s)
    found = np.maximum(np.asarray(roots, np.float64)[:s], 0.0)
    mu[: len(found)] = found
    log_wilks = -np.cumsum(np.log1p(mu)[::-1])[::-1]
    j = np.arange(s)
    left, right = p - j, groups - 1 - j  # columns and differences that are left
    dof = (left * right).astype(np.float64)
    middle = n - 1 - (p + groups) / 2
    chi2 = -middle * log_wilks
    bottom = left**2.0 + right**2.0 - 5
    root = np.where(
        bottom > 0, np.sqrt(np.maximum(dof**2 - 4, 0.0) / np.where(bottom > 0, bottom, 1)), 1.0
    )
    root = np.where(root > 0, root, 1.0)
    dof2 = middle * root - (dof - 2) / 2
    # (1 - Λ^(1/t))/Λ^(1/t) without the difference, which would lose a small effect.
    f = np.expm1(-log_wilks / root) * dof2 / dof
    return WilksTests(
        wilks=np.exp(log_wilks),
        correlations=np.sqrt(mu / (1 + mu)),
        chi2=chi2,
        chi2_dof=dof,
        chi2_p=chdtrc(dof, chi2),
        f=f,
        f_dof1=dof,
        f_dof2=dof2,
        f_p=np.where(dof2 > 0, fdtrc(dof, np.maximum(dof2, 1e-300), f), np.nan),
    )
