"""Options that several commands share, each written once; which methods have use for them."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mercer.cli._usage import UsageError
from mercer.cli._voice import Voice
from mercer.methods import COMMANDS

if TYPE_CHECKING:
    from mercer.tables import Asked

Command = TypeVar("Command", bound=Callable[..., Any])
_READING = ("delimiter", "header", "na", "encoding", "decimal", "key")
_MISSING = ["auto", "em", "ppca", "passive", "level", "fill", "rows", "columns", "error"]
_FAMILIES = ("target", "rows_by", "columns_by", "count")


def _together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _many(*names: str, help: str) -> Callable[[Command], Command]:
    """An option that may stand several times, and hold several words with commas between."""
    return click.option(*names, multiple=True, metavar="COLS", help=help)


def chosen(name: str, words: Sequence[str], help: str) -> Callable[[Command], Command]:
    """An option that is one of some words, the first where nothing is said."""
    kind = click.Choice(list(words))
    return click.option(name, type=kind, default=words[0], show_default=True, help=help)


# The table: a file, or - for stdin. What it is called is completed by the shell.
data_argument = click.argument("data", type=click.Path())

# Which columns are what, and how the file is read: look, plan, fit, tune.
data_options = _together(
    _many("--columns", help="Analyse these: names, patterns (q*), places (3, 5-9)."),
    _many("--drop", help="Leave these out."),
    click.option("--id", "id_", metavar="COL", help="Names of the rows."),
    _many("--color", help="Colour pictures by these; they are not analysed."),
    click.option("--weights", metavar="COL", help="Repeat counts of the rows."),
    _many("--sup", help="Supplementary: correlated with the axes, not analysed."),
    chosen(
        "--missing",
        _MISSING,
        "Missing cells: fill, but leave out columns and rows that lack most (auto), fill (of"
        " categories: passive, level or fill), leave out rows or columns, refuse.",
    ),
    chosen(
        "--standardize",
        ("auto", "yes", "no"),
        "Divide columns by their standard deviation; auto: unless they say they share a unit.",
    ),
    chosen(
        "--dates",
        ("ignore", "number", "error"),
        "Leave dates out, count them in days, refuse them.",
    ),
    chosen(
        "--categorical",
        ("ignore", "encode", "error"),
        "Leave text out, one column of 0 and 1 per category, refuse it.",
    ),
    click.option("--transpose", is_flag=True, help="The file has variables in rows."),
    click.option("--rows", type=click.IntRange(min=2), help="Read only the first rows."),
    click.option("--delimiter", metavar="CHAR", help="Of text; found by default."),
    click.option("--header/--no-header", default=None, help="First line holds names or not."),
    click.option("--na", multiple=True, metavar="WORD", help="Stands for a missing cell too."),
    click.option("--encoding", metavar="NAME", help="Of text; found by default."),
    click.option("--decimal", metavar="MARK", help="Of text: . or , ; found by default."),
    click.option("--key", metavar="NAME", help="Data set of an HDF5, AnnData or Zarr file."),
)

# What tables of counts, categories and groups are made of: look, plan, fit, report.
table_options = _together(
    click.option("--target", metavar="COL", help="Groups of the rows, for lda and kda."),
    _many("--as-category", "category", help="Whole numbers that are codes: mca, famd, mfa."),
    click.option(
        "--group",
        "groups",
        multiple=True,
        metavar="NAME=COLS",
        help="A group of columns, for mfa; once for each group.",
    ),
    click.option("--rows-by", metavar="COL", help="Count a long table: its rows, for ca."),
    click.option("--columns-by", metavar="COL", help="Count a long table: its columns."),
    click.option("--count", metavar="COL", help="How often each line of it counts."),
)


AUTO = "auto"  # the method that fits the table


def method_option(help: str) -> Callable[[Command], Command]:
    """The option that names a method."""
    kind = click.Choice([AUTO, *COMMANDS])
    given: dict[str, Any] = {"type": kind, "default": AUTO, "show_default": True}
    return click.option("--method", metavar="NAME", help=help, **given)


# How it is computed: plan, fit.
method_options = _together(
    method_option("See `mercer methods`."),
    click.option(
        "-k",
        "--components",
        default="auto",
        show_default=True,
        metavar="K",
        help="A number (10), a share of variance (0.9), auto, bic, aic or mle.",
    ),
    click.option("--kernel", metavar="KERNEL", help="Such as rbf, or 'rbf(lengthscale=2)'."),
    click.option("--tol", type=float, help="Relative error allowed in each eigenvalue."),
    click.option("--memory", help="Limit, as 4GB or 4GiB; default: 80 % of what is free."),
    click.option("--time", type=float, help="Limit in seconds."),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        default=0,
        show_default="0",
        help="Of random draws.",
    ),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="Any other parameter of the method.",
    ),
)


# Where rows go: transform, inverse.
rows_out = _together(
    click.option(
        "-o",
        "--output",
        default="-",
        metavar="FILE",
        help=".parquet, .csv, .tsv, .npy, or - for CSV on stdout (the default).",
    ),
    click.option("--force", is_flag=True, help="Replace the output if it is there already."),
)
raw_csv = click.option(
    "--raw-csv", is_flag=True, help="Leave text that a spreadsheet would calculate as it is."
)


def speaking_options(command: Command) -> Command:
    """Add --json, -q, -v and --debug; the command gets a `Voice` as its first argument."""
    import functools

    @click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
    @click.option("-q", "--quiet", is_flag=True, help="No notes on stderr.")
    @click.option("-v", "--verbose", is_flag=True, help="More notes on stderr.")
    @click.option("--debug", is_flag=True, help="Show where in the code an error arose.")
    @functools.wraps(command)
    def spoken(
        *arguments: Any, as_json: bool, quiet: bool, verbose: bool, debug: bool, **options: Any
    ) -> Any:
        voice = Voice(as_json, quiet, verbose, debug)
        with voice.speaking():
            return command(voice, *arguments, **options)

    return spoken  # type: ignore[return-value]


def listed(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns of an option that may hold several with commas between.

    Examples
    --------
    >>> listed(("a,b", "c"))
    ('a', 'b', 'c')
    """
    return tuple(part.strip() for word in words for part in word.split(",") if part.strip())


def _group(word: str) -> tuple[str, tuple[str, ...]]:
    """Return the name and the columns of ``NAME=COL,COL``.

    Examples
    --------
    >>> _group("taste=q1,q2")
    ('taste', ('q1', 'q2'))
    """
    name, _, columns = word.partition("=")
    if not name.strip() or not listed((columns,)):
        raise UsageError(
            "a group of columns is a name, an equals sign and columns",
            got=f"--group {word}",
            fix="write it as --group taste=q1,q2",
        )
    return name.strip(), listed((columns,))


def asked_from(options: dict[str, Any]) -> Any:
    """Take the data options out of `options` and return them as `mercer.tables.Asked`."""
    from mercer.sources import NA
    from mercer.tables import Asked

    reading = {name: options.pop(name) for name in _READING}
    reading = {name: value for name, value in reading.items() if value not in (None, ())}
    if "na" in reading:  # more words, not other ones: an empty cell stays missing
        reading["na"] = tuple(dict.fromkeys((*NA, *reading["na"])))
    columns = listed(options.pop("columns"))
    families = {name: options.pop(name, None) for name in _FAMILIES}
    return Asked(
        **families,
        category=listed(options.pop("category", ())),
        groups=tuple(map(_group, options.pop("groups", ()))),
        columns=columns or None,
        drop=listed(options.pop("drop")),
        id=options.pop("id_"),
        color=listed(options.pop("color")),
        weights=options.pop("weights"),
        sup=listed(options.pop("sup")),
        reading=reading,
        **{
            name: options.pop(name)
            for name in ("missing", "standardize", "dates", "categorical", "transpose", "rows")
        },
    )


# What a method takes of a table, and options that only some methods have.
_TAKES = {
    "numbers": "columns of numbers",
    "counts": "a table of counts",
    "categories": "columns of categories",
    "mixed": "numbers and categories",
    "groups": "numbers and a column of groups",
}
# Options, and the kinds of tables they belong to.
_OWN = {
    "target": ("--target", ("groups",)),
    "category": ("--as-category", ("categories", "mixed")),
    "groups": ("--group", ("mixed",)),
    "rows_by": ("--rows-by", ("counts",)),
    "columns_by": ("--columns-by", ("counts",)),
    "count": ("--count", ("counts",)),
}
_FIXES = {
    "target": "for colours take --color; groups are for --method lda and kda",
    "category": "categories are for --method mca, famd and mfa",
    "groups": "groups of columns are for --method mfa",
}


def asked_for(method: str, asked: "Asked", model: Any = None) -> "Asked":
    """Return the user's word with the kind of table that a method takes.

    Options that the method has no use for are refused as wrong usage.

    Parameters
    ----------
    method : str
        Its name.
    asked : Asked
        The user's word.
    model : estimator or None
        Of that method, whose parameters may say what an option would.
    """
    if method == AUTO:
        return _for_any(asked)
    from mercer.analysis import scales_of

    table, also = COMMANDS[method].takes, COMMANDS[method].also
    for name, (option, tables) in _OWN.items():
        if getattr(asked, name) and table not in tables:
            raise UsageError(
                f"{method} takes {_TAKES[table]}, and has no use for {option}",
                got=f"{option} with --method {method}",
                fix=_FIXES.get(name, "tables are counted for --method ca"),
            )
    grouped = "groups" in also and getattr(model, "groups", None) is None
    if grouped and not asked.groups:
        raise UsageError(
            f"{method} needs groups of columns",
            got=f"--method {method} without --group",
            fix="name each: --group taste=q1,q2,q3 --group smell=q4,q5",
        )
    if asked.groups and not grouped:
        raise UsageError(
            f"{method} has no groups of columns",
            got=f"--group with --method {method}",
            fix=_FIXES["groups"],
        )
    if asked.weights and "weights" not in also:
        raise UsageError(
            f"{method} does not weigh rows",
            got=f"--weights {asked.weights} with --method {method}",
            fix="leave --weights out",
        )
    if asked.standardize == "yes" and scales_of(method) == "none":
        raise UsageError(
            f"units make no difference to {method}",
            got=f"--standardize yes with --method {method}",
            fix="leave --standardize out",
        )
    if asked.count and not asked.crossed:
        raise UsageError(
            "--count belongs to a table that is counted",
            got="--count without --rows-by and --columns-by",
            fix="name the two columns, or repeat counts of rows by --weights",
        )
    # What a look at the table has said already holds.
    return asked if asked.table in _SQUARE else dataclasses.replace(asked, table=table)


_SQUARE = ("distances", "correlations")


def _for_any(asked: "Asked") -> "Asked":
    """Return the user's word for the method that fits the table."""
    if asked.count and not asked.crossed:
        return dataclasses.replace(asked, table=AUTO, weights=asked.weights or asked.count)
    return dataclasses.replace(asked, table=AUTO)
