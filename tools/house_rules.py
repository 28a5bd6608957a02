"""The laws of the house that no linter knows. Prints each breach; exits 1 when there is one.

    python tools/house_rules.py [ROOT]

Rules: files of at most 800 lines; functions of at most 60 without their docstring; no room or
module with an empty name (utils, helpers, ...); the components,
manifolds and discriminants of scikit-learn only where they are rivals; no print in a comment.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = 800
FUNCTION_LINES = 60
BANNED_NAMES = {"common", "core", "helper", "helpers", "manager", "misc", "util", "utils"}
RIVALS = ("sklearn.decomposition", "sklearn.manifold", "sklearn.discriminant_analysis")
RIVALS_MAY_ENTER = ("benchmarks", "tests", "src/mercer/guests")
PLACES = ("src", "tests", "benchmarks", "tools")
SKIPPED = {"__pycache__", "data", "results"}
# Spelt so that this line is not itself a breach.
PRINT_IN_COMMENT = re.compile(r"#\s*print" + r"\s*\(")


def main(root: Path) -> int:
    """Check every Python file under ``root``; return the exit code."""
    breaches = [breach for path in sources(root) for breach in check_file(root, path)]
    for breach in breaches:
        print(breach)
    print(f"{len(breaches)} breaches of the house rules", file=sys.stderr)
    return 1 if breaches else 0


def sources(root: Path) -> Iterator[Path]:
    """Yield the Python files of the project, in a fixed order."""
    for place in PLACES:
        for path in sorted((root / place).rglob("*.py")):
            if not SKIPPED & set(path.relative_to(root).parts):
                yield path


def check_file(root: Path, path: Path) -> Iterator[str]:
    """Yield the breaches inside one file."""
    name = path.relative_to(root).as_posix()
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    if len(lines) > FILE_LINES:
        yield f"{name}: {len(lines)} lines, at most {FILE_LINES}"
    for part in path.relative_to(root).with_suffix("").parts:
        if part.strip("_").lower() in BANNED_NAMES:
            yield f"{name}: the name {part!r} says nothing"
    for number, line in enumerate(lines, 1):
        if PRINT_IN_COMMENT.search(line):
            yield f"{name}:{number}: a print left in a comment"
    tree = ast.parse(text, filename=name)
    yield from long_functions(name, tree)
    if not name.startswith(RIVALS_MAY_ENTER):
        yield from rival_imports(name, tree)


def long_functions(name: str, tree: ast.Module) -> Iterator[str]:
    """Yield the functions that are too long, their docstring not counted."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        first = node.body[0]
        if ast.get_docstring(node, clean=False) is not None:
            length -= (first.end_lineno or first.lineno) - first.lineno + 1
        if length > FUNCTION_LINES:
            place = f"{name}:{node.lineno}"
            yield f"{place}: {node.name} has {length} lines, at most {FUNCTION_LINES}"


def rival_imports(name: str, tree: ast.Module) -> Iterator[str]:
    """Yield imports of what this package computes itself, lazy ones too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for module in modules:
            if any(module == rival or module.startswith(rival + ".") for rival in RIVALS):
                yield f"{name}:{node.lineno}: imports {module}"
                break


if __name__ == "__main__":
    here = Path(__file__).resolve().parent.parent
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else here))
