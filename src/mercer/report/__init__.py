"""One self-contained page about a fit: words, maps, tables, and how they came about."""

from mercer.report._html_report import Report
from mercer.report._page_cost import PageCost, page_cost
from mercer.report._report_of_model import PAGES, report
from mercer.report._row_labels import MISSING, Levels
from mercer.report.panels._data_panels import column_table

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
