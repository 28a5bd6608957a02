"""The docs page and the README block, made from the result files alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import cluster, cluster_model, everyday, kernel, missing, scale
from benchmarks.calibration import page as calibration_page
from benchmarks.calibration.statement import read_cells
from benchmarks.cases import GROUPS

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results"
ROOT = FOLDER.parent
BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"
TITLES = {
    "dense": "Dense factor data",
    "sparse": "Sparse counts",
    "real": "Real data",
}
SECTIONS = {
    "outofcore": "PCA past memory",
    "multivariate": "Counts and categories",
    "manifold": "Maps of graphs",
    "manifold-isomap": "Isomap by landmarks",
    "manifold-unfolding": "Unfolding",
    "report": "The report",
}
ABOUT = {
    "dense": (
        "X has min(100, n, p) Gaussian factors with standard deviations i^-½, orthonormal "
        "loadings, and Gaussian noise of standard deviation 0.01 per entry; every column is "
        "then shifted by `offset` times its population standard deviation."
    ),
    "sparse": (
        "Poisson counts, 5 % full, with log-normal column rates and row depths and 12 "
        "clusters. The rival that sets the target is scikit-learn's default (`sklearn-auto`)."
    ),
    "real": (
        "Fetched by package name with `python -m benchmarks.get_data`; used unscaled. "
        "No target is set here."
    ),
}


def generate(
    results: Path = RESULTS,
    page: Path = ROOT / "docs" / "benchmarks.md",
    readme: Path = ROOT / "README.md",
) -> list[Path]:
    """Write the docs page and, where its markers stand, the README block.

    Returns
    -------
    list of Path
        The files that were written.
    """
    found = {}
    for group in GROUPS:
        path = results / f"{group}.json"
        if path.exists():
            found[group] = json.loads(path.read_text())
    page.parent.mkdir(parents=True, exist_ok=True)
    text = docs_page(found)
    if (results / "everyday.json").exists():
        found_there = json.loads((results / "everyday.json").read_text())
        text += "\n".join(everyday.section(found_there))
    if (results / "kernel.json").exists():
        text += "\n".join(kernel.section(json.loads((results / "kernel.json").read_text())))
    if (results / "scale.json").exists():
        text += "\n".join(scale.section(json.loads((results / "scale.json").read_text())))
    for name, title in SECTIONS.items():
        if (results / f"{name}.json").exists():
            found_there = json.loads((results / f"{name}.json").read_text())
            text += "\n".join(scale.section(found_there, title, name))
    if (results / "missing.json").exists():
        text += "\n".join(missing.section(json.loads((results / "missing.json").read_text())))
    if (results / "cluster.json").exists():
        text += "\n".join(cluster.section(json.loads((results / "cluster.json").read_text())))
    page.write_text(text)
    written = [page, *_forecasts(results, page.with_name("cluster.md"))]
    if cells := read_cells(results / "calibration.json"):
        rates = page.with_name("calibration.md")
        rates.write_text(calibration_page.page(cells))
        written.append(rates)
    text = readme.read_text() if readme.exists() else ""
    if BEGIN in text and END in text:
        before, rest = text.split(BEGIN, 1)
        after = rest.split(END, 1)[1]
        readme.write_text(f"{before}{BEGIN}\n{readme_block(found)}{END}{after}")
        written.append(readme)
    return written


def _forecasts(results: Path, page: Path) -> list[Path]:
    """Write the table of forecasts where its markers stand on the page of the cluster."""
    text = page.read_text() if page.exists() else ""
    if BEGIN not in text or not (results / "cluster.json").exists():
        return []
    found = json.loads((results / "cluster.json").read_text())
    before, rest = text.split(BEGIN, 1)
    lines = "\n".join(cluster_model.block(found))
    page.write_text(f"{before}{BEGIN}\n{lines}\n{END}{rest.split(END, 1)[1]}")
    return [page]


def docs_page(found: dict[str, dict[str, Any]]) -> str:
    """Write out the whole page."""
    parts = [
        "# Benchmarks",
        "",
        "Made by `python -m benchmarks table` from the files in `benchmarks/results`. "
        "Do not edit by hand.",
        "",
        "A fit is *correct* when its largest relative eigenvalue error is at most 1e-6 "
        "(float64) or 1e-4 (float32) against an exact float64 reference. Seconds are the "
        "median of seven fits (under 1 s), three (under 10 s) or one; the rivals take turns in "
        "one process. *Extra memory* is the peak of anonymous resident memory above the level "
        "before `fit`, in a process of its own; rivals are weighed at offset 1 only, since no "
        "offset changes what they allocate. A wrong answer is shown in italics with its error. "
        "`sklearn-tuned` is randomized SVD with 20 power iterations and max(10, k) extra "
        "vectors: shown, but it is nobody's default and sets no target.",
        "",
    ]
    if not found:
        parts += ["No results have been recorded yet.", ""]
    for group, result in found.items():
        parts += _section(group, result)
    return "\n".join(parts)


def _section(group: str, result: dict[str, Any]) -> list[str]:
    return [
        f"## {TITLES[group]}",
        "",
        ABOUT[group],
        "",
        _provenance(group, result),
        "",
        *summary_lines(group, result["summary"]),
        "",
        *([result["remark"], ""] if result.get("remark") else []),
        *verdict_table(result["cells"]),
        "",
        "Seconds of every rival:",
        "",
        *seconds_table(result["cells"], result["rivals"]),
        "",
        "Peak extra memory of every rival in MB:",
        "",
        *memory_table(result["cells"], result["rivals"]),
        "",
        *_left_out(result),
    ]


def _provenance(group: str, result: dict[str, Any]) -> str:
    machine, roofs = result["machine"], result["roofs"]
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    changed = " with uncommitted changes" if result["changed"] else ""
    rates = ", ".join(
        f"{label} {roofs[key]:.0f}"
        for label, key in (
            ("Gram float64", "gram_float64_gflops"),
            ("float32", "gram_float32_gflops"),
            ("product float64", "product_float64_gflops"),
            ("float32", "product_float32_gflops"),
        )
    )
    return (
        f"`benchmarks/results/{group}.json`, {result['started'][:10]}, commit "
        f"{(result['commit'] or 'unknown')[:12]}{changed}. {machine['cpu']}, "
        f"{machine['cores']} cores, load {machine['load_before']:.1f} before. {versions}. "
        f"Roofs measured in the same run, GF/s: {rates}; "
        f"memory copy {roofs['copy_gb_per_s']:.0f} GB/s."
    )


def summary_lines(group: str, summary: dict[str, Any]) -> list[str]:
    """Say in a few lines what held."""
    lines = [f"- mercer was correct in {summary['correct']} of {summary['cells']} cells."]
    if group == "dense":
        worst = summary["gram_worst_ratio"]
        lines += [
            f"- At most 1.25x the time of a correct covariance_eigh: "
            f"{summary['gram_holds']} of {summary['gram_cells']} cells"
            + (f" (largest ratio {worst:.2f})." if worst is not None else "."),
            f"- Other cells: {summary['other_cells']}; at least twice as fast in "
            f"{summary['other_twice_as_fast']}, slower in {summary['other_slower']}.",
            f"- No scikit-learn solver was correct in {summary['unrivalled_cells']} cells.",
        ]
    if group == "sparse":
        speedups = ", ".join(f"{value:.1f}x" for value in summary["sparse_speedups"])
        lines.append(f"- Faster than scikit-learn's default: {speedups}.")
    lines.append(
        f"- Memory within its limit: {_yes(summary['memory_holds'])} "
        f"({summary['memory_measured']} cells measured)."
    )
    return lines


def verdict_table(cells: Sequence[dict[str, Any]]) -> list[str]:
    """One row per cell: ours against the fastest correct scikit-learn solver."""
    head: tuple[str, ...] = (
        "case",
        "path",
        "mercer s",
        "rival",
        "rival s",
        "ratio",
        "target",
        "holds",
    )
    head += ("error", "extra MB", "limit MB", "read floor s", "Gram floor s")
    rows = []
    for cell in cells:
        judged, ours = cell["verdict"], cell["rivals"].get("mercer", {})
        if judged["kind"] == "absent":
            rows.append(
                (cell["case"], ours.get("skipped") or ours.get("failed") or "", *[""] * 11)
            )
            continue
        rows.append(
            (
                cell["case"],
                ours.get("facts", {}).get("solver", ""),
                _number(judged["seconds"]),
                _rival(judged),
                _number(judged["rival_seconds"]),
                _number(judged.get("ratio"), "{:.2f}"),
                judged["target"] or "",
                _yes(judged["holds"]),
                _number(ours["error"], "{:.0e}"),
                _megabytes(judged["peak_bytes"]),
                _megabytes(judged["memory_limit_bytes"]),
                _number(cell["floors"]["read_seconds"]),
                _number(cell["floors"]["gram_seconds"]),
            )
        )
    return _markdown(head, rows)


def _rival(judged: dict[str, Any]) -> str:
    """Name of the rival, with the solver that its "auto" chose."""
    name, solver = judged["rival"], judged["rival_solver"]
    if name is None:
        return "none correct"
    return f"{name} ({solver})" if name.endswith("auto") else str(name)


def seconds_table(cells: Sequence[dict[str, Any]], rivals: Sequence[str]) -> list[str]:
    """One row per cell, one column per rival."""

    def show(record: dict[str, Any]) -> str:
        if record.get("median") is None:
            return "failed" if record.get("failed") else "–"
        text = _number(record["median"])
        return text if record["correct"] else f"*{text} ({record['error']:.0e})*"

    rows = [
        (cell["case"], *(show(cell["rivals"].get(name, {})) for name in rivals))
        for cell in cells
    ]
    return _markdown(("case", *rivals), rows)


def memory_table(cells: Sequence[dict[str, Any]], rivals: Sequence[str]) -> list[str]:
    """One row per cell: bytes of the data and peak extra bytes of every rival."""
    rows = [
        (
            cell["case"],
            _megabytes(cell["floors"]["data_bytes"]),
            *(_megabytes(cell["rivals"].get(name, {}).get("peak_bytes")) for name in rivals),
        )
        for cell in cells
    ]
    return _markdown(("case", "data", *rivals), rows)


def _left_out(result: dict[str, Any]) -> list[str]:
    """Who did not run, and why, each reason once."""
    reasons: dict[str, list[str]] = {}
    for cell in result["cells"]:
        for name, record in cell["rivals"].items():
            reason = record.get("skipped") or record.get("failed")
            if reason:
                reasons.setdefault(f"{name}: {reason}", []).append(cell["case"])
    total = len(result["cells"])
    lines = [
        f"- {reason} ({'every cell' if len(names) == total else f'{len(names)} cells'})"
        for reason, names in sorted(reasons.items())
    ]
    lines += [f"- {name}: {reason}" for name, reason in result["skipped"].items()]
    return ["Left out:", "", *lines, ""] if lines else []


def readme_block(found: dict[str, dict[str, Any]]) -> str:
    """Short lines for the README, each naming its result file."""
    lines = []
    for group, result in found.items():
        lines.append(f"{TITLES[group]} (`benchmarks/results/{group}.json`):")
        lines += ["", *summary_lines(group, result["summary"]), ""]
    return "\n".join(lines) + ("\n" if lines else "")


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join(['---'] + ['--:'] * (len(head) - 1))}|"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


def _number(value: float | None, pattern: str = "{:.3g}") -> str:
    return "" if value is None else pattern.format(value)


def _megabytes(value: float | None) -> str:
    return "" if value is None else f"{value / 1e6:.0f}"


def _yes(value: bool | None) -> str:
    return {True: "yes", False: "**no**", None: ""}[value]
