"""Mutants: small faults put into the mathematics, to show that the test suite catches them.

    python tools/mutants.py cover COVFILE --tree DIR [--tests PATH ...]
    python tools/mutants.py sample OUT.json --tree DIR [--coverage COVFILE] [--seed 0]
    python tools/mutants.py run --tree DIR --mutants OUT.json --coverage COVFILE --result R.json
    python tools/mutants.py compare BEFORE.json AFTER.json

``cover`` runs the suite once and keeps which test runs which line. ``sample`` draws mutants,
every kind of change equally often. ``run`` puts each into a copy of the tree, runs the tests of
the changed line that cover least else, and writes what became of it; a run that was cut short
goes on where it stopped. ``compare`` lays two results beside each other.

A mutant is known by its function, its statement, its change and the occurrence, not by its
place: it is the same one in a tree whose files were moved or merged. A tree is never changed:
every command works on a copy, so it may be edited meanwhile. Needs the package coverage.

Verdicts: killed; timeout (also a kill: the tests pass in time without the mutant); survived;
untested (no test of the coverage runs the line); gone (the tree has no such statement); stale
(the file changed after ``cover``); error (the tests fail or take too long without the mutant);
waiting (a run cut short). Lines that run at import belong to the tests of the functions that
use the names defined there.
"""

import argparse
import ast
import contextlib
import hashlib
import json
import os
import queue
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import copy as shallow
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

import coverage
import pytest

ROOMS = ("solvers", "operators", "planning", "estimators", "sources")
LEFT_OUT = (".git", ".venv*", ".tools", ".hypothesis", "__pycache__", "*.egg-info", ".*_cache")
QUICK = "not slow and not browser"
MEMORY = 16 << 30  # address space of a run: a mutant may ask for all there is
FILE_SIZE = 4 << 30
# Arguments whose change is no fault: astype(copy=), zip(strict=), warn(stacklevel=).
NO_FAULT = {"copy", "strict", "stacklevel"}

COMPARED = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
SWAPPED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
EXTREMES = {"min": "max", "minimum": "maximum", "argmin": "argmax", "nanmin": "nanmax"}
EXTREMES |= {there: back for back, there in EXTREMES.items()}
Function = ast.FunctionDef | ast.AsyncFunctionDef
Change = tuple[str, str, ast.AST, str]  # kind, what it does, the node, its new text


@dataclass(frozen=True)
class Site:
    """A place and one change of it; the first four fields are what a mutant is known by."""

    where: str
    statement: str
    change: str
    occurrence: int
    kind: str
    file: str  # from here on: where it was when it was drawn
    line: int
    around: str  # of the enclosing function: tells two sites of one key apart
    start: int = 0
    end: int = 0
    text: str = ""
    lines: tuple[int, int] = (0, 0)
    header: tuple[int, int] = (0, 0)
    names: tuple[str, ...] | None = None  # of a line that runs at import: what it defines

    @property
    def key(self) -> tuple[str, str, str, int]:
        """Return what the mutant is known by, in any tree."""
        return self.where, self.statement, self.change, self.occurrence

    @property
    def name(self) -> str:
        """Return a short name of the mutant, the same in every result."""
        return digest("|".join(map(str, (*self.key, self.file, self.around))))

    @property
    def marks(self) -> tuple[str, str, str, str]:
        """Return what tells it from other sites of its key: the earlier, the better."""
        path = Path(self.file)
        return self.around, self.file, path.parts[2], path.name.lstrip("_")


def digest(text: str | bytes) -> str:
    """Return a short fingerprint."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()[:16]


def file_of(test: str) -> str:
    """Return the file of a test."""
    return test.removeprefix("file|").partition("::")[0]


# ---- sites -------------------------------------------------------------------------------


def plain(node: ast.AST | str) -> str:
    """Return code in one form: merging files takes or gives leading underscores."""
    text = node if isinstance(node, str) else ast.unparse(node)
    return re.sub(r"\b_+(?=[A-Za-z])", "", text)


def changes(node: ast.AST, bound: bool = False) -> Iterator[Change]:
    """Yield the changes of one expression; ``bound``: it is the bound of a slice."""
    match node:
        case ast.Constant(value=bool() as value):
            yield "boolean", f"{value} flipped", node, str(not value)
        case ast.Constant(value=int() as value) if not bound:
            yield "integer", f"{value} plus one", node, f"({value + 1})"
        case ast.Constant(value=float() as value):
            yield "float", f"{value} moved", node, f"({value * 1.01 or 1.0!r})"
        case ast.Compare(ops=ops):
            for i, old in enumerate(ops):
                for new in COMPARED[type(old)]:
                    yield turned(
                        "comparison", node, old, new, ops=[*ops[:i], new(), *ops[i + 1 :]]
                    )
        case ast.BinOp(op=old) if type(old) in SWAPPED and not has_text(node):
            new = SWAPPED[type(old)]
            yield turned("arithmetic", node, old, new, op=new())
        case ast.BoolOp(op=old):
            new = ast.Or if isinstance(old, ast.And) else ast.And
            yield turned("and or", node, old, new, op=new())
        case ast.UnaryOp(op=ast.Not()):
            yield "not", "not dropped", node, f"({ast.unparse(node.operand)})"
        case ast.Call(func=ast.Name(id=name)) if name in EXTREMES:
            yield "extremes", f"{name} swapped", node.func, EXTREMES[name]
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in EXTREMES:
            text = ast.unparse(ast.Attribute(owner, EXTREMES[name]))
            yield "extremes", f"{name} swapped", node.func, text
        case ast.Slice():
            for end in ("lower", "upper"):
                if (limit := getattr(node, end)) is not None:
                    yield "slice", f"{end} bound moved", limit, f"(({ast.unparse(limit)}) + 1)"


def turned(kind: str, node: ast.AST, old: ast.AST, new: type, **parts: Any) -> Change:
    """Return the change of an operator to another one."""
    other = shallow(node)
    for name, part in parts.items():
        setattr(other, name, part)
    text = ast.unparse(other)
    words = f"{type(old).__name__} to {new.__name__}"
    return kind, words, node, text if isinstance(node, ast.stmt) else f"({text})"


def has_text(node: ast.expr) -> bool:
    """Whether a sum or a product is one of strings."""
    if isinstance(node, ast.BinOp):
        return has_text(node.left) or has_text(node.right)
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def whole_changes(node: ast.stmt) -> Iterator[Change]:
    """Yield the changes of a whole statement."""
    match node:
        case ast.Return(value=ast.expr() as value):
            if not (isinstance(value, ast.Constant) and value.value is None):
                yield "return", "None returned", node, "return None"
        case ast.Expr(value=ast.Call()):
            yield "call", "call dropped", node, "pass"
        case ast.AugAssign(op=old) if type(old) in SWAPPED and not has_text(node.value):
            new = SWAPPED[type(old)]
            yield turned("arithmetic", node, old, new, op=new())


def expressions(node: ast.stmt) -> list[ast.expr]:
    """Return what a statement computes itself: no body, annotation, decorator or base."""
    if isinstance(node, Function):
        return [one for one in (*node.args.defaults, *node.args.kw_defaults) if one is not None]
    if isinstance(node, ast.ClassDef):
        return []
    found: list[ast.expr] = []
    for name, value in ast.iter_fields(node):
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.withitem):
                found += [one.context_expr]
            elif isinstance(one, ast.match_case) and one.guard is not None:
                found += [one.guard]
            elif isinstance(one, ast.expr) and name != "annotation":
                found += [one]
    return found


def bodies(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements inside a statement."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        for one in getattr(node, name, []):
            if isinstance(one, ast.stmt):
                yield one
            else:
                yield from bodies(one)


class Module:
    """A file, its sites, and what is needed to know who runs its lines at import."""

    def __init__(self, file: str, source: bytes):
        self.file, self.source = file, source
        self.sites: list[Site] = []
        self.uses: dict[str, set[int]] = defaultdict(set)
        self.imports: set[str] = set()
        self.inside: set[int] = set()  # lines of functions
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._scope: list[Function | ast.ClassDef] = []
        self._counted: Counter[tuple[str, str, str]] = Counter()
        self._bounds: set[ast.AST] = set()
        for node in ast.parse(source).body:
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        """Find the sites of a statement and of those inside it."""
        if isinstance(node, ast.ImportFrom):
            self.imports |= {alias.name for alias in node.names}
        if isinstance(node, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom):
            return
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for one in node.orelse:
                self.statement(one)
            return
        opens = isinstance(node, Function | ast.ClassDef)
        if opens:
            self._scope.append(node)
        parts = expressions(node)
        compound = any(True for _ in bodies(node))
        text = ", ".join(map(plain, parts)) if compound else plain(node)
        text = f"{type(node).__name__} {text}" if compound else text
        for part in parts:
            self.expression(part, node, text)
        for change in whole_changes(node):
            self.add(change, node, text)
        for one in bodies(node):
            self.statement(one)
        if opens:
            self._scope.pop()

    def expression(self, node: ast.AST, statement: ast.stmt, text: str) -> None:
        """Find the sites of an expression and of its parts."""
        if isinstance(node, ast.JoinedStr):
            return
        if isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("Literal"):
            return
        if isinstance(node, ast.keyword) and node.arg in NO_FAULT:
            return
        name = getattr(node, "id", getattr(node, "attr", None))
        if name and self.function() is not None:
            self.uses[name].add(node.lineno)
        if isinstance(node, ast.Slice):
            self._bounds |= {node.lower, node.upper}
        if isinstance(node, ast.UnaryOp) and node in self._bounds:
            self._bounds.add(node.operand)
        for change in changes(node, node in self._bounds):
            self.add(change, statement, text)
        for child in ast.iter_child_nodes(node):
            self.expression(child, statement, text)

    def function(self) -> Function | None:
        """Return the innermost function here."""
        return next((one for one in self._scope[::-1] if isinstance(one, Function)), None)

    def add(self, change: Change, statement: ast.stmt, text: str) -> None:
        """Keep one site."""
        kind, words, node, new = change
        where = plain(".".join(one.name for one in self._scope)) or "<module>"
        self._counted[where, text, words] += 1
        around, names = self.function(), None
        parts = expressions(statement) or [statement]
        header = (parts[0].lineno, parts[-1].end_lineno)
        lines = (node.lineno, node.end_lineno)
        if around is not None and around is statement:  # a default: whoever runs the body
            lines = header = (around.body[0].lineno, around.end_lineno)
        elif around is None:
            targets = [one for one in ast.walk(statement) if isinstance(one, ast.Name)]
            names = tuple(one.id for one in targets if isinstance(one.ctx, ast.Store))
        else:
            first = around.body[0].lineno
            self.inside |= set(range(first, around.end_lineno + 1))
        start = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[node.end_lineno - 1] + node.end_col_offset
        number, body = self._counted[where, text, words], digest(plain(around or ""))
        known = (where, text, words, number, kind, self.file, node.lineno, body)
        self.sites.append(Site(*known, start, end, new, lines, header, names))


def modules_of(tree: Path, rooms: tuple[str, ...] = ROOMS) -> dict[str, Module]:
    """Return the files of the rooms, by their path in the tree."""
    found = {}
    for room in rooms:
        for path in sorted((tree / "src" / "mercer" / room).rglob("*.py")):
            file = path.relative_to(tree).as_posix()
            found[file] = Module(file, path.read_bytes())
    return found


def mutated(source: bytes, site: Site) -> bytes | None:
    """Return the file with the change, or None when it would be the same or no Python."""
    new = source[: site.start] + site.text.encode() + source[site.end :]
    with contextlib.suppress(SyntaxError):
        if ast.dump(ast.parse(new)) != ast.dump(ast.parse(source)):
            return new
    return None


def sample(
    modules: dict[str, Module], seed: int, count: int, covered: Any = None
) -> list[Site]:
    """Return sites, the kinds of change in turn, one a statement; ``covered``: with tests."""
    kinds: dict[str, list[Site]] = defaultdict(list)
    sites = [site for module in modules.values() for site in module.sites]
    for site in sorted(sites, key=lambda site: digest(f"{seed}|{site.key}|{site.around}")):
        kinds[site.kind].append(site)
    drawn: list[Site] = []
    taken: set[tuple[str, str, str]] = set()
    while kinds and len(drawn) < count:
        for kind in sorted(kinds):
            while kinds[kind]:
                site = kinds[kind].pop(0)
                if (site.file, site.where, site.statement) in taken:
                    continue
                if covered is not None and not covered.runs(modules, site):
                    continue
                if mutated(modules[site.file].source, site) is not None:
                    taken.add((site.file, site.where, site.statement))
                    drawn.append(site)
                    break
        kinds = {kind: left for kind, left in kinds.items() if left}
    return drawn[:count]


def found_again(
    modules: dict[str, Module], mutants: list[Site]
) -> list[tuple[str, Site | None]]:
    """Return for each mutant how it was found (exact, moved, gone) and its site in a tree."""
    sites = [site for module in modules.values() for site in module.sites]
    known = {"exact": defaultdict(list), "moved": defaultdict(list)}
    for site in sites:
        known["exact"][site.key].append(site)
        known["moved"][site.key[1:]].append(site)
    taken: set[Site] = set()
    answers: list[tuple[str, Site | None]] = [("gone", None)] * len(mutants)
    # Those known exactly first, so that none of their sites goes to a neighbour.
    for how in known:
        for i, one in enumerate(mutants):
            left = known[how][one.key if how == "exact" else one.key[1:]]
            left = [site for site in left if site not in taken]
            if how == "moved":
                last = one.where.rpartition(".")[2]
                same = [site for site in left if site.where.rpartition(".")[2] == last]
                left = same or (left if len(left) == 1 and len(one.statement) >= 20 else [])
            if answers[i][1] is None and left:
                best = max(left, key=lambda site: [*map(str.__eq__, site.marks, one.marks)])
                taken.add(best)
                answers[i] = how, best
    return answers


# ---- coverage ----------------------------------------------------------------------------


class Covered:
    """Which test runs which line, read from what ``cover`` wrote."""

    def __init__(self, path: Path):
        self.base = sqlite3.connect(path.resolve().as_uri() + "?mode=ro", uri=True)
        self.digests = dict(self.base.execute("select file, digest from mutants_files"))
        self.rows: dict[str, list[tuple[str, int]]] = {}
        self.tests: dict[str, tuple[float, int, int]] = {}
        self.of_file: dict[str, list[str]] = defaultdict(list)
        query = "select test, seconds, breadth, file_breadth from mutants_tests where passed"
        for test, *numbers in self.base.execute(query):
            self.tests[test] = tuple(numbers)
            self.of_file[file_of(test)].append(test)

    def contexts(self, file: str, lines: set[int]) -> Iterator[str]:
        """Yield the contexts that run any of some lines."""
        if file not in self.rows:
            query = (
                "select context, numbits from line_bits join file on file.id = file_id "
                "join context on context.id = context_id where path = ?"
            )
            rows = self.base.execute(query, (file,)).fetchall()
            self.rows[file] = [(one, int.from_bytes(bits, "little")) for one, bits in rows]
        mask = sum(1 << line for line in lines)
        yield from (context for context, bits in self.rows[file] if bits & mask)

    def runs(self, modules: dict[str, Module], site: Site) -> list[str]:
        """Return the tests that run a site, the most promising first."""
        for places in places_of(modules, site):
            found = {one for place in places.items() for one in self.contexts(*place)}
            direct = self.promising(found & self.tests.keys())
            # What a test file does at import, or in a fixture of its module, all its tests see.
            files = sorted(one.removeprefix("file|") for one in found if "::" not in one)
            others = {test for one in files for test in self.of_file.get(one, [])}
            if direct or others:
                return direct + self.promising(others - set(direct))
        return []

    def promising(self, tests: set[str]) -> list[str]:
        """Return tests in order: files that cover least first, cases of one test in turn."""
        seen: Counter[str] = Counter()
        turns = []
        for test in sorted(tests, key=lambda test: (*self.tests[test][:0:-1], test)):
            function = test.partition("[")[0]
            turns.append((seen[function], test))
            seen[function] += 1
        return [test for _, test in sorted(turns, key=lambda turn: turn[0])]

    def chosen(self, tests: list[str], most: int, seconds: float) -> list[str]:
        """Return the first tests that fit, those of one file together."""
        left, fitting = seconds, []
        for test in tests:
            cost = self.tests[test][0]
            if not fitting or (cost <= left and len(fitting) < most):
                fitting.append(test)
                left -= cost
        return sorted(fitting, key=lambda test: (self.tests[test][2], file_of(test)))


def places_of(modules: dict[str, Module], site: Site) -> Iterator[dict[str, set[int]]]:
    """Yield the lines whose tests are those of a site: the best ones, then wider ones."""
    if site.names is None:
        for first, last in (site.lines, site.header):
            yield {site.file: set(range(first, last + 1))}
        return
    for file, module in [(site.file, modules[site.file]), *modules.items()]:
        names = [one for one in site.names if file == site.file or one in module.imports]
        if lines := {line for one in names for line in module.uses.get(one, ())}:
            yield {file: lines}
    yield {site.file: modules[site.file].inside}


def copied(tree: Path, place: Path) -> Path:
    """Copy a tree without what is made from it; return the copy."""
    shutil.copytree(tree, place, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
    # A mutant of the same length, written in the same second, must not run as it was before.
    command = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash"]
    subprocess.run([*command, str(place / "src")], check=False)
    return place


def environment(tree: Path, scratch: Path, **more: str) -> dict[str, str]:
    """Return the environment of a run in a copy: its code first, this file as a plugin."""
    scratch.mkdir(exist_ok=True)
    outer = ("MUTANTS_", "PYTEST_", "COVERAGE_")
    kept = {name: one for name, one in os.environ.items() if not name.startswith(outer)}
    return kept | {
        "PYTHONPATH": os.pathsep.join(
            (str(tree / "src"), str(Path(__file__).resolve().parent))
        ),
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "COVERAGE_CORE": "ctrace",
        "TMPDIR": str(scratch),
        **more,
    }


def cover(tree: Path, path: Path, tests: list[str], workers: int) -> int:
    """Run the suite in a copy of the tree, each line with its tests; return the exit code."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as place:
        copy, parts, log = copied(tree, Path(place, "tree")), Path(place, "parts"), "outcomes"
        parts.mkdir()
        more = {"MUTANTS_COVER": str(parts / path.name), "MUTANTS_LOG": str(Path(place, log))}
        command = [sys.executable, "-m", "pytest", "-p", "mutants", "-p", "no:cacheprovider"]
        command += ["-q", "--no-header", "--tb=no", "-m", QUICK, "--hypothesis-seed=0"]
        command += (["-n", str(workers)] if workers > 1 else []) + tests
        env = environment(copy, Path(place, "tmp"), **more)
        code = subprocess.run(command, cwd=copy, env=env, check=False).returncode
        if code not in (0, 1):
            print(f"pytest ended with {code}: no coverage was written", file=sys.stderr)
            return code
        path.unlink(missing_ok=True)
        whole = coverage.Coverage(data_file=str(path), config_file=False, messages=False)
        whole.combine([str(parts)], strict=True)
        whole.save()
        files = {file: digest(one.source) for file, one in modules_of(copy).items()}
        keep_tests(path, copy, read_outcomes(Path(place, log)), files)
    return 0


def keep_tests(path: Path, copy: Path, outcomes: dict[str, list[Any]], files: Any) -> None:
    """Add to coverage data the tests, how much they cover, and the state of the files."""
    base = sqlite3.connect(path)
    base.execute("update file set path = substr(path, ?)", (len(f"{copy}/") + 1,))
    base.execute("create table mutants_files (file, digest)")
    base.execute(
        "create table mutants_tests (test primary key, passed, seconds, breadth, file_breadth)"
    )
    base.executemany("insert into mutants_files values (?, ?)", files.items())
    breadth: Counter[str] = Counter()
    unions: dict[tuple[str, int], int] = defaultdict(int)
    query = "select context, file_id, numbits from line_bits join context on id = context_id"
    for context, file, bits in base.execute(query):
        lines = int.from_bytes(bits, "little")
        breadth[context] += lines.bit_count()
        unions[file_of(context), file] |= lines
    of_file: Counter[str] = Counter()
    for (name, _), lines in unions.items():
        of_file[name] += lines.bit_count()
    rows = [
        (test, passed, seconds, breadth[test], of_file[file_of(test)])
        for test, (passed, seconds) in outcomes.items()
    ]
    base.executemany("insert into mutants_tests values (?, ?, ?, ?, ?)", rows)
    base.execute("create index mutants_line_bits on line_bits (file_id)")
    base.commit()
    base.close()
    good = sum(row[1] for row in rows)
    print(f"{good} tests kept, {len(rows) - good} failed or skipped: left out")


def read_outcomes(log: Path) -> dict[str, list[Any]]:
    """Return for each test of a log whether it passed, and its seconds."""
    outcomes: dict[str, list[Any]] = {}
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
        outcome, seconds, test = line.split("\t", 2)
        one = outcomes.setdefault(test, [True, 0.0])
        one[0] &= outcome == "passed"
        one[1] += float(seconds)
    return outcomes


# ---- this file as a plugin of pytest -----------------------------------------------------

STATE: dict[str, Any] = {"coverage": None, "context": ""}


@contextlib.contextmanager
def counted_as(context: str) -> Iterator[None]:
    """Count the lines that run meanwhile to one test, or to one file."""
    before, tool = STATE["context"], STATE["coverage"]
    if tool is None or context == before:
        yield
        return
    STATE["context"] = context
    tool.switch_context(context)
    try:
        yield
    finally:
        STATE["context"] = before
        tool.switch_context(before)


def pytest_load_initial_conftests() -> None:
    """Begin before anything of the package is imported, in every process."""
    if place := os.environ.get("MUTANTS_COVER"):
        rooms = [str(Path.cwd() / "src" / "mercer" / room / "*") for room in ROOMS]
        tool = coverage.Coverage(
            data_file=place,
            data_suffix=os.environ.get("PYTEST_XDIST_WORKER", "main"),
            include=rooms,
            config_file=False,
            messages=False,
        )
        known = ("no-data-collected", "trace-changed", "module-not-measured")
        tool.set_option("run:disable_warnings", list(known))
        tool.start()
        STATE["coverage"] = tool


def pytest_unconfigure() -> None:
    """End, and write what this process has seen."""
    tool, STATE["coverage"] = STATE["coverage"], None
    if tool is not None:
        tool.stop()
        tool.save()


def pytest_runtest_logreport(report: Any) -> None:
    """Write down one outcome, in the process that hears of all tests."""
    log = os.environ.get("MUTANTS_LOG")
    if log and "PYTEST_XDIST_WORKER" not in os.environ:
        with Path(log).open("a", encoding="utf-8") as lines:
            lines.write(f"{report.outcome}\t{report.duration:.4f}\t{report.nodeid}\n")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: Any) -> Iterator[None]:
    """Count what a test runs to it."""
    with counted_as(item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(fixturedef: Any) -> Iterator[None]:
    """Count the fixtures that tests share to their file."""
    here = STATE["context"].removeprefix("file|")
    with counted_as(here if fixturedef.scope == "function" else f"file|{file_of(here)}"):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(collector: Any) -> Iterator[None]:
    """Count what the import of a test file runs to the file."""
    with counted_as(f"file|{file_of(collector.nodeid)}"):
        return (yield)


# ---- runs --------------------------------------------------------------------------------


Ran = tuple[int | None, list[str], str]  # exit code (None: no time left), failed tests, words


def limits() -> None:
    """Bound what a mutant can take from the machine."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))


def run_tests(copy: Path, tests: list[str], seconds: float, stop: bool = True) -> Ran:
    """Run tests in a copy of the tree, until the first failure if ``stop``."""
    place = copy.parent / f"{copy.name}-run"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    log, said = place / "outcomes", place / "said"
    (place / "ids").write_text("\n".join(tests), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "mutants", "-p", "no:cacheprovider"]
    command += ["-p", "no:xdist", "-q", "--no-header", "--tb=line", "--hypothesis-seed=0"]
    command += ["-x"] if stop else []
    with said.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            [*command, f"@{place / 'ids'}"],
            cwd=copy,
            env=environment(copy, place / "tmp", MUTANTS_LOG=str(log)),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=limits,
        )
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)  # its children too
            process.wait()
    outcomes = [line.split("\t", 2) for line in read_lines(log)]
    failed = list(dict.fromkeys(test for how, _, test in outcomes if how == "failed"))
    return code, failed, " | ".join(read_lines(said)[-6:])[-600:]


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file, none if it is not there."""
    return path.read_text("utf-8", "replace").splitlines() if path.exists() else []


def judged(copy: Path, site: Site, tests: list[str], seconds: float) -> dict[str, Any]:
    """Return the verdict on one mutant, put into a copy and taken out again."""
    path, begun = copy / site.file, time.monotonic()
    source = path.read_bytes()
    try:
        path.write_bytes(mutated(source, site) or b"")
        code, failed, said = run_tests(copy, tests, seconds)
    finally:
        path.write_bytes(source)
    verdict = "survived" if code == 0 else "killed" if failed or code else "timeout"
    # Without a single test to blame, all these must do well without the mutant.
    alone = verdict != "survived" and not failed
    if alone and run_tests(copy, tests, seconds)[0] != 0:
        verdict = "error"
    spent = round(time.monotonic() - begun, 1)
    return {"verdict": verdict, "killer": [*failed, ""][0], "seconds": spent} | (
        {"said": said} if alone else {}
    )


def stand(tree: Path, args: argparse.Namespace) -> int:
    """Run all mutants and write what became of them; return the exit code."""
    mutants = [Site(**one) for one in json.loads(args.mutants.read_text())["mutants"]]
    covered = Covered(args.coverage)
    with tempfile.TemporaryDirectory(prefix="mutants-") as place:
        copies = [copied(tree, Path(place, f"tree{i}")) for i in range(args.jobs)]
        modules = modules_of(copies[0])
        state = digest("".join(digest(module.source) for module in modules.values()))
        book = Book(args.result, state)
        work = {}
        for mutant, (how, site) in zip(mutants, found_again(modules, mutants), strict=True):
            one: dict[str, Any] = {"name": mutant.name, "found": how, "verdict": "gone"}
            one |= {"kind": mutant.kind, "where": mutant.where, "statement": mutant.statement}
            one |= {"change": mutant.change, "file": mutant.file, "line": mutant.line}
            if site is not None:
                tests = covered.runs(modules, site)
                picked = covered.chosen(tests, args.tests, args.budget)
                changed = covered.digests.get(site.file) != digest(modules[site.file].source)
                verdict = "stale" if changed else "waiting" if picked else "untested"
                one |= {"verdict": verdict, "tests": len(picked), "of": len(tests)}
                one |= {"file": site.file, "line": site.line, "becomes": site.text}
                if verdict == "waiting":
                    work[mutant.name] = (site, picked)
            book.results[mutant.name] = one
        book.take_earlier(work)
        judge_all(copies, work, args.limit, book)
        settle(copies[0], covered, args.limit, book)
    print(counts([*book.results.values()]))
    return 0


class Book:
    """The results by name, written after each one."""

    def __init__(self, path: Path, state: str):
        self.path, self.state = path, state
        self.results: dict[str, dict[str, Any]] = {}

    def take_earlier(self, work: dict[str, Any]) -> None:
        """Take over what an earlier run has found with the same sources and tests."""
        book = json.loads(self.path.read_text()) if self.path.exists() else {}
        for one in book.get("results", []) if book.get("state") == self.state else []:
            if "seconds" in one and one["name"] in work:
                self.results[one["name"]] = one
                del work[one["name"]]

    def save(self) -> None:
        """Write all results, in one go."""
        rows = [*self.results.values()]
        text = {"summary": counts(rows), "state": self.state, "results": rows}
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(text, indent=1), encoding="utf-8")
        part.replace(self.path)


def judge_all(copies: list[Path], work: dict[str, Any], limit: float, book: Book) -> None:
    """Judge mutants, as many at a time as there are copies."""
    free: queue.Queue[Path] = queue.Queue()
    for copy in copies:
        free.put(copy)

    def judge(name: str) -> dict[str, Any]:
        copy = free.get()
        try:
            return judged(copy, *work[name], limit)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        for number, (name, verdict) in enumerate(
            zip(work, pool.map(judge, work), strict=True), 1
        ):
            one = book.results[name]
            one |= verdict
            book.save()
            words = f"{one['verdict']:<9} {one['file']}:{one['line']} {one['change']}"
            print(f"{number:4d} of {len(work)}  {words}", flush=True)


def settle(copy: Path, covered: Covered, limit: float, book: Book) -> None:
    """Take back the kills by tests that fail, alone, without any mutant too."""
    rows = [one for one in book.results.values() if one.get("killer")]
    killers = sorted({one["killer"] for one in rows})
    seconds = limit + 2 * sum(covered.tests[test][0] for test in killers)
    code, guilty, said = run_tests(copy, killers, seconds, stop=False) if rows else (0, [], "")
    if code not in (0, 1):
        print(f"the killing tests could not be run without a mutant: {said}", file=sys.stderr)
    for one in rows:
        if one["killer"] in guilty:
            one |= {"verdict": "error", "said": "its killer fails without the mutant"}
    book.save()


def counts(results: list[dict[str, Any]]) -> str:
    """Return the verdicts in a line."""
    found = Counter(one["verdict"] for one in results)
    caught = found["killed"] + found["timeout"]
    both = caught + found["survived"]
    words = ", ".join(f"{number} {verdict}" for verdict, number in found.most_common())
    share = f"{caught / both:.1%}" if both else "none"
    return f"{len(results)} mutants: {words}; {share} of {both} caught"


def compare(before: Path, after: Path) -> int:
    """Print two results beside each other; return 1 if one survives that was caught."""
    books = [json.loads(path.read_text())["results"] for path in (before, after)]
    for path, book in zip((before, after), books, strict=True):
        print(f"{path.name}: {counts(book)}")
    earlier = {one["name"]: one for one in books[0]}
    lost = 0
    for one in books[1]:
        pair = (earlier.get(one["name"], {}).get("verdict"), one["verdict"])
        caught = [verdict in ("killed", "timeout") for verdict in pair]
        if None not in pair and caught[0] != caught[1]:
            lost += pair[1] == "survived"
            place = f"{one.get('file', '-')}:{one.get('line', '-')}"
            print(f"{pair[0]} -> {pair[1]}  {place} {one['where']}: {one['change']}")
            print(f"    {one['statement'][:120]}")
    print(f"{lost} caught before and surviving now")
    return int(lost > 0)


def parsed(args: list[str]) -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("cover", help="which test runs which line")
    one.add_argument("coverage", type=Path)
    one.add_argument("--tests", nargs="*", default=[], help="only these paths")
    one.add_argument("-n", type=int, default=2, help="processes")
    two = commands.add_parser("sample", help="draw mutants")
    two.add_argument("out", type=Path)
    two.add_argument("--coverage", type=Path, help="only lines that some test runs")
    two.add_argument("--seed", type=int, default=0)
    two.add_argument("--count", type=int, default=200)
    two.add_argument("--rooms", nargs="*", default=ROOMS)
    three = commands.add_parser("run", help="judge mutants")
    for name in ("--mutants", "--coverage", "--result"):
        three.add_argument(name, type=Path, required=True)
    three.add_argument("--jobs", type=int, default=2)
    three.add_argument("--limit", type=float, default=60, help="seconds a mutant")
    three.add_argument("--tests", type=int, default=40, help="tests a mutant, at most")
    three.add_argument("--budget", type=float, default=20, help="their seconds under coverage")
    for command in (one, two, three):
        command.add_argument(
            "--tree", type=Path, default=Path(__file__).resolve().parent.parent
        )
    four = commands.add_parser("compare", help="two results beside each other")
    four.add_argument("before", type=Path)
    four.add_argument("after", type=Path)
    return parser.parse_args(args)


def main(args: list[str]) -> int:
    """Do one command; return the exit code."""
    asked = parsed(args)
    if asked.command == "compare":
        return compare(asked.before, asked.after)
    tree = asked.tree.resolve()
    if asked.command == "cover":
        return cover(tree, asked.coverage.resolve(), asked.tests, asked.n)
    if asked.command == "run":
        return stand(tree, asked)
    modules = modules_of(tree, tuple(asked.rooms))
    covered = Covered(asked.coverage) if asked.coverage else None
    sites = sample(modules, asked.seed, asked.count, covered)
    kept = [one.name for one in fields(Site) if one.default is MISSING]
    rows = [{name: getattr(site, name) for name in kept} for site in sites]
    asked.out.write_text(json.dumps({"seed": asked.seed, "mutants": rows}, indent=1))
    total = sum(len(module.sites) for module in modules.values())
    print(f"{len(sites)} of {total} sites:", dict(Counter(site.marks[2] for site in sites)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
