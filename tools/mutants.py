#!/usr/bin/env python3
"""Breaks the pure code in small ways, one at a time, and reports what no unit test notices.

usage: mutants.py [--seed N] [--count N] [--paths FOLDER ...] [--jobs N]

A mutant differs from the code in one operator, constant or early return. It is killed if the unit
tests of the core fail, crash or run out of time; if they pass, it survives, and either a test is
missing or the code that it changed is not needed. One that does not compile is not counted. The
same seed draws the same mutants from the same code.

All happens in build/mutants, without CMake: a copy of the code is compiled once, and per mutant
only what includes the mutated file is compiled again. Of the tests only those are linked and run
that can reach it, those in the folder that mirrors its own first.
"""
import argparse
import collections
import concurrent.futures
import functools
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import time

HOME = pathlib.Path("build/mutants").resolve()
TREE = HOME / "tree"        # a copy, so that edits during a run disturb nothing
MUTATED = HOME / "mutated"  # the one file that differs, found before that of the tree
OBJECTS, NEW_OBJECTS = HOME / "objects", HOME / "new_objects"
# Tests read the documentation and the examples.
COPIED = ("include", "src/core", "tests/support", "tests/unit/core", "docs", "examples")

COMPILE = ["g++", "-std=c++20", "-O0", "-g0", "-w", "-pipe", "-fmax-errors=1",
           *(f"-I{root}/{folder}" for root in (MUTATED, TREE) for folder in ("include", "src")),
           "-Itests"]
LINK = ["g++", "-fuse-ld=gold"]
LIBRARIES = ["-lgtest_main", "-lgtest", "-lcrypto", "-lidn", "-lz", "-lzstd", "-lsnappy"]
STANDARD = ("algorithm", "chrono", "map", "memory", "optional", "ranges", "string", "variant",
            "vector")
# The sources do without GoogleTest's header: it brings in names that are not theirs.
PRECOMPILED = {"src": STANDARD, "tests": ("gtest/gtest.h", *STANDARD)}
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
    for path in (p for folder in COPIED for p in pathlib.Path(folder).rglob("*") if p.is_file()):
        wanted.add(path)
        copy = TREE / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists() or copy.read_bytes() != path.read_bytes():
            shutil.copyfile(path, copy)
    for copy in list(TREE.rglob("*")):
        if copy.is_file() and copy.relative_to(TREE) not in wanted:
            copy.unlink()


def run(command):
    """What the command printed; an error if it fails."""
    return subprocess.run(command, cwd=TREE, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT).stdout


def precompile():
    for kind, headers in PRECOMPILED.items():
        file = HOME / f"{kind}.hpp"
        text = "".join(f"#include <{header}>\n" for header in headers)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            run([*COMPILE, "-x", "c++-header", file, "-o", f"{file}.gch"])


def is_test(unit):
    return unit.parts[0] == "tests"


def object_of(unit, folder=OBJECTS):
    return folder / (unit.as_posix().replace("/", ".") + ".o")


def compile_unit(unit, folder=OBJECTS):
    target, part = object_of(unit, folder), object_of(unit, folder).with_suffix(".part")
    source = MUTATED / unit if (MUTATED / unit).exists() else unit
    run([*COMPILE, "-include", HOME / f"{unit.parts[0]}.hpp", "-c", source, "-o", part,
         "-MMD", "-MF", target.with_suffix(".d")])
    part.rename(target)  # only whole objects have the name


def files_of(unit):
    """The files that went into an object."""
    paths = object_of(unit).with_suffix(".d").read_text(encoding="utf-8").split(":", 1)[1].split()
    return {(TREE / path).resolve() for path in paths if path != "\\"}


def is_up_to_date(unit):
    target = object_of(unit)
    if not target.exists():
        return False
    made = target.stat().st_mtime
    return all(file.exists() and file.stat().st_mtime <= made for file in files_of(unit))


class Program:
    """The compiled tree: which unit includes which file, and which needs which to be linked."""

    def __init__(self, jobs):
        self.workers = concurrent.futures.ThreadPoolExecutor(jobs)
        self.units = [path.relative_to(TREE) for folder in ("src", "tests/unit")
                      for path in sorted((TREE / folder).rglob("*.cpp"))]
        self.compile([unit for unit in self.units if not is_up_to_date(unit)])
        self.files = {unit: files_of(unit) for unit in self.units}
        self.needed, self.provider = {}, {}
        for unit in self.units:
            symbols = [line.split() for line in run(["nm", "-P", object_of(unit)]).splitlines()]
            self.needed[unit] = {name for name, kind, *_ in symbols if kind in "Uwv"}
            if not is_test(unit):
                self.provider |= {name: unit for name, kind, *_ in symbols if kind in "TDBRWV"}

    def compile(self, units, folder=OBJECTS):
        list(self.workers.map(lambda unit: compile_unit(unit, folder), units))

    @functools.cache
    def linked_with(self, test):
        """The test and all that it needs, directly or not."""
        found, left = set(), [test]
        while left:
            unit = left.pop()
            if unit not in found:
                found.add(unit)
                left += {self.provider[n] for n in self.needed[unit] if n in self.provider}
        return frozenset(found)

    def including(self, path):
        return {unit for unit in self.units if (TREE / path) in self.files[unit]}

    def reaching(self, units):
        """The tests that notice if these units change."""
        return [t for t in self.units if is_test(t) and self.linked_with(t) & units]

    def link(self, tests, changed):
        units = sorted(frozenset().union(*map(self.linked_with, tests)))
        objects = [object_of(u, NEW_OBJECTS if u in changed else OBJECTS) for u in units]
        run([*LINK, "-o", HOME / "tests", *objects, *LIBRARIES])


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def tests_pass(seconds):
    command = [HOME / "tests", "--gtest_brief=1", "--gtest_fail_fast"]
    try:
        return subprocess.run(command, timeout=seconds, preexec_fn=limit_memory, cwd=TREE,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0
    except subprocess.TimeoutExpired:
        return False  # a hang would be noticed


def groups_of(tests, path):
    """The tests in the folder that mirrors the file's, which mostly suffice, and the others."""
    mirror = pathlib.Path("tests/unit").joinpath(*path.parent.parts[1:])
    near = [test for test in tests if mirror in test.parents]
    return [group for group in (near, [t for t in tests if t not in near]) if group]


def survives(program, mutant, seconds):
    changed = program.including(mutant.path)
    tests, compiled = [], set()
    for group in groups_of(program.reaching(changed), mutant.path):
        tests += group
        linked = frozenset().union(*map(program.linked_with, tests))
        missing = (changed & linked) - compiled
        # Sources first: they are quicker to compile, and one that fails ends it.
        program.compile(sorted(missing, key=is_test), NEW_OBJECTS)
        compiled |= missing
        program.link(group, changed)
        if not tests_pass(seconds):
            return False
    return True


def outcome(program, mutant, text, seconds):
    file = MUTATED / mutant.path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text[:mutant.start] + mutant.new + text[mutant.end:], encoding="utf-8")
    try:
        return "SURVIVED" if survives(program, mutant, seconds) else "killed"
    except subprocess.CalledProcessError:
        return "does not compile"
    finally:
        file.unlink()


def parse_options():
    options = argparse.ArgumentParser()
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=100)
    options.add_argument("--paths", nargs="+", default=["src/core"])
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    return options.parse_args()


def prepare(jobs):
    """The program without any mutant, and how long its tests may run."""
    shutil.rmtree(MUTATED, ignore_errors=True)
    shutil.rmtree(NEW_OBJECTS, ignore_errors=True)
    for folder in (OBJECTS, NEW_OBJECTS):
        folder.mkdir(parents=True, exist_ok=True)
    copy_tree()
    precompile()
    program = Program(jobs)
    program.link([unit for unit in program.units if is_test(unit)], frozenset())
    began = time.monotonic()
    if not tests_pass(600):
        sys.exit("the unit tests fail without any mutant")
    return program, 10 + 10 * (time.monotonic() - began)


def main():
    options = parse_options()
    try:
        program, seconds = prepare(options.jobs)
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.stdout)
    files = [path.relative_to(TREE) for folder in options.paths
             for path in sorted((TREE / folder).rglob("*.[ch]pp"))]
    texts = {path: (TREE / path).read_text(encoding="utf-8") for path in files}
    mutants = [m for path, text in texts.items() for m in mutations(path, text)]
    random.Random(options.seed).shuffle(mutants)

    counts, survivors = collections.Counter(), []
    print(f"seed {options.seed}: {options.count} of {len(mutants)} mutants in {len(files)} files")
    for mutant in mutants:
        if counts["killed"] + counts["SURVIVED"] == options.count:
            break
        text = texts[mutant.path]
        what = outcome(program, mutant, text, seconds)
        counts[what] += 1
        story = describe(mutant, text)
        print(f"{sum(counts.values()):4} {what:16} {story.splitlines()[0]}", flush=True)
        if what == "SURVIVED":
            survivors.append(story)
    print("\n".join(["", *survivors, ""]))
    counted = counts["killed"] + counts["SURVIVED"]
    print(", ".join(f"{n} {what}" for what, n in counts.items()) +
          f": {100 * counts['SURVIVED'] / max(counted, 1):.1f} % survived")
    return 0


if __name__ == "__main__":
    sys.exit(main())
