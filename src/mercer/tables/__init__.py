"""A table as people have it: kinds and roles of its columns, and the rows made of them."""

from mercer.tables._recipe import Recipe
from mercer.tables.looking._table_look import Column, Look, look
from mercer.tables.looking._table_request import Asked
from mercer.tables.preparing._prepared_rows import Prepared, prepared
from mercer.tables.preparing._rows_by_recipe import prepared_again
from mercer.tables.preparing._supplementary import Supplementary, supplementary
from mercer.tables.preparing._table_scales import in_memory

__all__ = [
    "Asked",
    "Column",
    "Look",
    "Prepared",
    "Recipe",
    "Supplementary",
    "in_memory",
    "look",
    "prepared",
    "prepared_again",
    "supplementary",
]
