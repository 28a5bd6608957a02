"""The laws of the house that no linter knows. Prints each breach; exits 1 when there is one.

    python tools/house_rules.py [ROOT] [--debts]

In every Python file: at most 800 lines; functions of at most 60 lines without their docstring;
no module with an empty name (utils, helpers, ...); the components, manifolds and discriminants
of scikit-learn only where they are rivals; no print in a comment.

In the package:

- folder: at most 25 modules stand side by side.
- piece: a private module under 200 lines that one neighbour alone imports belongs in it.
- mixin: a class that is not public and serves only as the base of one class is part of it.
- ancestors: at most 5 classes of the package stand in the order of bases of a class.
- homonym: the base name of a module, or the name of a class, stands once; leading underscores
  do not count. `dropin` repeats names by contract.
- state: a method does not read a private attribute that only relatives of its class in other
  files set on `self`.
- any: at most a tenth of the annotations of the estimators contain `Any`.

What still breaks a rule stands in ``tools/house_debts.toml``, a table for each rule and a
reason for each line. A line that no longer breaks its rule is a breach itself: the list only
shrinks. ``--debts`` prints the breaches as lines of that file.
"""

import ast
import dataclasses
import functools
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = 800
FUNCTION_LINES = 60
FOLDER_MODULES = 25
PIECE_LINES = 200
ANCESTORS = 5
ANY_SHARE, TYPED = 0.1, "src/mercer/estimators"
BANNED_NAMES = {"common", "core", "helper", "helpers", "manager", "misc", "util", "utils"}
RIVALS = ("sklearn.decomposition", "sklearn.manifold", "sklearn.discriminant_analysis")
RIVALS_MAY_ENTER = ("benchmarks", "tests", "src/mercer/guests")
PLACES = ("src", "tests", "benchmarks", "tools")
SKIPPED = {"__pycache__", "data", "results"}
REPEATS = "dropin"  # the room whose names stand elsewhere too
# Spelt so that this line is not itself a breach.
PRINT_IN_COMMENT = re.compile(r"#\s*print" + r"\s*\(")
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


@dataclasses.dataclass(frozen=True)
class Breach:
    """What breaks a rule: the rule, who breaks it (as the list of debts names it), and how."""

    rule: str
    who: str
    how: str

    def __str__(self) -> str:
        """Return a line for people."""
        return f"{self.who}: {self.how}"


def main(root: Path, as_debts: bool = False) -> int:
    """Check every Python file under ``root``; return the exit code."""
    files = [File(root, path) for path in sources(root)]
    found = [breach for file in files for breach in file_breaches(file)]
    found += package_breaches(Package([file for file in files if file.module]))
    debts = read_debts(root)
    if as_debts:
        print(debt_lines(found, debts))
        return 0
    owed = {(rule, who) for rule, lines in debts.items() for who in lines}
    made = {(breach.rule, breach.who) for breach in found}
    wrong = [str(breach) for breach in found if (breach.rule, breach.who) not in owed]
    wrong += [
        f"tools/house_debts.toml: {who} no longer breaks the rule {rule!r}: take it out"
        for rule, who in sorted(owed - made)
    ]
    wrong += [
        f"tools/house_debts.toml: {who} has no reason"
        for lines in debts.values()
        for who, reason in lines.items()
        if not reason.strip()
    ]
    for line in wrong:
        print(line)
    print(
        f"{len(wrong)} breaches of the house rules, {len(owed & made)} debts", file=sys.stderr
    )
    return 1 if wrong else 0


def sources(root: Path) -> Iterator[Path]:
    """Yield the Python files of the project, in a fixed order."""
    for place in PLACES:
        for path in sorted((root / place).rglob("*.py")):
            if not SKIPPED & set(path.relative_to(root).parts):
                yield path


def read_debts(root: Path) -> dict[str, dict[str, str]]:
    """Return what may break a rule for the time being: by rule, who, and why."""
    path = root / "tools" / "house_debts.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def debt_lines(found: list[Breach], debts: dict[str, dict[str, str]]) -> str:
    """Return breaches as the text of a list of debts; reasons that were given are kept."""
    rules: dict[str, set[str]] = defaultdict(set)
    for breach in found:
        rules[breach.rule].add(breach.who)
    lines = []
    for rule in sorted(rules):
        lines.append(f"[{rule}]")
        known = debts.get(rule, {})
        lines += [
            f'"{who}" = "{known.get(who, "to be mended")}"' for who in sorted(rules[rule])
        ]
        lines.append("")
    return "\n".join(lines).strip()


# ---- one file --------------------------------------------------------------------------------


class File:
    """A Python file: its place, its text, its tree, and its name in the package."""

    def __init__(self, root: Path, path: Path):
        self.name = path.relative_to(root).as_posix()
        self.text = path.read_text(encoding="utf-8")
        self.lines = self.text.splitlines()
        self.tree = ast.parse(self.text, filename=self.name)
        parts = path.relative_to(root).with_suffix("").parts
        self.is_package = parts[-1] == "__init__"
        stub = path.with_suffix(".pyi")
        if self.is_package and stub.exists():  # its names are loaded as the stub says
            self.tree.body += ast.parse(stub.read_text(encoding="utf-8")).body
        parts = parts[:-1] if self.is_package else parts
        self.parts = parts
        self.module = ".".join(parts[1:]) if parts[0] == "src" else ""

    @functools.cached_property
    def nodes(self) -> list[ast.AST]:
        """All parts of its tree."""
        return list(ast.walk(self.tree))

    @property
    def base(self) -> str:
        """The base name without underscores before it."""
        return self.parts[-1].lstrip("_")

    @property
    def folder(self) -> str:
        """The package in which it stands."""
        return self.module if self.is_package else self.module.rpartition(".")[0]


def file_breaches(file: File) -> Iterator[Breach]:
    """Yield the breaches inside one file."""
    if len(file.lines) > FILE_LINES:
        how = f"{len(file.lines)} lines, at most {FILE_LINES}"
        yield Breach("file", file.name, how)
    for part in file.parts:
        if part.strip("_").lower() in BANNED_NAMES:
            yield Breach("name", file.name, f"the name {part!r} says nothing")
    for number, line in enumerate(file.lines, 1):
        if PRINT_IN_COMMENT.search(line):
            yield Breach("print", f"{file.name}:{number}", "a print left in a comment")
    yield from long_functions(file)
    if not file.name.startswith(RIVALS_MAY_ENTER):
        yield from rival_imports(file)


def long_functions(file: File) -> Iterator[Breach]:
    """Yield the functions that are too long, their docstring not counted."""
    for node in file.nodes:
        if not isinstance(node, FUNCTIONS):
            continue
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        first = node.body[0]
        if ast.get_docstring(node, clean=False) is not None:
            length -= (first.end_lineno or first.lineno) - first.lineno + 1
        if length > FUNCTION_LINES:
            how = f"line {node.lineno}: {length} lines, at most {FUNCTION_LINES}"
            yield Breach("function", f"{file.name}: {node.name}", how)


def rival_imports(file: File) -> Iterator[Breach]:
    """Yield imports of what this package computes itself, lazy ones too."""
    for node in file.nodes:
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for module in modules:
            if any(module == rival or module.startswith(rival + ".") for rival in RIVALS):
                yield Breach("rival", f"{file.name}:{node.lineno}", f"imports {module}")
                break


# ---- the package -----------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False)
class Class:
    """A class statement and the file in which it stands."""

    file: File
    node: ast.ClassDef

    @property
    def who(self) -> str:
        """How the list of debts names it."""
        return f"{self.file.name}: {self.node.name}"

    def methods(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Return its functions."""
        return [node for node in self.node.body if isinstance(node, FUNCTIONS)]

    @functools.cached_property
    def behaviour(self) -> set[str]:
        """Names that the class itself holds: methods, constants, class variables."""
        names = {method.name for method in self.methods()}
        for node in self.node.body:
            if isinstance(node, ast.Assign):
                names |= {name.id for name in node.targets if isinstance(name, ast.Name)}
            elif isinstance(node, ast.AnnAssign) and (
                node.value is not None or "ClassVar" in ast.unparse(node.annotation)
            ):
                names.add(ast.unparse(node.target))
        return names

    @functools.cached_property
    def fields(self) -> set[str]:
        """Names that are declared without a value where the class is a dataclass."""
        if not any("dataclass" in ast.unparse(one) for one in self.node.decorator_list):
            return set()
        declared = [node for node in self.node.body if isinstance(node, ast.AnnAssign)]
        return {node.target.id for node in declared if isinstance(node.target, ast.Name)}

    @functools.cached_property
    def stored(self) -> set[str]:
        """Private attributes that methods set: on `self`, or by name in what they publish."""
        found = set(self.fields)
        for method in self.methods():
            for node in ast.walk(method):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                    found |= {node.attr} if is_self(node.value) else set()
                elif isinstance(node, ast.Dict):
                    found |= {text_of(key) for key in node.keys}
                elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                    found.add(text_of(node.slice))
        return {name for name in found if is_private(name)}

    def read(self) -> set[str]:
        """Return the private attributes of `self` that methods read."""
        return {
            node.attr
            for method in self.methods()
            for node in ast.walk(method)
            if isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and is_self(node.value)
            and is_private(node.attr)
        }


def is_self(node: ast.expr) -> bool:
    """Tell whether an expression is the object of a method, under its usual names."""
    return isinstance(node, ast.Name) and node.id in ("self", "this")


def is_private(name: str) -> bool:
    """Tell whether a name is private, and not one of the language."""
    return name.startswith("_") and not name.startswith("__")


def text_of(node: ast.expr | None) -> str:
    """Return the text of a constant, or nothing."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


class Package:
    """The modules of a package: who imports whom, and which class stands on which."""

    def __init__(self, files: list[File]):
        self.files = files
        self.modules = {file.module: file for file in files}
        self.bindings = {file.module: self.bound(file) for file in files}
        self.importers: dict[str, set[str]] = defaultdict(set)
        for file in files:
            for module in self.imported(file):
                self.importers[module].add(file.module)
        self.classes = [
            Class(file, node)
            for file in files
            for node in file.nodes
            if isinstance(node, ast.ClassDef)
        ]
        self.by_name: dict[str, list[Class]] = defaultdict(list)
        for one in self.classes:
            self.by_name[one.node.name].append(one)
        self.bases = {one: self.bases_of(one) for one in self.classes}

    def origin(self, file: File, node: ast.ImportFrom) -> str:
        """Return the module that `from ... import` names."""
        if not node.level:
            return node.module or ""
        around = file.folder.split(".")
        around = around[: len(around) - node.level + 1]
        return ".".join([*around, *([node.module] if node.module else [])])

    def bound(self, file: File) -> dict[str, tuple[str, str]]:
        """Return what a module imports by name: from which module, and its name there."""
        found = {}
        for node in file.nodes:
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    place = self.origin(file, node), alias.name
                    # What is imported where the first import failed is a stand-in.
                    found.setdefault(alias.asname or alias.name, place)
        return found

    def imported(self, file: File) -> Iterator[str]:
        """Yield the modules of the package that a file imports or names, wherever it does.

        A dotted name in a text counts: tables of lazy imports are written so.
        """
        for node in file.nodes:
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                origin = self.origin(file, node)
                names = [f"{origin}.{alias.name}" for alias in node.names]
                names = [name if name in self.modules else origin for name in names]
            elif text := text_of(node if isinstance(node, ast.Constant) else None):
                names = [text, f"{file.folder}.{text.lstrip('.')}"]
            yield from (name for name in names if name in self.modules and name != file.module)

    def resolved(self, module: str, name: str, depth: int = 9) -> Class | None:
        """Return the class that a name stands for in a module, if it is one of the package."""
        here = [one for one in self.by_name[name] if one.file.module == module]
        if here:
            return here[0]
        if name in self.bindings.get(module, {}) and depth:
            return self.resolved(*self.bindings[module][name], depth - 1)
        if module.partition(".")[0] not in self.modules:
            return None
        # A name that a room loads lazily: there is no import to follow, but one such class.
        known = [one for one in self.by_name[name] if REPEATS not in one.file.parts]
        return known[0] if len(known) == 1 else None

    def bases_of(self, one: Class) -> list["Class"]:
        """Return the classes of the package that a class statement names as its bases."""
        found = []
        for base in one.node.bases:
            base = base.value if isinstance(base, ast.Subscript) else base
            if isinstance(base, ast.Name):
                found.append(self.resolved(one.file.module, base.id))
            elif isinstance(base, ast.Attribute):
                whole = ast.unparse(base.value)
                module = ".".join(self.bindings[one.file.module].get(whole, ("", whole)))
                found.append(self.resolved(module.lstrip("."), base.attr))
        return [base for base in found if base is not None]

    def line(self, one: Class) -> list[Class]:
        """Return a class and all its bases in the package, each once."""
        found: list[Class] = []
        left = [one]
        while left:
            here = left.pop(0)
            if here not in found:
                found.append(here)
                left += self.bases[here]
        return found


def package_breaches(package: Package) -> list[Breach]:
    """Return what the modules and classes of the package break together."""
    rules = (full_folders, pieces, mixins, long_lines, homonyms, foreign_state, loose_types)
    return [breach for rule in rules for breach in rule(package)]


def full_folders(package: Package) -> Iterator[Breach]:
    """Yield the folders with too many modules, their `__init__` not counted."""
    folders: dict[str, int] = defaultdict(int)
    for file in package.files:
        folders["/".join(file.parts[:-1])] += not file.is_package
    for folder, count in sorted(folders.items()):
        if count > FOLDER_MODULES:
            how = f"{count} modules side by side, at most {FOLDER_MODULES}: make a folder"
            yield Breach("folder", folder, how)


def pieces(package: Package) -> Iterator[Breach]:
    """Yield small private modules that are part of the one neighbour that imports them."""
    for file in package.files:
        private = file.parts[-1].startswith("_") and not file.is_package
        importers = [package.modules[name] for name in package.importers[file.module]]
        if not private or len(file.lines) >= PIECE_LINES or len(importers) != 1:
            continue
        if importers[0].folder == file.folder and not importers[0].is_package:
            how = f"{len(file.lines)} lines that {importers[0].parts[-1]} alone imports"
            yield Breach("piece", file.name, f"{how}: they belong in it")


def mixins(package: Package) -> Iterator[Breach]:
    """Yield classes that serve only as the base of one class, and are not public."""
    users: dict[Class, list[Class]] = defaultdict(list)
    for one in package.classes:
        for base in package.bases[one]:
            users[base].append(one)
    public = {text for file in package.files for text in listed(file.tree)}
    uses = {name for file in package.files for name in used_names(file.tree)}
    for base, own in users.items():
        if len(own) == 1 and base.node.name not in public | uses:
            how = f"serves {own[0].node.name} ({own[0].file.name}) alone: it is part of it"
            yield Breach("mixin", base.who, how)


def listed(tree: ast.Module) -> Iterator[str]:
    """Yield the names in the `__all__` of a module."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            yield from (text_of(one) for one in ast.walk(node.value))


def used_names(tree: ast.AST) -> Iterator[str]:
    """Yield names that are called or looked at; bases, imports and annotations do not count."""
    for name, value in ast.iter_fields(tree):
        if name in ("bases", "annotation", "returns"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.Name):
                yield node.id
            elif isinstance(node, ast.Attribute):
                yield node.attr
            if isinstance(node, ast.AST):
                yield from used_names(node)


def long_lines(package: Package) -> Iterator[Breach]:
    """Yield classes that stand on too many classes of the package."""
    for one in package.classes:
        line = package.line(one)
        if len(line) > ANCESTORS:
            names = ", ".join(base.node.name for base in line)
            how = f"{len(line)} classes in its order of bases, at most {ANCESTORS}: {names}"
            yield Breach("ancestors", one.who, how)


def homonyms(package: Package) -> Iterator[Breach]:
    """Yield names of modules and of classes that stand for more than one."""
    named: dict[tuple[str, str], list[str]] = defaultdict(list)
    for file in package.files:
        if REPEATS not in file.parts and not file.is_package and file.base != "main__":
            named["module", file.base].append(file.name)
    for one in package.classes:
        if REPEATS not in one.file.parts:
            named["class", one.node.name.lstrip("_")].append(one.file.name)
    for (kind, name), places in sorted(named.items()):
        if len(places) > 1:
            how = f"stands {len(places)} times: {', '.join(sorted(places))}"
            yield Breach("homonym", f"{kind} {name}", how)


def foreign_state(package: Package) -> Iterator[Breach]:
    """Yield methods that read private state of `self` which other files alone set."""
    relatives: dict[Class, set[Class]] = defaultdict(set)
    for one in package.classes:
        line = package.line(one)
        for base in line:
            relatives[base] |= set(line)
    set_in: dict[str, set[str]] = defaultdict(set)
    for one in package.classes:
        set_in[one.file.name] |= one.stored
    for one in package.classes:
        family = relatives[one]
        known = {name for other in family for name in other.behaviour}
        for name in sorted(one.read() - known - set_in[one.file.name]):
            places = {other.file.name for other in family if name in other.stored}
            if places:
                how = f"reads {name}, which is set in {', '.join(sorted(places))}"
                yield Breach("state", f"{one.who}.{name}", how)


def loose_types(package: Package) -> Iterator[Breach]:
    """Yield the room of the methods if too many of its annotations contain `Any`."""
    files = [file for file in package.files if file.name.startswith(TYPED)]
    found = [says_any(one) for file in files for one in annotations(file)]
    if sum(found) > ANY_SHARE * len(found):
        how = f"{sum(found)} of {len(found)} annotations contain Any"
        yield Breach("any", TYPED, f"{how}, at most {ANY_SHARE:.0%}")


def annotations(file: File) -> Iterator[ast.expr]:
    """Yield the annotations of parameters, results and attributes."""
    for node in file.nodes:
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, FUNCTIONS) and node.returns is not None:
            yield node.returns


def says_any(annotation: ast.expr) -> bool:
    """Tell whether an annotation contains `Any`, also where it is a text."""
    return re.search(r"\bAny\b", ast.unparse(annotation)) is not None


if __name__ == "__main__":
    given = [one for one in sys.argv[1:] if not one.startswith("--")]
    here = Path(given[0]) if given else Path(__file__).resolve().parent.parent
    sys.exit(main(here, as_debts="--debts" in sys.argv))
