"""Rows with missing cells: a model of them, what it expects, and rows handed out completed."""
