"""The spectral family: each method its operator, its scaling, its projection."""

from mercer.estimators._base import SpectralEstimator, plan
from mercer.estimators._checkpoint import Checkpoint
from mercer.estimators._imputations import Imputations, multiple_imputation
from mercer.estimators._impute import impute
from mercer.estimators._onnx import export_onnx
from mercer.estimators._progress import progress
from mercer.estimators._saved import load, save
from mercer.estimators.classical_mds import ClassicalMDS
from mercer.estimators.correspondence import CorrespondenceAnalysis
from mercer.estimators.diffusion_maps import DiffusionMaps
from mercer.estimators.discriminant import LinearDiscriminantAnalysis
from mercer.estimators.famd import FAMD
from mercer.estimators.isomap import Isomap
from mercer.estimators.kernel_discriminant import KernelDiscriminantAnalysis
from mercer.estimators.kernel_pca import KernelPCA
from mercer.estimators.landmark_features import LandmarkFeatures
from mercer.estimators.laplacian_eigenmaps import LaplacianEigenmaps
from mercer.estimators.locally_linear import LocallyLinearEmbedding
from mercer.estimators.maximum_variance_unfolding import MaximumVarianceUnfolding
from mercer.estimators.mfa import MFA
from mercer.estimators.multiple_correspondence import MultipleCorrespondenceAnalysis
from mercer.estimators.pca import PCA
from mercer.estimators.probabilistic_pca import ProbabilisticPCA
from mercer.estimators.random_features import RandomFeatures
from mercer.estimators.robust_pca import RobustPCA
from mercer.estimators.topic_vectors import TopicVectors

__all__ = [
    "FAMD",
    "MFA",
    "PCA",
    "Checkpoint",
    "ClassicalMDS",
    "CorrespondenceAnalysis",
    "DiffusionMaps",
    "Imputations",
    "Isomap",
    "KernelDiscriminantAnalysis",
    "KernelPCA",
    "LandmarkFeatures",
    "LaplacianEigenmaps",
    "LinearDiscriminantAnalysis",
    "LocallyLinearEmbedding",
    "MaximumVarianceUnfolding",
    "MultipleCorrespondenceAnalysis",
    "ProbabilisticPCA",
    "RandomFeatures",
    "RobustPCA",
    "SpectralEstimator",
    "TopicVectors",
    "export_onnx",
    "impute",
    "load",
    "multiple_imputation",
    "plan",
    "progress",
    "save",
]
