"""Tile programs: kernels run on two sets of rows, measure by measure and step by step."""
