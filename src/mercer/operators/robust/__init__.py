"""Medians, signs and scales that rows far out do not move."""
