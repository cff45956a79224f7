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

from source_text import Source

FOLDERS = ["include", "src", "lab", "tools", "tests", "bench", "examples", "docs"]
CODE = (".hpp", ".cpp", ".h", ".py", ".sh")
SUFFIXES = (*CODE, ".md", ".mjs", ".js", ".json", ".txt", ".cmake")
PLANTED = "tests/tidy/planted"
MAX_COLUMNS, MAX_FUNCTION, MAX_FILE, MAX_MEMBERS = 100, 70, 400, 60

# The folders of DESIGN 1, and what may lie in them; a new folder is a decision, made here.
SHELVES = {
    "src": ["api api/common api/mongo api/couchbase",
            "core core/bson core/json core/error core/retry core/pool core/sasl core/uri",
            "core/observe core/compress core/mongo core/couchbase",
            *(f"core/mongo/{part}" for part in (
                "error settings uri handshake wire sdam select session operation retry").split()),
            *(f"core/couchbase/{part}" for part in (
                "settings uri wire handshake config route inflight operation rows service admin"
                " retry").split()),
            "runtime shell shell/events shell/observe shell/pool shell/http shell/mongo",
            "shell/couchbase",
            *(f"shell/mongo/{part}" for part in
              "connection events pool monitor topology execute".split()),
            *(f"shell/couchbase/{part}" for part in
              "connection dispatch config execute".split()),
            "net net/dns net/tls net/blocking sim"],
    "lab": ["api serve fault sasl mongo couchbase",
            *(f"mongo/{part}" for part in (
                "document expression query update aggregate storage fault data node command serve"
                " peer set router deployment").split()),
            *(f"couchbase/{part}" for part in
              "data map index fts n1ql kv replica serve cluster http mgmt search views query"
              " analytics".split())],
    "tests": ["unit property client client/couchbase client/prose client/races client/planted",
              "client/copies world",
              "world/determinism spec spec/unified lab truth truth/mongo truth/couchbase interop",
              "fuzz support header layers tidy trace toolchain consumer docs"],
}
# Below these the tree of the code is mirrored, or a foreign tool decides.
FREE_BELOW = ("tests/unit", "tests/lab", "tests/interop", PLANTED)

# The terms of the field instead of a dialect: what is searched for must be found.
DIALECT = {
    r"told|tells?|telling": "event, notify, report",
    "patience": "timeout",
    r"good[_ -]?byes?|farewells?|see[ns]?[_ ]off": "endSessions, close, await_shutdown",
    r"greet[a-z]*": "handshake, bootstrap",
    r"recipes?": "connection_config",
    r"believe[a-z]*": "last_known, cached",
    r"anchorages?|anchored|casts?[_ ]off": "context_registry, unregister",
    r"theatres?|kelp": "scenario, collection",
    r"nobody|somebody|whoever": "the component's name",
}
DIALECT_OUTSIDE_DRILL = {r"judg[a-z]*|unjudged|verdicts?": "decide, classify, outcome"}
DIALECT_IN_CODE = {r"words?": "text, message, name", "how": "options"}
# These name the words themselves; the glossary says what to write instead.
ABOUT_DIALECT = ("tools/tidy.py", "tests/tidy/tidy_test.py", "docs/glossary.md")
# A term that belongs to somebody else's vocabulary: (file, term, reason).
FOREIGN_TERMS = []

# Who may use whom, besides itself and include/holdfast. The include paths enforce the same for each
# module; this catches what they cannot see, such as a path with dots.
MAY_USE = {"core": set(), "runtime": set(), "shell": {"core", "runtime"},
           "api": {"core", "runtime", "shell"}, "net": {"runtime"}, "sim": {"runtime"},
           "lab": {"core", "runtime"}}
# The two files that may name Beast, as a parser without input of its own: the client's, the lab's.
BEAST = ("src/shell/http/response_reader.cpp", "lab/couchbase/http/request_reader.cpp")
# The two files that may name net: where it is all put together.
COMPOSITION_ROOTS = {"src/api/common/default_runtime.cpp", "lab/api/own_loop.cpp"}
PUBLIC_FOR_CORE = re.compile(
    r"holdfast/(?:error|id|options|secret|observer|couchbase/(?:errc|retry|retry_reason"
    r"|document|kv_options|content|subdoc|subdoc_path|query_parameters|service_options"
    r"|service_metadata|service_results|admin_options)"
    r"|mongo/(?:arguments|concern|crud_options|admin_options|results|bulk|error|operations))\.hpp$"
    r"|holdfast/(?:bson|json)/")

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


def includes(source):
    for found in INCLUDE.finditer(source.text):
        yield source.line(found.start()), found.group(1)


def module_of(name):
    parts = name.split("/")
    return parts[1] if parts[0] == "src" else parts[0]


def layers(source):
    module = module_of(source.name)
    allowed = MAY_USE.get(module, set()) | {module}
    if source.name in COMPOSITION_ROOTS:
        allowed = allowed | {"net"}
    for line, header in includes(source):
        used = header.split("/")[0]
        if used in MAY_USE and used not in allowed:
            yield line, f"{module} may not use {used}"
        if header.startswith(".."):
            yield line, "an include path has no dots"
        if module == "core" and used == "holdfast" and not PUBLIC_FOR_CORE.match(header):
            yield line, f"core may not use {header}"


def beast(source):
    for line, header in includes(source):
        if header.startswith("boost/beast") and source.name not in BEAST:
            yield line, f"Beast is named in {' and '.join(BEAST)} alone"


def purity(source):
    yield from source.find(IMPURE, "a pure module takes values and returns values: {}")


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
    names = [header for _, header in includes(source)]
    own = [header for header in names if pathlib.PurePath(header).stem == stem
           and header.endswith(".hpp")]
    if own and names[0] != own[0]:
        yield 1, f"its own header, {own[0]}, is included first"


def bordered(text):
    """The text with `_` at every change of case, so that words have borders: toldOf, told_of."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower()


def word_pattern(words):
    return re.compile(rf"(?<![a-z0-9])(?:{words})(?![a-z0-9])")


def dictionary(name):
    """What a file avoids anywhere, and what in its code; both as what to write instead."""
    is_drill = re.search(r"drill|truth", name)
    return DIALECT if is_drill else DIALECT | DIALECT_OUTSIDE_DRILL, DIALECT_IN_CODE


def dialect(source):
    anywhere, in_code = dictionary(source.name)
    allowed = [term for file, term, _ in FOREIGN_TERMS if file == source.name]
    code = source.code if source.name.endswith(CODE) else ""
    for book, text in ((anywhere, bordered(source.text)), (in_code, bordered(code))):
        for found in word_pattern("|".join(book)).finditer(text):
            if found.group() not in allowed:
                instead = next(i for w, i in book.items() if re.fullmatch(w, found.group()))
                yield source.line(found.start(), text), f"'{found.group()}' is dialect: {instead}"
    yield from source.find(re.compile(r"\bwhy\s*\(\s*\)"), "'{}' is dialect: error()")


def file_names(source):
    stem = bordered(pathlib.PurePath(source.name).stem)
    if any(word_pattern("|".join(book)).search(stem) for book in dictionary(source.name)):
        yield 1, "a file is named in the dialect"


def members(source):
    """Declarations at the top level of a class; those of one with too many are a second class."""
    for found in re.finditer(r"\b(?:class|struct)\s+(?:\[\[\w+\]\]\s*)?(\w+)[^;{}()=]*\{",
                             source.code):
        depth, count, at = 1, 0, found.end()
        while depth and at < len(source.code):
            c = source.code[at]
            depth += {"{": 1, "}": -1}.get(c, 0)
            after = source.code[at + 1:at + 40].lstrip()[:1]
            if depth == 1 and (c == ";" or c == "}" and after not in (";", ",", ")", "{")):
                count += 1
            at += 1
        if count > MAX_MEMBERS:
            yield source.line(found.start()), (
                f"{found.group(1)} has {count} members; the limit is {MAX_MEMBERS}")


def shelves(root):
    for top, listed in SHELVES.items():
        known = {f"{top}/{name}" for names in listed for name in names.split()} | {top}
        for folder in sorted({path.parent for path in (root / top).rglob("*") if path.is_file()}):
            name = folder.relative_to(root).as_posix()
            if name not in known and not name.startswith(FREE_BELOW) and "node_modules" not in name:
                yield f"{name}:1: [shelves] a folder that DESIGN 1 does not know"


def modules(root):
    """A folder that no line of its CMakeLists.txt names would silently not be built."""
    for top, place in (("src", root / "src"), ("lab", root)):
        listing = root / top / "CMakeLists.txt"
        if not listing.exists():
            continue
        named = re.findall(r"holdfast_module\(([\w/]+)", listing.read_text(encoding="utf-8"))
        for folder in sorted({path.parent for path in (root / top).rglob("*.cpp")}):
            name = folder.relative_to(place).as_posix()
            if name not in named:
                yield f"{top}/CMakeLists.txt:1: [modules] no holdfast_module({name})"


def pure_lab_modules(root):
    listing = root / "lab/CMakeLists.txt"
    text = listing.read_text(encoding="utf-8") if listing.exists() else ""
    return tuple(f"{name}/" for name in re.findall(r"holdfast_module\(([\w/]+) PURE", text))


def is_in(*folders):
    return lambda name: name.startswith(folders)


CPP = re.compile(r"\.(?:[ch]pp|h)$")
RULES = [  # (rule, which names it holds for)
    (layers, is_in("src/", "lab/")),
    (purity, is_in("src/core/")),
    (beast, CPP.search),
    (dialect, lambda name: name not in ABOUT_DIALECT),
    (file_names, lambda name: True),
    (members, CPP.search),
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
    yield from shelves(root)
    pure_lab = pure_lab_modules(root)
    rules = [*RULES, (purity, lambda name: pure_lab and name.startswith(pure_lab))]
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in SUFFIXES or name.startswith(PLANTED) or "node_modules" in name:
                continue
            source = Source(path, name)
            for rule, holds in rules:
                if (path.suffix in CODE or rule is dialect) and holds(name):
                    for line, message in rule(source):
                        yield f"{name}:{line}: [{rule.__name__}] {message}"


def main():
    found = list(offences(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "tidy")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
