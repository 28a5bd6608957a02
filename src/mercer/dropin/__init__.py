"""Faces with scikit-learn's exact signatures: changing the import line is the migration."""

from mercer.dropin.kernel_pca import KernelPCA
from mercer.dropin.nystroem import Nystroem
from mercer.dropin.pca import PCA

__all__ = ["PCA", "KernelPCA", "Nystroem"]
