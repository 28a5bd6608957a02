"""Values from plain data; see `mercer.store._form` for what is written."""

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mercer.errors import InputError, MercerError
from mercer.store._form import DEEPEST, ODD, SCALARS, SPARSE, Form
from mercer.store._layout import damaged

# What constructors raise when the parts do not fit; a file must not show its reader more.
_UNFIT = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


class Decoder:
    """Makes values of what `Encoder` has written.

    Parameters
    ----------
    forms : mapping
        The types that are known, by the name that is written.
    arrays : mapping of arrays
        Those of the file. Each must be used by some value.
    path : str
        The file, for errors.
    """

    def __init__(
        self, forms: Mapping[str, Form], arrays: Mapping[str, np.ndarray], path: str
    ) -> None:
        self._forms, self._arrays, self._path = forms, arrays, path
        self._used: set[str] = set()

    def whole(self, given: Any) -> Any:
        """Return the value; refuse a file with arrays that belong to none."""
        try:
            value = self.decoded(given)
        except _UNFIT as error:
            if isinstance(error, InputError) and error.got.startswith(f"{self._path}:"):
                raise
            why = error.what if isinstance(error, MercerError) else str(error)
            raise damaged(self._path, f"a value cannot be made: {why[:200]}") from None
        for name in sorted(set(self._arrays) - self._used):
            raise damaged(self._path, f"array {name[:80]!r} belongs to no value")
        return value

    def decoded(self, given: Any, depth: int = 0) -> Any:
        """Return the value that JSON stands for."""
        if depth > DEEPEST:
            raise damaged(self._path, "too many values inside each other")
        if given is None or type(given) in (bool, int, float, str):
            return given
        if type(given) is list:
            return [self.decoded(item, depth + 1) for item in given]
        name = given.get("=")
        parts = {part: inner for part, inner in given.items() if part != "="}
        own = _OWN.get(name)
        if own is not None:
            make, needed, known = own
            if not needed <= set(parts) <= known:
                raise damaged(self._path, f"a {name} has the parts {sorted(parts)[:5]}")
            return make(self, parts, depth)
        if name in SPARSE:
            return self._sparse(name, parts)
        if name not in self._forms:
            raise damaged(self._path, f"the type {str(name)[:40]!r} is not known")
        form = self._forms[name]
        odd = (set(parts) - form.known) | (form.needed - set(parts))
        if odd:
            raise damaged(self._path, f"{name} lacks, or has no place for, {sorted(odd)[:5]}")
        return form.together(
            {part: self.decoded(inner, depth + 1) for part, inner in parts.items()}
        )

    def _float(self, parts: dict[str, Any], _depth: int) -> float:
        return ODD[parts["value"]]

    def _number(self, parts: dict[str, Any], depth: int) -> Any:
        return SCALARS[parts["type"]](self.decoded(parts["value"], depth + 1))

    def _type(self, parts: dict[str, Any], _depth: int) -> Any:
        return SCALARS[parts["value"]]

    def _dtype(self, parts: dict[str, Any], _depth: int) -> Any:
        return np.dtype(SCALARS[parts["value"]])

    def _tuple(self, parts: dict[str, Any], depth: int) -> tuple[Any, ...]:
        return tuple(self.decoded(item, depth + 1) for item in parts["items"])

    def _dict(self, parts: dict[str, Any], depth: int) -> dict[Any, Any]:
        pairs = [(key, inner) for key, inner in parts["items"]]
        return {self.decoded(k, depth + 1): self.decoded(v, depth + 1) for k, v in pairs}

    def _array(self, parts: dict[str, Any], _depth: int) -> np.ndarray:
        array = self._taken(parts["name"])
        return array.T if parts.get("order") == "F" else array

    def _texts(self, parts: dict[str, Any], _depth: int) -> np.ndarray:
        data, ends = self._taken(parts["bytes"]).tobytes(), self._taken(parts["ends"])
        starts = [0, *ends.ravel().tolist()]
        if ends.dtype != np.int64 or starts != sorted(starts) or starts[-1] != len(data):
            raise damaged(self._path, "texts that do not lie one behind the other")
        texts = [
            data[start:end].decode("utf-8", "surrogatepass")
            for start, end in itertools.pairwise(starts)
        ]
        return np.array(texts, dtype=str if parts["fixed"] else object).reshape(ends.shape)

    def _sparse(self, name: str, parts: dict[str, Any]) -> Any:
        data, indices, indptr = (
            self._array(parts[part], 0) for part in ("data", "indices", "indptr")
        )
        made = SPARSE[name]((data, indices, indptr), shape=tuple(parts["shape"]))
        made.check_format(full_check=True)  # products read memory at these places unchecked
        return made

    def _taken(self, name: str) -> np.ndarray:
        self._used.add(name)
        return self._arrays[name]


# How each plain type is made, the parts it needs, and those it may have.
_OWN: dict[Any, tuple[Callable[[Decoder, dict[str, Any], int], Any], set[str], set[str]]] = {
    "float": (Decoder._float, {"value"}, {"value"}),
    "number": (Decoder._number, {"type", "value"}, {"type", "value"}),
    "type": (Decoder._type, {"value"}, {"value"}),
    "dtype": (Decoder._dtype, {"value"}, {"value"}),
    "tuple": (Decoder._tuple, {"items"}, {"items"}),
    "dict": (Decoder._dict, {"items"}, {"items"}),
    "array": (Decoder._array, {"name"}, {"name", "order"}),
    "texts": (Decoder._texts, {"bytes", "ends", "fixed"}, {"bytes", "ends", "fixed"}),
}
