#!/usr/bin/env python3
"""Formats all C++ files by clang-format, or with --check shows what it would change.

clang-format 19 cannot leave three things alone that read better than what it makes of them, so
they are kept from it: a small definition on one line, `struct retry_after { duration wait; };`, a
case on one line, and a table whose rows, `{"why", 1, true},`, a person has aligned.
"""
import difflib
import pathlib
import re
import subprocess
import sys

FOLDERS = ["include", "src", "lab", "tools", "tests", "bench", "examples"]
PLANTED = pathlib.Path("tests/tidy")  # offences that are there on purpose
ONE_LINE = re.compile(r"^\s*(?!if|for|while|switch|do|else|return)\S.*\{ .*; \};?(\s*//.*)?$")
CASE = re.compile(r"^\s*(case\b.*|default): .*;(\s*//.*)?$")
ROW = re.compile(r"^\s*\{.*\},?(\s*//.*)?$")


def kept(lines):
    """The indices of lines that clang-format must not touch."""
    for i, line in enumerate(lines):
        if ONE_LINE.match(line) or CASE.match(line):
            yield i
            if i and lines[i - 1].lstrip().startswith("template"):
                yield i - 1
        elif ROW.match(line):  # with its neighbours: the table's first and last lines
            yield from (i - 1, i, i + 1)


def formatted(path, text):
    lines = text.splitlines()
    keep = set(kept(lines))
    ranges = [f"--lines={n}:{n}" for n in range(1, len(lines) + 1) if n - 1 not in keep]
    command = ["clang-format-19", f"--assume-filename={path}", *(ranges if keep else [])]
    return subprocess.run(command, input=text, text=True, capture_output=True, check=True).stdout


def main():
    check = "--check" in sys.argv[1:]
    files = (p for f in FOLDERS for p in sorted(pathlib.Path(f).rglob("*.[ch]pp")))
    wrong = 0
    for path in files:
        if PLANTED in path.parents:
            continue
        before = path.read_text(encoding="utf-8")
        after = formatted(path, before)
        if before == after:
            continue
        wrong += 1
        if check:
            old, new = before.splitlines(True), after.splitlines(True)
            sys.stdout.writelines(difflib.unified_diff(old, new, str(path), "formatted", n=1))
        else:
            path.write_text(after, encoding="utf-8")
    if wrong:
        print(f"{wrong} files " + ("are not formatted: run `make format`" if check else "changed"))
    return check and wrong > 0


if __name__ == "__main__":
    sys.exit(main())
