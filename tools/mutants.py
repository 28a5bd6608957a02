"""Mutants: small faults put into the mathematics, to show that the test suite catches them.

    python tools/mutants.py cover COVFILE --tree DIR [--tests PATH ...]
    python tools/mutants.py sample OUT.json --tree DIR [--coverage COVFILE] [--seed 0]
    python tools/mutants.py run --tree DIR --mutants OUT.json --coverage COVFILE --result R.json
    python tools/mutants.py compare BEFORE.json AFTER.json

``cover`` runs the suite once and keeps which test runs which line. ``sample`` draws mutants,
every kind of change equally often. ``run`` puts each into a copy of the tree, runs the tests of
the changed line that cover least else, and writes what became of it; a run that was cut short
goes on where it stopped. ``compare`` lays two results beside each other.

A tree is never changed: every command works on a copy, so it may be edited meanwhile.

Verdicts: killed; timeout (also a kill: the tests pass in time without the mutant); survived;
untested (no test of the coverage runs the line); gone (the tree has no such statement); stale
(the file changed after ``cover``); error (the tests fail or take too long without the mutant);
waiting (a run cut short). Lines that run at import belong to the tests of the functions that
use the names defined there.
"""

import argparse
import contextlib
import json
import os
import queue
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from mutant_sites import ROOMS, Site, digest, found_again, modules_of, mutated, sample
from mutant_tests import Covered, copied, cover, environment

MEMORY = 16 << 30  # address space of a run: a mutant may ask for all there is
FILE_SIZE = 4 << 30

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
    command = [sys.executable, "-m", "pytest", "-p", "mutant_tests", "-p", "no:cacheprovider"]
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
