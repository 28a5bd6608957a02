"""Guests: methods of other libraries, with mercer's names and its way of speaking."""

from mercer.guests.factor_analysis import FactorAnalysis

__all__ = ["FactorAnalysis"]
