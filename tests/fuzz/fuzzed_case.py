"""One case: a method, a kind of input, everything that is done with a model, and what is wrong.

Each step ends in one of four ways: right, refused in three lines, warned of in three lines, or
a finding. A case is named METHOD/KIND/NUMBER, and the name holds all of it.
"""

import contextlib
import copy
import hashlib
import io
import math
import pickle
import re
import tempfile
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from fuzzed_inputs import KINDS, WEIGHTS, Kind
from fuzzed_methods import BY_NAME, FUNCTIONS, TRUTHS, Fuzzed, classes
from jacobi import WIDE

import mercer
from mercer.errors import AccuracyWarning, DataWarning, MercerError
from mercer.methods import METHODS

REMARKS = (AccuracyWarning, DataWarning)
CLOSE = 1e-6  # of coordinates that are the same but for rounding


def named(method: str, kind: str, number: int) -> str:
    return f"{method}/{kind}/{number}"


def drawn(seed: int, count: int, method: str = "", kind: str = "") -> list[str]:
    """Return the names of `count` cases: methods and kinds in turns, until all pairs met."""
    rng = np.random.default_rng(seed)
    methods = rng.permutation([name for name in BY_NAME if method in ("", name)])
    some = rng.permutation([name for name in KINDS if kind in ("", name)])
    whole = math.lcm(len(methods), len(some))
    return [
        named(
            str(methods[i % len(methods)]),
            str(some[(i + i // whole) % len(some)]),
            int(rng.integers(1_000_000)),
        )
        for i in range(count)
    ]


def run(name: str) -> list[str]:
    """Return what is wrong with one case: nothing, as a rule."""
    method, kind, number = name.split("/")
    rng = np.random.default_rng([zlib.crc32(method.encode()), int(number)])
    some = BY_NAME[method]
    made: type[Case] = Case
    if method in FUNCTIONS:
        from fuzzed_annotated import AnnotatedCase

        made = AnnotatedCase
    case = made(some[rng.integers(len(some))], KINDS[kind], rng)
    with contextlib.suppress(_OverError):
        case.run()
    return [f"{finding}  [{case}]" for finding in case.findings]


class _OverError(Exception):
    """Nothing more can be asked of this case."""


class Case:
    """A method, an input, and what was found."""

    def __init__(self, fuzzed: Fuzzed, kind: Kind, rng: np.random.Generator) -> None:
        self.fuzzed, self.kind, self.rng = fuzzed, kind, rng
        self.findings: list[str] = []
        self.said: list[warnings.WarningMessage] = []
        self.given, self.cells = kind.make(rng, fuzzed.table(rng))
        self.base = None  # the same cells in a plain array
        self.more: dict[str, Any] = {}  # labels, weights
        self.weights, self.good_weights = "", True
        self._labels_and_weights()

    def __str__(self) -> str:
        weights = f", weights {self.weights}" if self.weights else ""
        return f"{self.fuzzed} on {self.kind.name}{weights}"

    def _labels_and_weights(self) -> None:
        rows = _count(self.given)
        if METHODS[self.fuzzed.name].takes == "groups":
            self.more["y"] = classes(np.empty(rows))
        takes = "weights" in METHODS[self.fuzzed.name].also and self.fuzzed.name[:6] != "Random"
        if (
            takes
            and self.kind.group in ("same", "type")
            and self.rng.random() < 0.4
            and rows > 2
        ):
            self.weights = str(self.rng.choice(list(WEIGHTS)))
            make, self.good_weights = WEIGHTS[self.weights]
            self.more["sample_weight"] = make(self.rng, rows)

    # -- one step -----------------------------------------------------------------------------

    def finds(self, what: str) -> None:
        self.findings.append(what)

    def step(self, name: str, call: Callable[[], Any]) -> Any:
        """Return what a call gives; what it raises or says must be ours. None if it refuses."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                found = call()
            except MercerError as error:
                found = None
                if not _in_three_lines(str(error)):
                    self.finds(f"{name}: an error without three lines: {_short(error)}")
                self.refusal = error
            except Exception as error:  # whatever it is, it is a finding
                found = None
                self.finds(
                    f"{name}: bare {type(error).__name__}: {_short(error)} {_place(error)}"
                )
        for one in said:
            ours = issubclass(one.category, REMARKS) and _in_three_lines(str(one.message))
            if not ours:
                place = f"{Path(one.filename).name}:{one.lineno}"
                self.finds(f"{name}: {one.category.__name__}: {_short(one.message)} ({place})")
        self.said += said
        return found

    @property
    def warned(self) -> bool:
        return any(issubclass(one.category, REMARKS) for one in self.said)

    # -- the whole ----------------------------------------------------------------------------

    def run(self) -> None:
        before = print_of(self.given), print_of(self.more)
        model = self.fuzzed.new()
        empty = print_of(vars(model))
        fitted = self.step("fit", lambda: model.fit(self.given, **self.more))
        if print_of(self.given) != before[0] or print_of(self.more) != before[1]:
            self.finds("fit: the input was changed")
        if fitted is None:
            if print_of(vars(model)) != empty:
                self.finds("fit: refused, and the model was changed")
            self._may_refuse()
            return
        self._may_take()
        self.look(model)
        coordinates = self.again(model)
        if self.cells is not None:
            self.right(model, coordinates)
        self.asked(model, coordinates)
        if print_of(self.given) != before[0]:
            self.finds("a look at the model changed the input")

    def _may_refuse(self) -> None:
        """What is only another container of cells that are taken must be taken."""
        if self.findings or self.kind.group != "same" or not self.good_weights:
            return
        if self.kind.sparse and not _takes_sparse(self.fuzzed):
            return
        plain = self._plain()
        if plain is not None and not self.weights:
            self.finds(
                f"fit: refused, though it is taken as a plain array: {_short(self.refusal)}"
            )

    def _may_take(self) -> None:
        """What is no table of finite numbers must not be taken without a word."""
        taken = self.kind.group == "bad" and self.kind.name not in self.fuzzed.takes
        if taken and not self.warned:
            self.finds("fit: taken without a word")
        if not self.good_weights:
            self.finds("fit: bad weights were taken")

    def _plain(self) -> Any:
        """Return the fit of the same cells in a plain array, or None."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return self.fuzzed.new().fit(self.cells.copy(), **self.more)
            except Exception:  # found, and named, where that is the case itself
                return None

    # -- what a fit has found -----------------------------------------------------------------

    def look(self, model: Any) -> None:
        """Fitted attributes hold numbers; of those that do not a warning tells."""
        for name, value in vars(model).items():
            if not name.endswith("_") or name.startswith("_") or value is None:
                continue
            for part, array in _arrays(name, value):
                if np.isnan(array).any() and not self._told_of_missing(model, array):
                    self.finds(f"NaN in {part}")
                elif np.isinf(array).any() and not self.warned and not _endless(part):
                    self.finds(f"infinity in {part}, without a word")

    def _told_of_missing(self, model: Any, array: np.ndarray) -> bool:
        words = " ".join(str(one.message) for one in self.said)
        kept = getattr(model, "missing", "raise") != "raise" and self.kind.group == "bad"
        return "have NaN" in words or kept

    def again(self, model: Any) -> np.ndarray | None:
        """Return coordinates of the rows: by `fit_transform`, by `transform`, the same."""
        other = self.fuzzed.new()
        first = self.step("fit_transform", lambda: other.fit_transform(self.given, **self.more))
        if first is None:
            self.finds("fit_transform: refused what fit took")
            raise _OverError
        first = _numbers(first)
        named = "have NaN" in _words(self.said) or (self.warned and not self._weighed())
        if not np.isfinite(first).all() and not named:
            self.finds("fit_transform: coordinates that are not finite")
        if not hasattr(model, "transform"):
            return first
        second = self.step("transform", lambda: model.transform(self.given))
        if second is None:
            maps = (
                METHODS[self.fuzzed.name].page == "manifold"
            )  # which says what it cannot place
            if not maps and self.kind.group in ("same", "type"):
                self.finds(f"transform: refused the rows of the fit: {_short(self.refusal)}")
            return first
        second = _numbers(second)
        if np.isfinite(first).all() and not np.isfinite(second).all() and not self.warned:
            self.finds("transform: coordinates that are not finite")
        if first.shape != second.shape:
            self.finds(f"transform: {second.shape}, fit_transform: {first.shape}")
            return first
        self._same_rows(model, first, second)
        return second

    def _weighed(self) -> bool:
        """Whether every row counts."""
        weights = self.more.get("sample_weight")
        return weights is None or bool(np.all(np.asarray(weights, float) > 0))

    def _same_rows(self, model: Any, first: np.ndarray, second: np.ndarray) -> None:
        """`transform` of the rows of the fit is `fit_transform`, where that is claimed."""
        told = _words(self.said)
        if "differs" in told or "shift" in str(self.fuzzed.options.get("indefinite")):
            return
        exact = self.fuzzed.name in EXACT_MAPS and self.kind.group in ("same", "scale")
        if METHODS[self.fuzzed.name].page == "manifold" and not exact:
            return  # new rows are placed approximately, or by ties, as the pages explain
        if getattr(model, "tol_transform", None):
            return
        both = np.isfinite(first) & np.isfinite(second)
        close = CLOSE if self.exactness(model) < 1e-10 else 1e-2
        if self.cells is not None:  # subnormal numbers have few digits
            largest = np.max(np.abs(self.cells), initial=0) or 1.0
            close = max(close, 64 * float(np.spacing(largest) / largest))
        size = float(np.max(np.abs(first[both]), initial=0))
        with np.errstate(over="ignore"):
            wrong = float(np.max(np.abs(first[both] - second[both]), initial=0))
        if wrong > close * size and not self.warned:
            self.finds(f"transform(rows) is off by {wrong / size:.1e} from fit_transform")

    def exactness(self, model: Any) -> float:
        """Return the rounding of the coordinates: of float64, or of float32."""
        kinds = [getattr(model, name, None) for name in ("components_", "dual_", "embedding_")]
        narrow = any(getattr(one, "dtype", None) == np.float32 for one in kinds)
        small = "float32" in self.kind.name or "float16" in self.kind.name
        return 2.0**-23 if narrow or small else 2.0**-52

    # -- against the truth --------------------------------------------------------------------

    def right(self, model: Any, coordinates: np.ndarray | None) -> None:
        """Intervals hold the eigenvalues; another container changes nothing."""
        self.certified(model)
        if self.kind.group == "same" and self.kind.name != "plain":
            self.alike(model, coordinates, self.cells)
        if self.kind.group == "scale" and self.fuzzed.scales and not self.warned:
            size = np.max(np.abs(self.cells), initial=0)
            base = np.ldexp(self.cells, -int(np.frexp(size)[1]))
            narrow = "float32" in self.kind.name
            if np.array_equal(np.ldexp(base, int(np.frexp(size)[1])), self.cells):
                self.alike(model, coordinates, base.astype("float32") if narrow else base)

    def certified(self, model: Any) -> None:
        certificate, truth_of = (
            getattr(model, "certificate_", None),
            TRUTHS.get(self.fuzzed.name),
        )
        weights = self.more.get("sample_weight")
        if certificate is None or not hasattr(certificate, "lower"):
            return
        lower, upper = (np.asarray(getattr(certificate, n), float) for n in ("lower", "upper"))
        if np.any(lower > upper):
            self.finds("certificate: lower ends above upper ones")
        values = getattr(model, "explained_variance_", None)
        values = getattr(model, "eigenvalues_", values) if values is None else values
        if truth_of is None:
            return
        weights = None if weights is None else np.asarray(weights, float)
        with np.errstate(all="ignore"):
            truth = truth_of(model, self.cells, weights)
        if truth is None or not np.isfinite(np.asarray(truth.values, WIDE)).all():
            return
        k = min(len(lower), len(truth.values))
        exact = np.append(truth.values, np.zeros(len(lower)))[: len(lower)]
        low = lower.astype(WIDE) - truth.slack > exact
        high = upper.astype(WIDE) + truth.slack < exact
        if (low | high)[:k].any():
            i = int(np.flatnonzero((low | high)[:k])[0])
            self.finds(
                f"certificate: eigenvalue {i + 1} is {exact[i]:.17g}, outside"
                f" [{lower[i]:.17g}, {upper[i]:.17g}]"
            )

    def alike(self, model: Any, found: np.ndarray | None, base: Any) -> None:
        """The same cells as a plain array, or in another unit, give the same map."""
        more = dict(self.more)
        other = self.fuzzed.new()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                there = _numbers(other.fit_transform(base.copy(), **more))
                there = (
                    _numbers(other.transform(base)) if hasattr(other, "transform") else there
                )
            except Exception:  # what fails there is found there
                return
        if found is None or said or self.warned:
            return
        if (
            self.fuzzed.name == "dropin.PCA" and self.kind.sparse
        ):  # scikit-learn's rule: one less
            there = there[:, : found.shape[1]]
        if there.shape != found.shape:
            self.finds(f"a plain array gives {there.shape}, this {found.shape}")
            return
        counts = self._roots(len(found))  # rows that hardly count have few digits
        one, two = _shape_of(counts * found), _shape_of(counts * there)
        wrong = float(np.max(np.abs(one - two), initial=0))
        close = CLOSE if self.exactness(model) < 1e-10 else 1e-3
        close = max(close, _loose(model))
        if not wrong <= close and not _tied(model):
            self.finds(f"the map differs from that of a plain array by {wrong:.1e}")

    def _roots(self, rows: int) -> np.ndarray:
        """Return √w of the rows as a column, the largest being one."""
        weights = np.asarray(self.more.get("sample_weight", np.ones(rows)), float)[:, None]
        return np.sqrt(weights / weights.max())

    # -- what else a model is asked -----------------------------------------------------------

    def asked(self, model: Any, coordinates: np.ndarray | None) -> None:
        self.back(model, coordinates)
        self.kept(model, coordinates)
        self.in_parts(model)
        if self.rng.random() < 0.25 and hasattr(model, "report"):
            self.reported(model)
        for name in ("score", "score_samples", "novelty", "get_feature_names_out", "map"):
            if hasattr(model, name) and self.rng.random() < 0.3:
                argument = () if name in ("get_feature_names_out", "map") else (self.given,)
                if name == "score" and "y" in self.more:
                    argument = (self.given, self.more["y"])
                call = getattr(model, name)
                found = self.step(name, lambda call=call, a=argument: call(*a))
                if isinstance(found, float) and np.isnan(found) and not self.warned:
                    self.finds(f"{name}: NaN")

    def back(self, model: Any, coordinates: np.ndarray | None) -> None:
        """`inverse_transform` gives numbers, and the rows where all axes are kept."""
        if (
            not hasattr(model, "inverse_transform")
            or coordinates is None
            or not coordinates.size
        ):
            return
        if not np.isfinite(coordinates).all():
            return
        rows = self.step("inverse_transform", lambda: model.inverse_transform(coordinates))
        if rows is None or self.cells is None:
            return
        rows = _numbers(rows)
        if rows.shape != self.cells.shape:
            self.finds(f"inverse_transform: {rows.shape} of {self.cells.shape}")
            return
        if not np.isfinite(rows).all() and not self.warned:
            self.finds("inverse_transform: rows that are not finite")
        linear = self.fuzzed.name in ("PCA", "dropin.PCA", "dropin.IncrementalPCA")
        whole = linear and len(model.components_) >= min(self.cells.shape) and self._weighed()
        if not whole or self.warned or "missing" in self.fuzzed.options:
            return
        with np.errstate(over="ignore"):
            wrong = np.max(np.abs(rows / 2 - self.cells / 2), axis=0)
            size = np.max(np.abs(self.cells / 2))
        close = 1e3 * self.exactness(model) ** (0.5 if self.exactness(model) < 1e-10 else 1)
        if np.any(wrong > close * size):
            self.finds(
                f"all axes give the rows back with an error of {np.max(wrong / size):.1e}"
            )

    def kept(self, model: Any, coordinates: np.ndarray | None) -> None:
        """A model that was saved and loaded gives the same bits."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.mercer"
            if self.step("save", lambda: mercer.save(model, path) or True) is None:
                self.finds(f"save: refused a fitted model: {_short(self.refusal)}")
                return
            loaded = self.step("load", lambda: mercer.load(path))
        if loaded is None:
            self.finds("load: refused a saved model")
            return
        if coordinates is None or not hasattr(model, "transform"):
            return
        now = self.step("transform", lambda: model.transform(self.given))
        then = self.step("transform of a loaded model", lambda: loaded.transform(self.given))
        if (now is None) != (then is None):
            self.finds(
                "a loaded model transforms where the saved one does not, or not where it does"
            )
        elif now is not None and not np.array_equal(
            _numbers(now), _numbers(then), equal_nan=True
        ):
            self.finds("a loaded model gives other coordinates")

    def in_parts(self, model: Any) -> None:
        """`partial_fit` of two halves, where there is one."""
        if not hasattr(model, "partial_fit") or self.cells is None or len(self.cells) < 4:
            return
        other, half = self.fuzzed.new(), len(self.cells) // 2
        parts = [_taken(self.given, slice(0, half)), _taken(self.given, slice(half, None))]
        if parts[0] is None or self.weights:
            return
        for part in parts:
            if self.step("partial_fit", lambda part=part: other.partial_fit(part)) is None:
                return
        values = self.step("partial_fit, then look", lambda: _values(other))
        one, two = getattr(other, "certificate_", None), model.certificate_
        if values is None or one is None or not hasattr(one, "lower"):
            return
        self.look(other)
        if self.fuzzed.name.endswith("KernelPCA") or self.fuzzed.name == "RobustPCA":
            return  # the kernel is settled by the first block
        k = min(len(one.lower), len(two.lower))
        if k and np.any((one.lower[:k] > two.upper[:k]) | (two.lower[:k] > one.upper[:k])):
            self.finds("partial_fit and fit certify intervals that do not meet")

    def reported(self, model: Any) -> None:
        """A page is made, or refused, and shows no NaN."""
        page = self.step("report", lambda: model.report(self.given))
        if page is None:
            return
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.html"
            self.step("report, written", lambda: page.save(path))
            text = path.read_text() if path.exists() else ""
        shown = re.sub(r"<script.*?</script>|<style.*?</style>|<[^>]*>", " ", text, flags=re.S)
        if re.search(r"(?<![\w.-])(nan|NaN|-?inf)(?![\w-])", shown):
            at = re.search(r"(?<![\w.-])(nan|NaN|-?inf)(?![\w-])", shown).start()
            if self.cells is not None and not self.warned:
                self.finds(f"report shows {' '.join(shown[at - 60 : at + 20].split())!r}")


EXACT_MAPS = ("ClassicalMDS", "Isomap")


def _count(given: Any) -> int:
    try:
        shape = getattr(given, "shape", None)
        return int(shape[0]) if shape else len(given)
    except TypeError:
        return 9


def _takes_sparse(fuzzed: Fuzzed) -> bool:
    return bool(fuzzed.new().__sklearn_tags__().input_tags.sparse)


def _in_three_lines(text: str) -> bool:
    lines = text.split("\n")
    return (
        len(lines) == 3
        and lines[1].startswith("  got: ")
        and lines[2].startswith("  fix: ")
        and min(map(len, lines)) > 7
    )


def _short(error: object) -> str:
    return " | ".join(str(error).split("\n"))[:220]


def _place(error: BaseException) -> str:
    at = error.__traceback__
    found = ""
    while at is not None:
        code = at.tb_frame.f_code
        if "mercer" in code.co_filename and "fuzz/tests" not in code.co_filename:
            found = f"({Path(code.co_filename).name}:{at.tb_lineno})"
        at = at.tb_next
    return found


def _words(said: list[warnings.WarningMessage]) -> str:
    return " ".join(str(one.message) for one in said)


def _numbers(found: Any) -> np.ndarray:
    found = found.toarray() if sp.issparse(found) else found
    found = found.to_numpy() if hasattr(found, "to_numpy") else found
    return np.asarray(found, np.float64)


def _endless(part: str) -> bool:
    """Whether infinity is a value that this number may have."""
    return any(word in part for word in ("certificate_", "cutoff", "plan_", "tests_"))


def _arrays(name: str, value: Any) -> list[tuple[str, np.ndarray]]:
    """Return the arrays of numbers in a fitted attribute, with their names."""
    if isinstance(value, float | np.floating):
        return [(name, np.array(value))]
    if isinstance(value, np.ndarray):
        return [(name, value)] if value.dtype.kind == "f" else []
    if sp.issparse(value):
        return [(f"{name}.data", np.asarray(value.data, float))]
    if isinstance(value, list | tuple):
        return [found for one in value for found in _arrays(name, one)]
    if name == "certificate_":
        some = ("lower", "upper", "residual", "sine", "reached")
        return [
            (f"{name}.{n}", np.asarray(getattr(value, n), float))
            for n in some
            if hasattr(value, n)
        ]
    return []


def _shape_of(z: np.ndarray) -> np.ndarray:
    """Return ZZᵀ of columns of length one: free of signs and of the unit of the table."""
    z = np.where(np.isfinite(z), z, 0)
    largest = float(np.max(np.abs(z), initial=0))
    z = z / (largest or 1.0)
    gram = z @ z.T
    return gram / (np.linalg.norm(gram) or 1.0)


def _tied(model: Any) -> bool:
    """Whether axes cannot be told apart, so that a map may turn."""
    certificate = getattr(model, "certificate_", None)
    groups = getattr(certificate, "groups", ())
    sine = getattr(certificate, "sine", None)
    return bool(groups) or (sine is not None and bool(np.any(np.asarray(sine) > 1e-8)))


def _loose(model: Any) -> float:
    """Return how far the variances differ that discriminants of a kernel divide by.

    Where the weakest axis of the kernel has few digits, discriminants have no more.
    """
    space = getattr(model, "kernel_pca_", None)
    if space is None:
        return 0.0
    alive = space.eigenvalues_ > space.certificate_.zero_level
    sure, values = space.certificate_, np.asarray(space.eigenvalues_)[alive]
    wide = (sure.upper - sure.lower)[: len(alive)][alive] / values
    return float(np.max(wide, initial=0))


def _values(model: Any) -> Any:
    for name in ("explained_variance_", "eigenvalues_"):
        if hasattr(model, name):
            return getattr(model, name)
    return None


def _taken(given: Any, rows: slice) -> Any:
    """Return a part of the rows of an input, in its own container; None where there is none."""
    if isinstance(given, list | tuple):
        return given[rows]
    if hasattr(given, "iloc"):
        return given.iloc[rows]
    if isinstance(given, np.ndarray) or (sp.issparse(given) and given.format in ("csr", "csc")):
        return given[rows]
    return None


def print_of(value: Any) -> str:
    """Return a digest of a value, of the bytes of its arrays above all."""
    return hashlib.sha256(_bytes(value)).hexdigest()


def _bytes(value: Any) -> bytes:
    if isinstance(value, np.ma.MaskedArray):
        return _bytes(value.data) + _bytes(np.ma.getmaskarray(value))
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O":
            return repr([(type(x).__name__, repr(x)) for x in value.ravel().tolist()]).encode()
        return f"{value.dtype}{value.shape}".encode() + np.ascontiguousarray(value).tobytes()
    if sp.issparse(value):
        parts = ("data", "indices", "indptr", "row", "col", "offsets", "rows", "coords")
        whole = [getattr(value, name) for name in parts if hasattr(value, name)]
        whole = whole if value.format != "dok" else sorted(value.items())
        return repr((value.format, value.shape)).encode() + _bytes(whole)
    if isinstance(value, dict):
        return b"".join(repr(k).encode() + _bytes(v) for k, v in value.items())
    if isinstance(value, list | tuple):
        return repr(type(value)).encode() + b"|".join(map(_bytes, value))
    if hasattr(value, "to_pandas") and not callable(value):
        return _bytes(value.to_pandas())
    if hasattr(value, "sparse") and hasattr(value, "columns") and hasattr(value, "iloc"):
        return _bytes([np.asarray(value[c]) for c in value] if value.columns.is_unique else [])
    try:
        room = io.BytesIO()
        pickle.dump(copy.copy(value), room)
        return room.getvalue()
    except Exception:  # a kernel with a function, an engine
        return repr(type(value)).encode()
