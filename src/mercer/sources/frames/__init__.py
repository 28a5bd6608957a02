"""Frames of pandas, polars, pyarrow and duckdb, and what all typed tables share."""
