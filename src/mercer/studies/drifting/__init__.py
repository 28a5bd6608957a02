"""Drift: what has changed between the rows of a fit and new ones."""
