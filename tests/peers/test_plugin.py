"""The plugin itself: a quick part of scikit-learn's tests through it, right and wrong."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import mercer

PEERS = Path(__file__).resolve().parent
QUICK = "empirical or validation or feature_names or (test_pca_score and full)"
# test module: the most expected failures
LISTS = {
    "test_pca": 6,
    "test_kernel_pca": 2,
    "test_kernel_approximation": 1,
    "test_incremental_pca": 0,
    "test_truncated_svd": 0,
}


def peers(*arguments, folder=PEERS, module="test_pca", home="sklearn.decomposition"):
    """Run part of scikit-learn's tests on mercer.dropin; return code and output."""
    package = Path(mercer.__file__).resolve().parents[1]
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", folder]
    command += ["-p", "no:cacheprovider", "-p", "mercer_peers", "--tb=line", *arguments]
    done = subprocess.run(
        [*command, "--pyargs", f"{home}.tests.{module}"],
        env=os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{package}"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout + done.stderr


def count(kind, output):
    found = re.search(rf"(\d+) {kind}", output)
    return int(found[1]) if found else 0


def with_list(folder, text):
    """Return a copy of the plugin with other lists."""
    for name, content in {
        "mercer_peers.py": (PEERS / "mercer_peers.py").read_text(encoding="utf-8"),
        **{f"xfail_{module}.txt": text for module in LISTS},
    }.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def test_scikit_learns_tests_pass_on_our_class_and_notice_a_wrong_one():
    code, output = peers("-k", QUICK)
    assert (code, count("failed", output)) == (0, 0), output
    assert count("passed", output) > 20
    assert count("xfailed", output) == 1
    code, output = peers("-k", QUICK, "--mercer-mutant")
    assert code == 1, output
    assert count("failed", output) >= 15


@pytest.mark.slow
def test_scikit_learns_kernel_pca_tests_pass_on_our_class_and_notice_a_wrong_one():
    code, output = peers(module="test_kernel_pca")
    assert (code, count("failed", output)) == (0, 0), output
    assert count("passed", output) > 30
    assert count("xfailed", output) == 1
    code, output = peers("--mercer-mutant", module="test_kernel_pca")
    assert code == 1, output
    assert count("failed", output) >= 3


@pytest.mark.slow
def test_scikit_learns_nystroem_tests_pass_on_our_class_and_notice_a_wrong_one():
    where = {"module": "test_kernel_approximation", "home": "sklearn"}
    code, output = peers("-k", "nystroem or names", **where)
    assert (code, count("failed", output)) == (0, 0), output
    assert count("passed", output) >= 10
    code, output = peers("-k", "nystroem", "--mercer-mutant", **where)
    assert code == 1, output
    assert count("failed", output) >= 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "quick", "passed", "noticed"),
    [
        ("test_incremental_pca", "validation or none or set_params or values or rank", 6, 1),
        (
            "test_truncated_svd",
            "attributes or expected or components_10 or fit_transform",
            16,  # of scikit-learn 1.6; later ones have more
            2,
        ),
    ],
)
def test_scikit_learns_other_tests_pass_on_our_classes_and_notice_wrong_ones(
    module, quick, passed, noticed
):
    code, output = peers("-k", quick, module=module)
    assert (code, count("failed", output)) == (0, 0), output
    assert count("passed", output) >= passed
    code, output = peers("-k", quick, "--mercer-mutant", module=module)
    assert code == 1, output
    assert count("failed", output) >= noticed


@pytest.mark.slow
def test_a_module_that_tests_none_of_our_classes_is_refused():
    code, output = peers("--collect-only", module="test_sparse_pca")
    assert code == 4, output
    assert "do not test a class of mercer.dropin" in output


def test_an_expected_failure_that_passes_fails_the_run(tmp_path):
    names = "test_feature_names_out  # not so\n"
    code, output = peers("-k", "feature_names_out", folder=with_list(tmp_path, names))
    assert code == 1, output
    assert "XPASS(strict)" in output


def test_a_name_that_no_longer_exists_is_refused(tmp_path):
    folder = with_list(tmp_path, "test_that_never_was  # a reason\n")
    code, output = peers("--collect-only", folder=folder)
    assert code == 4, output
    assert "no such tests: test_that_never_was" in output


def test_a_name_without_a_reason_is_refused():
    plugin = runpy.run_path(str(PEERS / "mercer_peers.py"))
    with pytest.raises(pytest.UsageError, match=r"xfail_test_pca.txt:2: no reason is given"):
        plugin["expected_failures"]("test_pca", "# a comment\ntest_feature_names_out\n")


@pytest.mark.parametrize("module", LISTS)
def test_every_expected_failure_has_a_reason_and_they_are_few(module):
    lines = (PEERS / f"xfail_{module}.txt").read_text(encoding="utf-8").splitlines()
    listed = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"test_\S+  # .{20,}", line) for line in listed)
    assert len(listed) == len(set(listed)) <= LISTS[module]
