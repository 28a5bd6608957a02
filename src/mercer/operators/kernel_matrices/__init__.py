"""Kernel matrices: stored, made tile by tile, or seen through landmarks."""
