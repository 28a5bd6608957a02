"""The names of `mercer.dropin`, and where they live."""

from mercer.dropin._scanpy_pca import scanpy_pca as scanpy_pca
from mercer.dropin.incremental_pca import IncrementalPCA as IncrementalPCA
from mercer.dropin.kernel_pca import KernelPCA as KernelPCA
from mercer.dropin.nystroem import Nystroem as Nystroem
from mercer.dropin.pca import PCA as PCA
from mercer.dropin.truncated_svd import TruncatedSVD as TruncatedSVD
