"""One self-contained page about a fit: words, maps, tables, and how they came about."""

from mercer.report._build import PAGES, report
from mercer.report._condition import column_table
from mercer.report._cost import PageCost, page_cost
from mercer.report._given import MISSING
from mercer.report._levels import Levels
from mercer.report._report import Report

__all__ = [
    "MISSING",
    "PAGES",
    "Levels",
    "PageCost",
    "Report",
    "column_table",
    "page_cost",
    "report",
]
