import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer.kernels
from mercer.errors import InputError
from mercer.kernels import (
    RBF,
    ChiSquared,
    Constant,
    Cosine,
    Function,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Sigmoid,
    as_kernel,
    exp,
    normalize,
    parse,
)


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("rbf", RBF()),
        (" rbf ", RBF()),
        ("rbf()", RBF()),
        ("rbf(2)", RBF(2.0)),
        ("rbf(lengthscale=2)", RBF(2.0)),
        ('rbf(lengthscale="median")', RBF()),
        ("rbf(lengthscale=median)", RBF()),
        ("rbf(lengthscale=[1, 2.5])", RBF((1.0, 2.5))),
        ("rbf(lengthscale=2) + linear", RBF(2.0) + Linear()),
        ("0.5*rbf + linear*rbf(2)", 0.5 * RBF() + Linear() * RBF(2.0)),
        ("rbf*2", RBF() * 2.0),
        ("rbf + 1", RBF() + 1.0),
        ("1 + rbf", 1.0 + RBF()),
        ("-2*rbf", -2.0 * RBF()),
        ("2", Constant(2.0)),
        ("2*3", Constant(6.0)),
        ("linear**2", Linear() ** 2),
        ("(rbf + linear)*rbf", (RBF() + Linear()) * RBF()),
        ("exp(linear)", exp(Linear())),
        ("normalize(linear + 1)", normalize(Linear() + 1.0)),
        ("exp(2)", exp(Constant(2.0))),
        ("rbf.on([0, 2])", RBF().on([0, 2])),
        ("(rbf + linear).on(1)", (RBF() + Linear()).on(1)),
        ("matern(nu=0.5, lengthscale=3)", Matern(3.0, 0.5)),
        ("poly", Polynomial()),
        ("poly(degree=2, coef0=-1e-1)", Polynomial(2, coef0=-0.1)),
        ("sigmoid", Sigmoid()),
        ("tanh(gamma=2, coef0=-1)", Sigmoid(2.0, -1.0)),
        ("gaussian", RBF()),
        ("gaussian(sigma=3)", RBF(3.0)),
        ("rbf(gamma=0.125)", RBF(2.0)),
        ("laplacian(gamma=4)", Laplacian(0.25)),
        ("0.5*rbf(gamma=0.5) + tanh", 0.5 * RBF(1.0) + Sigmoid()),
        ("cosine", Cosine()),
        ("laplacian", Laplacian()),
        ("chi2", ChiSquared()),
        ("poly(gamma=None)", Polynomial()),
    ],
)
def test_formulas_are_read(text, kernel):
    assert parse(text) == kernel
    assert parse(str(kernel)) == kernel


def test_every_kernel_has_its_name():
    for name in mercer.kernels.__all__:
        thing = getattr(mercer.kernels, name)
        is_kernel = isinstance(thing, type) and issubclass(thing, Kernel)
        if is_kernel and name not in ("Kernel", "Isotropic", "FeatureMap", "Function"):
            assert parse(name.lower()) == parse(str(thing())) == thing()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rfb", "did you mean 'rbf'?"),
        ("RBF", "did you mean 'rbf'?"),
        ("wishart", "known: "),
        ("rbf(gamma=-1)", "`gamma` of RBF must be a finite number above 0"),
        ("rbf(2, gamma=1)", "twice"),
        ("gaussian(sigma=2, lengthscale=2)", "twice"),
        ("rbf(lenghtscale=2)", "did you mean 'lengthscale'?"),
        ("rbf(2, 3)", "1 parameters"),
        ("rbf(2, lengthscale=3)", "twice"),
        ("rbf(**{})", "by its name"),
        ("rbf - linear", "joined by"),
        ("rbf / 2", "joined by"),
        ("rbf @ linear", "joined by"),
        ("rbf +", "could not be read"),
        ("", "could not be read"),
        ("rbf; linear", "could not be read"),
        ("rbf(linear)", "are numbers"),
        ("rbf(lengthscale=1+1)", "are numbers"),
        ("-rbf", "numbers"),
        ("not rbf", "numbers"),
        ("[1, 2]", "kernels and numbers"),
        ("'rbf'", "kernels and numbers"),
        ("True", "kernels and numbers"),
        ("exp", "no kernel"),
        ("exp(rbf, rbf)", "takes one kernel"),
        ("rbf.on()", "takes a list"),
        ("rbf.block(1)", "by their names"),
        ("rbf.flag", "kernels and numbers"),
        ("rbf(lengthscale=-1)", "above 0"),
        ("rbf**0.5", "whole number"),
        ("rbf**linear", "are numbers"),
        ("__import__('os').system('true')", "by their names"),
        ("rbf(__import__('os'))", "are numbers"),
        ("rbf if True else linear", "kernels and numbers"),
        ("lambda: 1", "kernels and numbers"),
        ("(" * 500 + "rbf" + ")" * 500, "could not be read"),
    ],
)
def test_other_formulas_are_refused_in_three_lines(text, words):
    with pytest.raises(InputError, match=r"[\s\S]*") as caught:
        parse(text)
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) == 3


@given(st.text(alphabet="rbflinear+*()0.5, =[]'\"_x", max_size=25))
def test_any_text_is_a_kernel_or_refused(text):
    with contextlib.suppress(InputError):
        assert isinstance(parse(text), Kernel)


def test_as_kernel(rng):
    k = RBF(2.0)
    assert as_kernel(k) is k
    assert as_kernel("rbf(2)") == k
    assert as_kernel(np.dot) == Function(np.dot)
    for bad in (None, 3, RBF, rng.random((2, 2))):
        with pytest.raises(InputError, match="must be a kernel"):
            as_kernel(bad)
