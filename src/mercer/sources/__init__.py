"""Rows from anywhere: arrays in memory, files and streams that are read block by block."""

from mercer.sources._array_blocks import ArrayBlocks
from mercer.sources._base import Source
from mercer.sources._beside import FileColumns, Held, open_columns, other_columns, schema_of
from mercer.sources._blocks import BlockSource, MissingCellError, bad_cell, bad_cell_error
from mercer.sources._count_sums import refuse_sum, sum_of
from mercer.sources._files import fingerprint_of
from mercer.sources._frames import as_frame
from mercer.sources._in_memory import DenseSource, SparseSource, in_memory
from mercer.sources._kept_columns import KeptColumns
from mercer.sources._kept_rows import KeptRows
from mercer.sources._like import like_given
from mercer.sources._mapped import MappedSource
from mercer.sources._missing import counted_error, has_missing, missing_counts, refuse_infinite
from mercer.sources._scan import is_scannable, is_spread, scan
from mercer.sources._spread import PartBlocks, SpreadSource, Work
from mercer.sources._text_cells import NA
from mercer.sources._widened import Widened

__all__ = [
    "NA",
    "ArrayBlocks",
    "BlockSource",
    "DenseSource",
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
    "Widened",
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
