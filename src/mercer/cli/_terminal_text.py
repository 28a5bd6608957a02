"""Text for a terminal: one line each, nothing that steers it, options as they are typed.

Rows of cells as lines of text.
"""

import re
import shlex
from collections.abc import Sequence

# Parameters of the library that are options of the command line under another name.
_OPTIONS = {
    "columns": "--columns",
    "delimiter": "--delimiter",
    "drop": "--drop",
    "encoding": "--encoding",
    "kernel": "--kernel",
    "key": "--key",
    "memory": "--memory",
    "missing": "--missing",
    "n_components": "-k",
    "na": "--na",
    "random_state": "--seed",
    "time": "--time",
    "tol": "--tol",
}
_FLAGS = {
    "header=True": "--header",
    "header=False": "--no-header",
    "standardize=True": "--standardize yes",
    "standardize=False": "--standardize no",
}
# Words of parameters that are typed after --set.
_SET = re.compile(
    r"(?<!--set )\b(components|indefinite|landmarks|neighbours|sampler|shrinkage|unseen)="
    r"[\"']?([\w.+-]*\w)[\"']?"
)
_GIVEN = re.compile(
    rf"(?<!--set )\b({'|'.join([*_OPTIONS, 'header', 'standardize'])})="
    r"(\"[^\"]*\"|'[^']*'|[\w.+-]*\w)"
)
_BARE = re.compile(rf"`({'|'.join(_OPTIONS)})`|\b({'|'.join(_OPTIONS)})=(?=\s|$)")
_CAPITAL = re.compile(r"^(A|An|The|There|This|Only)(?= )")


def as_typed(text: str) -> str:
    """Return advice to a Python user as advice to somebody at the command line.

    Examples
    --------
    >>> as_typed('allow memory="4.2 MB", or pass header=False')
    'allow --memory 4.2MB, or pass --no-header'
    >>> as_typed('take components="largest"')
    'take --set components=largest'
    """
    text = _SET.sub(r"--set \1=\2", _GIVEN.sub(_option, text))
    return _BARE.sub(lambda found: _OPTIONS[found[1] or found[2]], text)


def given_as_typed(text: str) -> str:
    """Return what was given as it was typed, where it is a parameter and not a cell of a file.

    Examples
    --------
    >>> given_as_typed("memory='much'"), given_as_typed("line 3: 'key=2'")
    ('--memory much', "line 3: 'key=2'")
    """
    found = _GIVEN.match(text)
    return text if found is None else _option(found) + text[found.end() :]


def as_begun(text: str) -> str:
    """Return a sentence as it goes on behind "error: ".

    Examples
    --------
    >>> as_begun("There is no such file.")
    'there is no such file'
    """
    return _CAPITAL.sub(lambda word: word[0].lower(), text, count=1).removesuffix(".")


def _option(found: re.Match[str]) -> str:
    if found[0] in _FLAGS:
        return _FLAGS[found[0]]
    if found[1] not in _OPTIONS:
        return found[0]
    value = found[2].strip("\"'")
    value = value.replace(" ", "") if found[1] == "memory" else value
    return f"{_OPTIONS[found[1]]} {shlex.quote(value)}"


def harmless(text: str) -> str:
    r"""Return text in which only line ends and tabs are left of what steers a terminal.

    Names of files and columns come from anywhere, and may hold escape sequences.

    Examples
    --------
    >>> print(harmless("\x1b[2Jname"))
    \x1b[2Jname
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else _escaped(c) for c in text)


def one_line(text: str) -> str:
    """Return text on one line."""
    return harmless(" ".join(text.splitlines()))


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


def aligned(rows: Sequence[Sequence[str]], *, words: int) -> list[str]:
    r"""Return lines in which cells of a column stand below each other.

    Columns without a letter are left out; the last cell of a row is as long as it likes.

    Parameters
    ----------
    rows : sequence of equally many cells
        The cells.
    words : int
        So many columns stand to the left, as words do; the others to the right, as numbers.

    Examples
    --------
    >>> print("\n".join(aligned([("a", "1", "x"), ("bcd", "10", "y")], words=1)))
    a     1  x
    bcd  10  y
    """
    if not rows:
        return []
    *columns, last = zip(*rows, strict=True)
    kept = []
    for place, cells in enumerate(columns):
        wide = max(map(len, cells))
        if wide:
            kept.append([c.ljust(wide) if place < words else c.rjust(wide) for c in cells])
    return ["  ".join(cells).rstrip() for cells in zip(*kept, last, strict=True)]
