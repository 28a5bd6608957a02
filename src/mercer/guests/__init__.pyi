"""The names of `mercer.guests`, and where they live."""

from mercer.guests.factor_analysis import FactorAnalysis as FactorAnalysis
