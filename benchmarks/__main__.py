"""Command line: ``python -m benchmarks dense|sparse|real|all|table``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks import runner, table
from benchmarks.cases import GROUPS, select
from benchmarks.rivals import RIVALS


def parser() -> argparse.ArgumentParser:
    """Make the parser of the options."""
    options = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Time, weigh and check PCA rivals; write JSON; make the docs table.",
    )
    options.add_argument("command", choices=(*GROUPS, "all", "table"))
    options.add_argument("--case", default="*", help="shell pattern of case names")
    options.add_argument("--rivals", nargs="+", choices=tuple(RIVALS), default=None)
    options.add_argument("--quick", action="store_true", help="small shapes, one repeat")
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
    cases = select(given.command, given.case, quick=given.quick)
    if not cases:
        print(f"no {given.command} case matches {given.case!r}", file=sys.stderr)
        return 2
    if given.list:
        print("\n".join(case.name for case in cases))
        return 0
    whole = given.case == "*" and given.rivals is None and not given.quick
    # Only a whole run is a result to keep; every other one is written to an ignored file.
    name = given.command if whole else f"partial-{given.command}"
    out = given.out or runner.FOLDER / "results" / f"{name}.json"
    rivals = given.rivals or list(RIVALS)
    runner.run(cases, rivals, out, quick=given.quick)
    print(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
