import importlib.util
import inspect
from pathlib import Path

import pytest
from tests.claims import refuses

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


def test_the_table_holds_every_class_that_fits():
    public = {name for name in mercer.__all__ if hasattr(getattr(mercer, name), "fit")}
    assert public == {name for name in METHODS if "." not in name}
    faces = {f"dropin.{name}" for name in dir(mercer.dropin) if name[0].isupper()}
    assert faces == {name for name in METHODS if "." in name}
    listed = [method.command for members in families().values() for method in members]
    assert listed == list(COMMANDS)
    assert len(families()) == 6

    class Own(mercer.Isomap):
        pass

    assert method_of(Own()) is METHODS["Isomap"]
    plain = method_of(object())
    assert (plain.name, plain.takes, plain.page) == ("", "numbers", "axes")


def test_a_name_is_taken_once():
    refuses("a name and a command of its own", add, Method("PCA", "elsewhere", "Another."))
    with pytest.raises(InputError, match="a name and a command of its own"):
        add(Method("Mine", "elsewhere", "Another.", "pca"))
    assert "Mine" not in METHODS


def test_lists_and_pages_are_those_of_the_table(capsys):
    path = ROOT / "tools" / "method_lists.py"
    spec = importlib.util.spec_from_file_location("method_lists", path)
    lists = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lists)
    assert lists.main(check=True) == 0, capsys.readouterr().err
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert all(method.docs.removeprefix("docs/") in index for method in METHODS.values())
