#!/usr/bin/env python3
"""Shows that spec_runner notices wrong expectations in files about topologies, selection and pools.

core_selftest.py SPEC_RUNNER

Each good file passes; then one expectation at a time is made wrong, and the file must fail.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNNER = None

VERSION = {"processId": {"$oid": "000000000000000000000001"}, "counter": {"$numberLong": "1"}}
SERVER = {"address": "a:27017", "arbiters": [], "hosts": [], "passives": [], "type": "Unknown"}
SDAM = {
    "description": "a primary is found and lost", "uri": "mongodb://a/?replicaSet=rs",
    "phases": [
        {"responses": [["a:27017", {
            "ok": 1, "isWritablePrimary": True, "setName": "rs", "setVersion": 3,
            "electionId": {"$oid": "000000000000000000000002"}, "hosts": ["a:27017", "b:27017"],
            "logicalSessionTimeoutMinutes": 7, "minWireVersion": 0, "maxWireVersion": 21,
            "topologyVersion": VERSION}]],
         "outcome": {
             "servers": {
                 "a:27017": {"type": "RSPrimary", "setName": "rs", "setVersion": 3,
                             "electionId": {"$oid": "000000000000000000000002"},
                             "topologyVersion": VERSION, "pool": {"generation": 0}},
                 "b:27017": {"type": "Unknown", "setName": None, "electionId": None}},
             "topologyType": "ReplicaSetWithPrimary", "setName": "rs", "maxSetVersion": 3,
             "maxElectionId": {"$oid": "000000000000000000000002"},
             "logicalSessionTimeoutMinutes": 7, "compatible": True}},
        {"applicationErrors": [{"address": "a:27017", "when": "afterHandshakeCompletes",
                                "maxWireVersion": 21, "type": "network"}],
         "outcome": {
             "servers": {"a:27017": {"type": "Unknown", "error": "error",
                                     "pool": {"generation": 1}},
                         "b:27017": {"type": "Unknown"}},
             "topologyType": "ReplicaSetNoPrimary", "setName": "rs",
             "logicalSessionTimeoutMinutes": None}},
    ]}
EVENTS = {
    "description": "a client opens", "uri": "mongodb://a",
    "phases": [{"responses": [], "outcome": {"events": [
        {"topology_opening_event": {"topologyId": "42"}},
        {"topology_description_changed_event": {
            "topologyId": "42",
            "previousDescription": {"topologyType": "Unknown", "servers": []},
            "newDescription": {"topologyType": "Unknown", "servers": [SERVER]}}},
        {"server_opening_event": {"topologyId": "42", "address": "a:27017"}}]}}]}


def server(name, kind, rtt):
    return {"address": f"{name}:27017", "avg_rtt_ms": rtt, "type": kind}


MEMBERS = [server("a", "RSPrimary", 5), server("b", "RSSecondary", 5),
           server("c", "RSSecondary", 50)]
SELECTION = {
    "topology_description": {"type": "ReplicaSetWithPrimary", "servers": MEMBERS},
    "operation": "read", "read_preference": {"mode": "Secondary", "tag_sets": [{}]},
    "suitable_servers": MEMBERS[1:], "in_latency_window": MEMBERS[1:2]}
STALENESS = {
    "topology_description": SELECTION["topology_description"],
    "read_preference": {"mode": "Nearest", "maxStalenessSeconds": 80}, "error": True}
ROUND_TRIP = {"avg_rtt_ms": 10, "new_rtt_ms": 20, "new_avg_rtt": 12}
WINDOW = {
    "description": "the busy one is avoided",
    "topology_description": {"type": "Sharded",
                             "servers": [server("a", "Mongos", 5), server("b", "Mongos", 5)]},
    "mocked_topology_state": [{"address": "a:27017", "operation_count": 9},
                              {"address": "b:27017", "operation_count": 0}],
    "iterations": 100,
    "outcome": {"tolerance": 0.1, "expected_frequencies": {"a:27017": 0, "b:27017": 1}}}


def pool(description, operations, events, ignore=(), options=None, error=None):
    file = {"version": 1, "style": "unit", "description": description,
            "operations": [{"name": op} if isinstance(op, str) else op for op in operations],
            "events": [{"type": e} if isinstance(e, str) else e for e in events],
            "ignore": list(ignore)}
    if options:
        file["poolOptions"] = options
    if error:
        file["error"] = error
    return file


QUIET = ("ConnectionPoolCreated", "ConnectionPoolReady", "ConnectionCreated", "ConnectionReady",
         "ConnectionCheckOutStarted")
WAIT = {"name": "waitForEvent", "event": "ConnectionClosed", "count": 2, "timeout": 1000}
POOLS = [
    pool("a closed pool closes what comes back",
         ["ready", {"name": "checkOut", "label": "c"}, "close",
          {"name": "checkIn", "connection": "c"}],
         [{"type": "ConnectionCheckedOut", "connectionId": 1}, "ConnectionPoolClosed",
          {"type": "ConnectionCheckedIn", "connectionId": 1},
          {"type": "ConnectionClosed", "connectionId": 1, "reason": "poolClosed"}], QUIET),
    pool("closing closes idle connections first",
         ["ready", {"name": "checkOut", "label": "c"}, {"name": "checkIn", "connection": "c"},
          "close"],
         ["ConnectionCheckedOut", "ConnectionCheckedIn",
          {"type": "ConnectionClosed", "connectionId": 1, "reason": "poolClosed"},
          "ConnectionPoolClosed"], QUIET),
    pool("the least number is kept",
         ["ready", {"name": "waitForEvent", "event": "ConnectionReady", "count": 3}, "checkOut"],
         ["ConnectionPoolReady", *["ConnectionCreated"] * 3, "ConnectionCheckedOut"],
         ("ConnectionPoolCreated", "ConnectionReady", "ConnectionCheckOutStarted"),
         {"minPoolSize": 3}),
    pool("ready twice emits one event", ["ready", "ready"], ["ConnectionPoolReady"],
         ("ConnectionPoolCreated",)),
    pool("clearing frees those who wait",
         ["ready", "checkOut", {"name": "start", "target": "t"},
          {"name": "checkOut", "thread": "t"},
          {"name": "waitForEvent", "event": "ConnectionCheckOutStarted", "count": 2}, "clear",
          {"name": "waitForEvent", "event": "ConnectionCheckOutFailed", "count": 1}],
         ["ConnectionCheckedOut", "ConnectionPoolCleared",
          {"type": "ConnectionCheckOutFailed", "reason": "connectionError"}],
         QUIET, {"maxPoolSize": 1, "waitQueueTimeoutMS": 30000}),
    pool("clearing may interrupt",
         ["ready", "checkOut", "checkOut", {"name": "clear", "interruptInUseConnections": True},
          WAIT, "close"],
         ["ConnectionCheckedOut", "ConnectionCheckedOut",
          {"type": "ConnectionPoolCleared", "interruptInUseConnections": True},
          *[{"type": "ConnectionClosed", "reason": "stale"}] * 2, "ConnectionPoolClosed"],
         (*QUIET, "ConnectionCheckedIn"), {"backgroundThreadIntervalMS": 10000}),
    pool("what idles too long is not given",
         ["ready", {"name": "checkOut", "label": "c"}, {"name": "checkIn", "connection": "c"},
          {"name": "wait", "ms": 50}, "checkOut"],
         [{"type": "ConnectionCheckedOut", "connectionId": 1}, "ConnectionCheckedIn",
          {"type": "ConnectionClosed", "connectionId": 1, "reason": "idle"},
          {"type": "ConnectionCheckedOut", "connectionId": 2}],
         QUIET, {"maxIdleTimeMS": 10, "backgroundThreadIntervalMS": -1}),
    pool("a thread's error reaches who waits for it",
         ["ready", "checkOut", {"name": "start", "target": "t"},
          {"name": "checkOut", "thread": "t"}, {"name": "waitForThread", "target": "t"}],
         ["ConnectionCheckedOut", {"type": "ConnectionCheckOutFailed", "reason": "timeout"}],
         QUIET, {"maxPoolSize": 1, "waitQueueTimeoutMS": 20}, {"type": "WaitQueueTimeoutError"}),
]


LIVE_POOLS = [{**file, "style": "integration"} for file in (
    pool("a connection comes back and is given again",
         ["ready", {"name": "checkOut", "label": "a"}, {"name": "checkIn", "connection": "a"},
          "checkOut"],
         [{"type": "ConnectionCheckedOut", "connectionId": 1, "address": "42", "duration": "42"},
          {"type": "ConnectionCheckedIn", "connectionId": 1},
          {"type": "ConnectionCheckedOut", "connectionId": 1}], QUIET),
    pool("a thread's error reaches who waits for it",
         ["ready", "checkOut", {"name": "start", "target": "t"},
          {"name": "checkOut", "thread": "t"}, {"name": "waitForThread", "target": "t"}],
         ["ConnectionCheckedOut", {"type": "ConnectionCheckOutFailed", "reason": "timeout"}],
         QUIET, {"maxPoolSize": 1, "waitQueueTimeoutMS": 20}, {"type": "WaitQueueTimeoutError"}),
    {**pool("a server that refuses the handshake clears the pool",
            ["ready", {"name": "start", "target": "t"}, {"name": "checkOut", "thread": "t"},
             {"name": "waitForEvent", "event": "ConnectionCheckOutFailed", "count": 1,
              "timeout": 5000}],
            [{"type": "ConnectionPoolCleared", "interruptInUseConnections": False},
             {"type": "ConnectionClosed", "connectionId": 1, "reason": "error"},
             {"type": "ConnectionCheckOutFailed", "reason": "connectionError"}],
            QUIET, {"appName": "refused"}),
     "failPoint": {"configureFailPoint": "failCommand", "mode": "alwaysOn",
                   "data": {"failCommands": ["hello", "isMaster"], "errorCode": 91,
                            "appName": "refused"}}})]


def wrong_ones(value):
    """All versions of a value with one leaf changed."""
    if isinstance(value, dict):
        for key, inner in value.items():
            for wrong in wrong_ones(inner):
                yield {**value, key: wrong}
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            for wrong in wrong_ones(inner):
                yield [*value[:i], wrong, *value[i + 1:]]
    elif value != "42":  # that one stands for anything
        yield {bool: not value, int: 77, float: 0.5}.get(type(value), "wrong")


def fresh(file):
    """A copy in which nothing is shared, not even with itself."""
    return json.loads(json.dumps(file))


def planted(file, path):
    """The file with each leaf under the path wrong in turn."""
    *first, last = path
    for wrong in wrong_ones(_at(file, path)):
        broken = fresh(file)
        _at(broken, first)[last] = wrong
        yield broken


def _at(value, path):
    for step in path:
        value = value[step]
    return value


class CoreFormats(unittest.TestCase):
    def outcome(self, file, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "any.json")
            path.write_text(json.dumps(file), encoding="utf-8")
            done = subprocess.run([RUNNER, path, *options], text=True, capture_output=True)
        return done.stdout.splitlines()[-1:], done

    def check(self, file, *paths, options=()):
        counts, done = self.outcome(file, *options)
        self.assertEqual(counts, ["1 passed, 0 failed, 0 skipped"], done)
        for path in paths:
            for broken in planted(file, path):
                counts, done = self.outcome(broken, *options)
                self.assertEqual(counts, ["0 passed, 1 failed, 0 skipped"], (broken, done))

    def test_phases(self):
        self.check(SDAM, ("phases", 0, "outcome"), ("phases", 1, "outcome"))
        for field in ("phases", 0, "outcome", "servers"), ("phases", 0, "outcome"):
            extra = fresh(SDAM)
            _at(extra, field)["invented"] = {"type": "Unknown"}
            self.assertEqual(self.outcome(extra)[0], ["0 passed, 1 failed, 0 skipped"])
        fewer = fresh(SDAM)
        del fewer["phases"][0]["outcome"]["servers"]["b:27017"]
        self.assertEqual(self.outcome(fewer)[0], ["0 passed, 1 failed, 0 skipped"])

    def test_events(self):
        self.check(EVENTS, ("phases", 0, "outcome", "events"))
        for change in (lambda events: events.pop(), lambda events: events.append(events[0])):
            other = fresh(EVENTS)
            change(_at(other, ("phases", 0, "outcome", "events")))
            self.assertEqual(self.outcome(other)[0], ["0 passed, 1 failed, 0 skipped"])

    def test_selection(self):
        self.check(SELECTION, ("suitable_servers", 0, "address"), ("operation",),
                   ("in_latency_window", 0, "address"), ("read_preference", "mode"))
        self.check(STALENESS, ("error",))
        fewer = {**SELECTION, "suitable_servers": MEMBERS[1:2]}
        self.assertEqual(self.outcome(fewer)[0], ["0 passed, 1 failed, 0 skipped"])

    def test_round_trip(self):
        self.check(ROUND_TRIP, ("new_avg_rtt",))

    def test_in_window(self):
        self.check(WINDOW, ("outcome", "expected_frequencies"))

    def test_pools(self):
        for file in POOLS:
            with self.subTest(file["description"]):
                self.check(file, ("events",), *([("error",)] if "error" in file else []))

    def test_pool_that_hangs(self):
        for name in ({"name": "waitForEvent", "event": "ConnectionClosed", "count": 1},
                     {"name": "waitForEvent", "event": "X", "count": 1, "timeout": 5}):
            counts, done = self.outcome(pool("hangs", ["ready", name], []))
            self.assertEqual(counts, ["0 passed, 1 failed, 0 skipped"], done)

    def test_pools_that_are_connected(self):
        for file in LIVE_POOLS:
            for runtime in "sim", "net":
                with self.subTest(file["description"], runtime=runtime):
                    paths = [("events",)] + [("error",)] * ("error" in file)
                    self.check(file, *(paths if runtime == "sim" else []),
                               options=("--runtime", runtime))

    def test_fail_point_of_a_connected_pool_is_needed_and_gone_afterwards(self):
        broken = next(file for file in LIVE_POOLS if "failPoint" in file)
        whole = {key: value for key, value in broken.items() if key != "failPoint"}
        counts, done = self.outcome(whole, "--runtime", "sim")
        self.assertEqual(counts, ["0 passed, 1 failed, 0 skipped"], done)
        with tempfile.TemporaryDirectory() as folder:
            for name, file in ("a", broken), ("b", LIVE_POOLS[0]):
                pathlib.Path(folder, name + ".json").write_text(json.dumps(file), encoding="utf-8")
            done = subprocess.run([RUNNER, folder, "--runtime", "sim"], text=True,
                                  capture_output=True)
        self.assertEqual(done.stdout.splitlines()[-1:], ["2 passed, 0 failed, 0 skipped"], done)

    def test_connected_pool_of_a_server_that_is_too_new_is_skipped(self):
        counts, done = self.outcome({**LIVE_POOLS[0], "runOn": [{"minServerVersion": "99.0"}]})
        self.assertEqual(counts, ["0 passed, 0 failed, 1 skipped"], done)
        self.assertIn("1 skipped: no deployment of the lab is what it needs", done.stdout)


if __name__ == "__main__":
    RUNNER = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
