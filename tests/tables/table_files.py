"""Small files of a table, and the rows that are made of them."""

import numpy as np

from mercer.sources import BlockSource


def written(folder, lines, name="t.csv"):
    """Return the path of a file of these lines."""
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / name


def rows_of(made):
    """Return prepared rows as one array, held or read."""
    if isinstance(made.rows, BlockSource):
        return np.concatenate([np.empty((0, made.shape[1])), *made.rows.blocks(7)])
    return made.rows.to_numpy()
