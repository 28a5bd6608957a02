"""A table as people have it: kinds and roles of its columns, and the rows made of them."""

from mercer.tables._asked import Asked
from mercer.tables._look import Column, Look, look
from mercer.tables._prepared import Prepared, Recipe, prepared, prepared_again

__all__ = [
    "Asked",
    "Column",
    "Look",
    "Prepared",
    "Recipe",
    "look",
    "prepared",
    "prepared_again",
]
