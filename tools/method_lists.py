"""The lists of methods, made from the table `mercer.methods`, or compared with it.

    python tools/method_lists.py [--check]

Written are the stubs `mercer/__init__.pyi` and `mercer/estimators/__init__.pyi`, which say
where the classes live, and the table of README.md between its marks. With `--check` nothing is
written, and a list that differs ends with code 1.
"""

import re
import subprocess
import sys
from pathlib import Path

from mercer.methods import METHODS, Method, families

ROOT = Path(__file__).resolve().parents[1]
STUB = re.compile(r"from (\S+) import (?:\(\s*)?(\w+) as \w+(?:,\s*\))?\n")
MARKED = re.compile(r"(<!-- methods:begin -->\n).*?(<!-- methods:end -->)", re.DOTALL)
TAKES = {
    "numbers": "numbers",
    "counts": "counts",
    "categories": "categories",
    "mixed": "numbers and categories",
    "groups": "numbers and groups of rows",
}


def main(check: bool) -> int:
    """Write every list, or only compare; return the exit code."""
    status = 0
    for path, text in wanted().items():
        if path.read_text(encoding="utf-8") == text:
            continue
        print(f"{path.relative_to(ROOT)}: {'differs' if check else 'written'}", file=sys.stderr)
        status = int(check)
        if not check:
            path.write_text(text, encoding="utf-8")
    if status:
        print("the table of methods says otherwise: python tools/method_lists.py")
    return status


def wanted() -> dict[Path, str]:
    """Return the files that hold lists, as they should be."""
    package = ROOT / "src" / "mercer"
    public = [method for method in METHODS.values() if "." not in method.name]
    below = [method for method in public if method.home.startswith("mercer.estimators.")]
    return {
        package / "__init__.pyi": stub(package / "__init__.pyi", public),
        package / "estimators" / "__init__.pyi": stub(
            package / "estimators" / "__init__.pyi", below
        ),
        ROOT / "README.md": marked(ROOT / "README.md"),
    }


def stub(path: Path, methods: list[Method]) -> str:
    """Return a stub with a line for each of these methods; other lines stay as they are."""
    text = path.read_text(encoding="utf-8")
    lines = {pair for pair in STUB.findall(text) if not is_method(*pair)}
    lines |= {(method.home, method.name) for method in methods}
    names = "".join(f"from {home} import {name} as {name}\n" for home, name in sorted(lines))
    first, last = STUB.search(text), list(STUB.finditer(text))[-1]
    assert first is not None
    return formatted(text[: first.start()] + names + text[last.end() :])


def is_method(home: str, name: str) -> bool:
    """Tell whether a name is a class in a family, in a module without an underscore."""
    rooms, _, module = home.rpartition(".")
    return rooms.startswith("mercer.estimators.") and module[0] != "_" and name[0].isupper()


def formatted(text: str) -> str:
    """Return a stub as the formatter leaves it."""
    for words in (["check", "--select", "I", "--fix", "-q"], ["format", "-q"]):
        done = subprocess.run(
            [Path(sys.executable).parent / "ruff", *words, "--stdin-filename", "a.pyi", "-"],
            input=text, capture_output=True, text=True, check=True, cwd=ROOT,
        )  # fmt: skip
        text = done.stdout
    return text


def marked(path: Path) -> str:
    """Return a page with its table of methods."""
    rows = ["| | method | command | takes | |", "|---|---|---|---|---|"]
    for family, methods in families().items():
        for method in methods:
            head = family if method is methods[0] else ""
            rows.append(
                f"| {head} | [`{method.name}`]({method.docs}) | `{method.command}`"
                f" | {TAKES[method.takes]} | {method.about} |"
            )
    text = path.read_text(encoding="utf-8")
    return MARKED.sub(lambda found: found[1] + "\n".join(rows) + "\n" + found[2], text)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
