"""Results of one tree as hashes, so that two trees can be compared bit for bit.

    PYTHONPATH=TREE/src python tools/same_results.py record OUT.json [--count 300] [--seed 0]
    python tools/same_results.py compare A.json B.json

`record` makes COUNT seeded fits and studies, round after round over all methods, then command
lines, refusals, and the public names with their signatures. Every case holds a hash for every
attribute, or the text itself where it is short. `--only TEXT` takes the cases whose name holds
it. `compare` lists what differs and exits 1 when anything does.

Left out are seconds, rates of this machine, free memory and temporary paths, because they
differ between two runs of one tree; the names of classes that are not public, and the modules
that they live in, because these may change; and attributes that begin with an underscore.
"""

import argparse
import contextlib
import dataclasses
import functools
import hashlib
import importlib
import inspect
import io
import itertools
import json
import os
import re
import runpy
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

os.environ["NUMBA_NUM_THREADS"] = "2"  # before NumPy and Numba are loaded
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "2"

import dask
import numpy as np
import pandas as pd
import scipy.sparse as sp
import threadpoolctl
from same_cases import (
    COMMANDS,
    DATA,
    FITS,
    LOOKS,
    REFUSALS,
    SPEND,
    STUDIES,
    WAYS,
    Given,
    Rng,
    mixed,
    table,
    words,
)

import mercer

THREADS = 2
MEMORY = "1GB"  # given to every method: without it plans and blocks follow what is free
SHOWN = 300  # letters up to which a text is kept as it is
DEEPEST = 14
LIBRARIES = ("numpy", "scipy", "sklearn", "pandas", "polars", "pyarrow", "dask")
ROOMS = ("diagnostics", "dropin", "errors", "kernels", "plots", "selection", "studies")
# Measured or foreseen by what was measured, and what says which package wrote a file.
UNSTABLE = {"seconds", "rates", "workers", "written_by_", "time"}
TIMES = re.compile(r"(?<![\w.])\d[\d.,]*(e[-+]?\d+)?[ \u00a0](µs|ms|s|min|h|seconds?)\b")
DATES = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?(\.\d+)?")
SECONDS = re.compile(r'(seconds[^<:"]*(?:</th><td>|": ?))[\d.e-]+')
MODULES = re.compile(r"\bmercer\.(\w+\.)+")


# ---- values as hashes ----------------------------------------------------------------------


@functools.cache
def public_names() -> dict[type, str]:
    """Return the classes that are public, and what they are called."""
    found = {}
    for room in ("", *(f".{room}" for room in ROOMS)):
        module = importlib.import_module(f"mercer{room}")
        names = {name: getattr(module, name) for name in module.__all__}
        found |= {value: name for name, value in names.items() if isinstance(value, type)}
    return found


def named(kind: type) -> str:
    """Return the name of a class; of a private one, that of its nearest public base."""
    for base in kind.__mro__:
        if not base.__module__.startswith("mercer"):
            return base.__name__
        if base in public_names():
            return public_names()[base]
    return "object"


def settled(text: str) -> str:
    """Return a text without temporary paths, times and the homes of classes."""
    text = text.replace(str(Path.cwd()), "FOLDER")
    text = text.replace(str(Path(mercer.__file__).parents[1]), "TREE")
    text = SECONDS.sub(r"\1TIME", DATES.sub("DATE", TIMES.sub("TIME", text)))
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    return MODULES.sub("", text)


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as nested tuples of text that hold all its bits, and no private class."""
    if depth > DEEPEST:
        return "deep"
    inner = functools.partial(plain, depth=depth + 1)
    if value is None or value is Ellipsis or isinstance(value, bool | int | bytes | complex):
        return repr(value)
    if isinstance(value, float | np.generic | np.dtype):
        return (type(value).__name__, settled(repr(value)))
    if isinstance(value, str | Path):
        return ("text", settled(str(value)))
    if isinstance(value, np.ndarray):
        return _array(value, inner)
    if sp.issparse(value):
        cells = value.tocsr()
        return (
            value.format,
            value.shape,
            *map(inner, (cells.data, cells.indices, cells.indptr)),
        )
    if isinstance(value, dict):
        return ("dict", *((inner(k), inner(v)) for k, v in value.items() if k not in UNSTABLE))
    if isinstance(value, set | frozenset):
        return ("set", *sorted(repr(inner(item)) for item in value))
    if isinstance(value, type):
        return ("class", named(value))
    if hasattr(value, "_fields") or not isinstance(value, list | tuple):
        return _thing(value, inner)
    return (type(value).__name__, *map(inner, value))


def _array(value: np.ndarray, inner: Callable[..., Any]) -> Any:
    if value.dtype.kind == "O":
        return ("array", "O", value.shape, *map(inner, value.ravel().tolist()))
    data = np.ma.getdata(value)
    hashed = hashlib.sha256(np.ascontiguousarray(data).tobytes()).hexdigest()
    mask = inner(np.ma.getmaskarray(value)) if isinstance(value, np.ma.MaskedArray) else None
    return ("array", value.dtype.str, value.shape, hashed, mask)


def _thing(value: Any, inner: Callable[..., Any]) -> Any:
    """Take apart what is neither plain nor an array: frames, lazy arrays, dataclasses, ..."""
    if isinstance(value, np.random.Generator):
        return inner(value.bit_generator.state)
    if isinstance(value, np.random.RandomState):
        return inner(value.get_state(legacy=False))
    if hasattr(value, "compute") and hasattr(value, "dask"):
        return ("lazy", inner(value.compute(scheduler="synchronous")))
    if isinstance(value, pd.DataFrame | pd.Series):
        cells = value.to_numpy(dtype=object)
        heads = value.columns if hasattr(value, "columns") else [value.name]
        kinds = [str(kind) for kind in np.atleast_1d(np.asarray(value.dtypes))]
        return ("frame", inner(list(heads)), kinds, inner(cells))
    if hasattr(value, "to_dict") and hasattr(value, "columns"):  # polars
        return ("frame", inner(value.to_dict(as_series=False)))
    if callable(value) and not (
        hasattr(value, "get_params") or dataclasses.is_dataclass(value)
    ):
        return "callable"
    if dataclasses.is_dataclass(value):
        fields = [field.name for field in dataclasses.fields(value)]
    elif hasattr(value, "_fields"):
        fields = list(value._fields)
    else:
        fields = sorted(getattr(value, "__dict__", {}))
    fields = [name for name in fields if name not in UNSTABLE and not name.startswith("_")]
    name = public_names().get(type(value), "")
    return (name, *((field, inner(getattr(value, field))) for field in fields))


def digest(value: Any) -> str:
    """Return a short text as it is, and the hash of everything else."""
    if isinstance(value, str) and len(settled(value)) <= SHOWN:
        return f"text: {settled(value)}"
    return hashlib.sha256(repr(plain(value)).encode()).hexdigest()


# ---- what is kept of a case ----------------------------------------------------------------


def outcome(call: Callable[[], Any]) -> str:
    """Return the digest of what a call returns, or the error it raises as text."""
    try:
        return digest(call())
    except Exception as error:
        return f"error: {named(type(error))}: {settled(str(error))}"


def faces(value: Any) -> dict[str, str]:
    """Return the digests of all public attributes of a model or a result."""
    made = (property, functools.cached_property)
    kind, found = (
        type(value),
        set(getattr(value, "__dict__", ())) | set(getattr(value, "_fields", ())),
    )
    found |= {
        name for name in dir(kind) if isinstance(inspect.getattr_static(kind, name), made)
    }
    found = {name for name in found - UNSTABLE if not name.startswith("_")}
    return {
        f".{name}": outcome(functools.partial(getattr, value, name)) for name in sorted(found)
    }


def saved(path: Path) -> dict[str, str]:
    """Return the digests of a model file, but for its version and checksum, as safetensors."""
    whole = path.read_bytes()
    length = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + length])
    description = json.loads(header.pop("__metadata__")["mercer"])
    description.pop("mercer")
    data, arrays = whole[8 + length :], {}
    for name, place in header.items():
        start, end = place["data_offsets"]
        cells = hashlib.sha256(data[start:end]).hexdigest()
        arrays[name] = (place["dtype"], tuple(place["shape"]), cells)
    types: set[str] = set()
    text = json.dumps(pruned(description, types), sort_keys=True)
    return {
        "file: arrays": digest(sorted(arrays.items())),
        "file: description": hashlib.sha256(text.encode()).hexdigest(),
        "file: types": digest(sorted(types)),
    }


def pruned(part: Any, types: set[str]) -> Any:
    """Return a description without what is measured; gather the names of types apart."""
    if isinstance(part, list):
        return [pruned(item, types) for item in part]
    if not isinstance(part, dict):
        return part
    types.add(part.get("=", "="))
    return {k: pruned(v, types) for k, v in part.items() if k not in UNSTABLE | {"="}}


def text_of(path: Path) -> str:
    """Return the digest of a file that was written: text without times, or bytes."""
    if path.suffix == ".mercer":
        return digest(saved(path))
    raw = path.read_bytes()
    try:
        return digest([settled(raw.decode())])
    except UnicodeDecodeError:
        return digest(raw)


# ---- cases ---------------------------------------------------------------------------------

Case = Callable[[Rng, bool], dict[str, str]]


def parts_of(line: str) -> list[str]:
    """Return what stands between the bars of a line, or of several."""
    return [part.strip() for part in " ".join(line.split()).split(" | ")]


def told_of(expression: str, **names_: Any) -> Any:
    """Return the value of an expression of the tables."""
    rooms = {room: importlib.import_module(f"mercer.{room}") for room in ROOMS}
    own = {name: getattr(rooms["kernels"], name) for name in rooms["kernels"].__all__}
    public = {name: getattr(mercer, name) for name in mercer.__all__}
    return eval(expression, globals() | own | rooms | public | names_)


def fits() -> Iterator[tuple[str, Case]]:
    """Yield every fit of a round: its name, and what makes it."""
    for block in re.split(r"\n(?=\w)", FITS.strip()):
        head, _, entries = " ".join(block.split()).partition(" // ")
        kind, _, shared = head.partition(" ")
        for entry in entries.split("; "):
            left, _, each = entry.partition(": ")
            data, how = [*left.split(), "at_once"][:2]
            for own in each.split("|"):
                name = f"{kind}: {data}, {how}, {own.strip()}".removesuffix(", ")
                params = (shared, own.strip())
                yield name, functools.partial(fitted, kind, params, data, how)


def fitted(
    kind: str, params: tuple[str, str], data: str, how: str, rng: Rng, first: bool
) -> dict[str, str]:
    """Fit a model, and return what is kept."""
    given, make, known = DATA[data](rng), told_of(kind), {}
    if "memory" in inspect.signature(make).parameters:
        params = f"memory={MEMORY!r}", *params
    for part in params:
        known |= told_of(f"dict({part})", X=given.X)
    model, again, kept = make(**known), make(**known), {}
    more = {"y": given.y, "sample_weight": given.weight}
    more = {key: value for key, value in more.items() if value is not None}
    names_ = {"model": model, "again": again, "X": given.X, "rows": given.rows, "more": more}
    if first and hasattr(model, "memory"):
        kept["plan"] = outcome(lambda: mercer.plan(model, given.rows()))
        kept["plan in words"] = outcome(lambda: str(mercer.plan(model, given.rows())))
    kept["fit"] = outcome(lambda: type(told_of(WAYS[how], **names_)).__name__)
    kept |= observed(model, given)
    if first and how == "at_once":
        kept["fit_transform"] = outcome(lambda: again.fit_transform(given.rows(), **more))
    if first and hasattr(model, "report"):
        kept["report"] = outcome(lambda: bool(model.report(given.X, "page.html")))
        kept["page"] = text_of(Path("page.html")) if Path("page.html").exists() else "none"
    return kept


def observed(model: Any, given: Given) -> dict[str, str]:
    """Return what is kept of a fitted model: its file, its attributes, and looks at it."""
    path = Path("model.mercer")
    found = {"save": outcome(lambda: mercer.save(model, path))}
    if path.exists():
        found |= saved(path)
        found["loaded transform"] = outcome(lambda: mercer.load(path).transform(given.new))
    found |= faces(model)
    names_ = {"model": model, "X": given.X, "new": given.new, "y": given.y}
    for look in parts_of(LOOKS):
        if hasattr(model, look.partition("(")[0]):
            found[look] = outcome(functools.partial(told_of, f"model.{look}", **names_))
    found["repr"] = outcome(lambda: repr(model))
    return found


def studies() -> Iterator[tuple[str, Case]]:
    """Yield every study of a round: its name, and what makes it."""
    for block in re.split(r"\n(?=\w)", STUDIES.strip()):
        data, _, asked = " ".join(block.split()).partition(": ")
        for what in parts_of(asked):
            name = f"{what.partition('(')[0]}: {data}, {what}"
            yield name, functools.partial(studied, data, what)


def studied(data: str, what: str, rng: Rng, _: bool) -> dict[str, str]:
    """Return what is kept of a study: itself, its attributes, and its table as text."""
    given = DATA[data](rng)
    names_ = {"X": given.X, "new": given.new, "y": given.y, "rows": given.rows()}
    names_ |= {
        "pca": partial_model(mercer.PCA, given),
        "kpca": partial_model(mercer.KernelPCA, given),
    }
    try:
        result = told_of(what, **names_)
    except Exception as error:
        return {"whole": f"error: {named(type(error))}: {settled(str(error))}"}
    kept = {"whole": digest(result)}
    if type(result).__module__.startswith("mercer"):
        kept |= faces(result)
        kept["text"] = outcome(
            lambda: [str(result)] if type(result).__str__ is not object.__str__ else []
        )
    return kept


def partial_model(kind: type, given: Given) -> Callable[..., Any]:
    """Return what makes a model that is fitted to the rows, with the parameters given to it."""
    return lambda **params: kind(**{"n_components": 2, "memory": MEMORY} | params).fit(given.X)


def commands() -> dict[str, dict[str, str]]:
    """Return what command lines write to stdout, stderr and files."""
    rng = np.random.default_rng(1)
    frame = mixed(rng).X
    frame.insert(0, "id", [f"row {i}" for i in range(len(frame))])
    frame.iloc[3, 2] = np.nan
    frame.to_csv("mixed.csv", index=False)
    pd.DataFrame(DATA["counts"](rng).X, columns=list("abcdefg")).to_csv(
        "counts.csv", index=False
    )
    pd.DataFrame(table(rng, 90, 5), columns=list("vwxyz")).to_csv("plain.csv", index=False)
    pd.DataFrame(table(rng, 40, 5), columns=list("vwxyz")).to_csv("new.csv", index=False)
    return {f"command: {line}": commanded(line.split()) for line in parts_of(COMMANDS)}


def commanded(line: list[str]) -> dict[str, str]:
    """Run one command line in this process; return code, outputs, and the files it wrote."""
    if line[0] in SPEND.split() and not {"--memory", "--help"} & set(line):
        line = [*line, "--memory", MEMORY]
    before = set(Path().iterdir())
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    argv, sys.argv, code = sys.argv, ["mercer", *line], 0
    try:
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            runpy.run_module("mercer", run_name="__main__")
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = argv
    outs = []
    for stream in streams:
        stream.flush()
        outs.append(stream.buffer.getvalue().decode())
    with contextlib.suppress(ValueError):
        outs[0] = json.dumps(pruned(json.loads(outs[0]), set()), ensure_ascii=False)
    wrote = sorted(path for path in Path().iterdir() if path not in before and path.is_file())
    files = {f"file {path.name}": text_of(path) for path in wrote}
    return {"code": str(code), "stdout": digest(outs[0]), "stderr": digest(outs[1]), **files}


def refusals() -> dict[str, dict[str, str]]:
    """Return the type and text of the errors that bad inputs raise."""
    rng = np.random.default_rng(2)
    X, W = table(rng, 30, 4), words(rng).X
    holes, far = X.copy(), X.copy()
    holes[3, 2], far[5, 1] = np.nan, np.inf
    Path("ragged.csv").write_text("a,b\n1,2\n3\n", encoding="utf-8")
    Path("words.csv").write_text("a,b\n1,2\n3,four\n", encoding="utf-8")
    Path("bad.mercer").write_bytes(b"no model, but bytes that stand in a file " * 3)
    pca = partial_model(mercer.PCA, Given(X, X))
    names_ = {"X": X, "W": W, "holes": holes, "far": far, "pca": pca}
    return {
        f"refusal: {bad}": {"error": outcome(functools.partial(told_of, bad, **names_))}
        for bad in parts_of(REFUSALS)
    }


def names() -> dict[str, dict[str, str]]:
    """Return the public names, their members and their signatures."""
    cases = {}
    for room in ("mercer", *(f"mercer.{room}" for room in ROOMS)):
        module = importlib.import_module(room)
        cases[f"names: {room}"] = {"all": " ".join(sorted(module.__all__))}
        if room == "mercer":  # those of rooms also list the modules loaded so far
            cases[f"names: {room}"]["dir"] = " ".join(sorted(dir(module)))
        for name in sorted(module.__all__):
            cases[f"names: {room}.{name}"] = members(getattr(module, name))
    return cases


def members(value: Any) -> dict[str, str]:
    """Return how a public value is called, and, of a class, every public method."""
    public = [name for name in sorted(dir(value)) if not name.startswith("_")]
    own = {name: inspect.getattr_static(value, name) for name in public}
    kept = {"dir": " ".join(public)} if isinstance(value, type) else {}
    for name, part in {"": value, **(own if kept else {})}.items():
        with contextlib.suppress(TypeError, ValueError):  # what cannot be called
            whole = inspect.signature(getattr(part, "__func__", part))
            empty = inspect.Signature.empty
            plainly = [p.replace(annotation=empty) for p in whole.parameters.values()]
            kept[f"annotations {name}"] = settled(str(whole))
            whole = whole.replace(parameters=plainly, return_annotation=empty)
            kept[f"signature {name}"] = settled(str(whole))
    return kept


# ---- record and compare --------------------------------------------------------------------


def record(out: Path, count: int, seed: int, only: str) -> int:
    """Write the results of this tree to a file; return the exit code."""
    cases: dict[str, dict[str, str]] = {}
    assert len({name for name, _ in (*fits(), *studies())}) == len([*fits(), *studies()])
    with (
        tempfile.TemporaryDirectory() as folder,
        threadpoolctl.threadpool_limits(THREADS),
        _free_memory_told(),
    ):
        for name, case in itertools.islice(_rounds(seed), count):
            if only in name:
                place = Path(folder) / str(len(cases))
                cases[name] = _apart(place, case)
        for part in (commands, refusals, names):
            if not only or only in part.__name__:
                place = Path(folder) / part.__name__
                place.mkdir()
                with contextlib.chdir(place):
                    cases |= part()
    out.parent.mkdir(parents=True, exist_ok=True)
    head = {name: importlib.import_module(name).__version__ for name in LIBRARIES}
    head |= {"mercer": mercer.__file__, "python": sys.version.split()[0], "threads": THREADS}
    head |= {"count": count, "seed": seed, "only": only}
    text = json.dumps({"header": head, "cases": cases}, indent=1, ensure_ascii=False)
    out.write_text(text + "\n", encoding="utf-8")
    kept = sum(map(len, cases.values()))
    print(f"{len(cases)} cases, {kept} attributes of {mercer.__file__} -> {out}")
    return 0


@contextlib.contextmanager
def _free_memory_told() -> Iterator[None]:
    """Let the system say the same free memory at all times: plans follow it."""
    read, exists = Path.read_text, Path.exists

    def read_text(path: Path, *args: Any, **how: Any) -> str:
        told = str(path) == "/proc/meminfo"
        return "MemAvailable:  20000000 kB\n" if told else read(path, *args, **how)

    def there(path: Path, *args: Any, **how: Any) -> bool:
        return not str(path).startswith("/sys/fs/cgroup") and exists(path, *args, **how)

    with (
        mock.patch.object(Path, "read_text", read_text),
        mock.patch.object(Path, "exists", there),
    ):
        yield


def _rounds(seed: int) -> Iterator[tuple[str, Callable[[], dict[str, str]]]]:
    """Yield named cases for ever: all fits and studies, then all again with other data."""
    for turn in itertools.count():
        for place, (name, case) in enumerate([*fits(), *studies()]):
            rng = np.random.default_rng([seed, turn, place])
            yield f"{name}, {turn}", functools.partial(case, rng, turn == 0)


def _apart(place: Path, case: Callable[[], dict[str, str]]) -> dict[str, str]:
    """Run one case in a folder of its own, and with it the warnings that it gives."""
    place.mkdir()
    with (
        contextlib.chdir(place),
        warnings.catch_warnings(record=True) as caught,
        dask.config.set(scheduler="synchronous"),
    ):
        warnings.simplefilter("always")
        kept = case()
    ours = (mercer.AccuracyWarning, mercer.DataWarning)
    said = [(named(w.category), str(w.message)) for w in caught if issubclass(w.category, ours)]
    return {**kept, "warnings": digest(said)}


def compare(before: Path, after: Path) -> int:
    """Print what differs between two records; return 1 when anything does."""
    one, two = (json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
    for key in sorted(set(one["header"]) | set(two["header"])):
        values = one["header"].get(key), two["header"].get(key)
        if values[0] != values[1]:
            print(f"header: {key}: {values[0]} | {values[1]}")
    cases = attributes = 0
    for name in [*one["cases"], *(n for n in two["cases"] if n not in one["cases"])]:
        a, b = (part["cases"].get(name, {}) for part in (one, two))
        apart = [k for k in [*a, *(k for k in b if k not in a)] if a.get(k) != b.get(k)]
        if apart:
            cases, attributes = cases + 1, attributes + len(apart)
            print(f"{name}" + ("" if a and b else f": only in {before if a else after}"))
            for key in apart if a and b else ():
                pair = (re.sub("^[0-9a-f]{52}", "", part.get(key, "absent")) for part in (a, b))
                print(f"    {key}: {' | '.join(pair)}")
    total = len(set(one["cases"]) | set(two["cases"]))
    print(f"{cases} of {total} cases differ, in {attributes} attributes")
    return 1 if cases else 0


def main(args: list[str]) -> int:
    """Record or compare; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = parser.add_subparsers(dest="command", required=True)
    recording = kinds.add_parser("record")
    recording.add_argument("out", type=Path)
    recording.add_argument("--count", type=int, default=300)
    recording.add_argument("--seed", type=int, default=0)
    recording.add_argument("--only", default="")
    comparing = kinds.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    given = parser.parse_args(args)
    if given.command == "compare":
        return compare(given.before, given.after)
    if os.environ.get("PYTHONHASHSEED") != "0":  # messages that list a set, in its order
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    return record(given.out.resolve(), given.count, given.seed, given.only)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
