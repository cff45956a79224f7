#!/usr/bin/env python3
"""House rules that a compiler does not know.

usage: tidy.py ROOT

Runs as a test: one line per offence, and status 1 if there is any. Each rule is a function that
yields (line, what is wrong); the table at the end says which rules hold where. That the rules find
what they look for is shown by tests/tidy, where each is broken once.
"""
import pathlib
import re
import sys

FOLDERS = ["include", "src", "lab", "tools", "tests", "bench", "examples"]
PLANTED = "tests/tidy/planted"
MAX_COLUMNS, MAX_FUNCTION, MAX_FILE = 100, 70, 400

# Who may use whom, besides itself and include/holdfast. The include paths enforce the same for each
# module; this catches what they cannot see, such as a path with dots.
MAY_USE = {"core": set(), "runtime": set(), "shell": {"core", "runtime"},
           "api": {"core", "runtime", "shell"}, "net": {"runtime"}, "sim": {"runtime"},
           "lab": {"core", "runtime"}}
# The two files that may name net: where it is all put together.
COMPOSITION_ROOTS = {"src/api/common/default_runtime.cpp", "lab/api/own_loop.cpp"}
PUBLIC_FOR_CORE = re.compile(
    r"holdfast/(?:error|id|options|couchbase/(?:errc|retry|retry_reason)"
    r"|mongo/(?:arguments|concern|crud_options|admin_options|results|bulk|error))\.hpp$"
    r"|holdfast/bson/")

IMPURE = re.compile(
    r"boost/asio"
    r"|<(?:thread|mutex|shared_mutex|atomic|condition_variable|future|random|ctime)>"
    r"|\bstd::(?:j?thread|mutex|atomic|condition_variable)\b"
    r"|\brandom_device\b|\bRAND_bytes\b|\bs?rand\s*\(|\b(?:secure_)?getenv\b"
    r"|(?<![\w.>])time\s*\(|\w+::now\s*\(|\bco_(?:await|yield|return)\b")
BESIDE_THE_DOOR = re.compile(
    r"\b\w+_timer\b|\bip::|\brandom_device\b|\bstd::j?thread\b|<(?:thread|random)>"
    r"|_clock::now\s*\(")
POINTER_KEY = re.compile(r"\b(?:multi)?(?:map|set)\s*<[^<>,]*\*\s*[,>]")

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
CONDITION = re.compile(r"\b(?:if|while|switch)\s*(?:constexpr\s*)?\(")
TERNARY = re.compile(r"\?[^;{}?]*\bco_await\b")
BUILT_FROM_AWAITED = re.compile(r"\{[^;{}]*\.\w+\s*=\s*co_await\b")
BRACED_ARGUMENT = re.compile(r"\bco_await\b[^;]*?[({,]\s*(?:[\w:]+(?:<[^;{}]*>)?\s*)?\{")
LAMBDA_ARGUMENT = re.compile(r"\bco_await\b[^;]*?(?<![\w)\]])\[([^\[\]]*)\]\s*[({]")
COMMENT_OR_TEXT = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL)


class Source:
    """A file as text, and as code in which comments and strings are blank."""

    def __init__(self, path, name):
        self.name = name
        self.text = path.read_text(encoding="utf-8")
        self.lines = self.text.splitlines()
        blank = lambda found: re.sub(r"[^\n]", " ", found.group())
        self.code = COMMENT_OR_TEXT.sub(blank, self.text)

    def line(self, at):
        return self.text.count("\n", 0, at) + 1

    def find(self, pattern, message):
        for found in pattern.finditer(self.code):
            yield self.line(found.start()), message.format(found.group().strip())

    def includes(self):
        for found in INCLUDE.finditer(self.text):
            yield self.line(found.start()), found.group(1)


def module_of(name):
    parts = name.split("/")
    return parts[1] if parts[0] == "src" else parts[0]


def layers(source):
    module = module_of(source.name)
    allowed = MAY_USE.get(module, set()) | {module}
    if source.name in COMPOSITION_ROOTS:
        allowed = allowed | {"net"}
    for line, header in source.includes():
        used = header.split("/")[0]
        if used in MAY_USE and used not in allowed:
            yield line, f"{module} may not use {used}"
        if header.startswith(".."):
            yield line, "an include path has no dots"
        if module == "core" and used == "holdfast" and not PUBLIC_FOR_CORE.match(header):
            yield line, f"core may not use {header}"


def purity(source):
    yield from source.find(IMPURE, "core is pure: {}")


def one_door(source):
    if source.name in COMPOSITION_ROOTS:
        return
    yield from source.find(BESIDE_THE_DOOR, "runtime is the one door to time, chance and bytes: {}")


def order(source):
    """A walk over hashes or addresses differs from run to run, and the simulator must not."""
    names = re.findall(r"\bunordered_\w+\s*<[^;]*>\s*&?\s*(\w+)\s*[;{=,)]", source.code)
    for name in set(names):
        walk = re.compile(rf"\bfor\s*\([^;)]*:[^;)]*\b{name}\s*\)|\b{name}\.c?begin\s*\(")
        yield from source.find(walk, "a walk over an unordered container has no order: {}")
    yield from source.find(POINTER_KEY, "a container ordered by address has no order: {}")


def conditions(code):
    """The parenthesised part of every if, while and switch."""
    for found in CONDITION.finditer(code):
        depth, at = 1, found.end()
        while depth and at < len(code):
            depth += {"(": 1, ")": -1}.get(code[at], 0)
            at += 1
        # `if (auto x = co_await f(); x)` names the value, and is fine.
        yield found.start(), code[found.end():at].rsplit(";", 1)[-1]


def coroutines(source):
    """What g++ 12.2 compiles to something else; tests/toolchain has the evidence."""
    for at, condition in conditions(source.code):
        if "co_await" in condition:
            yield source.line(at), "co_await in a condition: name the awaited value first"
    yield from source.find(TERNARY, "co_await in ?: : write if and else")
    yield from source.find(BUILT_FROM_AWAITED, "an aggregate built from co_await: await first")


def temporaries(source):
    """More of the same. Whether a type has a destructor cannot be seen here, so inside the library
    all braced arguments and all captures by value are named first."""
    yield from source.find(BRACED_ARGUMENT, "a braced argument of co_await: name it first")
    for found in LAMBDA_ARGUMENT.finditer(source.code):
        captures = [capture.strip() for capture in found.group(1).split(",")]
        if any(c and c != "this" and not c.startswith("&") for c in captures):
            yield source.line(found.start()), "a capturing argument of co_await: name it first"


def shape(source):
    for n, line in enumerate(source.lines, 1):
        if len(line) > MAX_COLUMNS:
            yield n, f"longer than {MAX_COLUMNS} columns"
        if line != line.rstrip() or "\t" in line:
            yield n, "a tab, or a space at the end"


def file_length(source):
    is_table = any(re.search(r"[/#] tidy: table\b.*\w", line) for line in source.lines[:10])
    if len(source.lines) > MAX_FILE and not is_table:
        yield MAX_FILE, f"a file of {len(source.lines)} lines; the limit is {MAX_FILE}"


def cpp_functions(source):
    """A function's brace stands alone on its line, and its end is in the same column."""
    start = indent = None
    for n, line in enumerate(source.code.splitlines(), 1):
        if start is None and re.fullmatch(r" {0,12}\{", line):
            start, indent = n, line.index("{")
        elif start is not None and line.startswith(" " * indent + "}"):
            if n - start - 1 > MAX_FUNCTION:
                yield start, f"a function of {n - start - 1} lines; the limit is {MAX_FUNCTION}"
            start = None


def python_functions(source):
    start = indent = last = None
    for n, line in enumerate([*source.lines, "end"], 1):
        here = len(line) - len(line.lstrip())
        if start is not None and line.strip() and here <= indent:
            if last - start > MAX_FUNCTION:
                yield start, f"a function of {last - start} lines; the limit is {MAX_FUNCTION}"
            start = None
        if start is None and re.match(r"\s*(?:async )?def ", line):
            start, indent = n, here
        if line.strip():
            last = n


def headers(source):
    if "#pragma once" not in source.lines[:10]:
        yield 1, "a header begins with #pragma once"
    # Inside a function it does no harm, and functions are indented.
    yield from source.find(re.compile(r"^using namespace\b[^;]*", re.MULTILINE), "in a header: {}")


def own_header_first(source):
    """src/core/x/y.cpp begins with y.hpp, whether that lies beside it or in include/holdfast."""
    stem = pathlib.PurePath(source.name).stem
    names = [header for _, header in source.includes()]
    own = [header for header in names if pathlib.PurePath(header).stem == stem
           and header.endswith(".hpp")]
    if own and names[0] != own[0]:
        yield 1, f"its own header, {own[0]}, is included first"


def modules(root):
    """A folder that no line of src/CMakeLists.txt names would silently not be built."""
    listing = root / "src/CMakeLists.txt"
    if not listing.exists():
        return
    named = re.findall(r"holdfast_module\(([\w/]+)", listing.read_text(encoding="utf-8"))
    for folder in sorted({path.parent for path in (root / "src").rglob("*.cpp")}):
        name = folder.relative_to(root / "src").as_posix()
        if name not in named:
            yield f"src/CMakeLists.txt:1: [modules] no holdfast_module({name})"


def is_in(*folders):
    return lambda name: name.startswith(folders)


CPP = re.compile(r"\.[ch]pp$")
RULES = [  # (rule, which names it holds for)
    (layers, is_in("src/", "lab/")),
    (purity, is_in("src/core/")),
    (one_door, is_in("src/shell/", "lab/")),
    (order, is_in("src/shell/", "lab/", "src/core/")),
    (coroutines, lambda name: CPP.search(name) and not name.startswith("tests/toolchain/")),
    (temporaries, is_in("src/", "lab/", "include/", "tools/")),
    (shape, lambda name: True),
    (file_length, lambda name: True),
    (cpp_functions, CPP.search),
    (python_functions, lambda name: name.endswith(".py")),
    (headers, lambda name: name.endswith(".hpp")),
    (own_header_first, lambda name: name.endswith(".cpp") and name.startswith("src/")),
]


def offences(root):
    yield from modules(root)
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in (".hpp", ".cpp", ".py", ".sh") or name.startswith(PLANTED):
                continue
            source = Source(path, name)
            for rule, holds in RULES:
                if holds(name):
                    for line, message in rule(source):
                        yield f"{name}:{line}: [{rule.__name__}] {message}"


def main():
    found = list(offences(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "tidy")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
