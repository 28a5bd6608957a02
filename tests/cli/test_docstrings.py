import inspect

import pytest

import mercer
from mercer.cli.commands.methods_command import described, first_sentence, parameters_of
from mercer.methods import COMMANDS


class Plain:
    """A class.

    Parameters
    ----------
    a, b : int
        Two numbers. And more.

        With a gap.
    c : {"x", "y"}
        One `of` two, such as 0.5 or 1.

    Attributes
    ----------
    d : int
        Not a parameter.
    """

    def __init__(self, a, b=2, c="x", e=None):
        pass


def test_a_docstring_is_read_by_its_sections():
    found = described(inspect.getdoc(Plain))
    assert list(found) == ["a", "b", "c"]
    assert found["b"] == ("int", "Two numbers. And more. With a gap.")
    assert found["c"] == ('{"x", "y"}', "One `of` two, such as 0.5 or 1.")


def test_parameters_have_defaults_and_one_sentence():
    a, b, c, e = parameters_of(Plain)
    assert (a.default, a.about) == ("", "Two numbers.")
    assert (b.default, b.takes) == ("2", "int")
    assert (c.default, c.about) == ("x", "One of two, such as 0.5 or 1.")
    assert (e.default, e.takes, e.about) == ("None", "", "")


def test_nothing_is_found_where_nothing_is_said():
    assert described("") == {}
    assert first_sentence("") == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_parameter_of_every_method_is_described(name):
    for one in parameters_of(COMMANDS[name].load(), mercer.PCA):
        assert one.takes, one.name
        assert one.about, one.name
        assert "PCA`" not in one.about


def test_a_parameter_may_be_described_elsewhere():
    class Pointing:
        """Something.

        Parameters
        ----------
        standardize : bool
            As for `KernelPCA`.
        memory : int
            See `Nothing`.
        whiten
            See `PCA`.
        """

        def __init__(self, standardize=False, memory=None, whiten=False):
            pass

    standardize, memory, whiten = parameters_of(Pointing, mercer.PCA)
    assert standardize.about not in ("", "As for KernelPCA.")
    assert memory.about.startswith("Bytes")
    assert whiten.takes
