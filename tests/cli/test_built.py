import shlex
import types

import pytest

from mercer.cli._usage import UsageError
from mercer.cli.fitting._new_estimator import adapted, built, components_from
from mercer.errors import InputError
from mercer.methods import COMMANDS


@pytest.mark.parametrize(
    ("text", "value"),
    [("10", 10), ("+3", 3), ("0.9", 0.9), (".5", 0.5), ("mle", "mle"), ("auto", "auto"),
     ("all", None)],
)  # fmt: skip
def test_components_as_typed(text, value):
    got = components_from(text)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    "text", ["ten", "0", "-3", "1.5", "1.0", "nan", "inf", "1e9", "", "0x3", "²"]
)
def test_nonsense_for_components_is_refused(text):
    with pytest.raises(UsageError, match="not understood") as raised:
        components_from(text)
    assert raised.value.got == f"-k {shlex.quote(text)}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_method_is_built_from_the_defaults_of_the_command_line(name, recwarn):
    model = built(name, components="auto", kernel=None, tol=None, memory=None, seed=0)
    assert type(model) is COMMANDS[name].load()
    # Maps have two axes and groups as many as tell them apart: nobody need be told.
    quiet = isinstance(model.n_components, str) or not COMMANDS[name].has_variances
    assert quiet == (not recwarn.list)


@pytest.mark.parametrize(
    ("method", "given", "what", "got"),
    [
        ("pca", {"settings": ["whitn=True"]}, "no parameter 'whitn'", "--set whitn=True"),
        ("pca", {"kernel": "rbf"}, "no parameter 'kernel'", "--kernel rbf"),
        ("pca", {"settings": ["whiten"]}, "an equals sign", "--set whiten"),
        ("pca", {"settings": ["2=3"]}, "an equals sign", "--set 2=3"),
        (
            "pca",
            {"settings": ["whiten=no"]},
            "whiten must be True or False or one of zca",
            "--set whiten=no",
        ),
        ("pca", {"tol": -1.0}, "--tol must be a number above 0", "--tol -1.0"),
        ("pca", {"tol": float("nan")}, "--tol must be a number above 0", "--tol nan"),
        ("pca", {"time": 0.0}, "--time must be a number above 0", "--time 0.0"),
        ("pca", {"memory": "much"}, "not a size", "--memory much"),
        ("pca", {"memory": "-4GB"}, "not a size", "--memory -4GB"),
        ("pca", {"seed": -1}, "--seed must be", "--seed -1"),
        ("pca", {"settings": ["device=cuda"]}, "only the CPU", "device='cuda'"),
        ("kernel-pca", {"kernel": "rfb"}, "no kernel 'rfb'", "--kernel rfb"),
        ("kernel-pca", {"kernel": "rbf("}, "could not be read", "rbf("),
        ("kernel-pca", {"components": "mle"}, "-k must be", "-k mle"),
        ("robust-pca", {"settings": ["method=best"]}, "method must be", "method=best"),
    ],
)
def test_what_a_method_does_not_take_is_wrong_usage(method, given, what, got):
    with pytest.raises(UsageError) as raised:
        built(method, **given)
    assert what in raised.value.what
    assert got in raised.value.got


def ready(standardize=False, missing="raise"):
    return types.SimpleNamespace(groups=None, standardize=standardize, missing=missing)


@pytest.mark.parametrize(("method", "way"), [("robust-pca", "em"), ("kernel-pca", "ppca")])
def test_a_method_that_cannot_fill_says_so(method, way):
    with pytest.raises(InputError, match="--missing rows"):
        adapted(method, COMMANDS[method].load()(), ready(missing=way))
