#!/usr/bin/env python3
"""Shows that the unified test format's own files fail, or are refused, for their own reasons.

unified_official_selftest.py SPEC_RUNNER OFFICIAL_TESTS

They must fail, and the runner counts that as a pass whatever the reason; here the reasons are
looked at. Without the official tests nothing is tested.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNNER = None
OFFICIAL = None

# A part of the reason for which each file of "valid-fail" fails, in the order of its cases.
REASONS = {
    "assertNumberConnectionsCheckedOut.json": [
        "client is missing", "connections is missing",
        "there is no entity of this name: client1", "0 instead of 1"],
    "entity-bucket-database-undefined.json": ["refers to an entity that is not there: database"],
    "entity-client-apiVersion-unsupported.json": ["server_will_never_support_this_api_version"],
    "entity-collection-database-undefined.json": [
        "refers to an entity that is not there: database"],
    "entity-database-client-undefined.json": ["refers to an entity that is not there: client"],
    "entity-findCursor-malformed.json": ["filter"],
    "entity-findCursor.json": ["cursor0", "cursor0"],
    "entity-session-client-undefined.json": ["refers to an entity that is not there: client"],
    "ignoreResultAndError-malformed.json": ["argument document is missing"],
    "ignoreResultAndError.json": ["E11000"],
    "operation-failure.json": ["unsupportedCommand", "$unsupportedQueryOperator"],
    "operation-unsupported.json": ["unsupportedOperation"],
    "operator-matchAsDocument.json": [
        'json.y: expected "two", found 2', "json.y: expected nothing, found 2",
        "json.y: expected nothing, found 2"] + ["json: expected a document as text"] * 3,
    "operator-matchAsRoot.json": ["x.y: expected 3, found 2"],
    "returnDocument-enum-invalid.json": ["returnDocument", "returnDocument"],
    "schemaVersion-unsupported.json": ["schema version 0.1"],
}


class OfficialFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def official(self, folder):
        """Seen under another name, from which the runner cannot know what must come of them."""
        place = OFFICIAL / "unified-test-format" / "tests" / folder
        if not place.is_dir():
            self.skipTest("there are no official tests")
        (self.root / "seen").symlink_to(place.resolve())
        subprocess.run([RUNNER, "seen", "--json", "out.json"], cwd=self.root, capture_output=True)
        cases = json.loads((self.root / "out.json").read_text(encoding="utf-8"))["cases"]
        found = {}
        for case in cases:
            found.setdefault(pathlib.Path(case["file"]).name, []).append(case)
        self.assertEqual({file.name for file in place.glob("*.json")}, set(found))
        return found

    def test_official_files_that_must_fail_do_so_for_their_own_reasons(self):
        for file, cases in self.official("valid-fail").items():
            if file not in REASONS:  # it may need a feature that is to come
                self.assertLessEqual({case["outcome"] for case in cases}, {"skipped", "failed"},
                                     file)
                continue
            self.assertEqual(len(cases), len(REASONS[file]), file)
            for case, why in zip(cases, REASONS[file]):
                with self.subTest(file, case=case["description"]):
                    self.assertEqual(case["outcome"], "failed", case)
                    self.assertIn(why, case["reason"])

    def test_official_files_that_are_invalid_are_refused_as_a_whole(self):
        for file, cases in self.official("invalid").items():
            with self.subTest(file):
                self.assertEqual([(case["description"], case["outcome"]) for case in cases],
                                 [("(the whole file)", "failed")])


if __name__ == "__main__":
    RUNNER = str(pathlib.Path(sys.argv[1]).resolve())
    OFFICIAL = pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=sys.argv[:1])
