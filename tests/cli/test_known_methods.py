from pathlib import Path

import pytest

import mercer
from mercer.cli._known_methods import (
    FAMILIES,
    METHODS,
    in_families,
    is_linear_or_kernel,
    method_of,
    page_of,
    table_of,
)
from mercer.cli._usage import UsageError

DOCS = Path(__file__).parents[2]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_a_public_class_with_a_page(name):
    method = method_of(name)
    assert method.load() is getattr(mercer, method.kind)
    assert (DOCS / method.docs).is_file()
    assert method.about.endswith(".")


def test_an_unknown_method_gets_the_nearest_one():
    with pytest.raises(UsageError, match="did you mean kernel-pca"):
        method_of("kernelpca")
    with pytest.raises(UsageError, match="take one of pca, kernel-pca"):
        method_of("zzz")


def test_every_method_has_a_family():
    assert all(method.family for method in METHODS.values())
    listed = [method.name for members in in_families().values() for method in members]
    assert sorted(listed) == sorted(METHODS)
    assert set(in_families()) <= set(FAMILIES)


def test_what_a_method_takes_and_shows_is_read_from_its_class():
    assert (table_of(mercer.PCA), page_of(mercer.PCA)) == ("numbers", "axes")
    counts = mercer.CorrespondenceAnalysis
    assert (table_of(counts()), page_of(counts)) == ("counts", "counts")
    assert is_linear_or_kernel(mercer.KernelPCA())
    assert not is_linear_or_kernel(mercer.Isomap())
