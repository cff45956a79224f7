#!/usr/bin/env python3
"""Breaks the pure code in small ways, one at a time, and reports what no unit test notices.

usage: mutants.py [--seed N] [--count N] [--paths FOLDER ...]

A mutant differs from the code in one operator, constant or early return. It is built in a copy of
the tree under build/mutants, and killed if the unit tests fail, crash or run out of time; if they
pass, it survives, and either a test is missing or the code that it changed is not needed. One that
does not compile is not counted. The same seed draws the same mutants from the same code.
"""
import argparse
import collections
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import time

HOME = pathlib.Path("build/mutants")
TREE, BUILD = HOME / "tree", HOME / "build"
NOT_COPIED = ("build", ".git", "docs")
MEMORY = 4 << 30  # a mutant may want to allocate without end

# Operators stand between spaces, which template brackets and references never do.
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||",
         "||": "&&", "+": "-", "-": "+", "<<": ">>", ">>": "<<", "&": "|", "|": "&"}
OPERATOR = re.compile(r"(?<= )(?:<=|>=|==|!=|&&|\|\||<<|>>|[<>+&|-])(?= )")
BOOLEAN = re.compile(r"\b(?:true|false)\b")
INTEGER = re.compile(r"(?<![\w.'])(?:0x[0-9A-Fa-f]+|\d+)(?![\w.'])")
EARLY_RETURN = re.compile(r"(?<=\)\n)( +)return\b[^;]*;")
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'')
UNTOUCHED = re.compile(r"^\s*(?:#|static_assert|assert|template|using|namespace)")

Mutant = collections.namedtuple("Mutant", "path start end new")


def mutations(path, text):
    """All mutants of one file."""
    code = COMMENT_OR_TEXT.sub(lambda found: " " * len(found.group()), text)
    begin = 0
    for line in code.splitlines(keepends=True):
        if not UNTOUCHED.match(line):
            for found in OPERATOR.finditer(line):
                yield Mutant(path, begin + found.start(), begin + found.end(),
                             SWAPS[found.group()])
            for found in BOOLEAN.finditer(line):
                new = "false" if found.group() == "true" else "true"
                yield Mutant(path, begin + found.start(), begin + found.end(), new)
            for found in INTEGER.finditer(line):
                new = str(int(found.group(), 0) + 1)
                yield Mutant(path, begin + found.start(), begin + found.end(), new)
        begin += len(line)
    for found in EARLY_RETURN.finditer(code):
        yield Mutant(path, found.start(), found.end(), found.group(1) + ";")


def describe(mutant, text):
    line = text.count("\n", 0, mutant.start) + 1
    begin = text.rfind("\n", 0, mutant.start) + 1
    end = text.find("\n", mutant.end)
    old = text[begin:end].strip()
    new = (text[begin:mutant.start] + mutant.new + text[mutant.end:end]).strip()
    return f"{mutant.path}:{line}\n    - {old}\n    + {new}"


def copy_tree():
    """Brings the copy up to date but leaves equal files alone, so that little is built again."""
    wanted = set()
    for path in pathlib.Path(".").rglob("*"):
        if path.parts[0] in NOT_COPIED or not path.is_file():
            continue
        wanted.add(path)
        copy = TREE / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists() or copy.read_bytes() != path.read_bytes():
            shutil.copyfile(path, copy)
    for copy in list(TREE.rglob("*")):
        if copy.is_file() and copy.relative_to(TREE) not in wanted:
            copy.unlink()


def build():
    """True if the tests compile. Warnings are off: a mutant may well look odd."""
    if not (BUILD / "build.ninja").exists():
        subprocess.run(
            ["cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", "-D", "CMAKE_CXX_COMPILER=g++",
             "-D", "CMAKE_BUILD_TYPE=Debug", "-D", "CMAKE_CXX_FLAGS=-w -g0"],
            check=True, stdout=subprocess.DEVNULL)
    command = ["cmake", "--build", BUILD, "--target", "unit_tests"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode == 0, done.stdout


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def tests_pass(seconds):
    command = [BUILD / "bin/unit_tests", "--gtest_brief=1", "--gtest_fail_fast"]
    try:
        return subprocess.run(command, timeout=seconds, preexec_fn=limit_memory,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0
    except subprocess.TimeoutExpired:
        return False  # a hang would be noticed


def verdict(mutant, text, seconds):
    copy = TREE / mutant.path
    copy.write_text(text[:mutant.start] + mutant.new + text[mutant.end:], encoding="utf-8")
    try:
        if not build()[0]:
            return "does not compile"
        return "SURVIVED" if tests_pass(seconds) else "killed"
    finally:
        copy.write_text(text, encoding="utf-8")


def parse_options():
    options = argparse.ArgumentParser()
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=100)
    options.add_argument("--paths", nargs="+", default=["src/core"])
    return options.parse_args()


def main():
    options = parse_options()
    files = [p for folder in options.paths for p in sorted(pathlib.Path(folder).rglob("*.[ch]pp"))]
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    mutants = [m for path, text in texts.items() for m in mutations(path, text)]
    random.Random(options.seed).shuffle(mutants)

    copy_tree()
    built, output = build()
    began = time.monotonic()
    if not built or not tests_pass(600):
        print(output if not built else "the unit tests fail without any mutant")
        return 1
    seconds = 10 + 10 * (time.monotonic() - began)

    counts, survivors = collections.Counter(), []
    print(f"seed {options.seed}: {options.count} of {len(mutants)} mutants in {len(files)} files")
    for mutant in mutants:
        if counts["killed"] + counts["SURVIVED"] == options.count:
            break
        text = texts[mutant.path]
        what = verdict(mutant, text, seconds)
        counts[what] += 1
        story = describe(mutant, text)
        print(f"{sum(counts.values()):4} {what:16} {story.splitlines()[0]}", flush=True)
        if what == "SURVIVED":
            survivors.append(story)
    print("\n".join(["", *survivors]) if survivors else "")
    print(", ".join(f"{n} {what}" for what, n in counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
