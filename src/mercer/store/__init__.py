"""Files of plain data: a description in JSON and named arrays, checked to the last byte.

The room knows no estimator. What a description means is known by the one that wrote it.
"""

from mercer.store._file_layout import VERSION
from mercer.store._file_reading import read
from mercer.store._file_replacement import path_of, replacing, write_all
from mercer.store._file_writing import is_ours, must_be_ours, write
from mercer.store._plain_data import DataDecoder, DataEncoder, Form

__all__ = [
    "VERSION",
    "DataDecoder",
    "DataEncoder",
    "Form",
    "is_ours",
    "must_be_ours",
    "path_of",
    "read",
    "replacing",
    "write",
    "write_all",
]
