"""Which test runs which line: a run of the suite that writes it down, and what reads it.

This file is a plugin of pytest: it counts what runs to the test that runs. What a fixture of a
module or the import of a test file runs is counted to the file. Needs the package coverage.
"""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import coverage
import pytest
from mutant_sites import ROOMS, Module, Site, digest, file_of, modules_of

LEFT_OUT = (".git", ".venv*", ".tools", ".hypothesis", "__pycache__", "*.egg-info", ".*_cache")
QUICK = "not slow and not browser"


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
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "mutant_tests",
            "-p",
            "no:cacheprovider",
        ]
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
