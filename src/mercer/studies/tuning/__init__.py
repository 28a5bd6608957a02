"""Tuning: which kernel, and whether one is needed."""
