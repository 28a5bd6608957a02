"""A pytest plugin that runs scikit-learn's own PCA tests on `mercer.dropin.PCA`.

It puts our class in the place of scikit-learn's before the test module is imported. Tests
listed in ``xfail_test_pca.txt`` must fail: one that passes fails the run, and so does a name
in the list that no longer exists. With ``--mercer-mutant`` the class is slightly wrong on
purpose, to see that the tests would notice.
"""

from pathlib import Path

import pytest

LIST = Path(__file__).with_name("xfail_test_pca.txt")


def pytest_addoption(parser):
    parser.addoption(
        "--mercer-mutant",
        action="store_true",
        help="multiply explained_variance_ by 1.0001: the tests must notice",
    )


def pytest_configure(config):
    import sklearn.decomposition
    import sklearn.decomposition._pca

    from mercer.dropin import PCA

    face = mutant(PCA) if config.getoption("--mercer-mutant") else PCA
    sklearn.decomposition.PCA = face
    sklearn.decomposition._pca.PCA = face


def mutant(face):
    """Return a class that is wrong in the fourth digit of its variances."""

    class PCA(face):
        def _scale(self, *arguments):
            fitted = super()._scale(*arguments)
            fitted["explained_variance_"] = 1.0001 * fitted["explained_variance_"]
            return fitted

    return PCA


def expected_failures(text):
    """Return {test name: reason} from lines ``name  # reason``."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, reason = line.partition("  # ")
        if not reason.strip():
            raise pytest.UsageError(f"{LIST.name}:{number}: no reason is given")
        found[name.strip()] = reason.strip()
    return found


@pytest.hookimpl(tryfirst=True)  # before -k leaves anything out
def pytest_collection_modifyitems(config, items):
    import sklearn.decomposition

    strangers = {item.module.__name__ for item in items if not uses(item.module)}
    if strangers:
        raise pytest.UsageError(f"{strangers} do not test {sklearn.decomposition.PCA}")
    reasons = expected_failures(LIST.read_text(encoding="utf-8"))
    for item in items:
        if item.name in reasons:
            item.add_marker(pytest.mark.xfail(reason=reasons[item.name], strict=True))
    whole = not any("::" in argument for argument in config.args)
    gone = sorted(set(reasons) - {item.name for item in items})
    if whole and gone:
        raise pytest.UsageError(f"{LIST.name}: no such tests: {', '.join(gone)}")


def uses(module):
    """Whether a test module imported the class that was put in place."""
    import sklearn.decomposition

    return getattr(module, "PCA", None) is sklearn.decomposition.PCA
