"""A table as people have it: kinds and roles of its columns, and the rows made of them."""

from mercer.tables._again import prepared_again
from mercer.tables._asked import Asked
from mercer.tables._look import Column, Look, look
from mercer.tables._prepared import Prepared, prepared
from mercer.tables._recipe import Recipe
from mercer.tables._scaled import in_memory
from mercer.tables._supplementary import Supplementary, supplementary

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
