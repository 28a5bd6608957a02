"""Kernels in writing: ``"rbf(lengthscale=2) + linear"`` is read, never executed."""

import ast
import dataclasses
import difflib
from collections.abc import Callable
from typing import Any, NoReturn

from mercer.errors import InputError
from mercer.kernels import _algebra
from mercer.kernels._algebra import Constant, exp, normalize
from mercer.kernels._kernel_value import Kernel
from mercer.kernels.families import _count_kernels as _counts
from mercer.kernels.families import _inner_products as _inner
from mercer.kernels.families import _isotropic
from mercer.kernels.families import _stationary as _distance
from mercer.kernels.families import _user_kernels as _given

_MODULES = (_algebra, _counts, _inner, _isotropic, _distance, _given)
# Every kernel that nobody builds on: each is data and nothing else, but for functions of the
# user in some of them.
KERNELS: tuple[type[Kernel], ...] = tuple(
    kind
    for module in _MODULES
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, Kernel) and "__final__" in vars(kind)
    if kind.__module__ == module.__name__
)
_NEEDS_NOTHING = [
    kind
    for kind in KERNELS
    if all(part.default is not dataclasses.MISSING for part in dataclasses.fields(kind))
]
NAMES: dict[str, Callable[..., Kernel]] = {c.__name__.lower(): c for c in _NEEDS_NOTHING}
NAMES |= {"poly": _inner.Polynomial, "chi2": _counts.ChiSquared}  # scikit-learn's spelling
NAMES |= {"gaussian": _isotropic.RBF, "tanh": _inner.Sigmoid}  # that of textbooks
# Parameters as textbooks and scikit-learn have them, for a lengthscale: exp(-γ·) and 2σ².
_LENGTHSCALES: dict[type[Kernel], dict[str, Callable[[Any], Kernel]]] = {
    _isotropic.RBF: {"gamma": _isotropic.RBF.from_gamma, "sigma": _isotropic.RBF},
    _isotropic.Laplacian: {"gamma": _isotropic.Laplacian.from_gamma},
}
_FUNCTIONS: dict[str, Callable[[Kernel], Kernel]] = {"exp": exp, "normalize": normalize}


def as_kernel(value: Any) -> Kernel:
    """Return a kernel from a kernel, its name or formula, or a function of rows.

    A function takes two blocks; `resolve` finds out where it takes two single rows.

    Examples
    --------
    >>> as_kernel("poly(degree=2)")
    Polynomial(degree=2)
    """
    if isinstance(value, Kernel):
        return value
    if isinstance(value, str):
        return parse(value)
    if callable(value) and not isinstance(value, type):
        return _given.Function(value)
    raise InputError(
        "`kernel` must be a kernel, the name of one, or a function",
        got=f"kernel={value!r}",
        fix='pass for example RBF(), "rbf(lengthscale=2) + linear", or f(X, Y) -> matrix',
    )


def parse(text: str) -> Kernel:
    """Return the kernel that a formula names.

    A formula has the names of kernels in lower case, numbers as parameters, ``+``, ``*``,
    ``**`` with a whole number, ``exp(k)``, ``normalize(k)`` and ``k.on([0, 1])``. Names and
    parameters of textbooks are read too: ``gaussian(sigma=2)``, ``rbf(gamma=0.5)``, ``tanh``.

    Examples
    --------
    >>> parse("rbf(lengthscale=2) + 0.5*linear")
    RBF(lengthscale=2.0) + 0.5*Linear()
    >>> parse("rbf(gamma=0.5)"), parse("tanh(coef0=-1)")
    (RBF(lengthscale=1.0), Sigmoid(coef0=-1.0))
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as failure:
        raise InputError(
            "a kernel formula could not be read",
            got=f"{text!r}: {failure}",
            fix='write for example "rbf", "rbf(lengthscale=2)" or "rbf + 0.5*linear"',
        ) from None
    found = _FormulaReader(text).read(tree)
    return Constant(found) if isinstance(found, float) else found


class _FormulaReader:
    """Turns the syntax tree of a formula into a kernel; knows only what is listed above."""

    def __init__(self, text: str) -> None:
        self.text = text

    def refuse(self, what: str, fix: str) -> NoReturn:
        raise InputError(what, got=repr(self.text), fix=fix)

    def read(self, node: ast.expr) -> Kernel | float:
        if isinstance(node, ast.Name):
            return self.named(node.id)()
        if isinstance(node, ast.Call):
            return self.call(node)
        if isinstance(node, ast.BinOp):
            return self.joined(node)
        return self.number(node)

    def kernel(self, node: ast.expr) -> Kernel:
        found = self.read(node)
        return Constant(found) if isinstance(found, float) else found

    def named(self, name: str) -> Callable[..., Kernel]:
        if name not in NAMES:
            known = [*NAMES, *_FUNCTIONS]
            near = difflib.get_close_matches(name.lower(), known, 1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            what = f"there is no kernel {name!r}"
            self.refuse(what, f"{hint}known: {', '.join(sorted(known))}")
        return NAMES[name]

    def call(self, node: ast.Call) -> Kernel:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "on":
            if len(node.args) != 1 or node.keywords:
                self.refuse("`on` takes a list of columns", 'write "rbf.on([0, 1])"')
            columns = self.value(node.args[0])
            return self.kernel(node.func.value).on(columns)
        if not isinstance(node.func, ast.Name):
            self.refuse("a formula calls kernels by their names only", 'write "rbf(2.0)"')
        name = node.func.id
        if name in _FUNCTIONS:
            if len(node.args) != 1 or node.keywords:
                self.refuse(f"`{name}` takes one kernel", f'write "{name}(rbf)"')
            return _FUNCTIONS[name](self.kernel(node.args[0]))
        make = self.named(name)
        args = [self.value(a) for a in node.args]
        if any(k.arg is None for k in node.keywords):
            self.refuse("a formula has no **", "write every parameter by its name")
        options = {str(k.arg): self.value(k.value) for k in node.keywords}
        plain = make()
        known = plain.get_params(deep=False)
        for other in _LENGTHSCALES.get(type(plain), {}).keys() & set(options):
            if args or len(options) > 1:
                self.refuse(f"{name!r} gets its lengthscale twice", "give it once")
            return _LENGTHSCALES[type(plain)][other](options[other])
        for option in options:
            if option not in known:
                plain._refuse_name(option, list(known))
        if len(args) > len(known):
            self.refuse(f"{name!r} has {len(known)} parameters", "remove the others")
        if set(options) & set(list(known)[: len(args)]):
            self.refuse(f"{name!r} gets a parameter twice", "give it once")
        return make(*args, **options)

    def joined(self, node: ast.BinOp) -> Kernel | float:
        if isinstance(node.op, ast.Pow):
            exponent: int = self.value(node.right)
            return self.kernel(node.left) ** exponent
        if not isinstance(node.op, ast.Add | ast.Mult):
            self.refuse("kernels are joined by +, * and ** only", "write k + l, k*l or k**2")
        left, right = self.read(node.left), self.read(node.right)
        return left + right if isinstance(node.op, ast.Add) else left * right

    def number(self, node: ast.expr) -> float:
        found = self.value(node) if isinstance(node, ast.Constant | ast.UnaryOp) else None
        if not isinstance(found, float | int) or isinstance(found, bool):
            self.refuse("a formula has kernels and numbers only", 'write "rbf + 0.5*linear"')
        return float(found)

    def value(self, node: ast.expr) -> Any:
        """Return a parameter: a number, a list of numbers, or a word such as "median"."""
        if isinstance(node, ast.Name) and node.id not in NAMES:
            return node.id  # rbf(lengthscale=median)
        try:
            found = ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            self.refuse("parameters in a formula are numbers", 'write "rbf(lengthscale=2)"')
        return found
