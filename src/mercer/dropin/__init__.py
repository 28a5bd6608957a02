"""Faces with scikit-learn's exact signatures: changing the import line is the migration."""

from mercer.dropin.incremental_pca import IncrementalPCA
from mercer.dropin.kernel_pca import KernelPCA
from mercer.dropin.nystroem import Nystroem
from mercer.dropin.pca import PCA
from mercer.dropin.scanpy_pca import scanpy_pca
from mercer.dropin.truncated_svd import TruncatedSVD

__all__ = ["PCA", "IncrementalPCA", "KernelPCA", "Nystroem", "TruncatedSVD", "scanpy_pca"]
