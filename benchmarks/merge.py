"""Join result files of one group that were measured shape by shape on one machine.

``python -m benchmarks.merge OUT FILE...``: cells keep the run they come from; ratios are
within a cell, and so within one run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks import runner, verdict


def merged(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one result with the cells of all; a case measured again replaces the earlier."""
    first = results[0]
    if any(r["machine"]["cpu"] != first["machine"]["cpu"] for r in results):
        raise SystemExit("these results were measured on different machines")
    cells: dict[str, dict[str, Any]] = {}
    for result in results:
        run = {key: result[key] for key in ("started", "commit")}
        cells |= {cell["case"]: {**cell, "run": run} for cell in result["cells"]}
    rivals = list(dict.fromkeys(name for result in results for name in result["rivals"]))
    out = {**first, "rivals": rivals, "cells": list(cells.values())}
    out["summary"] = verdict.summarise(out["cells"])
    return out


if __name__ == "__main__":
    found = [json.loads(Path(name).read_text()) for name in sys.argv[2:]]
    runner.write(merged(found), Path(sys.argv[1]))
