"""Rows from anywhere: arrays in memory, files and streams that are read block by block."""

from mercer.sources._block_source import BlockSource, MissingCellError, bad_cell, bad_cell_error
from mercer.sources._derived_sources import (
    DerivedSource,
    KeptColumns,
    KeptRows,
    MappedSource,
    WidenedSource,
)
from mercer.sources._in_memory import ArrayBlocks, DenseSource, SparseSource, in_memory
from mercer.sources._missing_counts import (
    counted_error,
    has_missing,
    missing_counts,
    refuse_infinite,
)
from mercer.sources._other_columns import (
    FileColumns,
    Held,
    open_columns,
    other_columns,
    schema_of,
)
from mercer.sources._repeat_counts import refuse_sum, sum_of
from mercer.sources._scan import is_scannable, is_spread, scan
from mercer.sources._source import Source
from mercer.sources.files._file_source import fingerprint_of
from mercer.sources.frames._frame_sources import as_frame, like_given
from mercer.sources.parts._distributed_source import PartBlocks, SpreadSource, Work
from mercer.sources.text._text_cells import NA

__all__ = [
    "NA",
    "ArrayBlocks",
    "BlockSource",
    "DenseSource",
    "DerivedSource",
    "FileColumns",
    "Held",
    "KeptColumns",
    "KeptRows",
    "MappedSource",
    "MissingCellError",
    "PartBlocks",
    "Source",
    "SparseSource",
    "SpreadSource",
    "WidenedSource",
    "Work",
    "as_frame",
    "bad_cell",
    "bad_cell_error",
    "counted_error",
    "fingerprint_of",
    "has_missing",
    "in_memory",
    "is_scannable",
    "is_spread",
    "like_given",
    "missing_counts",
    "open_columns",
    "other_columns",
    "refuse_infinite",
    "refuse_sum",
    "scan",
    "schema_of",
    "sum_of",
]
