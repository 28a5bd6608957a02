"""One self-contained page about a fit: words, maps, tables, and how they came about."""

from mercer.report._build import report
from mercer.report._condition import column_table
from mercer.report._report import Report

__all__ = ["Report", "column_table", "report"]
