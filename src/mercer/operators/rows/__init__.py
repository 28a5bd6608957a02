"""Rows of data, centred and scaled, and the sums that walks over them give."""
