"""Counts of what the house style bans: they may only fall, and a new file begins at 0.

``python -m tests.completeness.ceilings`` prints the totals by package and lowers `ceilings.json`; it raises no count.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.completeness.tree import HOUSES, ROOT, sources, tree

FILE = Path(__file__).with_name("ceilings.json")
Counts = Mapping[str, Mapping[str, int]]
"""Measure to count, by file or, of what may move between files, by package; what has none is left out."""
_BY_FILE = ("banned in messages", "banned in docstrings", "participle functions", "short docstrings")

_BANNED = re.compile(
    r"(?<!here )\bis no (?!longer)|\bthere is no\b|\b(is|are) none\b|\bha(s|ve) not got\b|\b(no|some)body\b"
    r"|\b(go|goes|going) on\b|\b(tells?|told)\b|\bstands?\b|\banew\b|\bmend\b|\bbehind\b|\bin front\b"
    r"|\bmay not (stand|read|be)\b|\bof the (user|system)\b|\bof (ours|old)\b|\bwhat it means\b"
    r"|has no meaning|of no use|\bconsent(ed)? to\b|\bby (itself|themselves|chance)\b|\b(takes?|taken) back\b",
    re.IGNORECASE,
)
_TERM_MAKERS = frozenset({"said", "leaf", "make_term", "make_leaf"})
"""Functions whose texts are part of frozen terms."""
_PROPERTIES = frozenset({"property", "cached_property", "setter"})
_PARTICIPLES = frozenset({
    "shown", "told", "said", "written", "made", "given", "found", "taken", "kept", "known", "put", "meant", "seen",
    "held", "gone", "drawn", "sent", "cut", "left", "sought",
})  # fmt: skip
_NO_PARTICIPLES = frozenset({"embed", "exceed", "succeed", "proceed", "speed", "shed"})
_COMMENT = re.compile(r"(?m)(?:^|\s)# (.*)$")
_SHORT = 4
_SMALL_HELPER = 5
_LONG_FILE = 400


def count(file: Path) -> Mapping[str, int]:
    """Each measure of one file."""
    text = file.read_text(encoding="utf-8")
    parsed = tree(file)
    documented = list(_docstrings(parsed))
    comments = "\n".join(_COMMENT.findall(text))
    lines = len(text.splitlines())
    return {
        "banned in messages": sum(len(_BANNED.findall(each)) for each in _messages(parsed)),
        "banned in docstrings": sum(len(_BANNED.findall(each)) for each in (*documented, comments)),
        "participle functions": sum(map(_is_participle, _functions(parsed))),
        "short docstrings": sum(len(each.split()) <= _SHORT for each in _docstrings(parsed, of=_FUNCTIONS)),
        "id() as key": sum(isinstance(node, ast.Call) and _name(node.func) == "id" for node in ast.walk(parsed)),
        "small helpers of one use": sum(_is_small_helper(each, text) for each in _functions(parsed)),
        "files over 400 lines": int(lines > _LONG_FILE),
        "lines": lines,
    }


def count_all() -> Counts:
    """Each measure of all files, and class names that several files define."""
    found: dict[str, Counter[str]] = {}
    defined: Counter[str] = Counter()
    classes: list[tuple[str, str]] = []
    for package in HOUSES:
        for file in sources(package):
            name = file.relative_to(ROOT).as_posix()
            for measure, number in count(file).items():
                if number:
                    found.setdefault(measure, Counter())[name if measure in _BY_FILE else package] += number
            own = {node.name for node in ast.walk(tree(file)) if isinstance(node, ast.ClassDef)}
            defined.update(own)
            # Versions of a node have one name on purpose.
            if not re.search(r"/v\d+(_kernel)?\.py$", name):
                classes += ((package, each) for each in own if not each.startswith("_"))
    found["ambiguous class names"] = Counter(package for package, each in classes if defined[each] > 1)
    return found


def read() -> Counts:
    """The ceilings."""
    found: Counts = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return found


def compare(counts: Counts, ceilings: Counts) -> Iterator[str]:
    """What is above its ceiling; lines may move between packages."""
    for measure, now in counts.items():
        known = ceilings.get(measure, {})
        if measure == "lines":
            now, known = {"the product": sum(now.values())}, {"the product": sum(known.values())}
        for name, number in now.items():
            if number > known.get(name, 0):
                yield f"{measure}: {name} has {number:,}, at most {known.get(name, 0):,}"


def totals(counts: Counts) -> str:
    """A line a measure, by package."""
    lines = [f"{'':26}" + "".join(f"{package:>11}" for package in HOUSES) + f"{'all':>9}"]
    for measure, found in counts.items():
        by_package: Counter[str] = Counter()
        for name, number in found.items():
            by_package[name.partition("/")[0]] += number
        row = "".join(f"{by_package[package]:>11,}" for package in HOUSES)
        lines.append(f"{measure:26}{row}{sum(by_package.values()):>9,}")
    return "\n".join(lines)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _docstrings(
    parsed: ast.Module, of: tuple[type[ast.AST], ...] = (ast.Module, ast.ClassDef, *_FUNCTIONS)
) -> Iterator[str]:
    for node in ast.walk(parsed):
        if isinstance(node, of):
            text = ast.get_docstring(node)  # type: ignore[arg-type]
            if text:
                yield text


def _messages(parsed: ast.Module) -> Iterator[str]:
    """Texts that are neither docstrings, nor stand below names, nor are parts of terms."""
    passed = {id(node.value) for node in ast.walk(parsed) if isinstance(node, ast.Expr)}
    for node in ast.walk(parsed):
        if isinstance(node, ast.Call) and _name(node.func) in _TERM_MAKERS:
            passed |= {id(each) for each in ast.walk(node)}
    for node in ast.walk(parsed):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed:
            yield node.value


def _name(node: ast.expr) -> str:
    """The last part of a dotted name; "" of another expression."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            # A call, a subscript, …
            return ""


def _functions(parsed: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(parsed) if isinstance(node, _FUNCTIONS))


def _is_participle(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    decorators = {_name(each) for each in function.decorator_list}
    first = function.name.lstrip("_").split("_")[0]
    is_past = len(first) > 5 and first.endswith("ed") and first not in _NO_PARTICIPLES
    return not decorators & _PROPERTIES and (first in _PARTICIPLES or is_past)


def _is_small_helper(function: ast.FunctionDef | ast.AsyncFunctionDef, text: str) -> bool:
    """Whether it is private, of fewer than five lines, and named once beside its definition."""
    name = function.name
    if not name.startswith("_") or name.startswith("__") or function.decorator_list:
        return False
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    return lines < _SMALL_HELPER and len(re.findall(rf"\b{re.escape(name)}\b", text)) == 2


def main() -> None:
    """Lower what has fallen."""
    counts, ceilings = count_all(), read()
    print(totals(counts))
    above = list(compare(counts, ceilings)) if ceilings else []
    if above:
        raise SystemExit("\n".join(["not written, since these would rise:", *above]))
    FILE.write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
