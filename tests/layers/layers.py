#!/usr/bin/env python3
"""Proves that the include path of a module bites.

usage: layers.py COMPILER INCLUDE_PATH SOURCE_ROOT [may:HEADER | may_not:HEADER]...

Each header is included by an otherwise empty file that sees what the module sees. A forbidden
header must exist and must not be found; an allowed one must compile, so that the test cannot pass
only because nothing compiles at all.
"""
import pathlib
import subprocess
import sys


def compiles(compiler, include_path, header):
    flags = [f"-I{folder}" for folder in include_path.split(";") if folder]
    command = [compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", *flags, "-"]
    source = f'#include "{header}"\n'
    return subprocess.run(command, input=source, text=True, capture_output=True)


def complaint(rule, outcome, header, root):
    if not any((root / top / header).exists() for top in ("include", "src")):
        return f"{header} does not exist, so this case proves nothing"
    if rule == "may" and outcome.returncode:
        return f"{header} is allowed but does not compile:\n{outcome.stderr}"
    if rule == "may_not" and not outcome.returncode:
        return f"{header} is forbidden but compiles"
    if rule == "may_not" and f"{header}: No such file" not in outcome.stderr \
            and f"'{header}' file not found" not in outcome.stderr:
        return f"{header} fails for a reason of its own:\n{outcome.stderr}"
    return None


def main():
    compiler, include_path, root = sys.argv[1:4]
    failures = []
    for case in sys.argv[4:]:
        rule, header = case.split(":", 1)
        outcome = compiles(compiler, include_path, header)
        failures.append(complaint(rule, outcome, header, pathlib.Path(root)))
    failures = [f for f in failures if f]
    print("\n".join(failures) if failures else f"{len(sys.argv) - 4} cases hold")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
