"""Faces with scikit-learn's exact signatures: changing the import line is the migration."""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
