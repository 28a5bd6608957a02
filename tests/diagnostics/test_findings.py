import dataclasses
import json
from pathlib import Path

import pytest

from mercer.diagnostics import CODES, Finding
from mercer.diagnostics.health_checks._findings import listed

DOCS = Path(__file__).resolve().parents[2] / "docs" / "warnings.md"


def test_three_lines_one_line_and_plain():
    finding = Finding("M104", "units", "mass: 99 %", "standardise")
    assert str(finding).splitlines() == [
        "M104 units",
        "  got: mass: 99 %",
        "  fix: standardise",
    ]
    assert finding.line == "M104 units: mass: 99 %"
    assert Finding(**json.loads(json.dumps(finding.plain()))) == finding
    with pytest.raises(dataclasses.FrozenInstanceError):
        finding.code = "M999"


def test_every_code_has_one_line_in_the_docs():
    lines = DOCS.read_text(encoding="utf-8").splitlines()
    for code in CODES:
        assert sum(line.startswith(f"| {code} |") for line in lines) == 1, code
    assert {line[2:6] for line in lines if line.startswith("| M")} == set(CODES)


def test_names_are_listed():
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed([str(i) for i in range(1007)], 2) == "0, 1 and 1,005 more"
