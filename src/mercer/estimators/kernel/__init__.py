"""Kernel PCA and explicit features of kernels."""
