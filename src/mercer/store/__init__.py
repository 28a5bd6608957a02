"""Files of plain data: a description in JSON and named arrays, checked to the last byte.

The room knows no estimator. What a description means is known by the one that wrote it.
"""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
