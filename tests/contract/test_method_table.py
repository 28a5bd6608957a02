import importlib.util
import inspect
from pathlib import Path

import pytest

import mercer
from mercer.errors import InputError
from mercer.methods import COMMANDS, METHODS, Method, add, families, method_of

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))
def test_a_line_of_the_table_is_true(method):
    kind = method.load()
    assert kind.__module__ == method.home
    assert method_of(kind) is method
    assert (ROOT / method.docs).is_file()
    assert method.about.endswith(".")
    parameters = inspect.signature(kind).parameters
    assert ("weights" in method.also) == (
        "sample_weight" in inspect.signature(kind.fit).parameters
    )
    for word in ("standardize", "kernel"):
        assert (word in method.also) == (word in parameters)
    assert ("groups" in method.also) == (
        "groups" in parameters and parameters["groups"].default is None
    )


def test_every_public_class_that_fits_is_a_method():
    public = {name for name in mercer.__all__ if hasattr(getattr(mercer, name), "fit")}
    assert public == {name for name in METHODS if "." not in name}
    faces = {f"dropin.{name}" for name in dir(mercer.dropin) if name[0].isupper()}
    assert faces == {name for name in METHODS if "." in name}


def test_commands_stand_under_the_headings_of_their_families():
    listed = [method.command for members in families().values() for method in members]
    assert listed == list(COMMANDS)
    assert len(families()) == 4


def test_a_subclass_is_shown_like_its_base():
    class Own(mercer.Isomap):
        pass

    assert method_of(Own()) is METHODS["Isomap"]
    plain = method_of(object())
    assert (plain.name, plain.takes, plain.page) == ("", "numbers", "axes")


def test_a_name_is_taken_once():
    with pytest.raises(InputError, match="a name and a command of its own"):
        add(Method("PCA", "elsewhere", "Another."))
    with pytest.raises(InputError, match="a name and a command of its own"):
        add(Method("Mine", "elsewhere", "Another.", "pca"))
    assert "Mine" not in METHODS


def test_the_lists_are_those_of_the_table(capsys):
    path = ROOT / "tools" / "method_lists.py"
    spec = importlib.util.spec_from_file_location("method_lists", path)
    lists = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lists)
    assert lists.main(check=True) == 0, capsys.readouterr().err


def test_every_page_of_a_method_is_linked():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert all(method.docs.removeprefix("docs/") in index for method in METHODS.values())
