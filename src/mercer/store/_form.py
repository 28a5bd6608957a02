"""Values as plain data and back: what JSON holds, arrays, and types that are known by name.

None, booleans, whole numbers, finite floats, text and lists stand for themselves. Everything
else is an object with the name of its type under "=": {"=": "tuple", "items": [...]},
{"=": "array", "name": "axes"}, {"=": "RBF", "lengthscale": 2.0}. Only the types given to
`Encoder` and `Decoder` are taken; a file holds no path of a class, and nothing is imported.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

DEEPEST = 200  # values inside values
SPARSE = {
    name: getattr(scipy.sparse, name)
    for name in ("csr_array", "csc_array", "csr_matrix", "csc_matrix")
}
ODD = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
SCALARS = {
    kind.__name__: kind
    for kind in (
        np.bool_,
        np.float32,
        np.float64,
        np.int8,
        np.int16,
        np.int32,
        np.int64,
        np.uint8,
        np.uint16,
        np.uint32,
        np.uint64,
    )
}


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
