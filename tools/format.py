#!/usr/bin/env python3
"""Formats all C++ files by clang-format, or with --check shows what it would change.

clang-format 19 cannot leave three things alone that read better than what it makes of them, so
they are kept from it: a small definition on one line, `struct retry_after { duration wait; };`, a
case on one line, and a table whose rows, `{"why", 1, true},`, a person has aligned.

Contents that were found formatted are remembered in build/formatted, by their hash: a process for
each of 1,900 files takes half a minute, and nearly all are as they were the last time.
"""
import concurrent.futures
import difflib
import hashlib
import os
import pathlib
import re
import subprocess
import sys

FOLDERS = ["include", "src", "lab", "tools", "tests", "bench", "examples"]
PLANTED = pathlib.Path("tests/tidy")  # offences that are there on purpose
ONE_LINE = re.compile(r"^\s*(?!if|for|while|switch|do|else|return)\S.*\{ .*; \};?(\s*//.*)?$")
CASE = re.compile(r"^\s*(case\b.*|default): .*;(\s*//.*)?$")
ROW = re.compile(r"^\s*\{.*\},?(\s*//.*)?$")
KNOWN = pathlib.Path("build/formatted")


def hash_of(text, rules):
    return hashlib.sha256(rules + text.encode()).hexdigest()


def known_hashes():
    return set(KNOWN.read_text(encoding="utf-8").split()) if KNOWN.exists() else set()


def remember(hashes):
    KNOWN.parent.mkdir(exist_ok=True)
    KNOWN.write_text("\n".join(sorted(hashes)), encoding="utf-8")


def kept(lines):
    """The indices of lines that clang-format must not touch."""
    for i, line in enumerate(lines):
        if ONE_LINE.match(line) or CASE.match(line):
            yield i
            if i and lines[i - 1].lstrip().startswith("template"):
                yield i - 1
        elif ROW.match(line):  # with its neighbours: the table's first and last lines
            yield from (i - 1, i, i + 1)


def free_ranges(size, keep):
    """The first and last number of each run of lines that are not kept."""
    first = 1
    for n in [*sorted(keep), size]:
        if first <= n:
            yield first, n
        first = n + 2


def formatted(path, text):
    lines = text.splitlines()
    keep = set(kept(lines))
    ranges = [f"--lines={first}:{last}" for first, last in free_ranges(len(lines), keep)]
    command = ["clang-format-19", f"--assume-filename={path}", *(ranges if keep else [])]
    return subprocess.run(command, input=text, text=True, capture_output=True, check=True).stdout


def main():
    check = "--check" in sys.argv[1:]
    files = [p for f in FOLDERS for p in sorted(pathlib.Path(f).rglob("*.[ch]pp"))
             if PLANTED not in p.parents]
    # Another style or another version of this program makes all of them unknown.
    rules = pathlib.Path(".clang-format").read_bytes() + pathlib.Path(__file__).read_bytes()
    known = known_hashes()
    texts = {p: p.read_text(encoding="utf-8") for p in files}
    hashes = {p: hash_of(text, rules) for p, text in texts.items()}
    files = [p for p in files if hashes[p] not in known]
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(formatted, files, map(texts.get, files)))
    for path, after in zip(files, results):
        before = texts[path]
        if before == after:
            known.add(hashes[path])
            continue
        wrong += 1
        if check:
            old, new = before.splitlines(True), after.splitlines(True)
            sys.stdout.writelines(difflib.unified_diff(old, new, str(path), "formatted", n=1))
        else:
            path.write_text(after, encoding="utf-8")
    remember(known.intersection(hashes.values()))
    if wrong:
        print(f"{wrong} files " + ("are not formatted: run `make format`" if check else "changed"))
    return check and wrong > 0


if __name__ == "__main__":
    sys.exit(main())
