"""The named cases: what is fitted, with how many components, from which data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any, Protocol

from benchmarks.counts import Counts
from benchmarks.factors import Factors
from benchmarks.real import REAL, RealData

DENSE_SHAPES = (
    (1_000_000, 50),
    (200_000, 200),
    (20_000, 2_000),
    (2_000, 20_000),
    (5_000, 5_000),
)
SPARSE_SHAPE = (100_000, 2_000)
MILLION_SHAPE = (1_300_000, 2_000)
MILLION_DENSITY = 0.0825  # 165 stored cells in a row, 215 million in all
DTYPES = ("float64", "float32")
COMPONENTS = (10, 50)
OFFSETS = (1.0, 100.0)
GROUPS = ("dense", "sparse", "real")
# A quick run checks the machinery: a twentieth of the longer side, a fifth of the shorter.
QUICK_LONG, QUICK_SHORT = 20, 5
# An eigenvalue is correct within this relative error.
TOLERANCE = {"float64": 1e-6, "float32": 1e-4}


class Data(Protocol):
    """Something that can be loaded as a matrix."""

    @property
    def dtype(self) -> str:
        """Name of the dtype that `load` returns."""
        ...

    def load(self) -> Any:
        """Make or read the matrix, shape (n, p)."""
        ...


@dataclass(frozen=True)
class Case:
    """One cell: k components of one data set.

    Parameters
    ----------
    name : str
        Group, shape or data set, dtype, k and offset, joined by dashes.
    group : {"dense", "sparse", "real"}
    data_name : str
        Cells with the same data_name share their data.
    data : Data
    rows, columns, components : int
    dtype : str
    offset : float or None
        mean/std of every column; None for real data and counts.
    """

    name: str
    group: str
    data_name: str
    data: Data
    rows: int
    columns: int
    components: int
    dtype: str
    offset: float | None = None

    @property
    def tolerance(self) -> float:
        """Largest relative eigenvalue error that counts as correct."""
        return TOLERANCE[self.dtype]


def dense_cases(*, quick: bool = False) -> list[Case]:
    """Factor data: 5 shapes x 2 dtypes x k = 10 and 50 x mean/std = 1 and 100."""
    cases = []
    for shape in DENSE_SHAPES:
        rows, columns = _quick(shape) if quick else shape
        for dtype in DTYPES:
            for offset in OFFSETS:
                data_name = f"dense-{rows}x{columns}-{dtype}-offset{offset:g}"
                data = Factors(rows, columns, offset, dtype)
                for k in COMPONENTS:
                    cases.append(
                        Case(
                            name=f"{data_name}-k{k}",
                            group="dense",
                            data_name=data_name,
                            data=data,
                            rows=rows,
                            columns=columns,
                            components=min(k, rows, columns),
                            dtype=dtype,
                            offset=offset,
                        )
                    )
    return cases


def sparse_cases(*, quick: bool = False) -> list[Case]:
    """Sparse counts, 5 % full, both dtypes, and a million logged cells; k = 50."""
    rows, columns = _quick(SPARSE_SHAPE) if quick else SPARSE_SHAPE
    cases = []
    for dtype in DTYPES:
        data_name = f"sparse-{rows}x{columns}-{dtype}"
        data = Counts(rows, columns, 0.05, dtype)
        cases.append(
            Case(f"{data_name}-k50", "sparse", data_name, data, rows, columns, 50, dtype)
        )
    return [*cases, million_case(*((10_000, 400) if quick else MILLION_SHAPE))]


def million_case(rows: int, columns: int) -> Case:
    """Logged counts like 1.3 million cells by 2,000 variable genes, float32, k = 50."""
    data_name = f"sparse-million-{rows}x{columns}-float32"
    data = Counts(rows, columns, MILLION_DENSITY, "float32", logged=True)
    name = f"{data_name}-k50"
    return Case(name, "sparse", data_name, data, rows, columns, 50, "float32")


def real_cases(*, quick: bool = False) -> list[Case]:
    """Every real data set in both dtypes, k = 50 or half of the smaller side."""
    cases = []
    for name, (rows, columns) in REAL.items():
        if quick and rows * columns > 5_000_000:
            continue
        for dtype in DTYPES:
            data_name = f"real-{name}-{dtype}"
            k = min(50, rows // 2, columns // 2)
            data = RealData(name, dtype)
            cases.append(
                Case(f"{data_name}-k{k}", "real", data_name, data, rows, columns, k, dtype)
            )
    return cases


def _quick(shape: tuple[int, int]) -> tuple[int, int]:
    longer, shorter = QUICK_LONG, QUICK_SHORT
    rows, columns = shape
    if rows >= columns:
        return rows // longer, max(columns // shorter, 20)
    return rows // shorter, columns // longer


def select(group: str, pattern: str = "*", *, quick: bool = False) -> list[Case]:
    """Cases of a group ("all" for every group) whose name matches a shell pattern."""
    makers = {"dense": dense_cases, "sparse": sparse_cases, "real": real_cases}
    groups: Sequence[str] = GROUPS if group == "all" else (group,)
    cases = [case for name in groups for case in makers[name](quick=quick)]
    return [case for case in cases if fnmatch(case.name, pattern)]
