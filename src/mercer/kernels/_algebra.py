"""The algebra of kernels: sums, products, multiples, powers, exp, warps, maps, columns."""

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, final

from mercer.arrays import ConstantNode as ConstantTile
from mercer.arrays import Ends, Node, Through, Unit, columns_of, given_to
from mercer.errors import InputError
from mercer.kernels import _definiteness as flags
from mercer.kernels._definiteness import Flag
from mercer.kernels._kernel_value import Kernel, shown
from mercer.kernels._parameter_checks import number, whole
from mercer.kernels.maps._feature_maps import Chosen, Features, One, Stacked, Weighted


def _operand(kernel: Kernel, short: bool, least: int) -> str:
    """Return a part in writing, in brackets where it binds less than `least`."""
    text = kernel.written(short)
    return text if kernel.precedence >= least else f"({text})"


def _refuse_other(owner: object, name: str, value: object) -> None:
    if not isinstance(value, Kernel):
        raise InputError(
            f"`{name}` of {type(owner).__name__} must be a kernel",
            got=f"{name}={value!r}",
            fix='pass a kernel such as RBF(), or as_kernel("rbf") from its name',
        )


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Constant(Kernel):
    """k(x, y) = c. It adds a constant: without effect on HKH; pd for c ≥ 0, else cpd."""

    value: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", number(self, "value", self.value))

    @property
    def flag(self) -> Flag:
        """See `Kernel.flag`."""
        return Flag.PD if self.value >= 0 else Flag.CPD

    @property
    def stationary(self) -> bool:
        """See `Kernel.stationary`."""
        return True

    @property
    def takes_objects(self) -> bool:
        """See `Kernel.takes_objects`."""
        return True

    def _formula(self) -> Node:
        return ConstantTile(self.value)

    def features(self, p: int) -> Features | None:
        """See `Kernel.features`."""
        return Weighted(self.value**0.5, One()) if self.value >= 0 else None


@dataclasses.dataclass(frozen=True, repr=False)
class _Pair(Kernel):
    """Two kernels and what joins them."""

    left: Kernel
    right: Kernel
    sign: ClassVar[str]

    def __post_init__(self) -> None:
        _refuse_other(self, "left", self.left)
        _refuse_other(self, "right", self.right)

    def written(self, short: bool) -> str:
        """See `Kernel.written`."""
        left = _operand(self.left, short, self.precedence)
        return f"{left}{self.sign}{_operand(self.right, short, self.precedence + 1)}"


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Sum(_Pair):
    """k₁ + k₂."""

    sign: ClassVar[str] = " + "
    precedence: ClassVar[int] = 1

    @property
    def flag(self) -> Flag:
        """See `Kernel.flag`."""
        return flags.of_sum(self.left.flag, self.right.flag)

    def _formula(self) -> Node:
        return self.left.program() + self.right.program()

    def features(self, p: int) -> Features | None:
        """See `Kernel.features`: the maps side by side."""
        left, right = self.left.features(p), self.right.features(p)
        return None if left is None or right is None else Stacked(left, right)


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Product(_Pair):
    """k₁·k₂."""

    sign: ClassVar[str] = "*"
    precedence: ClassVar[int] = 2

    @property
    def flag(self) -> Flag:
        """See `Kernel.flag`; a constant counts as a factor."""
        for one, other in ((self.left, self.right), (self.right, self.left)):
            if isinstance(one, Constant):
                return flags.of_multiple(other.flag, one.value)
        return flags.of_product(self.left.flag, self.right.flag)

    def _formula(self) -> Node:
        return self.left.program() * self.right.program()


@dataclasses.dataclass(frozen=True, repr=False)
class _Single(Kernel):
    """One kernel, changed."""

    kernel: Kernel

    def __post_init__(self) -> None:
        _refuse_other(self, "kernel", self.kernel)


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Scaled(_Single):
    """c·k."""

    factor: float = 1.0
    precedence: ClassVar[int] = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "factor", number(self, "factor", self.factor))

    @property
    def flag(self) -> Flag:
        """See `Kernel.flag`."""
        if isinstance(self.kernel, Constant):
            return Constant(self.factor * self.kernel.value).flag
        return flags.of_multiple(self.kernel.flag, self.factor)

    def _formula(self) -> Node:
        return self.factor * self.kernel.program()

    def features(self, p: int) -> Features | None:
        """See `Kernel.features`: √c·φ."""
        part = self.kernel.features(p) if self.factor >= 0 else None
        return None if part is None else Weighted(self.factor**0.5, part)

    def written(self, short: bool) -> str:
        """See `Kernel.written`."""
        return f"{self.factor!r}*{_operand(self.kernel, short, 3)}"


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Power(_Single):
    """kᵠ for a whole number q ≥ 0."""

    exponent: int = 1
    precedence: ClassVar[int] = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "exponent", whole(self, "exponent", self.exponent))

    @property
    def flag(self) -> Flag:
        """See `Kernel.flag`."""
        return flags.of_power(self.kernel.flag, self.exponent)

    def _formula(self) -> Node:
        if self.exponent == 0:
            return ConstantTile(1.0)
        return self.kernel.program() ** self.exponent

    def features(self, p: int) -> Features | None:
        """See `Kernel.features`."""
        return self.kernel.features(p) if self.exponent == 1 else None

    def written(self, short: bool) -> str:
        """See `Kernel.written`."""
        return f"{_operand(self.kernel, short, 4)}**{self.exponent}"


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Exp(_Single):
    """exp(k(x, y)): pd if k is pd or cpd [Schoenberg1938]_."""

    @property
    def flag(self) -> Flag:
        """See `Kernel.flag`."""
        return flags.of_exponential(self.kernel.flag)

    def _formula(self) -> Node:
        return self.kernel.program().exp()

    def written(self, short: bool) -> str:
        """See `Kernel.written`."""
        return f"exp({self.kernel.written(short)})"


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Normalized(_Single):
    """k(x, y)/√(k(x, x)·k(y, y)): all rows on the unit sphere; 0 where k(x, x) = 0."""

    @property
    def flag(self) -> Flag:
        """See `Kernel.flag`."""
        return flags.of_ends(self.kernel.flag)

    def _formula(self) -> Node:
        return Unit(self.kernel.program())

    def written(self, short: bool) -> str:
        """See `Kernel.written`."""
        return f"normalize({self.kernel.written(short)})"


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Warped(_Single):
    """g(x)·g(y)·k(x, y), with g a function of rows (n, p) that returns (n,) numbers."""

    g: Callable[[Any], Any] = len

    @property
    def flag(self) -> Flag:
        """See `Kernel.flag`."""
        return flags.of_ends(self.kernel.flag)

    @property
    def stationary(self) -> bool:
        """See `Kernel.stationary`."""
        return False

    def _formula(self) -> Node:
        return Ends(self.g, self.kernel.program())

    def written(self, short: bool) -> str:
        """See `Kernel.written`."""
        return f"warp({self.kernel.written(False)}, {shown(self.g)})"


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Mapped(_Single):
    """k(ψ(x), ψ(y)), with ψ a function of rows that returns as many rows."""

    psi: Callable[[Any], Any] = len

    @property
    def flag(self) -> Flag:
        """See `Kernel.flag`."""
        return flags.of_map(self.kernel.flag)

    @property
    def stationary(self) -> bool:
        """See `Kernel.stationary`."""
        return False

    @property
    def takes_objects(self) -> bool:
        """See `Kernel.takes_objects`: the kernel sees ψ(x) alone."""
        return True

    def _seen(self, sample: Any) -> Any:
        return given_to(self.psi, sample)

    def _formula(self) -> Node:
        return Through(self.psi, self.kernel.program())

    def written(self, short: bool) -> str:
        """See `Kernel.written`."""
        return f"mapped({self.kernel.written(False)}, {shown(self.psi)})"


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Columns(_Single):
    """k on some columns of the rows only."""

    columns: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.columns
        several = (given,) if isinstance(given, int) else tuple(given)
        found = tuple(whole(self, "columns", c, least=0) for c in several)
        if not found:
            raise InputError(
                "a kernel must look at one column at least",
                got=f"columns={given!r}",
                fix="pass column numbers, for example k.on([0, 2])",
            )
        object.__setattr__(self, "columns", found)

    @property
    def flag(self) -> Flag:
        """See `Kernel.flag`."""
        return flags.of_map(self.kernel.flag)

    @property
    def takes_objects(self) -> bool:
        """See `Kernel.takes_objects`: what has columns is a table."""
        return False

    def _seen(self, sample: Any) -> Any:
        return columns_of(sample, self.columns)

    def _formula(self) -> Node:
        return Through(Selection(self.columns), self.kernel.program())

    def features(self, p: int) -> Features | None:
        """See `Kernel.features`."""
        part = self.kernel.features(len(self.columns))
        return None if part is None else Chosen(self.columns, part)

    def written(self, short: bool) -> str:
        """See `Kernel.written`."""
        return f"{_operand(self.kernel, short, 9)}.on({list(self.columns)})"


@final
@dataclasses.dataclass(frozen=True)
class Selection:
    """The map x → x[columns]."""

    columns: tuple[int, ...]

    def __call__(self, rows: Any) -> Any:
        return columns_of(rows, self.columns)


def exp(kernel: Kernel) -> Kernel:
    """Return exp(k(x, y)), pd if k is pd or cpd.

    Examples
    --------
    >>> from mercer.kernels import NegativeDistance, exp
    >>> exp(2.0 * NegativeDistance()).flag
    <Flag.PD: 'pd'>
    """
    return Exp(kernel)


def normalize(kernel: Kernel) -> Kernel:
    """Return k(x, y)/√(k(x, x)·k(y, y)), and 0 where k(x, x) is 0."""
    return Normalized(kernel)


def warp(kernel: Kernel, g: Callable[[Any], Any]) -> Kernel:
    """Return g(x)·g(y)·k(x, y); g takes rows (n, p) and returns (n,) numbers."""
    return Warped(kernel, g)


def mapped(kernel: Kernel, psi: Callable[[Any], Any]) -> Kernel:
    """Return k(ψ(x), ψ(y)); ψ takes rows and returns as many rows."""
    return Mapped(kernel, psi)
