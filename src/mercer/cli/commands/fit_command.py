"""The command ``mercer fit``: look, plan, fit, say what was found, write what was asked."""

import time
from typing import Any

import click

from mercer.cli._options import (
    asked_from,
    data_argument,
    data_options,
    method_options,
    raw_csv,
    speaking_options,
    table_options,
)
from mercer.cli._voice import COMPUTATION, Voice


@click.command()
@data_argument
@click.option("-o", "--output", metavar="MODEL", help="Write the model: NAME.mercer.")
@click.option(
    "--scores",
    metavar="FILE",
    help="Write coordinates: .parquet, .csv, .tsv, .npy, or - for CSV on stdout.",
)
@click.option(
    "--columns-out",
    metavar="FILE",
    help="Write coordinates of columns or categories: .parquet, .csv, .tsv, .npy.",
)
@click.option("--checkpoint", metavar="FILE", help="Keep the sums here; go on from them.")
@click.option("--force", is_flag=True, help="Replace outputs that are there already.")
@click.option("--strict", is_flag=True, help="Exit 1 where --tol is missed.")
@raw_csv
@data_options
@table_options
@method_options
@speaking_options
def command(voice: Voice, data: str, **options: Any) -> None:
    r"""Fit a method to a table, and say what was found.

    Nothing is written unless -o, --scores or --columns-out says where. Coordinates are
    called PC1, PC2, … for every method; before them stand the id column (or `row`, counted
    from 1) and the columns of --color.

    \b
    Examples:
      mercer fit survey.csv
      mercer fit survey.csv -o survey.mercer --scores map.csv --color region
      mercer fit cells.parquet -k 50 --checkpoint cells.ckpt -o cells.mercer
      mercer fit counts.csv --method ca --scores rows.csv --columns-out cols.csv
      mercer fit rings.csv --method kernel-pca --kernel rbf -k 2 --scores - | head
      zcat big.csv.gz | mercer fit - --json | jq .ratio
    """
    from mercer.cli.fitting import _fit_run as _job

    names = ("output", "scores", "columns_out", "checkpoint", "force", "strict", "raw_csv")
    wanted = {name: options.pop(name) for name in names}
    if wanted["scores"] == "-" and voice.as_json:
        raise click.UsageError("--json and --scores - would both write to stdout.")
    began = time.perf_counter()
    _job.run(voice, data, asked_from(options), options, wanted)
    if voice.verbose:
        voice.note(f"{time.perf_counter() - began:.2f} s in all")
    if wanted["strict"] and voice.missed:
        raise SystemExit(COMPUTATION)
