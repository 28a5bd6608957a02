"""The command ``mercer tune``: which kernel, and whether one is needed."""

import time as clock
from collections.abc import Callable
from typing import Any

import click

from mercer.cli._options import asked_from, data_argument, data_options, speaking_options
from mercer.cli._stdin import opened
from mercer.cli._voice import Voice

_ROWS = 2000  # that are looked at, at most
_FEW = 200  # that are looked at first where time is short


@click.command()
@data_argument
@click.option("-k", "--components", type=click.IntRange(min=1), default=2, show_default=True)
@click.option(
    "--kernel",
    "kernels",
    multiple=True,
    metavar="KERNEL",
    help="Kernels to try, such as rbf or 'matern(nu=1.5)'; may stand several times.",
)
@click.option("--time", type=float, help="Seconds: fewer rows are looked at.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of random draws.")
@data_options
@speaking_options
def command(
    voice: Voice,
    data: str,
    components: int,
    kernels: tuple[str, ...],
    time: float | None,
    seed: int,
    **options: Any,
) -> None:
    r"""Choose the kernel of a kernel PCA, and say whether a kernel is needed at all.

    Kernels are compared by how well they rebuild rows that were left out.

    \b
    Examples:
      mercer tune rings.csv
      mercer tune spectra.parquet -k 5 --kernel rbf --kernel laplacian --time 20
    """
    import mercer
    from mercer.analysis import assumptions
    from mercer.tables import look, prepared

    began = clock.perf_counter()
    with opened(data) as path, voice.working():
        seen = look(path, asked_from(options))
        made = prepared(seen)
        said = list(assumptions(seen, made))
        table = _table(made, said)
    voice.note(*said)

    def study(rows: int) -> Any:
        return mercer.tune(
            table,
            list(kernels) or None,
            components,
            max_rows=rows,
            random_state=seed,
            standardize=made.standardize,
        )

    with voice.working():
        found = within(study, len(table), time)
    seconds = clock.perf_counter() - began
    voice.note(f"{found.rows:,} rows looked at, {seconds:.1f} s")
    document = {
        "data": {"path": data, "rows": made.shape[0], "columns": made.shape[1]},
        "best": str(found.best),
        "criterion": found.criterion,
        "reason": found.reason,
        "candidates": found.columns(),
        "components": found.n_components,
        "rows": found.rows,
        "standardize": found.standardize,
        "said": said,
        "seconds": seconds,
    }
    voice.result(str(found), document)


def within(study: Callable[[int], Any], rows: int, time: float | None) -> Any:
    """Return what a study of as many rows finds as `time` allows, of all without a limit.

    A study of 200 rows comes first; its duration says how many more can be looked at. The
    work grows with the square of the rows, or less.

    Parameters
    ----------
    study : function
        From a number of rows to a result.
    rows : int
        All rows.
    time : float or None
        Seconds allowed.

    Examples
    --------
    >>> within(lambda rows: rows, 900, None), within(lambda rows: rows, 900, 1e-9)
    (900, 200)
    """
    if time is None or rows <= _FEW:
        return study(rows)
    began = clock.perf_counter()
    found = study(_FEW)
    took = clock.perf_counter() - began
    more = min(rows, int(_FEW * max(time / max(took, 1e-3) - 1, 0.0) ** 0.5))
    return study(more) if more >= 2 * _FEW else found


def _table(made: Any, said: list[str]) -> Any:
    """Return some of the rows as a polars frame, their missing cells filled."""
    import numpy as np
    import polars as pl

    import mercer
    from mercer.cli.fitting._row_judgement import some_rows

    n = made.shape[0]
    step = -(-n // _ROWS)
    table = some_rows(made.rows, step)
    if step > 1:
        said.append(f"{-(-n // step):,} of {n:,} rows are looked at, evenly spread")
    if isinstance(table, np.ndarray):
        table = pl.from_numpy(table, schema=list(made.recipe.names))
    if made.missing != "raise":
        said.append("missing cells are filled by PCA first")
        filler = mercer.PCA(missing=made.missing, standardize=made.standardize)
        table = filler.fit(table).impute(table)
    return table
