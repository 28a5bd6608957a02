"""Values as plain data and back: what JSON holds, arrays, and types that are known by name.

None, booleans, whole numbers, finite floats, text and lists stand for themselves. Everything
else is an object with the name of its type under "=": {"=": "tuple", "items": [...]},
{"=": "array", "name": "axes"}, {"=": "RBF", "lengthscale": 2.0}. Only the types given to
`Encoder` and `Decoder` are taken; a file holds no path of a class, and nothing is imported.

Values as plain data; see `mercer.store._plain_data` for what is written.

Values from plain data; see `mercer.store._plain_data` for what is written.
"""

import dataclasses
import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse

from mercer.arrays import as_objects, is_objects
from mercer.errors import InputError, MercerError
from mercer.store._file_layout import DTYPES, NAMES, damaged

DEEPEST = 200  # values inside values
SPARSE = {
    name: getattr(scipy.sparse, name)
    for name in ("csr_array", "csc_array", "csr_matrix", "csc_matrix")
}
ODD = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
SCALARS = {kind.__name__: kind for kind in (np.dtype(text).type for text in DTYPES.values())}


@dataclasses.dataclass(frozen=True)
class Form:
    """How a value of one type is taken apart into named parts, and made of them again.

    Attributes
    ----------
    kind : type
        Exactly this type; those derived from it are other types.
    apart : function
        From the value to its parts.
    together : function
        From the parts to a value. What it raises refuses the file.
    needed, known : frozenset of str
        Parts that must be there, and all that may be. Others are refused.
    """

    kind: type
    apart: Callable[[Any], dict[str, Any]]
    together: Callable[[dict[str, Any]], Any]
    needed: frozenset[str]
    known: frozenset[str]

    @classmethod
    def of(cls, kind: type) -> "Form":
        """Return the form of a dataclass: its fields. Those with a default may be missing."""
        fields = dataclasses.fields(kind)
        names = [field.name for field in fields]
        none = dataclasses.MISSING
        needed = (f.name for f in fields if f.default is f.default_factory is none)
        return cls(
            kind,
            lambda value: {name: getattr(value, name) for name in names},
            lambda parts: kind(**parts),
            frozenset(needed),
            frozenset(names),
        )


class DataEncoder:
    """Turns values into JSON and a collection of arrays; equal memory is kept once.

    Parameters
    ----------
    forms : mapping
        The types that are known beside the plain ones, by the name that is written.
    """

    def __init__(self, forms: Mapping[str, Form]) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._names = {form.kind: name for name, form in forms.items()}
        self._forms = forms
        self._seen: dict[tuple[Any, ...], str] = {}
        self._held: list[Any] = []  # an address stands for an array only while it lives

    def encoded(self, value: Any, path: str = "", depth: int = 0) -> Any:
        """Return JSON for a value; `path` says where it is, in errors and names of arrays."""
        if depth > DEEPEST:
            raise _refused(path, f"more than {DEEPEST} values inside each other")
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"=": "float", "value": repr(value)}
        if type(value) in (list, tuple):
            items = [
                self.encoded(item, _inside(path, i), depth + 1) for i, item in enumerate(value)
            ]
            return items if type(value) is list else {"=": "tuple", "items": items}
        if type(value) in (set, frozenset):
            items = [self.encoded(item, path, depth + 1) for item in sorted(value, key=repr)]
            return {"=": type(value).__name__, "items": items}
        if type(value) is dict:
            return {"=": "dict", "items": self._pairs(value, path, depth)}
        if isinstance(value, np.generic | np.ndarray | np.dtype | type):
            return self._of_numpy(value, path)
        if type(value) in SPARSE.values():
            return self._of_sparse(value, path)
        name = self._names.get(type(value))
        if name is None:
            raise _refused(path, _named(value))
        parts = self._forms[name].apart(value)
        made = {
            part: self.encoded(inner, _inside(path, part), depth + 1)
            for part, inner in parts.items()
        }
        return {"=": name, **made}

    def _pairs(self, value: dict[Any, Any], path: str, depth: int) -> list[list[Any]]:
        return [
            [
                self.encoded(key, _inside(path, i), depth + 1),
                self.encoded(inner, _inside(path, key if type(key) is str else i), depth + 1),
            ]
            for i, (key, inner) in enumerate(value.items())
        ]

    def _of_numpy(self, value: Any, path: str) -> dict[str, Any]:
        if isinstance(value, np.ndarray):
            return self._of_array(value, path)
        if isinstance(value, np.dtype):
            if value.newbyteorder("<") in NAMES:
                return {"=": "dtype", "value": value.name}
        elif isinstance(value, type):
            if value in SCALARS.values():
                return {"=": "type", "value": value.__name__}
        elif type(value) in SCALARS.values():
            plain = self.encoded(value.item(), path)
            return {"=": "number", "type": type(value).__name__, "value": plain}
        raise _refused(path, _named(value))

    def _of_array(self, array: np.ndarray, path: str) -> dict[str, Any]:
        if type(array) is not np.ndarray:
            raise _refused(path, _named(array))
        if array.dtype.kind in "OU" and all(isinstance(text, str) for text in array.flat):
            return self._of_texts(array, path)
        if is_objects(array):
            items = [self.encoded(thing, _inside(path, i)) for i, thing in enumerate(array)]
            return {"=": "objects", "items": items}
        if array.dtype.newbyteorder("<") not in NAMES:
            raise _refused(path, f"an array of type {array.dtype}")
        # Sums depend on the order of memory in the last digit, so it is kept.
        by_columns = array.ndim > 1 and array.strides[0] < array.strides[-1]
        name = self._kept(array.T if by_columns else array, path)
        return {"=": "array", "name": name, **({"order": "F"} if by_columns else {})}

    def _of_texts(self, array: np.ndarray, path: str) -> dict[str, Any]:
        """Keep texts as bytes and lengths: there may be a name for every column."""
        texts = [str(text).encode("utf-8", "surrogatepass") for text in array.flat]
        made = np.frombuffer(b"".join(texts), np.uint8)
        ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
        return {
            "=": "texts",
            "bytes": self._kept(made, _inside(path, "bytes")),
            "ends": self._kept(ends.reshape(array.shape), _inside(path, "ends")),
            "fixed": array.dtype.kind == "U",
        }

    def _of_sparse(self, value: Any, path: str) -> dict[str, Any]:
        parts = {
            part: self._of_array(getattr(value, part), _inside(path, part))
            for part in ("data", "indices", "indptr")
        }
        return {"=": type(value).__name__, "shape": [int(n) for n in value.shape], **parts}

    def _kept(self, array: np.ndarray, path: str) -> str:
        address = array.__array_interface__["data"][0]
        key = (address, array.shape, array.strides, array.dtype.str)
        if key not in self._seen:
            while path in self.arrays or path == "__metadata__":
                path += "'"
            self._seen[key] = path
            self._held.append(array)
            self.arrays[path] = array
        return self._seen[key]


def _inside(path: str, name: object) -> str:
    return f"{path}/{name}" if path else str(name)


def _named(value: Any) -> str:
    if isinstance(value, type):
        return f"the class {value.__module__}.{value.__qualname__}"
    own = getattr(value, "__qualname__", None)
    if callable(value) and own:
        return f"the function {own}"
    return f"a {type(value).__module__}.{type(value).__qualname__}"


def _refused(path: str, what: str) -> InputError:
    return InputError(
        "This cannot be written to a file: files hold numbers, text and mercer's own values, "
        "no code.",
        got=f"{path or 'the value'}: {what}",
        fix="use a kernel of mercer.kernels by its parameters, and arrays of numbers; what is "
        "code must be given again after loading",
    )


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


class DataDecoder:
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

    def _number(self, parts: dict[str, Any], depth: int) -> Any:
        return SCALARS[parts["type"]](self.decoded(parts["value"], depth + 1))

    def _tuple(self, parts: dict[str, Any], depth: int) -> tuple[Any, ...]:
        return tuple(self.decoded(item, depth + 1) for item in parts["items"])

    def _objects(self, parts: dict[str, Any], depth: int) -> np.ndarray:
        return np.asarray(
            as_objects([self.decoded(item, depth + 1) for item in parts["items"]])
        )

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
_OWN: dict[
    Any, tuple[Callable[[DataDecoder, dict[str, Any], int], Any], set[str], set[str]]
] = {
    "float": (lambda _, parts, __: ODD[parts["value"]], {"value"}, {"value"}),
    "number": (DataDecoder._number, {"type", "value"}, {"type", "value"}),
    "type": (lambda _, parts, __: SCALARS[parts["value"]], {"value"}, {"value"}),
    "dtype": (lambda _, parts, __: np.dtype(SCALARS[parts["value"]]), {"value"}, {"value"}),
    "tuple": (DataDecoder._tuple, {"items"}, {"items"}),
    "set": (lambda *given: set(DataDecoder._tuple(*given)), {"items"}, {"items"}),
    "frozenset": (lambda *given: frozenset(DataDecoder._tuple(*given)), {"items"}, {"items"}),
    "objects": (DataDecoder._objects, {"items"}, {"items"}),
    "dict": (DataDecoder._dict, {"items"}, {"items"}),
    "array": (DataDecoder._array, {"name"}, {"name", "order"}),
    "texts": (DataDecoder._texts, {"bytes", "ends", "fixed"}, {"bytes", "ends", "fixed"}),
}
