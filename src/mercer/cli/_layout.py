"""Rows of cells as lines of text."""

from collections.abc import Sequence


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
