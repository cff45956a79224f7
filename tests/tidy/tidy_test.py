#!/usr/bin/env python3
"""A checker is trusted after it has caught a planted offence.

The files in planted/ break every rule; each line that does so says which one: `offence: purity`.
tools/tidy.py must report exactly these. Offences of length are made here: files of that
length would be no pleasure to read.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
TIDY = HERE.parents[1] / "tools/tidy.py"
KINDS = ("*.[ch]pp", "*.h", "*.py", "*.sh", "*.json", "*.md")

# What the dictionary must find, and where that is anywhere or but in code.
ANYWHERE = """told tell tells telling patience good_bye good-bye goodbye farewell greet greeting
              greeted recipe believe believed see_off sees_off anchorage anchored cast_off theatre
              kelp nobody somebody whoever judge judged verdict""".split()
IN_CODE = ("word", "words", "how")


def reported(root):
    """What tidy says about a tree, as a set of (file, line, rule)."""
    done = subprocess.run([sys.executable, TIDY, root], capture_output=True, text=True)
    found = re.findall(r"^(\S+):(\d+): \[(\w+)\]", done.stdout, re.MULTILINE)
    assert done.returncode == bool(found), done.stderr
    return {(name, int(line), rule) for name, line, rule in found}


def planted():
    root = HERE / "planted"
    for path in (path for kind in KINDS for path in root.rglob(kind)):
        for n, line in enumerate(path.read_text().splitlines(), 1):
            for rule in re.findall(r"offence: (\w+)", line):
                yield path.relative_to(root).as_posix(), n, rule
    yield "src/CMakeLists.txt", 1, "modules"  # the list leaves out src/shell
    yield "lab/CMakeLists.txt", 1, "modules"  # and this one lab/mongo/set
    yield "src/core/odds", 1, "shelves"
    yield "examples/pool_words.cpp", 1, "file_names"


class Tidy(unittest.TestCase):
    def check_all(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return reported(folder)

    def check(self, name, text):
        return {(line, rule) for _, line, rule in self.check_all({name: text})}

    def test_planted_offences_are_reported_and_nothing_else(self):
        expected = set(planted())
        self.assertGreater(len(expected), 40)
        self.assertEqual(reported(HERE / "planted"), expected)

    def test_files_have_400_lines_at_most(self):
        self.assertEqual(self.check("src/api/a.cpp", "int n;\n" * 400), set())
        self.assertEqual(self.check("src/api/a.cpp", "int n;\n" * 401), {(400, "file_length")})
        reason = "// tidy: table of all error codes\n"
        self.assertEqual(self.check("src/api/a.cpp", reason + "int n;\n" * 500), set())
        self.assertEqual(self.check("src/api/a.cpp", "// tidy: table\n" + "int n;\n" * 500),
                         {(400, "file_length")}, "the reason is missing")

    def test_functions_have_70_lines_at_most(self):
        function = "void f()\n{\n" + "    g();\n" * 70 + "}\n"
        self.assertEqual(self.check("src/api/a.cpp", function), set())
        longer = function.replace("}", "    g();\n}")
        self.assertEqual(self.check("src/api/a.cpp", longer), {(2, "cpp_functions")})
        python = "def f():\n" + "    g()\n" * 70
        self.assertEqual(self.check("tools/a.py", python), set())
        self.assertEqual(self.check("tools/a.py", python + "    g()\n"),
                         {(1, "python_functions")})

    def test_classes_have_60_members_at_most(self):
        def of(count):
            body = "    int a;\n    void f() { g(); }\n" + "    void h();\n" * (count - 2)
            return "class wide {\npublic:\n" + body + "};\n"
        self.assertEqual(self.check("src/api/a.hpp", "#pragma once\n" + of(60)), set())
        self.assertEqual(self.check("src/api/a.hpp", "#pragma once\n" + of(61)), {(2, "members")})

    def test_every_term_of_the_dictionary_is_found_in_any_case_and_between_underscores(self):
        found = []
        for term in (*ANYWHERE, *IN_CODE):
            joined = re.sub("[_-]", "_", term)
            found += [joined, f"a_{joined}", f"{joined}_b", joined.upper(), joined.capitalize(),
                      f"a{joined.capitalize()}", f"{joined}Of"]
        files = {f"src/api/{n}.cpp": f"int {name};\n" for n, name in enumerate(found)}
        files |= {f"docs/{n}.md": f"A {term}, and\n" for n, term in enumerate(ANYWHERE)}
        self.assertEqual(self.check_all(files), {(name, 1, "dialect") for name in files})
        within = "int storytelling, sword, somehow, wordy;\n"
        self.assertEqual(self.check("src/api/a.cpp", within), set())

    def test_drill_and_truth_have_judges_and_verdicts(self):
        for name in ("tests/truth/a.cpp", "tools/holdfast/drill/a.cpp"):
            self.assertEqual(self.check(name, "int judge, verdict;\n"), set())

    def test_names_in_scripts_are_code_and_texts_are_not(self):
        self.assertEqual(self.check("tools/a.py", 'x = "words"  # how\n"""\nhow\n"""\nhow = 1\n'),
                         {(5, "dialect")})
        shell = 'echo "a word"  # words\nwords=1\necho "$words ${words}"\n'
        self.assertEqual(self.check("tools/a.sh", shell), {(2, "dialect"), (3, "dialect")})

    def test_files_are_not_named_in_the_dialect(self):
        for name in ("tools/a_recipe.py", "src/api/pool_words.cpp", "bench/judge.cpp"):
            self.assertEqual(self.check(name, "a = b\n"), {(1, "file_names")})
        self.assertEqual(self.check("tests/truth/judge.cpp", "int n;\n"), set())

    def test_foreign_terms_are_few_and_have_reasons(self):
        sys.path.insert(0, str(TIDY.parent))
        import tidy
        self.assertLessEqual(len(tidy.FOREIGN_TERMS), 15)
        for file, term, reason in tidy.FOREIGN_TERMS:
            self.assertTrue((TIDY.parents[1] / file).exists(), file)
            self.assertGreater(len(reason), 20, f"{file}: {term} needs a reason")


if __name__ == "__main__":
    unittest.main()
