"""Feature maps for rows that are not numbers: n-grams of texts, neighbourhoods in graphs.

Both count words of an open vocabulary, so every word goes to one of `width` columns by a
fixed checksum: training rows and new rows agree without a dictionary, and two words share a
column with a chance of 1/width.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, final
from zlib import crc32

import numpy as np

from mercer.errors import InputError

_WIDTH = 2**16


def _count_table(rows: Iterable[Counter[int]], width: int) -> Any:
    """Return counts by column as a sparse matrix (n, width)."""
    from scipy.sparse import csr_array

    places, counts, ends = list[int](), list[int](), [0]
    for counter in rows:
        for place in sorted(counter):
            places.append(place)
            counts.append(counter[place])
        ends.append(len(places))
    shape = (len(ends) - 1, width)
    return csr_array((np.array(counts, dtype=np.float64), places, ends), shape=shape)


def _column(word: str, width: int) -> int:
    return crc32(word.encode("utf-8")) % width


@final
@dataclasses.dataclass(frozen=True, repr=False)
class _Ngrams:
    n: int
    width: int

    def __call__(self, rows: Any) -> Any:
        return _count_table((self._counted(text) for text in _texts(rows)), self.width)

    def _counted(self, text: str) -> Counter[int]:
        grams = (text[i : i + self.n] for i in range(len(text) - self.n + 1))
        return Counter(_column(gram, self.width) for gram in grams)

    def __repr__(self) -> str:
        return f"ngrams({self.n}, width={self.width})"


def _texts(rows: Any) -> list[str]:
    """Return texts from a sequence, or from an array with one column."""
    if hasattr(rows, "shape") and len(rows.shape) == 2 and rows.shape[1] == 1:
        rows = rows[:, 0]
    texts = list(rows)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(
                "n-grams are counted in texts",
                got=f"{type(text).__name__} in row {i}",
                fix="pass a sequence of strings",
            )
    return texts


def ngrams(n: int, width: int = _WIDTH) -> _Ngrams:
    """Return φ: text → counts of its runs of n characters, sparse (rows, width).

    Examples
    --------
    >>> from mercer.kernels import FeatureMap, ngrams
    >>> k = FeatureMap(ngrams(2))
    >>> print(k(["banana", "bandana", "apple"]))
    [[9. 7. 0.]
     [7. 8. 0.]
     [0. 0. 4.]]
    """
    _refuse_small("n", n)
    _refuse_small("width", width)
    return _Ngrams(n, width)


@final
@dataclasses.dataclass(frozen=True, repr=False)
class _Neighbourhoods:
    rounds: int
    width: int

    def __call__(self, rows: Any) -> Any:
        return _count_table((self._counted(graph) for graph in rows), self.width)

    def _counted(self, graph: tuple[Sequence[Any], Iterable[tuple[int, int]]]) -> Counter[int]:
        given, edges = graph
        labels = [f"0:{label}" for label in given]
        beside: list[list[int]] = [[] for _ in labels]
        for i, j in edges:
            beside[i].append(j)
            beside[j].append(i)
        found = Counter(_column(label, self.width) for label in labels)
        for step in range(1, self.rounds + 1):
            around = [sorted(labels[j] for j in near) for near in beside]
            words = [
                f"{own}|{'|'.join(near)}" for own, near in zip(labels, around, strict=True)
            ]
            labels = [f"{step}:{crc32(word.encode('utf-8'))}" for word in words]
            found.update(_column(label, self.width) for label in labels)
        return found

    def __repr__(self) -> str:
        return f"neighbourhoods({self.rounds}, width={self.width})"


def neighbourhoods(rounds: int = 2, width: int = _WIDTH) -> _Neighbourhoods:
    """Return φ: graph → counts of its Weisfeiler–Lehman labels, sparse (rows, width).

    A graph is (labels, edges): one label for each vertex, and pairs of vertex numbers. In
    every round a vertex takes as its label its own and the sorted ones around it
    [Shervashidze2011]_; all rounds are counted.

    Examples
    --------
    >>> from mercer.kernels import FeatureMap, neighbourhoods
    >>> path = ("CCO", [(0, 1), (1, 2)])
    >>> ring = ("CCO", [(0, 1), (1, 2), (2, 0)])
    >>> print(FeatureMap(neighbourhoods(1))([path, ring]))
    [[ 8.  7.]
     [ 7. 10.]]
    """
    _refuse_small("rounds", rounds, least=0)
    _refuse_small("width", width)
    return _Neighbourhoods(rounds, width)


def _refuse_small(name: str, value: Any, least: int = 1) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InputError(
            f"`{name}` must be a whole number from {least} on",
            got=f"{name}={value!r}",
            fix=f"pass for example {name}={max(2, least)}",
        )
