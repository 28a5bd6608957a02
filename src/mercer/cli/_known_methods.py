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

    @property
    def family(self) -> str:
        """What `mercer methods` lists it under."""
        return next((family for family, names in FAMILIES.items() if self.name in names), "")


# Under which heading a method stands, in this order.
FAMILIES = {
    "Components of numbers": ("pca", "kernel-pca", "robust-pca", "ppca", "factor"),
    "Counts and categories": ("ca", "mca", "famd", "mfa", "topics"),
    "Groups of rows": ("lda", "kda"),
    "Maps of curved data": ("eigenmaps", "diffusion", "mds", "isomap", "lle", "mvu"),
}


def _method(name: str, kind: str, about: str, page: str, remark: str = "") -> Method:
    return Method(name, "mercer", kind, about, f"docs/methods/{page}.md", remark)


METHODS = {
    method.name: method
    for method in (
        _method("pca", "PCA", "Directions of largest variance.", "pca"),
        _method(
            "kernel-pca",
            "KernelPCA",
            "Principal components of curved structure, through a kernel.",
            "kernel_pca",
        ),
        _method(
            "robust-pca",
            "RobustPCA",
            "Axes that outlying rows cannot turn, and the numbers of those rows.",
            "robust_pca",
            "robust-pca reads the rows 25 to 45 times; this prices its last solve only",
        ),
        _method(
            "ppca",
            "ProbabilisticPCA",
            "PCA as a model of the rows: densities, samples, axes by likelihood.",
            "probabilistic_pca",
        ),
        _method(
            "factor",
            "FactorAnalysis",
            "Hidden factors behind the columns, and the noise of each.",
            "factor_analysis",
        ),
        _method(
            "ca",
            "CorrespondenceAnalysis",
            "Rows and columns of a table of counts on one map.",
            "correspondence_analysis",
        ),
        _method(
            "mca",
            "MultipleCorrespondenceAnalysis",
            "Axes of a table of categories: which levels go together.",
            "multiple_correspondence_analysis",
        ),
        _method("famd", "FAMD", "Axes of numbers and categories together.", "famd"),
        _method("mfa", "MFA", "Axes that groups of columns share.", "mfa"),
        _method(
            "topics",
            "TopicVectors",
            "Documents as points, from counts of their terms.",
            "topic_vectors",
        ),
        _method(
            "lda",
            "LinearDiscriminantAnalysis",
            "Axes along which known classes lie apart.",
            "linear_discriminant_analysis",
        ),
        _method(
            "kda",
            "KernelDiscriminantAnalysis",
            "Known classes told apart along curved borders, through a kernel.",
            "kernel_discriminant_analysis",
        ),
        _method(
            "eigenmaps",
            "LaplacianEigenmaps",
            "Coordinates in which neighbouring rows stay close.",
            "laplacian_eigenmaps",
        ),
        _method(
            "diffusion",
            "DiffusionMaps",
            "Coordinates whose distances are those of random walks between rows.",
            "diffusion_maps",
        ),
        _method(
            "mds",
            "ClassicalMDS",
            "Points whose distances are those given, as nearly as few axes can.",
            "classical_mds",
        ),
        _method(
            "isomap", "Isomap", "A bent sheet laid flat, by distances along the data.", "isomap"
        ),
        _method(
            "lle",
            "LocallyLinearEmbedding",
            "A bent sheet laid flat, each row made of its neighbours as before.",
            "locally_linear_embedding",
        ),
        _method(
            "mvu",
            "MaximumVarianceUnfolding",
            "A bent sheet pulled apart, the distances of neighbours kept.",
            "maximum_variance_unfolding",
        ),
    )
}


def in_families() -> dict[str, list[Method]]:
    """Return all methods under the headings of their families."""
    found: dict[str, list[Method]] = {family: [] for family in FAMILIES}
    for method in METHODS.values():
        found.setdefault(method.family or "Others", []).append(method)
    return {family: members for family, members in found.items() if members}


def page_of(model: Any) -> str:
    """Return what kind of page and of result a model has: axes, counts, groups, manifold."""
    return str(getattr(model, "_page", "axes"))


def table_of(model: Any) -> str:
    """Return what kind of table a model takes: numbers, counts, categories, mixed, groups."""
    return str(getattr(model, "_table", "numbers"))


def is_linear_or_kernel(model: Any) -> bool:
    """Tell whether a model has variances of rows: PCA and its next of kin."""
    return page_of(model) in ("axes", "kernel")


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
