"""Values of the house for the tests: two types that are known, and how values are compared."""

import dataclasses
import math

import numpy as np
import scipy.sparse

from mercer.store import DataDecoder, DataEncoder, Form


@dataclasses.dataclass(frozen=True)
class Point:
    """A known type with a field that has a default."""

    x: object
    y: object = 0


@dataclasses.dataclass(frozen=True)
class Stranger:
    """A type that nobody has named."""

    x: object


FORMS = {"Point": Form.of(Point)}


def there_and_back(value):
    """Write a value and make it again, without a file."""
    encoder = DataEncoder(FORMS)
    made = encoder.encoded(value, "value")
    return DataDecoder(FORMS, encoder.arrays, "some file").whole(made)


def same(a, b):
    """Whether two values have the same types and the same bits."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if a.dtype.kind in "OU":
            return a.dtype == b.dtype and a.shape == b.shape and a.tolist() == b.tolist()
        return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    if scipy.sparse.issparse(a):
        fields = ("data", "indices", "indptr")
        return a.shape == b.shape and all(same(getattr(a, f), getattr(b, f)) for f in fields)
    if dataclasses.is_dataclass(a):
        names = [field.name for field in dataclasses.fields(a)]
        return all(same(getattr(a, name), getattr(b, name)) for name in names)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a), list(b)) and same(list(a.values()), list(b.values()))
    if isinstance(a, float | np.floating):
        return (math.isnan(a) and math.isnan(b)) or (
            a == b and math.copysign(1, a) == math.copysign(1, b)
        )
    return bool(a == b)
