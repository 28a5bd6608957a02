"""The names of `mercer.analysis`, and where they live."""

from mercer.analysis._analyse import Analysis as Analysis
from mercer.analysis._analyse import analyse as analyse
from mercer.analysis._analyse import look as look
from mercer.analysis._analyse import reported as reported
from mercer.analysis._page_of_table import page_of_table as page_of_table
from mercer.analysis._page_of_table import python_rows as python_rows
from mercer.analysis._page_of_table import row_names as row_names
from mercer.analysis._page_of_table import values_of as values_of
from mercer.analysis._ready_rows import adapted as adapted
from mercer.analysis._ready_rows import assumptions as assumptions
from mercer.analysis._ready_rows import fills_of as fills_of
from mercer.analysis._ready_rows import held_whole as held_whole
from mercer.analysis._ready_rows import ready_rows as ready_rows
from mercer.analysis._ready_rows import scales_of as scales_of
