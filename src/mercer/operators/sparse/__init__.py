"""Sparse matrices: their blocks, their Gram matrix, their inverse."""
