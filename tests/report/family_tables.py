"""Small real tables and harmful names, for the pages of several methods."""

from pathlib import Path

import numpy as np
import pandas as pd

DATA = Path(__file__).parents[1] / "data"


def poison():
    """Return 55 guests: two numbers and thirteen categories."""
    return pd.read_csv(DATA / "poison.csv", index_col=0)


def symptoms():
    """Return the categories of `poison` alone."""
    return poison().drop(columns=["Age", "Time"])


def groups_of_poison():
    """Return the columns of `poison` in three groups."""
    names = list(poison().columns)
    return {"who": names[:4], "ill": names[4:9], "food": names[9:]}


def iris():
    """Return measurements and species."""
    frame = pd.read_csv(DATA / "iris.csv", index_col=0)
    return frame.iloc[:, :4], frame["Species"].to_numpy()


def hair():
    """Return counts of eye by hair colour."""
    return pd.read_csv(DATA / "hair_eye_592.csv", index_col=0)


def decathlon():
    """Return ten results of 41 athletes."""
    return pd.read_csv(DATA / "decathlon.csv", index_col=0).iloc[:, :10]


def said(page):
    """Return every word of a page's verdict and sections."""
    return " ".join([*page.verdict, *(word for s in page.sections for word in s.words)])


def section(page, key):
    """Return the section of that key."""
    return next(s for s in page.sections if s.key == key)


def parts(page, key, kind):
    """Return the parts of one kind of a section, by the name of the kind."""
    return [p for p in section(page, key).parts if type(p).__name__ == kind]


def renamed(frame, payloads):
    """Return a frame whose columns and text cells are payloads, and rows of these names."""
    out = frame.copy()
    for j, name in enumerate(frame.columns):
        if out[name].dtype.kind not in "fiu":
            levels = {v: payloads[(5 * j + i) % len(payloads)] for i, v in
                      enumerate(sorted(set(out[name])))}  # fmt: skip
            out[name] = out[name].map(levels)
    out.columns = [payloads[(3 * j + 1) % len(payloads)] + str(j) for j in range(len(out.T))]
    out.index = [payloads[i % len(payloads)] for i in range(len(out))]
    return out


def eta2(values, groups):
    """Return the squared correlation ratio of numbers with groups."""
    values = values - values.mean()
    means = [values[groups == g].mean() ** 2 * np.sum(groups == g) for g in np.unique(groups)]
    return float(np.sum(means) / np.sum(values**2))
