"""The names of `mercer`, and where they live."""

from mercer import diagnostics as diagnostics
from mercer import dropin as dropin
from mercer import errors as errors
from mercer import guests as guests
from mercer import kernels as kernels
from mercer import neural as neural
from mercer import plots as plots
from mercer import report as report
from mercer import selection as selection
from mercer import studies as studies
from mercer import testing as testing
from mercer.analysis._analyse import Analysis as Analysis
from mercer.analysis._analyse import analyse as analyse
from mercer.analysis._analyse import look as look
from mercer.errors import AccuracyWarning as AccuracyWarning
from mercer.errors import DataWarning as DataWarning
from mercer.errors import MercerError as MercerError
from mercer.estimators.categories.multiple_correspondence import (
    MultipleCorrespondenceAnalysis as MultipleCorrespondenceAnalysis,
)
from mercer.estimators.counts.correspondence import (
    CorrespondenceAnalysis as CorrespondenceAnalysis,
)
from mercer.estimators.export._model_files import load as load
from mercer.estimators.export._model_files import save as save
from mercer.estimators.export._onnx import export_onnx as export_onnx
from mercer.estimators.groups.discriminant import (
    LinearDiscriminantAnalysis as LinearDiscriminantAnalysis,
)
from mercer.estimators.groups.kernel_discriminant import (
    KernelDiscriminantAnalysis as KernelDiscriminantAnalysis,
)
from mercer.estimators.kernel.kernel_pca import KernelPCA as KernelPCA
from mercer.estimators.kernel.landmark_features import LandmarkFeatures as LandmarkFeatures
from mercer.estimators.kernel.random_features import RandomFeatures as RandomFeatures
from mercer.estimators.linear.bayesian_pca import BayesianPCA as BayesianPCA
from mercer.estimators.linear.factor_analysis import FactorAnalysis as FactorAnalysis
from mercer.estimators.linear.pca import PCA as PCA
from mercer.estimators.linear.probabilistic_pca import ProbabilisticPCA as ProbabilisticPCA
from mercer.estimators.linear.robust_pca import RobustPCA as RobustPCA
from mercer.estimators.linear.topic_vectors import TopicVectors as TopicVectors
from mercer.estimators.manifold.classical_mds import ClassicalMDS as ClassicalMDS
from mercer.estimators.manifold.diffusion_maps import DiffusionMaps as DiffusionMaps
from mercer.estimators.manifold.isomap import Isomap as Isomap
from mercer.estimators.manifold.laplacian_eigenmaps import (
    LaplacianEigenmaps as LaplacianEigenmaps,
)
from mercer.estimators.manifold.locally_linear import (
    LocallyLinearEmbedding as LocallyLinearEmbedding,
)
from mercer.estimators.manifold.maximum_variance_unfolding import (
    MaximumVarianceUnfolding as MaximumVarianceUnfolding,
)
from mercer.estimators.manifold.spectral_clustering import (
    SpectralClustering as SpectralClustering,
)
from mercer.estimators.missing._imputation import multiple_imputation as multiple_imputation
from mercer.estimators.mixed.famd import FAMD as FAMD
from mercer.estimators.mixed.famd import impute as impute
from mercer.estimators.mixed.mfa import MFA as MFA
from mercer.estimators.walk._checkpoint import Checkpoint as Checkpoint
from mercer.estimators.walk._progress import progress as progress
from mercer.estimators.walk._spectral_estimator import plan as plan
from mercer.guests.dictionary_learning import DictionaryLearning as DictionaryLearning
from mercer.guests.pacmap_guest import PaCMAP as PaCMAP
from mercer.guests.tsne_guest import TSNE as TSNE
from mercer.guests.umap_guest import UMAP as UMAP
from mercer.neural.autoencoder import Autoencoder as Autoencoder
from mercer.sources._scan import scan as scan
from mercer.studies._bootstrap import bootstrap as bootstrap
from mercer.studies._cluster import cluster as cluster
from mercer.studies._describe import describe_axes as describe_axes
from mercer.studies._describe import describe_groups as describe_groups
from mercer.studies._how_many import how_many as how_many
from mercer.studies._model_health import health as health
from mercer.studies._rotate import rotate as rotate
from mercer.studies.drifting._drift import drift as drift
from mercer.studies.tuning._tune import tune as tune

__version__: str
