"""How many components: rules that read a whole spectrum."""

from mercer.selection._evidence import minka
from mercer.selection._share import share

__all__ = ["minka", "share"]
