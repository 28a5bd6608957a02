"""The methods by name: a new one is a line here."""

import dataclasses
from importlib import import_module
from typing import Any, final

from mercer.cli._usage import UsageError, nearest


@final
@dataclasses.dataclass(frozen=True)
class Method:
    """A method of the command line.

    Attributes
    ----------
    name : str
        As it is typed.
    home, kind : str
        Module and class.
    about : str
        One sentence.
    docs : str
        Page of the documentation.
    remark : str
        What its plan does not price; "" where it prices all.
    """

    name: str
    home: str
    kind: str
    about: str
    docs: str
    remark: str = ""

    def load(self) -> type[Any]:
        """Return the class."""
        found: type[Any] = getattr(import_module(self.home), self.kind)
        return found


METHODS = {
    method.name: method
    for method in (
        Method(
            "pca",
            "mercer.estimators",
            "PCA",
            "Directions of largest variance.",
            "docs/methods/pca.md",
        ),
        Method(
            "kernel-pca",
            "mercer.estimators",
            "KernelPCA",
            "Principal components of curved structure, through a kernel.",
            "docs/methods/kernel_pca.md",
        ),
        Method(
            "laplacian-eigenmaps",
            "mercer.estimators",
            "LaplacianEigenmaps",
            "Coordinates in which neighbouring rows stay close.",
            "docs/methods/laplacian_eigenmaps.md",
        ),
        Method(
            "diffusion-maps",
            "mercer.estimators",
            "DiffusionMaps",
            "Coordinates whose distances are those of random walks between rows.",
            "docs/methods/diffusion_maps.md",
        ),
        Method(
            "classical-mds",
            "mercer.estimators",
            "ClassicalMDS",
            "Points whose distances are those given, as nearly as few axes can.",
            "docs/methods/classical_mds.md",
        ),
        Method(
            "isomap",
            "mercer.estimators",
            "Isomap",
            "A bent sheet laid flat: coordinates from distances along the data.",
            "docs/methods/isomap.md",
        ),
        Method(
            "lle",
            "mercer.estimators",
            "LocallyLinearEmbedding",
            "A bent sheet laid flat: every row put together from its neighbours as before.",
            "docs/methods/locally_linear_embedding.md",
            "maximum-variance-unfolding",
            "mercer.estimators",
            "MaximumVarianceUnfolding",
            "Rows drawn apart as far as kept distances between neighbours allow.",
            "docs/methods/maximum_variance_unfolding.md",
        ),
        Method(
            "robust-pca",
            "mercer.estimators",
            "RobustPCA",
            "Axes that outlying rows cannot turn, and the numbers of those rows.",
            "docs/methods/robust_pca.md",
            "robust-pca reads the rows 25 to 45 times; this prices its last solve only",
        ),
        Method(
            "famd",
            "mercer.estimators",
            "FAMD",
            "Axes of numbers and categories together.",
            "docs/methods/famd.md",
        ),
        Method(
            "mfa",
            "mercer.estimators",
            "MFA",
            "Axes that groups of columns share.",
            "docs/methods/mfa.md",
        ),
        Method(
            "mca",
            "mercer.estimators",
            "MultipleCorrespondenceAnalysis",
            "Axes of a table of categories: which levels go together.",
            "docs/methods/multiple_correspondence_analysis.md",
        ),
        Method(
            "ca",
            "mercer.estimators",
            "CorrespondenceAnalysis",
            "Rows and columns of a table of counts on one map.",
            "docs/methods/correspondence_analysis.md",
            "ppca",
            "mercer.estimators",
            "ProbabilisticPCA",
            "PCA as a model of the rows: densities, samples, axes by likelihood.",
            "docs/methods/probabilistic_pca.md",
        ),
        Method(
            "lda",
            "mercer.estimators",
            "LinearDiscriminantAnalysis",
            "Axes along which known classes lie apart.",
            "docs/methods/linear_discriminant_analysis.md",
        ),
        Method(
            "kernel-lda",
            "mercer.estimators",
            "KernelDiscriminantAnalysis",
            "Known classes told apart along curved borders, through a kernel.",
            "docs/methods/kernel_discriminant_analysis.md",
        ),
    )
}


def method_of(name: str) -> Method:
    """Return the method called `name`; an unknown name gets the nearest known one."""
    if name not in METHODS:
        near = nearest(name, METHODS)
        raise UsageError(
            f"there is no method {name!r}",
            got=f"--method {name}",
            fix=(f"did you mean {near}? " if near else "")
            + f"take one of {', '.join(METHODS)}",
        )
    return METHODS[name]
