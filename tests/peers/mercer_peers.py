"""A pytest plugin that runs scikit-learn's own tests on the classes of `mercer.dropin`.

It puts our classes in the place of scikit-learn's before the test modules are imported. Tests
listed in ``xfail_MODULE.txt`` must fail: one that passes fails the run, and so does a name
in the list that no longer exists. With ``--mercer-mutant`` the classes are slightly wrong on
purpose, to see that the tests would notice.
"""

import dataclasses
import importlib
from pathlib import Path

import pytest

# test module: class under test, and where scikit-learn keeps it
FACES = {
    "test_pca": ("PCA", "sklearn.decomposition"),
    "test_incremental_pca": ("IncrementalPCA", "sklearn.decomposition"),
    "test_truncated_svd": ("TruncatedSVD", "sklearn.decomposition"),
    "test_kernel_pca": ("KernelPCA", "sklearn.decomposition"),
    "test_kernel_approximation": ("Nystroem", "sklearn.kernel_approximation"),
}


def pytest_addoption(parser):
    parser.addoption(
        "--mercer-mutant",
        action="store_true",
        help="multiply the eigenvalues by 1.0001: the tests must notice",
    )


def pytest_configure(config):
    import mercer.dropin

    config.theirs = {}
    for name, package in FACES.values():
        face = getattr(mercer.dropin, name)
        face = MUTANTS[name](face) if config.getoption("--mercer-mutant") else face
        public = importlib.import_module(package)
        config.theirs[name] = getattr(public, name)
        home = importlib.import_module(config.theirs[name].__module__)
        setattr(public, name, face)
        setattr(home, name, face)


def wrong_variances(face):
    """Return a PCA that is wrong in the fourth digit of its variances."""

    class PCA(face):
        def _scale(self, *arguments):
            fitted = super()._scale(*arguments)
            fitted["explained_variance_"] = 1.0001 * fitted["explained_variance_"]
            return fitted

    return PCA


def wrong_axes(face):
    """Return a class whose axes and singular values are too large in the fourth digit."""

    class Wrong(face):
        def _scale(self, *arguments):
            fitted = super()._scale(*arguments)
            for name in ("components_", "singular_values_", "explained_variance_ratio_"):
                fitted[name] = 1.0001 * fitted[name]
            return fitted

    return Wrong


def wrong_eigenvalues(face):
    """Return a KernelPCA that scales axes and coordinates by eigenvalues that are too large."""

    class KernelPCA(face):
        def _scale(self, spectrum, found, source):
            spectrum = dataclasses.replace(spectrum, values=1.0001 * spectrum.values)
            found = dataclasses.replace(found, coordinates=1.0001**0.5 * found.coordinates)
            return super()._scale(spectrum, found, source)

    return KernelPCA


def wrong_features(face):
    """Return a Nystroem whose features are too large in the fourth digit."""

    class Nystroem(face):
        def transform(self, X):
            return 1.0001 * super().transform(X)

    return Nystroem


MUTANTS = {
    "PCA": wrong_variances,
    "IncrementalPCA": wrong_axes,
    "TruncatedSVD": wrong_axes,
    "KernelPCA": wrong_eigenvalues,
    "Nystroem": wrong_features,
}


def list_of(module):
    """Return the file with the expected failures of a test module."""
    return Path(__file__).with_name(f"xfail_{module}.txt")


def expected_failures(module, text):
    """Return {test name: reason} from lines ``name  # reason``."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, reason = line.partition("  # ")
        if not reason.strip():
            raise pytest.UsageError(f"{list_of(module).name}:{number}: no reason is given")
        found[name.strip()] = reason.strip()
    return found


@pytest.hookimpl(tryfirst=True)  # before -k leaves anything out
def pytest_collection_modifyitems(config, items):
    modules = {item.module for item in items}
    strangers = {module.__name__ for module in modules if not uses(module)}
    if strangers:
        raise pytest.UsageError(f"{strangers} do not test a class of mercer.dropin")
    whole = not any("::" in argument for argument in config.args)
    for module in modules:
        mark(
            module.__name__.rpartition(".")[2], [i for i in items if i.module is module], whole
        )
        for name, peer in config.theirs.items():
            # What the class under test is compared with stays scikit-learn's own.
            if hasattr(module, name) and name != face_of(module):
                setattr(module, name, peer)


def mark(module, items, whole):
    """Mark the expected failures of one module; a name that is not there is refused."""
    reasons = expected_failures(module, list_of(module).read_text(encoding="utf-8"))
    for item in items:
        if item.name in reasons:
            item.add_marker(pytest.mark.xfail(reason=reasons[item.name], strict=True))
    gone = sorted(set(reasons) - {item.name for item in items})
    if whole and gone:
        raise pytest.UsageError(f"{list_of(module).name}: no such tests: {', '.join(gone)}")


def face_of(module):
    """Return the name of the class that a test module tests, or None."""
    return FACES.get(module.__name__.rpartition(".")[2], (None, None))[0]


def uses(module):
    """Whether a test module imported the class that was put in place."""
    name, package = FACES.get(module.__name__.rpartition(".")[2], (None, None))
    return name is not None and getattr(module, name, None) is getattr(
        importlib.import_module(package), name
    )
