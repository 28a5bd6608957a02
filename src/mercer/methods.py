"""The table of methods: a new method is a line here.

From it come the public names and where they live, the names in model files, the page of the
report, the commands, and the lists in the documentation (``python tools/method_lists.py``
writes those that are text).
"""

import re
from importlib import import_module
from typing import Any, NamedTuple

from mercer.errors import InputError

__all__ = ["COMMANDS", "METHODS", "Method", "add", "families", "method_of"]


class Method(NamedTuple):
    """A method: where it lives, what it takes, what shows it.

    Attributes
    ----------
    name : str
        Its class, as it stands in `mercer` and in model files; "dropin.PCA" for a face.
    home : str
        The module of the class.
    about : str
        One sentence.
    command : str
        As it is typed on the command line; "" for one that is not there.
    family : str
        What `mercer methods` lists it under.
    takes : {"numbers", "counts", "categories", "mixed", "groups"}
        What is made of a file for it.
    also : tuple of str
        What else it takes, of "weights" of rows, "groups" of columns, "standardize" and
        "kernel".
    page : {"axes", "kernel", "counts", "categories", "groups", "factors", "manifold",
           "network"}
        Which page of the report shows it; "" where none does.
    remark : str
        What its plan does not price; "" where it prices all.
    """

    name: str
    home: str
    about: str
    command: str = ""
    family: str = ""
    takes: str = "numbers"
    also: tuple[str, ...] = ()
    page: str = "axes"
    remark: str = ""

    def load(self) -> type[Any]:
        """Return the class."""
        found: type[Any] = getattr(import_module(self.home), self.name.rpartition(".")[2])
        return found

    @property
    def docs(self) -> str:
        """Its page of the documentation."""
        if self.name.startswith("dropin."):
            return "docs/dropin.md"
        return f"docs/methods/{re.sub('(?<=[a-z])(?=[A-Z])', '_', self.name).lower()}.md"

    @property
    def has_variances(self) -> bool:
        """Whether its axes have variances of rows: PCA and its next of kin."""
        return self.page in ("axes", "kernel", "")


METHODS: dict[str, Method] = {}  # by name
COMMANDS: dict[str, Method] = {}  # by command, in the order of the help
_CLASSES: dict[tuple[str, str], Method] = {}  # by module and class
_PLAIN = Method("", "", "")  # of what is not in the table


def add(method: Method) -> None:
    """Take a method into the table: from now on it is saved, loaded, reported and typed.

    Parameters
    ----------
    method : Method
        With a `name` and a `command` that are free.
    """
    if method.name in METHODS or method.command in COMMANDS:
        raise InputError(
            "a method has a name and a command of its own",
            got=f"{method.name!r}, {method.command!r}",
            fix="take others; those of the table are in mercer.methods.METHODS",
        )
    METHODS[method.name] = method
    _CLASSES[method.home, method.name.rpartition(".")[2]] = method
    if method.command:
        COMMANDS[method.command] = method


def method_of(model: Any) -> Method:
    """Return the method of an estimator or a class: its own, or that of its nearest base.

    What is not in the table takes numbers and is shown by its axes.
    """
    kind = model if isinstance(model, type) else type(model)
    found = (_CLASSES.get((base.__module__, base.__name__)) for base in kind.__mro__)
    return next(filter(None, found), _PLAIN)


def families() -> dict[str, list[Method]]:
    """Return all methods with a command, under the headings of their families."""
    found: dict[str, list[Method]] = {}
    for method in COMMANDS.values():
        found.setdefault(method.family or "Others", []).append(method)
    return found


_NUMBERS, _COUNTS = "Components of numbers", "Counts and categories"
_GROUPS, _MAPS = "Groups of rows", "Maps of curved data"
_GUESTS = "Guests: maps of other libraries"
_FACE = "The signature of scikit-learn's "

# fmt: off
for _method in (
    Method("PCA", "mercer.estimators.linear.pca", "Directions of largest variance.", "pca",
           _NUMBERS, also=("weights", "standardize")),
    Method("KernelPCA", "mercer.estimators.kernel.kernel_pca",
           "Principal components of curved structure, through a kernel.", "kernel-pca",
           _NUMBERS, also=("weights", "standardize", "kernel"), page="kernel"),
    Method("RobustPCA", "mercer.estimators.linear.robust_pca",
           "Axes that outlying rows cannot turn, and the numbers of those rows.", "robust-pca",
           _NUMBERS, also=("weights", "standardize"),
           remark="robust-pca reads the rows 25 to 45 times; this prices its last solve only"),
    Method("ProbabilisticPCA", "mercer.estimators.linear.probabilistic_pca",
           "PCA as a model of the rows: densities, samples, axes by likelihood.", "ppca",
           _NUMBERS, also=("weights", "standardize"), page="factors"),
    Method("BayesianPCA", "mercer.estimators.linear.bayesian_pca",
           "Axes as a model of the rows: how many, and how sure each loading is.", "bayes",
           _NUMBERS, also=("weights", "standardize"), page="factors"),
    Method("FactorAnalysis", "mercer.estimators.linear.factor_analysis",
           "Hidden factors behind the columns, and the noise of each.", "factor", _NUMBERS,
           also=("weights", "standardize"), page="factors"),
    Method("CorrespondenceAnalysis", "mercer.estimators.counts.correspondence",
           "Rows and columns of a table of counts on one map.", "ca", _COUNTS, takes="counts",
           also=("weights",), page="counts"),
    Method("MultipleCorrespondenceAnalysis",
           "mercer.estimators.categories.multiple_correspondence",
           "Axes of a table of categories: which levels go together.", "mca", _COUNTS,
           takes="categories", also=("weights",), page="categories"),
    Method("FAMD", "mercer.estimators.mixed.famd", "Axes of numbers and categories together.",
           "famd", _COUNTS, takes="mixed", also=("weights",), page="categories"),
    Method("MFA", "mercer.estimators.mixed.mfa", "Axes that groups of columns share.", "mfa",
           _COUNTS, takes="mixed", also=("weights", "groups", "standardize"),
           page="categories"),
    Method("TopicVectors", "mercer.estimators.linear.topic_vectors",
           "Documents as points, from counts of their terms.", "topics", _COUNTS,
           takes="counts", also=("weights",), page="factors"),
    Method("LinearDiscriminantAnalysis", "mercer.estimators.groups.discriminant",
           "Axes along which known classes lie apart.", "lda", _GROUPS, takes="groups",
           also=("weights",), page="groups"),
    Method("KernelDiscriminantAnalysis", "mercer.estimators.groups.kernel_discriminant",
           "Known classes told apart along curved borders, through a kernel.", "kda", _GROUPS,
           takes="groups", also=("weights", "standardize", "kernel"), page="groups"),
    Method("LaplacianEigenmaps", "mercer.estimators.manifold.laplacian_eigenmaps",
           "Coordinates in which neighbouring rows stay close.", "eigenmaps", _MAPS,
           page="manifold"),
    Method("SpectralClustering", "mercer.estimators.manifold.spectral_clustering",
           "Groups of rows that hang together, however curved.", "spectral-clustering", _MAPS,
           page="manifold"),
    Method("DiffusionMaps", "mercer.estimators.manifold.diffusion_maps",
           "Coordinates whose distances are those of random walks between rows.", "diffusion",
           _MAPS, page="manifold"),
    Method("ClassicalMDS", "mercer.estimators.manifold.classical_mds",
           "Points whose distances are those given, as nearly as few axes can.", "mds", _MAPS,
           page="manifold"),
    Method("Isomap", "mercer.estimators.manifold.isomap",
           "A bent sheet laid flat, by distances along the data.", "isomap", _MAPS,
           page="manifold"),
    Method("LocallyLinearEmbedding", "mercer.estimators.manifold.locally_linear",
           "A bent sheet laid flat, each row made of its neighbours as before.", "lle", _MAPS,
           page="manifold"),
    Method("MaximumVarianceUnfolding", "mercer.estimators.manifold.maximum_variance_unfolding",
           "A bent sheet pulled apart, the distances of neighbours kept.", "mvu", _MAPS,
           page="manifold"),
    Method("LandmarkFeatures", "mercer.estimators.kernel.landmark_features",
           "A table whose products are the kernel.", also=("kernel",)),
    Method("RandomFeatures", "mercer.estimators.kernel.random_features",
           "Random functions whose products are near the kernel, for rows one by one.",
           also=("weights", "kernel")),
    Method("Autoencoder", "mercer.neural.autoencoder",
           "A network that gives rows back through a narrow code.", "autoencoder",
           "Networks", also=("standardize",), page="network"),
    Method("TSNE", "mercer.guests.tsne_guest",
           "A map that keeps neighbours, by openTSNE; no certificate.", "tsne", _GUESTS,
           page="manifold"),
    Method("UMAP", "mercer.guests.umap_guest",
           "A map that keeps neighbours, by umap-learn; no certificate.", "umap", _GUESTS,
           page="manifold"),
    Method("PaCMAP", "mercer.guests.pacmap_guest",
           "A map by near and far pairs, by pacmap; no certificate.", "pacmap", _GUESTS,
           page="manifold"),
    Method("DictionaryLearning", "mercer.guests.dictionary_learning",
           "Rows as sums of few atoms, by scikit-learn; no certificate.", "dictionary",
           _GUESTS, page="manifold"),
    Method("dropin.PCA", "mercer.dropin.pca", _FACE + "PCA."),
    Method("dropin.IncrementalPCA", "mercer.dropin.incremental_pca", _FACE + "IncrementalPCA."),
    Method("dropin.TruncatedSVD", "mercer.dropin.truncated_svd", _FACE + "TruncatedSVD.",
           page=""),
    Method("dropin.KernelPCA", "mercer.dropin.kernel_pca", _FACE + "KernelPCA.",
           also=("kernel",), page="kernel"),
    Method("dropin.Nystroem", "mercer.dropin.nystroem", _FACE + "Nystroem.", also=("kernel",)),
):
    add(_method)
