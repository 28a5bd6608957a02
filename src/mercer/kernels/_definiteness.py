"""What is known of a kernel before any data: positive definite, conditionally, not, unknown."""

import enum


class Flag(enum.Enum):
    """How far a kernel is known to be positive, with the sentence that says it.

    k is positive definite if Σξ_iξ_jk(x_i, x_j) ≥ 0 for all rows and all ξ, and
    conditionally so if this holds for Σξ_i = 0. Kernel PCA needs the second only.

    Examples
    --------
    >>> print(Flag.CPD)
    cpd: HKH has no negative eigenvalue, which is all that kernel PCA needs
    """

    PD = "pd"
    CPD = "cpd"
    INDEFINITE = "indefinite"
    UNKNOWN = "unknown"

    @property
    def sentence(self) -> str:
        """What the flag promises."""
        return _SENTENCES[self]

    def __str__(self) -> str:
        return f"{self.value}: {self.sentence}"

    @property
    def centred(self) -> bool:
        """Whether the centred matrix HKH is known to be positive semidefinite."""
        return self in (Flag.PD, Flag.CPD)


_SENTENCES = {
    Flag.PD: "every kernel matrix K is positive semidefinite",
    Flag.CPD: "HKH has no negative eigenvalue, which is all that kernel PCA needs",
    Flag.INDEFINITE: "some rows give negative eigenvalues, even of HKH",
    Flag.UNKNOWN: "no rule says whether negative eigenvalues occur; evidence(k, X) looks",
}


def of_sum(left: Flag, right: Flag) -> Flag:
    """Return the flag of k₁ + k₂: pd + pd = pd, and pd or cpd + cpd = cpd."""
    if left is right is Flag.PD:
        return Flag.PD
    return Flag.CPD if left.centred and right.centred else Flag.UNKNOWN


def of_product(left: Flag, right: Flag) -> Flag:
    """Return the flag of k₁·k₂: pd if both are; the product of cpd kernels may be anything."""
    return Flag.PD if left is right is Flag.PD else Flag.UNKNOWN


def of_multiple(flag: Flag, factor: float) -> Flag:
    """Return the flag of c·k: kept for c > 0, pd for c = 0, unknown for c < 0."""
    if factor == 0:
        return Flag.PD
    return flag if factor > 0 else Flag.UNKNOWN


def of_exponential(flag: Flag) -> Flag:
    """Return the flag of exp(k): pd if k is pd or cpd."""
    return Flag.PD if flag.centred else Flag.UNKNOWN


def of_power(flag: Flag, exponent: int) -> Flag:
    """Return the flag of kᵠ for whole q ≥ 0: pd if k is, or q = 0; kept for q = 1."""
    if exponent == 1:
        return flag
    return Flag.PD if exponent == 0 or flag is Flag.PD else Flag.UNKNOWN


def of_ends(flag: Flag) -> Flag:
    """Return the flag of g(x)g(y)k(x, y), normalisation included: pd if k is."""
    return Flag.PD if flag is Flag.PD else Flag.UNKNOWN


def of_map(flag: Flag) -> Flag:
    """Return the flag of k(ψ(x), ψ(y)): pd and cpd are kept."""
    return flag if flag.centred else Flag.UNKNOWN
