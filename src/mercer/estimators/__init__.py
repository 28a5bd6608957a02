"""The spectral family: each method its operator, its scaling, its projection."""

from mercer.estimators.categories.multiple_correspondence import MultipleCorrespondenceAnalysis
from mercer.estimators.counts.correspondence import CorrespondenceAnalysis
from mercer.estimators.export._model_files import load, save
from mercer.estimators.export._onnx import export_onnx
from mercer.estimators.groups.discriminant import LinearDiscriminantAnalysis
from mercer.estimators.groups.kernel_discriminant import KernelDiscriminantAnalysis
from mercer.estimators.kernel.kernel_pca import KernelPCA
from mercer.estimators.kernel.landmark_features import LandmarkFeatures
from mercer.estimators.kernel.random_features import RandomFeatures
from mercer.estimators.linear.pca import PCA
from mercer.estimators.linear.probabilistic_pca import ProbabilisticPCA
from mercer.estimators.linear.robust_pca import RobustPCA
from mercer.estimators.linear.topic_vectors import TopicVectors
from mercer.estimators.manifold.classical_mds import ClassicalMDS
from mercer.estimators.manifold.diffusion_maps import DiffusionMaps
from mercer.estimators.manifold.isomap import Isomap
from mercer.estimators.manifold.laplacian_eigenmaps import LaplacianEigenmaps
from mercer.estimators.manifold.locally_linear import LocallyLinearEmbedding
from mercer.estimators.manifold.maximum_variance_unfolding import MaximumVarianceUnfolding
from mercer.estimators.missing._imputation import Imputations, impute, multiple_imputation
from mercer.estimators.mixed.famd import FAMD
from mercer.estimators.mixed.mfa import MFA
from mercer.estimators.walk._checkpoint import Checkpoint
from mercer.estimators.walk._progress import progress
from mercer.estimators.walk._spectral_estimator import SpectralEstimator, plan

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
