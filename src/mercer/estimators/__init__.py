"""The spectral family under scikit-learn's contract."""

from mercer.estimators._base import SpectralEstimator, plan
from mercer.estimators.pca import PCA

__all__ = ["PCA", "SpectralEstimator", "plan"]
