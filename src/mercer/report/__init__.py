"""One self-contained page about a fit: words, maps, tables, and how they came about.

The package can be called: ``mercer.report(frame, "page.html")`` analyses a table and writes its
page.
"""

import sys
import types
from typing import Any

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)


class _Room(types.ModuleType):
    """A package that is the function of its name, too."""

    def __call__(self, data: Any, path: Any = None, **asked: Any) -> Any:
        """Return the page of a table, see `mercer.analysis.reported`."""
        from mercer.analysis import reported

        return reported(data, path, **asked)


sys.modules[__name__].__class__ = _Room
