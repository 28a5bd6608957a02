"""Files of plain data: a description in JSON and named arrays, checked to the last byte.

The room knows no estimator. What a description means is known by the one that wrote it.
"""

from mercer.store._decode import Decoder
from mercer.store._encode import Encoder
from mercer.store._form import Form
from mercer.store._layout import VERSION
from mercer.store._read import read
from mercer.store._replace import path_of, replacing, write_all
from mercer.store._write import is_ours, must_be_ours, write

__all__ = [
    "VERSION",
    "Decoder",
    "Encoder",
    "Form",
    "is_ours",
    "must_be_ours",
    "path_of",
    "read",
    "replacing",
    "write",
    "write_all",
]
