"""How many components: rules that read a whole spectrum, or the rows themselves."""

from mercer.selection._cross_validation import RankChoice, cross_validated_rank, spectral_rank
from mercer.selection._evidence import minka
from mercer.selection._share import share

__all__ = ["RankChoice", "cross_validated_rank", "minka", "share", "spectral_rank"]
