"""How many components: rules that read a spectrum, two Gram matrices, or a small table."""

from mercer.selection._bicross import BiCross, Half, bi_cross_validation, choice_seconds
from mercer.selection._choice import Choice, Rule, choice_of, spectrum_rules
from mercer.selection._kernel_axis_count import (
    Excess,
    beyond_shuffled,
    choice_by_matrix,
    choice_by_shuffling,
    kernel_shares,
    white_edge,
)
from mercer.selection._likelihood import aic, bic, log_likelihoods, minka, ppca_parameters
from mercer.selection._parallel_nulls import (
    gaussian_null,
    noise_quantiles,
    permutation_null,
    sign_flip,
)
from mercer.selection._rank_cross_validation import (
    RankChoice,
    cross_validated_rank,
    spectral_rank,
)
from mercer.selection._thresholds import broken_stick, gavish_donoho, kaiser, noise_edge, share
from mercer.selection._variances import Variances

__all__ = [
    "BiCross",
    "Choice",
    "Excess",
    "Half",
    "RankChoice",
    "Rule",
    "Variances",
    "aic",
    "beyond_shuffled",
    "bi_cross_validation",
    "bic",
    "broken_stick",
    "choice_by_matrix",
    "choice_by_shuffling",
    "choice_of",
    "choice_seconds",
    "cross_validated_rank",
    "gaussian_null",
    "gavish_donoho",
    "kaiser",
    "kernel_shares",
    "log_likelihoods",
    "minka",
    "noise_edge",
    "noise_quantiles",
    "permutation_null",
    "ppca_parameters",
    "share",
    "sign_flip",
    "spectral_rank",
    "spectrum_rules",
    "white_edge",
]
