"""Values as plain data; see `mercer.store._form` for what is written."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer.errors import InputError
from mercer.store._form import DEEPEST, SCALARS, SPARSE, Form
from mercer.store._layout import NAMES


class Encoder:
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
