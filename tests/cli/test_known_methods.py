from pathlib import Path

import pytest

import mercer
from mercer.cli._known_methods import METHODS, method_of
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
