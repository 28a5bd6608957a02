"""Problem: every number the planner may know, of the rows and of the machine."""

import dataclasses

from mercer.arrays import Rates

LIBRARIES = 8_000_000  # bytes that a call may take for threads, BLAS, the allocator and code
BLAS_EACH = 8e6  # bytes that BLAS packs for each thread at most


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


@dataclasses.dataclass(frozen=True)
class KernelCost:
    """What the planner may know of a kernel.

    Parameters
    ----------
    flops : float
        Per entry of the matrix.
    exponentials : float
        Per entry of the matrix; a root or a power counts as one.
    features : int or None
        Columns of the explicit feature map, where there is one.
    finite : bool
        Whether that map is the only way: a linear kernel far from the origin has lost its
        digits in the matrix already.
    given : bool
        Whether the explicit features are the rows themselves.
    whole : bool
        Whether all pairs are needed, as for a policy that looks at negative eigenvalues.
    centred : bool
        Whether HKH is known to be psd, which landmarks need.
    spanned : bool
        Whether the axes may be combinations of landmarks, rather than of all rows.
    landmarks : int or None
        How many landmarks the user asks for; then nothing else is done.
    sampled : int
        Rows among which they are chosen, where rows in parts say so.
    passes : int
        Passes that landmarks of rows in parts take.
    shuffled : int
        Rows of the tables that are shuffled first to choose the number of axes; 0 for none.
    geodesic : bool
        Whether the entries are shortest paths in a graph.
    bars : int
        Neighbours that a row keeps its distances to, where the kernel is found by that; 0
        for other kernels.
    beside : float
        Bytes that the rows take as the kernel sees them, where these are made, beyond those
        of the data.
    """

    flops: float
    features: int | None = None
    finite: bool = False
    given: bool = False
    whole: bool = False
    centred: bool = True
    spanned: bool = True
    landmarks: int | None = None
    exponentials: float = 0.0
    sampled: int = 0
    passes: int = 1
    shuffled: int = 0
    geodesic: bool = False
    bars: int = 0
    beside: float = 0.0


@dataclasses.dataclass(frozen=True)
class GraphCost:
    """What the planner may know of a graph beside its points and stored cells.

    Parameters
    ----------
    front : float
        Mean number of points between the first neighbour of a point and itself, in an order
        that keeps neighbours close: the width of a band matrix. n/front is about the number
        of steps from one end of the graph to the other.
    """

    front: float


@dataclasses.dataclass(frozen=True)
class Workers:
    """Who works on rows in parts.

    Parameters
    ----------
    count : int
        Worker processes.
    threads : int
        Threads of all of them.
    most : int
        Threads of the one that has most.
    memory : float
        Bytes that the smallest may take; what it holds now is part of them.
    held : float
        Bytes of the data that the fullest holds now.
    network : float
        Bytes per second between two of them.
    local : bool
        Whether they are on this machine: nothing is sent over a network.
    processes : bool
        Whether local ones are processes, not threads of this one.
    """

    count: int = 1
    threads: int = 1
    most: int = 1
    memory: float = float("inf")
    held: float = 0.0
    network: float = 1e8
    local: bool = True
    processes: bool = False


@dataclasses.dataclass(frozen=True)
class Problem:
    """A table and a wish, as numbers only.

    Parameters
    ----------
    rows, cols : int
        n and p.
    components : int
        k asked for; min(n, p) when the number is chosen from the whole spectrum.
    itemsize : int
        Bytes of a product: 4 for float32 data, 8 otherwise.
    memory : int
        Bytes that may be taken above what is held now.
    nnz : int or None
        Stored cells of sparse data.
    gram_flops : float or None
        Cost of the Gram matrix of sparse columns, in flops of a dense float64 one; None is np².
    kernel : KernelCost or None
        The kernel; None for a linear method on the columns themselves.
    graph : GraphCost or None
        The graph, for methods on the matrix of one; `nnz` are then its stored cells.
    tol : float
        Largest certified relative error wanted of an eigenvalue.
    time : float or None
        Seconds that may be spent.
    threads : int
        Threads that BLAS reports.
    allowed : tuple of str or None
        Names of the paths to choose from; None means all.
    machine : Machine or None
        Rates to forecast with; None takes the default ones.
    block_bytes : float
        Size of a block of rows that are read block by block; 0 for rows in memory.
    read_seconds : float
        What it takes to read and parse those rows once.
    max_passes : float
        How often they can be read.
    compared : bool
        Whether two halves of the rows are compared to choose the number of components: a
        pass of its own over rows elsewhere, but for paths that sum squares anyway.
    kept : bool
        Whether the sums of a pass are kept for a checkpoint as well.
    parts : int
        Parts of rows that are never gathered; 0 for rows that come here. Then `block_bytes`
        are those of a part and `read_seconds` those of one thread.
    counted : bool
        Whether `rows` is known; else it is a forecast, and the plan says so.
    sized : bool
        Whether the bytes of a part, and the stored cells of sparse ones, are known; else
        they are assumed, and the plan says so.
    workers : Workers or None
        Who works on the parts; None is one thread of this process.
    inverse : bool
        Whether the smallest pairs of a sparse matrix of order `rows` are wanted.
    held : float
        Bytes that the method has in memory beside those of a path: its graph, its table, what
        it publishes.
    before : float
        Bytes that it takes at most before a path begins, and has given back by then.
    """

    rows: int
    cols: int
    components: int
    itemsize: int
    memory: int
    nnz: int | None = None
    gram_flops: float | None = None
    kernel: KernelCost | None = None
    tol: float = 1e-6
    time: float | None = None
    threads: int = 1
    allowed: tuple[str, ...] | None = None
    machine: Machine | None = None
    block_bytes: float = 0.0
    read_seconds: float = 0.0
    max_passes: float = float("inf")
    compared: bool = False
    kept: bool = False
    parts: int = 0
    counted: bool = True
    sized: bool = True
    workers: Workers | None = None
    inverse: bool = False
    graph: GraphCost | None = None
    held: float = 0.0
    before: float = 0.0

    @property
    def room(self) -> float:
        """Bytes that a path may take: what libraries and the method take is not there."""
        return self.memory - LIBRARIES - self.held

    def whole(self, held: float) -> int:
        """Return the bytes of a fit whose path takes so many."""
        return int(LIBRARIES + max(self.before, self.held + held))

    @property
    def rates(self) -> Machine:
        """The machine to forecast with."""
        return self.machine or Machine(threads=self.threads)

    @property
    def smaller(self) -> int:
        """min(n, p), the largest possible number of components."""
        return min(self.rows, self.cols)

    @property
    def data_bytes(self) -> float:
        """Bytes that one pass reads."""
        if self.nnz is None:
            return float(self.rows) * self.cols * self.itemsize
        return float(self.nnz) * (self.itemsize + 4)


def blas_buffers(flops: float, threads: int) -> float:
    """Return the bytes that BLAS keeps for itself: packed parts of what is multiplied."""
    return float(min(BLAS_EACH * threads, 16.0 * flops ** (2 / 3)))
