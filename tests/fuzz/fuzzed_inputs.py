"""Kinds of input: what a table may come as, and which cells it then stands for.

Every kind is a function of random numbers and a table (n, p) of float64. It returns what is
passed, and the cells that this means; None where it is no table of finite numbers.
"""

import dataclasses
import datetime as dt
import decimal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import array_api_strict
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp

Rng = np.random.Generator
Cells = np.ndarray
Make = Callable[[Rng, Cells], tuple[Any, Cells | None]]


@dataclasses.dataclass(frozen=True)
class Kind:
    """How a table is passed.

    Attributes
    ----------
    name : str
        Its name in the list.
    group : {"same", "type", "scale", "shape", "bad"}
        "same": the cells of the table in another container; a method that takes the table takes
        this, with the same result. "type": other cells, by rounding. "scale": the table times a
        power of two. "shape": another table. "bad": no table of finite numbers.
    make : callable
        The input, and its cells.
    sparse : bool
        Whether only some methods take such an input at all.
    """

    name: str
    group: str
    make: Make
    sparse: bool = False


KINDS: dict[str, Kind] = {}


def kinds(group: str, made: dict[str, Make], *, sparse: bool = False) -> None:
    """Take kinds into the table."""
    for name, make in made.items():
        assert name not in KINDS, name
        KINDS[name] = Kind(name, group, make, sparse)


def same(wrap: Callable[[Cells], Any]) -> Make:
    """Return a kind that holds the cells as they are."""
    return lambda _, a: (wrap(a.copy()), a)


# ---- the same cells in another container ----------------------------------------------------


class Plain(np.ndarray):
    """An array of a class of its own."""


def frozen(a: Cells) -> Cells:
    a.flags.writeable = False
    return a


def unaligned(a: Cells) -> Cells:
    room = np.zeros(a.nbytes + 1, np.uint8)
    held = room[1:].view(np.float64).reshape(a.shape)
    held[...] = a
    return held


def mapped(a: Cells) -> Cells:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        np.save(path, a)
        return np.load(path, mmap_mode="r")  # open files outlive their names


kinds(
    "same",
    {
        "plain": same(lambda a: a),
        "Fortran": same(np.asfortranarray),
        "every other row": same(lambda a: np.repeat(a, 2, axis=0)[::2]),
        "every other column": same(lambda a: np.repeat(a, 3, axis=1)[:, ::3]),
        "backwards": same(lambda a: a[::-1, ::-1].copy()[::-1, ::-1]),
        "read-only": same(frozen),
        "unaligned": same(unaligned),
        "big-endian": same(lambda a: a.astype(">f8")),
        "longdouble": same(lambda a: a.astype(np.longdouble)),
        "objects": same(lambda a: a.astype(object)),
        "subclass": same(lambda a: a.view(Plain)),
        "masked, no mask": same(np.ma.masked_array),
        "memmap": same(mapped),
        "lists": same(lambda a: a.tolist()),
        "tuples": same(lambda a: tuple(map(tuple, a.tolist()))),
        "list of arrays": same(list),
        "array API": same(array_api_strict.asarray),
    },
)


def named(a: Cells) -> list[str]:
    return [f"c{j}" for j in range(a.shape[1])]


def framed(a: Cells, **more: Any) -> pd.DataFrame:
    return pd.DataFrame(a, columns=named(a), **more)


def columns(a: Cells) -> dict[str, Cells]:
    return dict(zip(named(a), np.ascontiguousarray(a.T), strict=True))


def levelled(a: Cells) -> pd.DataFrame:
    names = pd.MultiIndex.from_tuples([("g", name) for name in named(a)])
    return pd.DataFrame(a, columns=names)


def chunked(a: Cells) -> pa.Table:
    half = len(a) // 2
    return pa.concat_tables([pa.table(columns(part)) for part in (a[:half], a[half:])])


kinds(
    "same",
    {
        "pandas": same(framed),
        "pandas, numbered": same(pd.DataFrame),
        "pandas, numbers for names": same(
            lambda a: pd.DataFrame(a, columns=np.arange(3, 3 + a.shape[1]))
        ),
        "pandas, labels": same(lambda a: framed(a, index=[f"r{i}" for i in range(len(a))])),
        "pandas, equal labels": same(lambda a: framed(a, index=["r"] * len(a))),
        "pandas, objects": same(lambda a: framed(a).astype(object)),
        "pandas, nullable": same(lambda a: framed(a).astype("Float64")),
        "pandas, arrow": same(lambda a: framed(a).astype("double[pyarrow]")),
        "pandas, levels": same(levelled),
        "polars": same(lambda a: pl.DataFrame(columns(a))),
        "pyarrow": same(lambda a: pa.table(columns(a))),
        "pyarrow, chunks": same(chunked),
        "record batch": same(lambda a: pa.record_batch(columns(a))),
    },
)


def thinned(rng: Rng, a: Cells) -> Cells:
    """Return the table with every third cell zero, but no row or column of zeros."""
    kept = rng.random(a.shape) > 1 / 3
    for i in range(max(a.shape)):
        kept[i % a.shape[0], i % a.shape[1]] = True
    return np.where(kept, a, 0.0)


def stored(wrap: Callable[[sp.csr_array], Any]) -> Make:
    """Return a kind of sparse matrix."""

    def make(rng: Rng, a: Cells) -> tuple[Any, Cells]:
        cells = thinned(rng, a)
        return wrap(sp.csr_array(cells)), cells

    return make


def unsorted(s: sp.csr_array) -> sp.csr_array:
    for i in range(s.shape[0]):
        part = slice(s.indptr[i], s.indptr[i + 1])
        s.indices[part], s.data[part] = s.indices[part][::-1].copy(), s.data[part][::-1].copy()
    s.has_sorted_indices = False
    return s


def repeated(s: sp.csr_array) -> sp.coo_array:
    s = s.tocoo()
    both = np.concatenate
    halves, twice = both([s.data / 2, s.data / 2]), (both([s.row, s.row]), both([s.col, s.col]))
    return sp.coo_array((halves, twice), shape=s.shape)


def twice(s: sp.csr_array) -> sp.csr_array:
    """Cells that stand twice in a row of a CSR matrix add up."""
    indptr = 2 * s.indptr
    data, indices = np.empty(2 * s.nnz), np.empty(2 * s.nnz, s.indices.dtype)
    for i in range(s.shape[0]):
        old, new = slice(s.indptr[i], s.indptr[i + 1]), slice(indptr[i], indptr[i + 1])
        data[new], indices[new] = np.tile(s.data[old] / 2, 2), np.tile(s.indices[old], 2)
    return sp.csr_array((data, indices, indptr), shape=s.shape)


def with_zeros(s: sp.csr_array) -> sp.csr_array:
    whole = sp.csr_array(np.ones(s.shape))
    whole.data[:] = s.toarray().ravel()
    return whole


def long_indices(s: sp.csr_array) -> sp.csr_array:
    s.indices, s.indptr = s.indices.astype(np.int64), s.indptr.astype(np.int64)
    return s


def held(s: sp.csr_array) -> sp.csr_array:
    for part in (s.data, s.indices, s.indptr):
        part.flags.writeable = False
    return s


def sparse_frame(s: sp.csr_array) -> pd.DataFrame:
    return pd.DataFrame.sparse.from_spmatrix(s, columns=[f"c{j}" for j in range(s.shape[1])])


kinds(
    "same",
    {
        "csr": stored(lambda s: s),
        "csr matrix": stored(sp.csr_matrix),
        "csc": stored(sp.csc_array),
        "coo": stored(sp.coo_array),
        "coo, repeated": stored(repeated),
        "csr, repeated": stored(twice),
        "bsr": stored(lambda s: sp.bsr_array(s, blocksize=(1, 1))),
        "lil": stored(sp.lil_array),
        "dok": stored(sp.dok_array),
        "dia": stored(sp.dia_array),
        "csr, unsorted": stored(unsorted),
        "csr, zeros": stored(with_zeros),
        "csr, long": stored(long_indices),
        "csr, read-only": stored(held),
        "pandas, sparse": stored(sparse_frame),
    },
    sparse=True,
)


# ---- other types of cells -------------------------------------------------------------------


def unit(a: Cells) -> Cells:
    """Return the table with cells up to one."""
    return a / (np.abs(a).max(initial=0.0) or 1.0)


def typed(kind: str, largest: float = 0.0) -> Make:
    """Return a kind of numbers: rounded, and whole ones of about this size."""

    def make(_: Rng, a: Cells) -> tuple[Any, Cells]:
        whole = np.all(a == np.rint(a))  # counts and codes stay as they are
        if largest and not whole:
            a = np.rint(unit(a) * largest)
        if kind.startswith("u"):
            a = np.abs(a)
        rows = a.astype(kind) if kind != "bool" else a > np.median(a)
        return rows, rows.astype(np.float64)

    return make


def after(first: Make, then: Callable[[Any], Any]) -> Make:
    """Return a kind made of another."""

    def make(rng: Rng, a: Cells) -> tuple[Any, Cells | None]:
        rows, cells = first(rng, a)
        return then(rows), cells

    return make


def several(rng: Rng, a: Cells) -> tuple[pd.DataFrame, Cells]:
    """Columns of different types."""
    made, types = framed(typed("int8", 100)(rng, a)[0]), ("int8", "float32", "Int64", "float64")
    made = made.astype({name: types[j % 4] for j, name in enumerate(made)})
    return made, made.to_numpy(np.float64)


def exact(a: Cells) -> pd.DataFrame:
    frame = framed(a.astype(object))
    frame["c0"] = [decimal.Decimal(float(x)) for x in a[:, 0]]
    return frame


kinds(
    "type",
    {
        "float32": typed("float32"),
        "float16": typed("float16"),
        "int8": typed("int8", 120),
        "uint8": typed("uint8", 250),
        "int16": typed("int16", 3e4),
        "int32": typed("int32", 2e9),
        "int64": typed("int64", 2.0**52),
        "uint64": typed("uint64", 2.0**52),
        "bool": typed("bool"),
        "float32, big-endian": typed(">f4"),
        "float32, Fortran": after(typed("float32"), np.asfortranarray),
        "pandas, float32": after(typed("float32"), framed),
        "pandas, bool": after(typed("bool"), framed),
        "pandas, Int64": after(typed("int64", 100), lambda a: framed(a).astype("Int64")),
        "pandas, several types": several,
        "pandas, decimals": same(exact),
        "polars, whole": after(typed("int16", 100), lambda a: pl.DataFrame(columns(a))),
        "pyarrow, float32": after(typed("float32"), lambda a: pa.table(columns(a))),
    },
)
kinds(
    "type",
    {
        "csr, float32": after(typed("float32"), sp.csr_array),
        "csr, int8": after(typed("int8", 120), sp.csr_array),
        "csr, bool": after(typed("bool"), sp.csr_array),
        "csc, float32": after(typed("float32"), sp.csc_array),
    },
    sparse=True,
)

# ---- scales ---------------------------------------------------------------------------------


def scaled(exponent: int, kind: str = "float64") -> Make:
    """Return the table times a power of two, which is exact while no cell is subnormal."""

    def make(_: Rng, a: Cells) -> tuple[Any, Cells]:
        rows = np.ldexp(a.astype(kind), exponent).astype(kind)
        return rows, rows.astype(np.float64)

    return make


kinds("scale", {f"2^{e}": scaled(e) for e in (1000, 700, 500, 160, -60, -160, -500, -1000)})
kinds("scale", {f"float32 2^{e}": scaled(e, "float32") for e in (100, 60, -60, -100)})
kinds(
    "scale", {f"csr 2^{e}": after(scaled(e), sp.csr_array) for e in (1000, -500)}, sparse=True
)


def graded(rng: Rng, a: Cells) -> tuple[Any, Cells]:
    cells = np.ldexp(a, rng.permutation(np.linspace(-300, 300, a.shape[1]).astype(int)))
    return cells.copy(), cells


def tilted(rng: Rng, a: Cells) -> tuple[Any, Cells]:
    cells = np.ldexp(a, rng.permutation(np.linspace(-25, 25, a.shape[0]).astype(int))[:, None])
    return cells.copy(), cells


def one_cell(value: float) -> Make:
    def make(rng: Rng, a: Cells) -> tuple[Any, Cells | None]:
        cells = a.copy()
        cells[rng.integers(a.shape[0]), rng.integers(a.shape[1])] = value
        return cells, cells.copy() if np.isfinite(value) else None

    return make


def moved(by: float) -> Make:
    return lambda _, a: (a + by, a + by)


kinds(
    "shape",
    {
        "graded columns": graded,
        "graded rows": tilted,
        "one cell 1e300": one_cell(1e300),
        "one cell -1e20": one_cell(-1e20),
        "one cell 5e-324": one_cell(5e-324),
        "subnormal": scaled(-1060),
        "far": moved(1e8),
        "very far": moved(1e15),
        "negative": lambda _, a: (-a, -a),
    },
)

# ---- other tables ---------------------------------------------------------------------------


def of(change: Callable[[Rng, Cells], Cells]) -> Make:
    """Return a kind of another table."""

    def make(rng: Rng, a: Cells) -> tuple[Any, Cells]:
        cells = np.array(change(rng, a))
        return cells.copy(), cells

    return make


def constant_column(_: Rng, a: Cells) -> Cells:
    a = a.copy()
    a[:, -1] = 0.1
    return a


def outlier(_: Rng, a: Cells) -> Cells:
    a = a.copy()
    a[0] *= 1e6
    return a


kinds(
    "shape",
    {
        "constant": of(lambda _, a: np.full(a.shape, a.flat[0])),
        "zeros": of(lambda _, a: np.zeros(a.shape)),
        "equal rows": of(lambda _, a: np.broadcast_to(a[0], a.shape)),
        "stride zero": lambda _, a: (
            np.broadcast_to(a[0], a.shape),
            np.tile(a[0], (len(a), 1)),
        ),
        "three different rows": of(lambda rng, a: a[rng.integers(0, min(3, len(a)), len(a))]),
        "rows twice": of(lambda _, a: np.repeat(a, 2, axis=0)),
        "all but one equal": of(lambda _, a: np.r_[a[:1], np.tile(a[-1], (len(a) - 1, 1))]),
        "constant column": of(constant_column),
        "columns twice": of(lambda _, a: np.c_[a, a]),
        "low rank": of(lambda _, a: a[:, :1] * np.arange(1.0, 1 + a.shape[1])),
        "one column": of(lambda _, a: a[:, :1]),
        "two columns": of(lambda _, a: a[:, :2]),
        "one row": of(lambda _, a: a[:1]),
        "two rows": of(lambda _, a: a[:2]),
        "three rows": of(lambda _, a: a[:3]),
        "wide": of(
            lambda rng, a: np.tile(a, (1, 5)) + rng.random((a.shape[0], 5 * a.shape[1]))
        ),
        "outlier": of(outlier),
        "sorted": of(lambda _, a: np.sort(a, axis=0)),
        "grid": of(lambda _, a: np.rint(unit(a) * 3)),
        "two values": of(lambda _, a: np.where(a > np.median(a), 0.9, 0.1)),
    },
)

# ---- what is no table of finite numbers -----------------------------------------------------


def bad(wrap: Callable[[Rng, Cells], Any]) -> Make:
    return lambda rng, a: (wrap(rng, a.copy()), None)


def holed(rng: Rng, a: Cells) -> Cells:
    return np.where(rng.random(a.shape) < 0.1, np.nan, one_cell(np.nan)(rng, a)[0])


def ragged(_: Rng, a: Cells) -> list[list[float]]:
    rows = a.tolist()
    rows[-1] = rows[-1][:-1]
    return rows


def damaged(change: Callable[[sp.csr_array], None]) -> Make:
    """Return a CSR matrix spoilt after it was made."""

    def make(rng: Rng, a: Cells) -> tuple[Any, None]:
        s = sp.csr_array(thinned(rng, a))
        change(s)
        return s, None

    return make


def _set(part: str, at: int, value: float) -> Callable[[sp.csr_array], None]:
    def change(s: sp.csr_array) -> None:
        getattr(s, part)[at] = value

    return change


def _beyond(s: sp.csr_array) -> None:
    s.indices[-1] = s.shape[1]


def _dropped(s: sp.csr_array) -> None:
    s.data = s.data[:-1].copy()


def _short(s: sp.csr_array) -> None:
    s.indptr = s.indptr[:-1].copy()


def worded(_: Rng, a: Cells) -> pd.DataFrame:
    frame = framed(a)
    frame["c0"] = [f"w{i % 3}" for i in range(len(a))]
    return frame


def dated(_: Rng, a: Cells) -> pd.DataFrame:
    frame = framed(a)
    frame["c0"] = [dt.date(2020, 1, 1 + i % 28) for i in range(len(a))]
    return frame


def nested(_: Rng, a: Cells) -> Cells:
    rows = a.astype(object)
    rows[0, 0] = {}
    return rows


def relation(_: Rng, a: Cells) -> Any:
    return duckdb.from_arrow(pa.table(columns(a)))


kinds(
    "bad",
    {
        "one NaN": one_cell(np.nan),
        "one inf": one_cell(np.inf),
        "one -inf": one_cell(-np.inf),
        "holes": bad(holed),
        "all NaN": bad(lambda _, a: np.full(a.shape, np.nan)),
        "float32 inf": after(one_cell(np.inf), lambda a: a.astype(np.float32)),
        "longdouble too large": bad(lambda _, a: (a + 1) * np.longdouble("1e4000")),
        "masked": bad(lambda _, a: np.ma.masked_array(a, mask=np.eye(*a.shape))),
        "complex": bad(lambda _, a: a + 1j),
        "numbers as text": bad(lambda _, a: a.astype(str)),
        "words": bad(lambda _, a: np.where(a > np.median(a), "high", "low")),
        "word objects": bad(lambda _, a: np.where(a > 0, "high", "low").astype(object)),
        "bytes": bad(lambda _, a: a.astype(str).astype("S")),
        "dates": bad(lambda _, a: np.rint(unit(a) * 99).astype("datetime64[D]")),
        "None in objects": bad(lambda _, a: np.where(a == a[0, 0], None, a.astype(object))),
        "dict in objects": bad(nested),
        "ragged": bad(ragged),
        "records": bad(
            lambda _, a: np.array([(1, 2.0)] * len(a), dtype=[("a", int), ("b", "f8")])
        ),
        "one axis": bad(lambda _, a: a[:, 0]),
        "three axes": bad(lambda _, a: a[None]),
        "number": bad(lambda _, a: float(a[0, 0])),
        "None": bad(lambda *_: None),
        "dict": bad(lambda _, a: columns(a)),
        "file that is not there": bad(lambda *_: "nowhere.csv"),
        "function": bad(lambda *_: len),
        "empty list": bad(lambda *_: []),
        "no rows": bad(lambda _, a: a[:0]),
        "no columns": bad(lambda _, a: a[:, :0]),
        "pandas, NaN": bad(lambda rng, a: framed(holed(rng, a))),
        "pandas, NA": bad(lambda rng, a: framed(holed(rng, a)).astype("Float64")),
        "pandas, words": bad(worded),
        "pandas, dates": bad(dated),
        "pandas, categories": bad(lambda rng, a: worded(rng, a).astype({"c0": "category"})),
        "pandas, equal names": bad(lambda _, a: pd.DataFrame(a, columns=["c"] * a.shape[1])),
        "pandas, odd names": bad(
            lambda _, a: pd.DataFrame(a, columns=["a", *range(1, a.shape[1])])
        ),
        "series": bad(lambda _, a: pd.Series(a[:, 0])),
        "polars, null": bad(
            lambda rng, a: pl.DataFrame(columns(holed(rng, a)), nan_to_null=True)
        ),
        "polars, words": bad(lambda rng, a: pl.from_pandas(worded(rng, a))),
        "polars, lazy": bad(lambda _, a: pl.DataFrame(columns(a)).lazy()),
        "pyarrow, null": bad(lambda rng, a: pa.Table.from_pandas(framed(holed(rng, a)))),
        "duckdb": bad(relation),
        "csr, NaN": damaged(_set("data", 0, np.nan)),
        "csr, inf": damaged(_set("data", -1, np.inf)),
        "csr, column beyond": damaged(_beyond),
        "csr, column far beyond": damaged(_set("indices", 0, 10**6)),
        "csr, negative column": damaged(_set("indices", 0, -1)),
        "csr, falling starts": damaged(_set("indptr", 1, 10**6)),
        "csr, negative start": damaged(_set("indptr", 1, -5)),
        "csr, cells dropped": damaged(_dropped),
        "csr, starts dropped": damaged(_short),
        "csr, complex": bad(lambda _, a: sp.csr_array(a + 1j)),
    },
)


# ---- weights of rows ------------------------------------------------------------------------

# name: the weights of n rows, and whether they are weights
WEIGHTS: dict[str, tuple[Callable[[Rng, int], Any], bool]] = {
    "counts": (lambda rng, n: rng.integers(1, 4, n), True),
    "fractions": (lambda rng, n: rng.random(n) + 0.1, True),
    "some zero": (lambda rng, n: np.r_[1.0, 2.0, rng.integers(0, 3, n)][-n:] + 0.0, True),
    "steep": (lambda rng, n: 2.0 ** rng.integers(-20, 20, n), True),
    "float32 weights": (lambda rng, n: rng.random(n).astype("float32") + np.float32(0.5), True),
    "weights in a list": (lambda rng, n: (rng.random(n) + 0.5).tolist(), True),
    "weights in a series": (lambda rng, n: pd.Series(rng.random(n) + 0.5), True),
    "huge": (lambda rng, n: np.ldexp(rng.random(n) + 0.5, 900), True),
    "tiny": (lambda rng, n: np.ldexp(rng.random(n) + 0.5, -900), True),
    "very steep": (lambda rng, n: np.ldexp(1.0, rng.integers(-900, 900, n)), True),
    "one negative": (lambda rng, n: np.r_[-1.0, rng.random(n)][:n], False),
    "weights NaN": (lambda rng, n: np.r_[np.nan, rng.random(n)][:n], False),
    "weights inf": (lambda rng, n: np.r_[np.inf, rng.random(n)][:n], False),
    "too few": (lambda rng, n: rng.random(n - 1), False),
    "all zero": (lambda _, n: np.zeros(n), False),
    "weights as text": (lambda _, n: ["1"] * n, False),
    "weights in a table": (lambda _, n: np.ones((n, 2)), False),
}
