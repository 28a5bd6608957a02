"""The names of `mercer.tables`, and where they live."""

from mercer.tables._recipe import Recipe as Recipe
from mercer.tables.looking._column_facts import date_order as date_order
from mercer.tables.looking._column_facts import days as days
from mercer.tables.looking._table_judgement import Judgement as Judgement
from mercer.tables.looking._table_look import Column as Column
from mercer.tables.looking._table_look import Look as Look
from mercer.tables.looking._table_look import look as look
from mercer.tables.looking._table_request import Asked as Asked
from mercer.tables.preparing._prepared_rows import Prepared as Prepared
from mercer.tables.preparing._prepared_rows import Supplementary as Supplementary
from mercer.tables.preparing._prepared_rows import prepared as prepared
from mercer.tables.preparing._prepared_rows import supplementary as supplementary
from mercer.tables.preparing._rows_by_recipe import prepared_again as prepared_again
from mercer.tables.preparing._table_scales import in_memory as in_memory
