"""Where a small fault can be put into the mathematics, and which are drawn.

A mutant is known by its function, its statement, its change and the occurrence, not by its
place: it is the same one in a tree whose files were moved or merged.
"""

import ast
import contextlib
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from copy import copy as shallow
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOMS = ("solvers", "operators", "planning", "estimators", "sources")
# Arguments whose change is no fault: astype(copy=), zip(strict=), warn(stacklevel=).
NO_FAULT = {"copy", "strict", "stacklevel"}

COMPARED = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
SWAPPED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
EXTREMES = {"min": "max", "minimum": "maximum", "argmin": "argmax", "nanmin": "nanmax"}
EXTREMES |= {there: back for back, there in EXTREMES.items()}
Function = ast.FunctionDef | ast.AsyncFunctionDef
Change = tuple[str, str, ast.AST, str]  # kind, what it does, the node, its new text


@dataclass(frozen=True)
class Site:
    """A place and one change of it; the first four fields are what a mutant is known by."""

    where: str
    statement: str
    change: str
    occurrence: int
    kind: str
    file: str  # from here on: where it was when it was drawn
    line: int
    around: str  # of the enclosing function: tells two sites of one key apart
    start: int = 0
    end: int = 0
    text: str = ""
    lines: tuple[int, int] = (0, 0)
    header: tuple[int, int] = (0, 0)
    names: tuple[str, ...] | None = None  # of a line that runs at import: what it defines

    @property
    def key(self) -> tuple[str, str, str, int]:
        """Return what the mutant is known by, in any tree."""
        return self.where, self.statement, self.change, self.occurrence

    @property
    def name(self) -> str:
        """Return a short name of the mutant, the same in every result."""
        return digest("|".join(map(str, (*self.key, self.file, self.around))))

    @property
    def marks(self) -> tuple[str, str, str, str]:
        """Return what tells it from other sites of its key: the earlier, the better."""
        path = Path(self.file)
        return self.around, self.file, path.parts[2], path.name.lstrip("_")


def digest(text: str | bytes) -> str:
    """Return a short fingerprint."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()[:16]


def file_of(test: str) -> str:
    """Return the file of a test."""
    return test.removeprefix("file|").partition("::")[0]


def plain(node: ast.AST | str) -> str:
    """Return code in one form: merging files takes or gives leading underscores."""
    text = node if isinstance(node, str) else ast.unparse(node)
    return re.sub(r"\b_+(?=[A-Za-z])", "", text)


def changes(node: ast.AST, bound: bool = False) -> Iterator[Change]:
    """Yield the changes of one expression; ``bound``: it is the bound of a slice."""
    match node:
        case ast.Constant(value=bool() as value):
            yield "boolean", f"{value} flipped", node, str(not value)
        case ast.Constant(value=int() as value) if not bound:
            yield "integer", f"{value} plus one", node, f"({value + 1})"
        case ast.Constant(value=float() as value):
            yield "float", f"{value} moved", node, f"({value * 1.01 or 1.0!r})"
        case ast.Compare(ops=ops):
            for i, old in enumerate(ops):
                for new in COMPARED[type(old)]:
                    yield turned(
                        "comparison", node, old, new, ops=[*ops[:i], new(), *ops[i + 1 :]]
                    )
        case ast.BinOp(op=old) if type(old) in SWAPPED and not has_text(node):
            new = SWAPPED[type(old)]
            yield turned("arithmetic", node, old, new, op=new())
        case ast.BoolOp(op=old):
            new = ast.Or if isinstance(old, ast.And) else ast.And
            yield turned("and or", node, old, new, op=new())
        case ast.UnaryOp(op=ast.Not()):
            yield "not", "not dropped", node, f"({ast.unparse(node.operand)})"
        case ast.Call(func=ast.Name(id=name)) if name in EXTREMES:
            yield "extremes", f"{name} swapped", node.func, EXTREMES[name]
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in EXTREMES:
            text = ast.unparse(ast.Attribute(owner, EXTREMES[name]))
            yield "extremes", f"{name} swapped", node.func, text
        case ast.Slice():
            for end in ("lower", "upper"):
                if (limit := getattr(node, end)) is not None:
                    yield "slice", f"{end} bound moved", limit, f"(({ast.unparse(limit)}) + 1)"


def turned(kind: str, node: ast.AST, old: ast.AST, new: type, **parts: Any) -> Change:
    """Return the change of an operator to another one."""
    other = shallow(node)
    for name, part in parts.items():
        setattr(other, name, part)
    text = ast.unparse(other)
    words = f"{type(old).__name__} to {new.__name__}"
    return kind, words, node, text if isinstance(node, ast.stmt) else f"({text})"


def has_text(node: ast.expr) -> bool:
    """Whether a sum or a product is one of strings."""
    if isinstance(node, ast.BinOp):
        return has_text(node.left) or has_text(node.right)
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def whole_changes(node: ast.stmt) -> Iterator[Change]:
    """Yield the changes of a whole statement."""
    match node:
        case ast.Return(value=ast.expr() as value):
            if not (isinstance(value, ast.Constant) and value.value is None):
                yield "return", "None returned", node, "return None"
        case ast.Expr(value=ast.Call()):
            yield "call", "call dropped", node, "pass"
        case ast.AugAssign(op=old) if type(old) in SWAPPED and not has_text(node.value):
            new = SWAPPED[type(old)]
            yield turned("arithmetic", node, old, new, op=new())


def expressions(node: ast.stmt) -> list[ast.expr]:
    """Return what a statement computes itself: no body, annotation, decorator or base."""
    if isinstance(node, Function):
        return [one for one in (*node.args.defaults, *node.args.kw_defaults) if one is not None]
    if isinstance(node, ast.ClassDef):
        return []
    found: list[ast.expr] = []
    for name, value in ast.iter_fields(node):
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.withitem):
                found += [one.context_expr]
            elif isinstance(one, ast.match_case) and one.guard is not None:
                found += [one.guard]
            elif isinstance(one, ast.expr) and name != "annotation":
                found += [one]
    return found


def bodies(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements inside a statement."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        for one in getattr(node, name, []):
            if isinstance(one, ast.stmt):
                yield one
            else:
                yield from bodies(one)


class Module:
    """A file, its sites, and what is needed to know who runs its lines at import."""

    def __init__(self, file: str, source: bytes):
        self.file, self.source = file, source
        self.sites: list[Site] = []
        self.uses: dict[str, set[int]] = defaultdict(set)
        self.imports: set[str] = set()
        self.inside: set[int] = set()  # lines of functions
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._scope: list[Function | ast.ClassDef] = []
        self._counted: Counter[tuple[str, str, str]] = Counter()
        self._bounds: set[ast.AST] = set()
        for node in ast.parse(source).body:
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        """Find the sites of a statement and of those inside it."""
        if isinstance(node, ast.ImportFrom):
            self.imports |= {alias.name for alias in node.names}
        if isinstance(node, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom):
            return
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for one in node.orelse:
                self.statement(one)
            return
        opens = isinstance(node, Function | ast.ClassDef)
        if opens:
            self._scope.append(node)
        parts = expressions(node)
        compound = any(True for _ in bodies(node))
        text = ", ".join(map(plain, parts)) if compound else plain(node)
        text = f"{type(node).__name__} {text}" if compound else text
        for part in parts:
            self.expression(part, node, text)
        for change in whole_changes(node):
            self.add(change, node, text)
        for one in bodies(node):
            self.statement(one)
        if opens:
            self._scope.pop()

    def expression(self, node: ast.AST, statement: ast.stmt, text: str) -> None:
        """Find the sites of an expression and of its parts."""
        if isinstance(node, ast.JoinedStr):
            return
        if isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("Literal"):
            return
        if isinstance(node, ast.keyword) and node.arg in NO_FAULT:
            return
        name = getattr(node, "id", getattr(node, "attr", None))
        if name and self.function() is not None:
            self.uses[name].add(node.lineno)
        if isinstance(node, ast.Slice):
            self._bounds |= {node.lower, node.upper}
        if isinstance(node, ast.UnaryOp) and node in self._bounds:
            self._bounds.add(node.operand)
        for change in changes(node, node in self._bounds):
            self.add(change, statement, text)
        for child in ast.iter_child_nodes(node):
            self.expression(child, statement, text)

    def function(self) -> Function | None:
        """Return the innermost function here."""
        return next((one for one in self._scope[::-1] if isinstance(one, Function)), None)

    def add(self, change: Change, statement: ast.stmt, text: str) -> None:
        """Keep one site."""
        kind, words, node, new = change
        where = plain(".".join(one.name for one in self._scope)) or "<module>"
        self._counted[where, text, words] += 1
        around, names = self.function(), None
        parts = expressions(statement) or [statement]
        header = (parts[0].lineno, parts[-1].end_lineno)
        lines = (node.lineno, node.end_lineno)
        if around is not None and around is statement:  # a default: whoever runs the body
            lines = header = (around.body[0].lineno, around.end_lineno)
        elif around is None:
            targets = [one for one in ast.walk(statement) if isinstance(one, ast.Name)]
            names = tuple(one.id for one in targets if isinstance(one.ctx, ast.Store))
        else:
            first = around.body[0].lineno
            self.inside |= set(range(first, around.end_lineno + 1))
        start = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[node.end_lineno - 1] + node.end_col_offset
        number, body = self._counted[where, text, words], digest(plain(around or ""))
        known = (where, text, words, number, kind, self.file, node.lineno, body)
        self.sites.append(Site(*known, start, end, new, lines, header, names))


def modules_of(tree: Path, rooms: tuple[str, ...] = ROOMS) -> dict[str, Module]:
    """Return the files of the rooms, by their path in the tree."""
    found = {}
    for room in rooms:
        for path in sorted((tree / "src" / "mercer" / room).rglob("*.py")):
            file = path.relative_to(tree).as_posix()
            found[file] = Module(file, path.read_bytes())
    return found


def mutated(source: bytes, site: Site) -> bytes | None:
    """Return the file with the change, or None when it would be the same or no Python."""
    new = source[: site.start] + site.text.encode() + source[site.end :]
    with contextlib.suppress(SyntaxError):
        if ast.dump(ast.parse(new)) != ast.dump(ast.parse(source)):
            return new
    return None


def sample(
    modules: dict[str, Module], seed: int, count: int, covered: Any = None
) -> list[Site]:
    """Return sites, the kinds of change in turn, one a statement; ``covered``: with tests."""
    kinds: dict[str, list[Site]] = defaultdict(list)
    sites = [site for module in modules.values() for site in module.sites]
    for site in sorted(sites, key=lambda site: digest(f"{seed}|{site.key}|{site.around}")):
        kinds[site.kind].append(site)
    drawn: list[Site] = []
    taken: set[tuple[str, str, str]] = set()
    while kinds and len(drawn) < count:
        for kind in sorted(kinds):
            while kinds[kind]:
                site = kinds[kind].pop(0)
                if (site.file, site.where, site.statement) in taken:
                    continue
                if covered is not None and not covered.runs(modules, site):
                    continue
                if mutated(modules[site.file].source, site) is not None:
                    taken.add((site.file, site.where, site.statement))
                    drawn.append(site)
                    break
        kinds = {kind: left for kind, left in kinds.items() if left}
    return drawn[:count]


def found_again(
    modules: dict[str, Module], mutants: list[Site]
) -> list[tuple[str, Site | None]]:
    """Return for each mutant how it was found (exact, moved, gone) and its site in a tree."""
    sites = [site for module in modules.values() for site in module.sites]
    known = {"exact": defaultdict(list), "moved": defaultdict(list)}
    for site in sites:
        known["exact"][site.key].append(site)
        known["moved"][site.key[1:]].append(site)
    taken: set[Site] = set()
    answers: list[tuple[str, Site | None]] = [("gone", None)] * len(mutants)
    # Those known exactly first, so that none of their sites goes to a neighbour.
    for how in known:
        for i, one in enumerate(mutants):
            left = known[how][one.key if how == "exact" else one.key[1:]]
            left = [site for site in left if site not in taken]
            if how == "moved":
                last = one.where.rpartition(".")[2]
                same = [site for site in left if site.where.rpartition(".")[2] == last]
                left = same or (left if len(left) == 1 and len(one.statement) >= 20 else [])
            if answers[i][1] is None and left:
                best = max(left, key=lambda site: [*map(str.__eq__, site.marks, one.marks)])
                taken.add(best)
                answers[i] = how, best
    return answers
