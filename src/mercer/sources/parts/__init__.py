"""Rows that lie in parts elsewhere: the work goes to them, sums come back."""
