#!/usr/bin/env python3
"""Shows that spec_runner reports what it should: each planted wrong expectation must be a failure.

selftest.py SPEC_RUNNER
"""
import copy
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

RUNNER = None

# {"a": /abc/im}, in every form that a case can have; all of them are right.
GOOD_REGEX = {
    "description": "all forms",
    "canonical_bson": "0F0000000B610061626300696D0000",
    "canonical_extjson": '{"a": {"$regularExpression": {"pattern": "abc", "options": "im"}}}',
    "relaxed_extjson": '{"a": {"$regularExpression": {"pattern": "abc", "options": "im"}}}',
    "degenerate_bson": "0F0000000B6100616263006D690000",
    "degenerate_extjson": '{"a": {"$regularExpression": {"pattern": "abc", "options": "mi"}}}',
    "converted_bson": "0C0000001061000100000000",
    "converted_extjson": '{"a": {"$numberInt": "1"}}',
}
# One wrong expectation for each of them, every one a valid document or text in itself.
WRONG_REGEX = {
    "canonical_bson": "0F0000000B610061626300696C0000",
    "canonical_extjson": '{"a": {"$regularExpression": {"pattern": "abd", "options": "im"}}}',
    "relaxed_extjson": '{"a": {"$regularExpression": {"pattern": "abc", "options": "i"}}}',
    "degenerate_bson": "0F0000000B6100616263006D6C0000",
    "degenerate_extjson": '{"a": {"$regularExpression": {"pattern": "abc", "options": "m"}}}',
    "converted_bson": "0C0000001061000200000000",
    "converted_extjson": '{"a": {"$numberInt": "3"}}',
}
GOOD_VECTOR = {
    "description": "packed bits", "valid": True, "vector": [127, 8], "dtype_hex": "0x10",
    "dtype_alias": "PACKED_BIT", "padding": 3,
    "canonical_bson": "1600000005766563746F7200040000000910037F0800",
}
EMPTY_DOCUMENT = "0500000000"


def corpus(bson_type="0x0B", **sections):
    return {"description": "planted", "bson_type": bson_type, "test_key": "a", **sections}


def vectors(*cases):
    return {"description": "planted", "test_key": "vector", "tests": list(cases)}


class SpecRunner(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.tests = self.root / "tests"
        self.tests.mkdir()

    def write(self, content, name="any.json"):
        text = content if isinstance(content, str) else json.dumps(content)
        (self.tests / name).write_text(text, encoding="utf-8")

    def run_runner(self, *arguments):
        return subprocess.run([RUNNER, *arguments], cwd=self.root, text=True, capture_output=True)

    def expect(self, passed, failed, skipped, *options):
        done = self.run_runner("tests", *options)
        self.assertEqual(done.stdout.splitlines()[-1:],
                         [f"{passed} passed, {failed} failed, {skipped} skipped"], done)
        self.assertEqual(done.returncode, 1 if failed else 0, done)
        return done.stdout

    def expect_refusal(self, text, *arguments):
        done = self.run_runner(*arguments)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(text, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done)

    def test_right_expectations_pass(self):
        self.write(corpus(valid=[GOOD_REGEX]))
        self.expect(1, 0, 0)

    def test_each_wrong_expectation_fails(self):
        self.assertEqual(set(WRONG_REGEX), set(GOOD_REGEX) - {"description"})
        for field, wrong in WRONG_REGEX.items():
            with self.subTest(field):
                self.write(corpus(valid=[{**GOOD_REGEX, field: wrong}]))
                self.assertIn("FAILED tests/any.json: all forms", self.expect(0, 1, 0))

    def test_lossy_spares_the_bytes_only(self):
        nan = {"description": "NaN with payload", "canonical_bson":
               "10000000016100120000000000F87F00", "canonical_extjson":
               '{"a": {"$numberDouble": "NaN"}}'}
        self.write(corpus("0x01", valid=[nan]))
        self.expect(0, 1, 0)
        self.write(corpus("0x01", valid=[{**nan, "lossy": True}]))
        self.expect(1, 0, 0)
        self.write(corpus("0x01", valid=[
            {**nan, "lossy": True, "canonical_extjson": '{"a": {"$numberDouble": "1.0"}}'}]))
        self.expect(0, 1, 0)

    def test_what_must_be_rejected_and_is_not_fails(self):
        self.write(corpus("0x00", decodeErrors=[{"description": "d", "bson": EMPTY_DOCUMENT}],
                          parseErrors=[{"description": "p", "string": "{}"}]))
        self.expect(0, 2, 0)
        self.write(corpus("0x13", parseErrors=[{"description": "p", "string": "1.5"},
                                               {"description": "q", "string": "1.5x"}]))
        self.expect(1, 1, 0)

    def test_a_parse_error_must_be_json_to_prove_anything(self):
        self.write(corpus("0x00", parseErrors=[{"description": "p", "string": "{"}]))
        self.assertIn("proves nothing", self.expect(0, 1, 0))

    def test_a_section_without_rule_is_skipped_with_its_reason(self):
        self.write(corpus("0x10", parseErrors=[{"description": "p", "string": "x"}]))
        self.assertIn("skipped tests/any.json: p: the specification does not say",
                      self.expect(0, 0, 1))

    def test_vectors(self):
        self.write(vectors(GOOD_VECTOR))
        self.expect(1, 0, 0)
        for field, wrong in {"vector": [127, 0], "dtype_hex": "0x03", "padding": 2, "valid": False,
                             "canonical_bson": "1600000005766563746F7200040000000910037F0000"
                             }.items():
            with self.subTest(field):
                self.write(vectors({**GOOD_VECTOR, field: wrong}))
                self.expect(0, 1, 0)

    def test_vectors_that_no_dtype_holds(self):
        for dtype, vector in (("0x03", [128]), ("0x03", [-129]), ("0x03", [1.5]), ("0x10", [256])):
            with self.subTest(vector):
                case = {"description": "v", "valid": False, "vector": vector, "dtype_hex": dtype}
                self.write(vectors(case))
                self.expect(1, 0, 0)
        self.write(vectors({"description": "v", "valid": False, "vector": [127, -128],
                            "dtype_hex": "0x03"}))
        self.expect(0, 1, 0)

    def test_unknown_and_missing_fields_fail(self):
        self.write(corpus(valid=[{**GOOD_REGEX, "new_kind_of_form": "x"}]))
        self.assertIn("new_kind_of_form", self.expect(0, 1, 0))
        incomplete = copy.copy(GOOD_REGEX)
        del incomplete["canonical_extjson"]
        self.write(corpus(valid=[incomplete]))
        self.expect(0, 1, 0)
        self.write(corpus(valid=[], invented=[]))
        self.expect(0, 1, 0)

    def test_unknown_formats_are_listed(self):
        self.write(corpus(valid=[GOOD_REGEX]), "a.json")
        self.write({"something": "else"}, "b.json")
        self.write([1, 2], "c.json")
        out = self.expect(1, 0, 2)
        self.assertIn("no format known: 2 files\n    tests/b.json\n    tests/c.json\n", out)

    def test_files_of_the_legacy_format_are_skipped_with_that_reason(self):
        self.write({"runOn": [{"minServerVersion": "4.1.10"}], "database_name": "default",
                    "collection_name": "default", "data": [], "key_vault_data": [],
                    "tests": [{"description": name, "clientOptions": {}, "operations": [],
                               "outcome": {}} for name in ("one", "two")]})
        out = self.expect(0, 0, 2)
        self.assertIn("skipped tests/any.json: one: the legacy format, which is not supported", out)

    def test_what_is_no_ipv4_address_is_a_name(self):
        def string(host, kind):
            return {"description": host, "uri": f"mongodb://{host}", "valid": True,
                    "warning": False, "options": {}, "auth": None,
                    "hosts": [{"type": kind, "host": host, "port": None}]}
        self.write({"tests": [string("127.0.0.1", "ipv4"), string("256.0.0.1", "hostname"),
                              string("1.2.3", "hostname")]})
        self.expect(3, 0, 0)
        self.write({"tests": [string("256.0.0.1", "ipv4"), string("10.0.0.1", "hostname")]})
        self.expect(0, 2, 0)

    def test_bad_usage(self):
        self.write(corpus(valid=[GOOD_REGEX]))
        self.expect_refusal("no such file", "absent")
        self.expect_refusal("unknown option", "tests", "--invented", "x")
        self.expect_refusal("regular expression", "tests", "--filter", "(")
        for option in ("--profile", "--topology", "--runtime"):
            self.expect_refusal(option + " is one of", "tests", option, "invented")
        for jobs in ("0", "65", "many", "-1"):
            self.expect_refusal("--jobs is a number", "tests", "--jobs", jobs)
        for jobs in ("1", "2"):
            self.expect_refusal("there is no such case", "tests", "--filter", "nothing like this",
                                "--jobs", jobs)
        self.expect_refusal("cannot write", "tests", "--json", "absent/out.json")
        self.write("{", "broken.json")
        for jobs in ("1", "2"):
            self.expect_refusal("broken.json", "tests", "--jobs", jobs)

    def test_without_official_files(self):
        done = self.run_runner()
        self.assertEqual((done.returncode, done.stdout), (0, "OFFICIAL TESTS NOT RUN\n"))

    def test_filter_list_and_json(self):
        second = {**GOOD_REGEX, "description": "second", "canonical_bson": EMPTY_DOCUMENT}
        self.write(corpus(valid=[GOOD_REGEX, second]))
        self.expect(1, 0, 0, "--filter", "all forms$")
        listed = self.run_runner("tests", "--list").stdout
        self.assertEqual(listed, "tests/any.json: all forms\ntests/any.json: second\n")
        self.expect(1, 1, 0, "--json", "out.json")
        written = json.loads((self.root / "out.json").read_text())
        self.assertEqual([written[k] for k in ("passed", "failed", "skipped")], [1, 1, 0])
        self.assertEqual([(c["file"], c["description"], c["outcome"], bool(c["reason"]))
                          for c in written["cases"]],
                         [("tests/any.json", "all forms", "passed", False),
                          ("tests/any.json", "second", "failed", True)])

    def test_output_of_several_processes_equals_that_of_one(self):
        for n in range(20):
            good = {**GOOD_REGEX, "description": f"case {n}"}
            bad = {**good, "description": f"wrong {n}", "canonical_bson": EMPTY_DOCUMENT}
            self.write(corpus(valid=[good, bad] if n % 3 == 0 else [good]), f"{n:02}.json")
        self.write({"something": "else"}, "05_unknown.json")
        outputs = set()
        for jobs in ("1", "3", "64"):
            out = self.expect(20, 7, 1, "--verbose", "--json", "out.json", "--jobs", jobs)
            outputs.add((out, (self.root / "out.json").read_text()))
        self.assertEqual(len(outputs), 1)

    def test_files_with_short_time_limits_run_alone_on_real_time(self):
        wait = {"description": "waits", "operations": [
            {"name": "wait", "object": "testRunner", "arguments": {"ms": 500}}]}
        hurried = {"client": {"id": "c", "uriOptions": {"socketTimeoutMS": 100}}}
        for n in range(3):
            self.write({"description": "d", "schemaVersion": "1.0", "createEntities": [hurried],
                        "tests": [wait]}, f"{n}.json")
        began = time.monotonic()
        self.expect(3, 0, 0, "--jobs", "3")
        self.assertGreaterEqual(time.monotonic() - began, 1.5, "they ran beside each other")
        self.expect(3, 0, 0, "--jobs", "3", "--runtime", "sim")

    def test_process_that_crashes_is_a_failure_of_its_file(self):
        wait = {"description": "waits", "operations": [
            {"name": "wait", "object": "testRunner", "arguments": {"ms": 60_000}}]}
        self.write({"description": "slow", "schemaVersion": "1.0", "tests": [wait]}, "a_slow.json")
        for n in range(5):
            self.write(corpus(valid=[GOOD_REGEX]), f"{n}.json")
        with subprocess.Popen([RUNNER, "tests", "--jobs", "2", "--verbose"], cwd=self.root,
                              text=True, stdout=subprocess.PIPE) as parent:
            self.addCleanup(parent.kill)
            for line in parent.stdout:
                if "4.json" in line:
                    break  # only the slow file is left
            # The process that ran the last of the others ends when there is no file left for it.
            children = pathlib.Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
            while len(running := children.read_text().split()) > 1:
                time.sleep(0.001)
            os.kill(int(running[0]), signal.SIGKILL)
            rest = parent.stdout.read()
        self.assertEqual(parent.returncode, 1, rest)
        self.assertIn("FAILED tests/a_slow.json: (the whole file)\n"
                      "    the process that ran this file was ended by signal 9\n", rest)
        self.assertEqual(rest.splitlines()[-1], "5 passed, 1 failed, 0 skipped")


if __name__ == "__main__":
    RUNNER = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
