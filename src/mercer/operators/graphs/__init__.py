"""Graphs of neighbouring rows, and their matrices."""
