#!/usr/bin/env python3
"""Shows that spec_runner notices wrong expectations in files about the initial DNS seed list.

dns_selftest.py SPEC_RUNNER

Each good file passes; then one expectation at a time is made wrong, and the file must fail.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNNER = None

SEED = "localhost.test.build.10gen.cc:"
MEMBERS = ["localhost:27017", "localhost:27018", "localhost:27019"]
REPLICA_SET = {
    "uri": "mongodb+srv://test5.test.build.10gen.cc/?ssl=true", "seeds": [SEED + "27017"],
    "numSeeds": 1, "hosts": MEMBERS, "numHosts": 3, "ping": True,
    "options": {"replicaSet": "repl0", "authSource": "thisDB", "ssl": True}}
USER = {
    "uri": "mongodb+srv://b*b%40f3tt%3D:%244to%40L8%3DMC@test3.test.build.10gen.cc/mydb%3F",
    "seeds": [SEED + "27017"], "hosts": MEMBERS, "options": {"ssl": True}, "ping": False,
    "parsed_options": {"user": "b*b@f3tt=", "password": "$4to@L8=MC", "db": "mydb?"}}
SHARDED = {
    "uri": "mongodb+srv://test1.test.build.10gen.cc/?srvMaxHosts=1", "numSeeds": 1, "numHosts": 1,
    "options": {"srvMaxHosts": 1, "ssl": True}}
BALANCED = {
    "uri": "mongodb+srv://test24.test.build.10gen.cc/", "seeds": [SEED + "8000"],
    "hosts": [SEED + "8000"], "options": {"loadBalanced": True, "ssl": True}, "ping": True}
REFUSED = {"uri": "mongodb+srv://test19.test.build.10gen.cc/", "seeds": [], "hosts": [],
           "error": True, "comment": "one of two hosts lies in another domain"}


def wrong_forms(good):
    """The same file with one field made wrong, for each of its fields."""
    others = {"replicaSet": "repl1", "authSource": "admin", "ssl": False, "srvMaxHosts": 2,
              "loadBalanced": False, "user": "bob", "password": "secret", "db": "mydb"}
    for name, value in good.items():
        if name in ("seeds", "hosts") and not good.get("error"):
            yield name, {**good, name: value[:-1] + ["localhost:1"]}
            yield name, {**good, name: value + ["localhost:1"]}
        elif name in ("numSeeds", "numHosts"):
            yield name, {**good, name: value + 1}
        elif name in ("options", "parsed_options"):
            for option in value:
                yield option, {**good, name: {**value, option: others[option]}}
        elif name == "error":
            yield name, {**good, name: False}
        elif name == "uri" and not good.get("error"):
            yield name, {**good, name: value.replace(".test.", ".no-test.")}
    if not good.get("error"):
        yield "error", {**good, "error": True}
    yield "an unknown field", {**good, "tls": True}


class SeedList(unittest.TestCase):
    def run_file(self, content):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "case.json"
            path.write_text(json.dumps(content), encoding="utf-8")
            ran = subprocess.run([RUNNER, folder], capture_output=True, text=True, timeout=60)
            return ran.returncode, ran.stdout + ran.stderr

    def check(self, good):
        status, said = self.run_file(good)
        self.assertEqual(status, 0, said)
        self.assertIn("1 passed, 0 failed, 0 skipped", said)
        for name, wrong in wrong_forms(good):
            with self.subTest(name=name):
                status, said = self.run_file(wrong)
                self.assertEqual(status, 1, said)
                self.assertIn("0 passed, 1 failed, 0 skipped", said)

    def test_replica_set(self):
        self.check(REPLICA_SET)

    def test_user(self):
        self.check(USER)

    def test_sharded(self):
        self.check(SHARDED)

    def test_load_balanced(self):
        self.check(BALANCED)

    def test_refused(self):
        self.check(REFUSED)


if __name__ == "__main__":
    RUNNER = sys.argv.pop(1)
    unittest.main()
