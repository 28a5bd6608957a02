"""Command line: ``python -m benchmarks dense|sparse|real|all|kernel|scale|...|table``."""

from __future__ import annotations

import argparse
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from benchmarks import (
    auto_cost,
    calibration,
    cluster,
    command_line,
    everyday,
    factor_analysis,
    guests,
    kernel,
    manifold,
    manifold_isomap,
    manifold_unfolding,
    missing,
    multivariate,
    outofcore,
    report,
    runner,
    scale,
    table,
    versions,
)
from benchmarks.cases import GROUPS, select
from benchmarks.missing_rivals import FILLERS
from benchmarks.rivals import RIVALS

# Those that take a result file and a pattern of cases, and nothing else.
NAMED: dict[str, Any] = {
    "auto_cost": auto_cost,
    "calibration": calibration,
    "cluster": cluster,
    "command_line": command_line,
    "factor_analysis": factor_analysis,
    "guests": guests,
    "kernel": kernel,
    "manifold": manifold,
    "manifold-isomap": manifold_isomap,
    "manifold-unfolding": manifold_unfolding,
    "multivariate": multivariate,
    "outofcore": outofcore,
    "report": report,
    "scale": scale,
}
OTHERS = ("all", *NAMED, "everyday", "missing", "table", "versions")


def parser() -> argparse.ArgumentParser:
    """Make the parser of the options."""
    options = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Time, weigh and check PCA rivals; write JSON; make the docs table.",
    )
    options.add_argument("command", choices=(*GROUPS, *OTHERS))
    options.add_argument("--case", default="*", help="shell pattern of case names")
    options.add_argument("--rivals", nargs="+", choices=(*RIVALS, *FILLERS), default=None)
    options.add_argument("--quick", action="store_true", help="small shapes, one repeat")
    options.add_argument(
        "--weigh-ours-only", action="store_true", help="do not watch the memory of rivals"
    )
    options.add_argument(
        "--limit", type=float, default=missing.LIMIT, help="seconds of a slow rival of missing"
    )
    options.add_argument(
        "--against", type=Path, default=None, help="tree of another version, for versions"
    )
    options.add_argument("--seed", type=int, default=0, help="of the cells of everyday")
    options.add_argument(
        "--count", type=int, default=60, help="how many cells of everyday are drawn"
    )
    options.add_argument("--list", action="store_true", help="only name the cases")
    options.add_argument("--out", type=Path, default=None, help="JSON result file")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 when done, 2 when no case matches."""
    given = parser().parse_args(arguments)
    if given.command == "table":
        for path in table.generate():
            print(path)
        return 0
    if given.list and given.command in (*NAMED, "missing", "versions"):
        cases = {**NAMED, "versions": versions}.get(given.command, missing).CASES
        names = [getattr(case, "name", case) for case in cases]
        print("\n".join(name for name in names if fnmatch(name, given.case)))
        return 0
    if given.command in NAMED:
        out = given.out or runner.FOLDER / "results" / f"{given.command}.json"
        NAMED[given.command].run(out, given.case)
        return 0
    if given.command == "versions":
        if given.against is None:
            print(
                "versions needs --against TREE, a folder with another version", file=sys.stderr
            )
            return 2
        out = given.out or runner.FOLDER / "results" / "versions.json"
        versions.run(out, given.case, given.against)
        return 0
    if given.command == "everyday":
        return _everyday(given)
    if given.command == "missing":
        name = "partial-missing.json" if given.quick else "missing.json"
        out = given.out or runner.FOLDER / "results" / name
        missing.run(out, given.case, names=given.rivals, quick=given.quick, limit=given.limit)
        return 0
    cases = select(given.command, given.case, quick=given.quick)
    if not cases:
        print(f"no {given.command} case matches {given.case!r}", file=sys.stderr)
        return 2
    if given.list:
        print("\n".join(case.name for case in cases))
        return 0
    rivals = [name for name in given.rivals or RIVALS if name in RIVALS]
    for group in GROUPS:
        chosen = [case for case in cases if case.group == group]
        if chosen:
            out, weigh = _out(given, group), not given.weigh_ours_only
            print(runner.run(chosen, rivals, out, quick=given.quick, weigh_rivals=weigh))
    return 0


def _everyday(given: argparse.Namespace) -> int:
    """Measure or list the everyday cells of a seed."""
    if given.list:
        print("\n".join(cell.name for cell in everyday.drawn(given.seed, given.count)))
        return 0
    whole = given.case == "*" and given.count >= 60
    name = "everyday.json" if whole else "partial-everyday.json"
    out = given.out or runner.FOLDER / "results" / name
    everyday.run(out, given.case, given.seed, given.count)
    return 0


def _out(given: argparse.Namespace, group: str) -> Path:
    """Return the result file of a group; only a whole run is a result to keep."""
    if given.out is not None:
        out: Path = given.out
        return out.with_stem(f"{out.stem}-{group}") if given.command == "all" else out
    whole = given.case == "*" and given.rivals is None and not given.quick
    return runner.FOLDER / "results" / f"{group if whole else f'partial-{group}'}.json"


if __name__ == "__main__":
    sys.exit(main())
