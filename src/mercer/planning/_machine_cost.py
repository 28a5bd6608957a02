"""Seconds from flops and bytes. The rates are per thread, of one ordinary server core."""

import dataclasses

from mercer.arrays import Rates


@dataclasses.dataclass(frozen=True)
class Machine:
    """Rates of one thread, in operations or bytes per second.

    They only rank paths and give a forecast; they do not touch a result. Those written here
    are of a 2-core Xeon with AVX-512 (benchmarks/results), rounded down; `of` takes those of
    the machine at hand.
    """

    threads: int = 1
    symmetric: tuple[float, float] = (60e9, 30e9)  # ?syrk on blocks, float32 and float64
    thin: tuple[float, float] = (40e9, 16e9)  # products with about 20 columns
    sparse: tuple[float, float] = (4.5e9, 2.5e9)  # CSR times about 20 columns
    reflect: float = 8e9  # blocked Householder QR, float64
    eigen: float = 3.0e9  # n³ per second of a full symmetric eigenproblem
    stream: float = 6e9  # bytes read from memory
    touch: float = 2e9  # bytes written to memory that was never used before
    exponentials: tuple[float, float] = (2e9, 1e9)  # entries of a tile in the cache
    measured: bool = False  # on this machine, by its self-test

    @classmethod
    def of(cls, rates: Rates) -> "Machine":
        """Return a machine with measured rates; sparse products follow the memory's."""
        share = rates.stream / cls.stream
        given = dataclasses.asdict(rates)
        return cls(
            **given, sparse=(cls.sparse[0] * share, cls.sparse[1] * share), measured=True
        )

    def symmetric_rate(self, order: int, itemsize: int) -> float:
        """Return the rate of a Gram matrix of this order: small ones do not fill the units."""
        return self.rate(self.symmetric, itemsize) * order / (order + 64)

    def rate(self, pair: tuple[float, float], itemsize: int) -> float:
        """Return the rate of all threads for float32 (4) or float64 (8) items."""
        return pair[0 if itemsize == 4 else 1] * self.threads
