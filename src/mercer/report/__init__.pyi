"""The names of `mercer.report`, and where they live."""

from mercer.report._html_report import Report as Report
from mercer.report._report_of_model import PAGES as PAGES
from mercer.report._report_of_model import report as report
from mercer.report._row_labels import MISSING as MISSING
from mercer.report._row_labels import Levels as Levels
from mercer.report.pages._axes_page import PageCost as PageCost
from mercer.report.pages._axes_page import page_cost as page_cost
from mercer.report.panels._data_panels import column_table as column_table
