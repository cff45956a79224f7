#!/usr/bin/env python3
"""Plants results and documents, and checks what tools/trace.py makes of them."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TRACE = pathlib.Path(__file__).parents[2] / "tools/trace.py"
REQUIREMENTS = """id\tseed\tsection\tlevel\trequirement\thow_to_verify\tproof
SD-001\ts\t-\tMUST\tfirst\t-\ttest
SD-002\ts\t-\tMUST\tsecond, with a "quote\t-\ttest
BP-053\ts\t-\tDOC\ta page\t-\tdoc
RW-003\ts\t-\tMAY\ta name\t-\treview
RD-001\ts\t-\tSUPERSEDED\tformer\t-\tsuperseded
BP-021\ts\t-\tMUST\tnot yet\t-\tlater
"""

# What waits if no test has run and nothing is written.
WAITING = {"SD-001": "monitor", "SD-002": "executor", "BP-053": "document", "RW-003": "operations"}


def all_but(*proven):
    return [(id, part) for id, part in WAITING.items() if id not in proven]


def ran(name, *ids, **changes):
    test = {"name": name, "status": "RUN", "result": "COMPLETED"}
    return test | {id: "test" for id in ids} | changes


class Trace(unittest.TestCase):
    def trace(self, *tests, page="", requirements=REQUIREMENTS, waiting=None, no_traffic=None):
        """Runs the tool on planted files: (exit status, outcome per id, output, lines)."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "docs/page.md").write_text(page)
            (root / "results").mkdir()
            suites = {"testsuites": [{"name": "suite", "testsuite": list(tests)}]}
            (root / "results/unit_tests.json").write_text(json.dumps(suites))
            if requirements:
                (root / "requirements.tsv").write_text(requirements)
            (root / "tools").mkdir()
            if no_traffic is not None:
                (root / "tools/no_traffic.tsv").write_text(
                    "id\treason\n" + "".join(f"{id}\t{why}\n" for id, why in no_traffic))
            if waiting is not None:
                (root / "tools/waiting.tsv").write_text(
                    "id\twaits_for\n" + "".join(f"{id}\t{part}\n" for id, part in waiting))
            done = subprocess.run(
                [sys.executable, TRACE, "--root", root, "--results", root / "results",
                 "--requirements", root / "requirements.tsv"], capture_output=True, text=True)
            out = root / "docs/conformance.md"
            lines = out.read_text().splitlines() if out.exists() else []
        rows = [line.strip("| ").split(" | ") for line in lines if line[4:5] == "-"]
        return done.returncode, {r[0]: r[3] for r in rows}, done.stdout + done.stderr, lines

    def test_a_passed_test_proves(self):
        status, outcomes, _, lines = self.trace(
            ran("works", "SD-002"), waiting=all_but("SD-002"))
        self.assertEqual((status, outcomes["SD-001"], outcomes["SD-002"]), (0, "open", "proven"))
        self.assertIn("| SD-002 | MUST | test | proven | - | suite.works |", lines)
        self.assertIn("| SD | 2 | 1 | 1 | 0 | 0 | 0 |", lines)

    def test_a_failed_test_proves_nothing(self):
        failed = ran("fails", "SD-001", failures=[{"failure": "no"}])
        self.assertEqual(self.trace(failed)[1]["SD-001"], "open")
        self.assertEqual(self.trace(ran("works", "SD-001"), failed)[1]["SD-001"], "open")

    def test_a_test_that_did_not_run_proves_nothing(self):
        self.assertEqual(self.trace(ran("off", "SD-001", status="NOTRUN"))[1]["SD-001"], "open")
        self.assertEqual(self.trace(ran("skip", "SD-001", result="SKIPPED"))[1]["SD-001"], "open")

    def test_an_unknown_id_is_an_error(self):
        status, _, output, _ = self.trace(ran("typo", "SD-999"))
        self.assertEqual(status, 1)
        self.assertIn("SD-999 is no requirement, but is named by suite.typo", output)
        status, _, output, _ = self.trace(page="text <!-- XX-001 -->")
        self.assertEqual(status, 1)
        self.assertIn("XX-001 is no requirement, but is named by docs/page.md", output)

    def test_the_ids_of_examples_are_passed_over(self):
        self.assertEqual(self.trace(ran("example", "ZZ-001"), waiting=all_but())[0], 0)

    def test_a_page_is_proven_by_its_anchor(self):
        outcomes = self.trace(page="A retry costs. <!-- BP-053 --> And <!--RW-003-->")[1]
        self.assertEqual((outcomes["BP-053"], outcomes["RW-003"]), ("proven", "proven"))
        self.assertEqual(self.trace(page="BP-053")[1]["BP-053"], "open")

    def test_an_anchor_does_not_stand_for_a_test(self):
        self.assertEqual(self.trace(page="<!-- SD-001 -->")[1]["SD-001"], "open")

    def test_what_demands_nothing_keeps_its_outcome(self):
        outcomes = self.trace()[1]
        self.assertEqual((outcomes["RD-001"], outcomes["BP-021"]), ("superseded", "later"))

    def test_an_unknown_demand_is_an_error(self):
        wrong = REQUIREMENTS.replace("later\n", "someday\n")
        status, _, output, _ = self.trace(requirements=wrong)
        self.assertEqual(status, 1)
        self.assertIn("BP-021 demands an unknown proof: 'someday'", output)

    def test_what_is_open_waits_for_something(self):
        waiting = all_but("SD-002")
        status, outcomes, output, lines = self.trace(ran("works", "SD-002"), waiting=waiting)
        self.assertEqual((status, outcomes["SD-001"]), (0, "open"), output)
        self.assertIn("| SD-001 | MUST | test | open | - | waits for monitor |", lines)
        self.assertIn("  1 wait for monitor: SD-001", output.splitlines())
        self.assertTrue([line for line in lines if line.endswith("| 1 | SD-001 |")])
        status, _, output, _ = self.trace(waiting=waiting)
        self.assertEqual(status, 1)
        self.assertIn("SD-002 is open, and waiting.tsv does not say what it waits for", output)

    def test_nothing_may_be_open_once_nothing_is_waited_for(self):
        said = "SD-002 is open, and waiting.tsv does not say what it waits for"
        page = "<!-- BP-053 --> <!-- RW-003 -->"
        for waiting in ([], None):  # only its header, and no table at all
            status, outcomes, output, _ = self.trace(
                ran("works", "SD-001"), page=page, waiting=waiting)
            self.assertEqual((status, outcomes["SD-002"]), (1, "open"))
            self.assertIn(said, output)
            self.assertEqual(output.count("error: "), 1, output)
            status, _, output, _ = self.trace(
                ran("works", "SD-001", "SD-002"), page=page, waiting=waiting)
            self.assertEqual((status, output.count("error: ")), (0, 0), output)

    def test_what_is_proven_waits_no_longer(self):
        waiting = all_but()
        self.assertEqual(self.trace(waiting=waiting)[0], 0)
        status, _, output, lines = self.trace(ran("works", "SD-002"), waiting=waiting)
        self.assertEqual(status, 1)
        self.assertIn("SD-002 is proven and waits for nothing", output)
        self.assertIn("| SD-002 | MUST | test | proven | - | suite.works |", lines)

    def test_waiting_for_an_unknown_id_is_an_error(self):
        status, _, output, _ = self.trace(ran("works", "SD-001", "SD-002"), waiting=[
            ("BP-053", "document"), ("RW-003", "godot"), ("SD-999", "monitor"),
            ("BP-021", "executor")])
        self.assertEqual(status, 1)
        self.assertIn("RW-003 waits for something unknown: 'godot'", output)
        self.assertIn("SD-999 is no requirement, but waits for monitor", output)
        self.assertIn("BP-021 is later and waits for nothing", output)

    def test_rows_of_couchbase_demand_the_mark_of_traffic(self):
        head = REQUIREMENTS.splitlines()[0]
        table = head + "\nCR-001\ts\t-\tMUST\tfirst\t-\ttest\nCR-007\ts\t-\tDOC\ta\t-\tdoc\n"
        page = "<!-- CR-007 -->"
        bytes_ = ran("bytes", **{"CR-001": "traffic test"})
        row = ran("table", **{"CR-001": "traffic row"})
        values = ran("values", "CR-001")

        def said(*tests, **more):
            status, _, output, lines = self.trace(*tests, page=page, requirements=table, **more)
            return status, output, lines

        status, output, lines = said(values, bytes_)
        self.assertEqual(status, 0, output)
        self.assertIn("| CR-001 | MUST | test | proven | traffic | suite.bytes, suite.values |",
                      lines)
        self.assertIn("1 by traffic", output)
        self.assertEqual(said(row)[0], 0)
        status, output, lines = said(values)
        self.assertEqual(status, 1)
        self.assertIn("CR-001 is not proven by traffic, and no_traffic.tsv does not say why",
                      output)
        self.assertIn("| CR-001 | MUST | test | proven | - | suite.values |", lines)
        self.assertEqual(said(values, no_traffic=[("CR-001", "a table")])[0], 0)
        status, output, _ = said(bytes_, no_traffic=[("CR-001", "x"), ("CR-007", "x")])
        self.assertEqual(status, 1)
        self.assertIn("CR-001 is proven by traffic: take it out of no_traffic.tsv", output)
        self.assertIn("CR-007 demands no traffic: take it out of no_traffic.tsv", output)

    def test_without_requirements_it_fails_and_says_so(self):
        status, _, output, lines = self.trace(requirements="")
        self.assertEqual((status, lines), (1, []))
        self.assertEqual(len(output.splitlines()), 1, output)
        self.assertRegex(output, r"^error: .*requirements\.tsv.*: nothing to trace$")


if __name__ == "__main__":
    unittest.main()
