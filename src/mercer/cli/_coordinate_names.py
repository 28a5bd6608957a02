"""What the columns of a table of coordinates are called."""

ROW = "row"  # numbers of the rows, counted from 1, where no column names them
GROUP = "group"  # that a model gives to a row
NAME = "name"  # names of the rows of a table that was stored the other way round


def axis_names(k: int) -> list[str]:
    """Return what the axes of every method are called: PC1 to PCk.

    Examples
    --------
    >>> axis_names(2)
    ['PC1', 'PC2']
    """
    return [f"PC{i + 1}" for i in range(k)]
