"""Principal components and their relatives: planned before, certified after.

Every method is one walk: describe the data, plan the cheapest path that meets the tolerance,
build an operator, take its leading pairs, scale, project. Names load when they are first used,
so ``import mercer`` costs a few milliseconds.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer import errors
    from mercer.errors import AccuracyWarning, DataWarning, MercerError
    from mercer.estimators import (
        FAMD,
        MFA,
        PCA,
        Checkpoint,
        ClassicalMDS,
        CorrespondenceAnalysis,
        DiffusionMaps,
        Isomap,
        KernelDiscriminantAnalysis,
        KernelPCA,
        LandmarkFeatures,
        LaplacianEigenmaps,
        LinearDiscriminantAnalysis,
        LocallyLinearEmbedding,
        MaximumVarianceUnfolding,
        MultipleCorrespondenceAnalysis,
        ProbabilisticPCA,
        RandomFeatures,
        RobustPCA,
        TopicVectors,
        export_onnx,
        impute,
        load,
        multiple_imputation,
        plan,
        progress,
        save,
    )
    from mercer.guests import FactorAnalysis
    from mercer.sources import scan
    from mercer.studies import (
        bootstrap,
        cluster,
        describe_axes,
        describe_groups,
        drift,
        health,
        how_many,
        rotate,
        tune,
    )

__version__ = "0.1.0"

__all__ = [
    "FAMD",
    "MFA",
    "PCA",
    "AccuracyWarning",
    "Checkpoint",
    "ClassicalMDS",
    "CorrespondenceAnalysis",
    "DataWarning",
    "DiffusionMaps",
    "FactorAnalysis",
    "Isomap",
    "KernelDiscriminantAnalysis",
    "KernelPCA",
    "LandmarkFeatures",
    "LaplacianEigenmaps",
    "LinearDiscriminantAnalysis",
    "LocallyLinearEmbedding",
    "MaximumVarianceUnfolding",
    "MercerError",
    "MultipleCorrespondenceAnalysis",
    "ProbabilisticPCA",
    "RandomFeatures",
    "RobustPCA",
    "TopicVectors",
    "__version__",
    "bootstrap",
    "cluster",
    "describe_axes",
    "describe_groups",
    "drift",
    "errors",
    "export_onnx",
    "health",
    "how_many",
    "impute",
    "load",
    "multiple_imputation",
    "plan",
    "progress",
    "rotate",
    "save",
    "scan",
    "tune",
]

_HOME = {
    "AccuracyWarning": "mercer.errors",
    "Checkpoint": "mercer.estimators",
    "ClassicalMDS": "mercer.estimators",
    "CorrespondenceAnalysis": "mercer.estimators",
    "DataWarning": "mercer.errors",
    "DiffusionMaps": "mercer.estimators",
    "FAMD": "mercer.estimators",
    "FactorAnalysis": "mercer.guests",
    "Isomap": "mercer.estimators",
    "KernelDiscriminantAnalysis": "mercer.estimators",
    "KernelPCA": "mercer.estimators",
    "LandmarkFeatures": "mercer.estimators",
    "LaplacianEigenmaps": "mercer.estimators",
    "LinearDiscriminantAnalysis": "mercer.estimators",
    "LocallyLinearEmbedding": "mercer.estimators",
    "MFA": "mercer.estimators",
    "MaximumVarianceUnfolding": "mercer.estimators",
    "MercerError": "mercer.errors",
    "MultipleCorrespondenceAnalysis": "mercer.estimators",
    "PCA": "mercer.estimators",
    "ProbabilisticPCA": "mercer.estimators",
    "RandomFeatures": "mercer.estimators",
    "RobustPCA": "mercer.estimators",
    "TopicVectors": "mercer.estimators",
    "bootstrap": "mercer.studies",
    "cluster": "mercer.studies",
    "describe_axes": "mercer.studies",
    "describe_groups": "mercer.studies",
    "drift": "mercer.studies",
    "export_onnx": "mercer.estimators",
    "health": "mercer.studies",
    "how_many": "mercer.studies",
    "impute": "mercer.estimators",
    "load": "mercer.estimators",
    "multiple_imputation": "mercer.estimators",
    "plan": "mercer.estimators",
    "progress": "mercer.estimators",
    "rotate": "mercer.studies",
    "save": "mercer.estimators",
    "scan": "mercer.sources",
    "tune": "mercer.studies",
}


def __getattr__(name: str) -> object:
    """Load a public name from its room when it is first asked for (PEP 562)."""
    if name == "errors":
        return import_module("mercer.errors")
    if name not in _HOME:
        raise AttributeError(f"module 'mercer' has no attribute {name!r}")
    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)
