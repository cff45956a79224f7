#!/usr/bin/env python3
"""The program `holdfast drill` as people meet it: what it says, and how it ends.

drill_test.py PROGRAM [TEST...]
"""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

PROGRAM = None
TIMEOUT = 180  # seconds; sanitizers are slow


def run(*arguments, **options):
    options.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([PROGRAM, *arguments], stderr=subprocess.PIPE, text=True, timeout=TIMEOUT,
                          **options)


def rows(text):
    """The table, by the first column."""
    lines = [line.strip("│").split("│") for line in text.splitlines() if line.startswith("│")]
    heads = [cell.strip() for cell in lines[0]]
    return {cells[0].strip(): dict(zip(heads, (cell.strip() for cell in cells)))
            for cells in lines[1:]}


class Holds(unittest.TestCase):
    def test_a_short_drill(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "verdict.json"
            path.write_text("x" * 100_000)  # of an earlier drill, and longer
            done = run("drill", "--seconds", "2", "--json", str(path))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(done.stderr, "")
            verdict = json.loads(path.read_text())
        self.assertRegex(done.stdout, r"Nothing lost, nothing applied twice: each of [1-9]")
        self.assertTrue(verdict["holds"])
        table = rows(done.stdout)
        for scenario in ("stepdown", "crash", "freeze", "overload"):
            self.assertGreater(int(table[scenario]["faults"]), 0, done.stdout)
        self.assertEqual([scenario["name"] for scenario in verdict["scenarios"]],
                         ["steady", "stepdown", "crash", "freeze", "overload"])
        self.assertGreater(verdict["total"]["retried"], 0)
        lines = [line for line in done.stdout.splitlines() if line.startswith(("│", "┌"))]
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_writes_do_not_wait_for_a_frozen_primary(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "verdict.json"
            done = run("drill", "--scenarios", "freeze", "--seconds", "10", "--json", str(path))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            verdict = json.loads(path.read_text())
        # It is frozen for 5 s; an election takes two to three.
        self.assertLess(verdict["scenarios"][0]["longestPauseMs"], 4500, done.stdout)


class CouchbaseHolds(unittest.TestCase):
    def test_a_short_drill(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "verdict.json"
            done = run("drill", "--couchbase", "--seconds", "3", "--json", str(path))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(done.stderr, "")
            verdict = json.loads(path.read_text())
        self.assertRegex(done.stdout, r"Nothing lost.*, nothing applied twice: ")
        self.assertTrue(verdict["holds"])
        table = rows(done.stdout)
        for scenario in ("failover", "rebalance", "crash", "overload"):
            self.assertGreater(int(table[scenario]["faults"]), 0, done.stdout)
        self.assertEqual([scenario["name"] for scenario in verdict["scenarios"]],
                         ["steady", "failover", "rebalance", "crash", "overload"])
        self.assertGreater(verdict["total"]["retried"], 0)
        lines = [line for line in done.stdout.splitlines() if line.startswith(("│", "┌"))]
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_applications_that_repeat_by_themselves(self):
        done = run("drill", "--couchbase", "--scenarios", "crash", "--seconds", "6", "--clients",
                   "32", "--naive-retry")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"BROKEN: [0-9]+ lost, [1-9][0-9]* applied twice")

    def test_interrupted_drill_says_so(self):
        one = subprocess.Popen([PROGRAM, "drill", "--couchbase", "--scenarios", "steady,crash",
                                "--seconds", "60"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(one.kill)
        for line in one.stdout:
            if re.match(r"steady +[0-9]+/s", line):
                break
        one.send_signal(signal.SIGINT)
        text, _ = one.communicate(timeout=TIMEOUT)
        self.assertEqual(one.returncode, 130, text)
        self.assertIn("interrupted: not all scenarios were run", text)


class DoubledWrites(unittest.TestCase):
    def test_applications_that_repeat_by_themselves(self):
        done = run("drill", "--scenarios", "stepdown,crash", "--seconds", "4", "--clients", "32",
                   "--no-retryable-writes", "--naive-retry")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"BROKEN: [0-9]+ lost, [1-9][0-9]* applied twice")
        self.assertRegex(done.stdout, r"applied [2-9] times: ")
        self.assertGreater(int(rows(done.stdout)["all"]["retried"]), 0, done.stdout)


class WrongInput(unittest.TestCase):
    def refused(self, *arguments, says, status=2):
        done = run(*arguments)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertRegex(done.stderr, says)

    def test_one_clear_line(self):
        self.refused("nope", says='there is no command "nope"')
        self.refused("drill", "--scenarios", "nope", says='no scenario "nope"')
        self.refused("drill", "--scenarios", "crash", "--uri", "mongodb://localhost/",
                     says="breaks servers")
        self.refused("drill", "--uri", "", says="--uri is empty")
        self.refused("drill", "--uri", "http://localhost/", says="must start with mongodb://")
        self.refused("drill", "--seconds", "0", says="--seconds")
        self.refused("drill", "--json", "/no/such/folder/file", says="cannot write to")
        self.refused("drill", "--couchbase", "--scenarios", "stepdown",
                     says='no scenario "stepdown"; there are steady, failover, rebalance')
        self.refused("drill", "--scenarios", "rebalance", says='no scenario "rebalance"')
        self.refused("drill", "--couchbase", "--scenarios", "crash", "--uri",
                     "couchbase://localhost", says="breaks servers")
        self.refused("drill", "--couchbase", "--uri", "mongodb://localhost/", "--user", "ada",
                     says="couchbase://")
        self.refused("drill", "--couchbase", "--no-retryable-writes", says="MongoDB's")
        self.refused("drill", "--user", "ada", "--uri", "mongodb://localhost/",
                     says="go with --couchbase")
        for seed in ("-1", "18446744073709551616"):
            self.refused("drill", "--seed", seed, says=f"--seed.*{seed}")

    def test_what_only_the_embedded_set_has(self):
        for more in (("--members", "3"), ("--port", "0"), ("--forget-retryable-writes",)):
            arguments = ("drill", "--uri", "mongodb://localhost/", *more)
            self.refused(*arguments, says=f"--uri excludes {more[0]}|{more[0]} excludes --uri")

    def test_an_address_that_makes_no_sense(self):
        self.refused("drill", "--uri", "mongodb://ada@localhost/?authMechanism=GSSAPI",
                     says="authMechanism GSSAPI is not supported")

    def test_addresses_that_lead_nowhere(self):
        try:
            socket.getaddrinfo("nosuch.invalid", 27017)
        except socket.gaierror as why:
            if why.errno == socket.EAI_AGAIN:
                self.skipTest("there is no name server to say so")
        for scheme in ("mongodb", "mongodb+srv"):
            self.refused("drill", "--uri", scheme + "://nosuch.invalid/",
                         says="cannot look up .*nosuch.invalid")

    def test_a_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = str(taken.getsockname()[1])
            self.refused("drill", "--port", port, says=port)
            with tempfile.NamedTemporaryFile("w+") as verdict:
                verdict.write("of an earlier drill")
                verdict.flush()
                self.refused("drill", "--port", port, "--json", verdict.name, says=port)
                self.assertEqual(pathlib.Path(verdict.name).read_text(), "of an earlier drill")

    def test_a_lab_for_all_without_a_login_is_warned_of(self):
        with socket.socket() as taken:  # so that it ends before it listens
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            lab = ("lab", "--bind", "0.0.0.0", "--port", str(taken.getsockname()[1]))
            warning = "listens at all addresses .* asks for no login"
            self.assertRegex(run(*lab).stderr, warning)
            self.assertNotRegex(run(*lab, "--auth", "ada:lovelace").stderr, warning)

    def test_addresses_that_fail_at_once(self):
        # They need no look-up, so the first check ends before anything else begins.
        self.refused("drill", "--uri", f"mongodb://{'k' * 64}.invalid/", says="no such host")
        self.refused("drill", "--uri", "mongodb://%2Fno%2Fsuch.sock/?serverSelectionTimeoutMS=500",
                     says="selection timed out", status=1)

    def test_what_cannot_be_written_is_no_success(self):
        short = ("drill", "--scenarios", "steady", "--seconds", "1")
        self.refused(*short, "--json", "/dev/full", says="/dev/full", status=1)
        with open("/dev/full", "w") as full:
            done = run(*short, stdout=full)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output", done.stderr)


class Interrupted(unittest.TestCase):
    def start(self, *arguments):
        one = subprocess.Popen([PROGRAM, "drill", *arguments], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(one.kill)
        return one

    def wait_for_scenario(self, one, name):
        for line in one.stdout:
            if re.match(name + r" +[0-9]+/s", line):
                return
        self.fail("there was no such line")

    def test_interrupted_drill_reports_which_scenarios_did_not_run(self):
        for which in (signal.SIGINT, signal.SIGTERM):
            one = self.start("--scenarios", "steady,crash", "--seconds", "60")
            self.wait_for_scenario(one, "steady")
            one.send_signal(which)
            text, _ = one.communicate(timeout=TIMEOUT)
            self.assertEqual(one.returncode, 130, text)
            self.assertIn("interrupted: not all scenarios were run", text)
            self.assertIn("steady: run in part", text)
            self.assertIn("crash: run not at all", text)
            self.assertNotIn("Nothing lost", text)

    def test_before_the_scenarios(self):
        # The server does not answer: server selection goes on until it times out.
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            port = silent.getsockname()[1]
            one = self.start("--uri", f"mongodb://127.0.0.1:{port}/")
            connection, _ = silent.accept()
            began = time.monotonic()
            one.send_signal(signal.SIGINT)
            _, errors = one.communicate(timeout=TIMEOUT)
            connection.close()
        self.assertEqual(one.returncode, 130)
        self.assertIn("interrupted", errors)
        self.assertLess(time.monotonic() - began, 10)


class Terminal(unittest.TestCase):
    def test_the_live_line_is_not_wider_than_it(self):
        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
        one = subprocess.Popen([PROGRAM, "drill", "--scenarios", "steady", "--seconds", "1"],
                               stdout=its, stderr=its)
        os.close(its)
        seen = b""
        while True:
            ready, _, _ = select.select([ours], [], [], TIMEOUT)
            self.assertTrue(ready)
            try:
                some = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not some:
                break
            seen += some
        os.close(ours)
        self.assertEqual(one.wait(TIMEOUT), 0, seen)
        live = re.findall(r"\r\x1b\[K(steady[^\r\n\x1b]*)", seen.decode())
        self.assertTrue(live, seen)
        self.assertLess(max(map(len, live)), 40)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
