"""Kernels by what they are made of: inner products, distances, counts, or the user's own."""
