#!/usr/bin/env python3
"""Shows that spec_runner notices wrong expectations in files of the unified test format.

unified_selftest.py SPEC_RUNNER

A good file passes; then one expectation at a time is made wrong, and the file must fail and say
why.
"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from unified_planted import (EVENTS, FIND, GOOD, INSERT, KEPT_POOL, MESSAGES, PLANTED, TWICE,
                             WRONG_ERRORS, fail_once, put, remove, run_command)

RUNNER = None


class UnifiedTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def run_runner(self, places, passed, failed, skipped, *options):
        done = subprocess.run([RUNNER, *places, *options], cwd=self.root, text=True,
                              capture_output=True)
        lines = done.stdout.splitlines()
        counts = f"{passed} passed, {failed} failed, {skipped} skipped"
        self.assertIn(counts, lines, done.stdout + done.stderr)
        self.assertEqual(done.returncode, 1 if failed else 0, done)
        return done.stdout

    def expect(self, content, passed, failed, skipped, *options, folder="tests"):
        place = self.root / folder
        place.mkdir(exist_ok=True)
        (place / "any.json").write_text(json.dumps(content), encoding="utf-8")
        return self.run_runner([folder], passed, failed, skipped, *options)

    def planted(self, change, file=None):
        changed = copy.deepcopy(file or GOOD)
        change(changed)
        return changed

    def test_a_right_file_passes_in_both_worlds(self):
        for runtime in "sim", "net":
            with self.subTest(runtime):
                self.expect(GOOD, 1, 0, 0, "--runtime", runtime)

    def test_each_wrong_expectation_fails_for_its_own_reason(self):
        for name, (change, why) in PLANTED.items():
            with self.subTest(name):
                self.assertIn(why, self.expect(self.planted(change), 0, 1, 0))

    def test_an_operation_that_must_fail_and_does_not(self):
        def change(file):
            remove("operations.0.expectResult")(file)
            put("operations.0.expectError", {"isError": True})(file)
        self.assertIn("expected an error", self.expect(self.planted(change), 0, 1, 0))

    def failing(self, **expected):
        return {**GOOD, "tests": [{"description": "a document is there already", "operations": [
            {**TWICE, "expectError": expected or TWICE["expectError"]}]}]}

    def test_each_wrong_expectation_of_an_error_fails(self):
        self.expect(self.failing(), 1, 0, 0)
        for name, (wrong, why) in WRONG_ERRORS.items():
            with self.subTest(name):
                self.assertIn(why, self.expect(self.failing(**wrong), 0, 1, 0))

    def case(self, *operations, **more):
        """A file with that case alone, and a second client that is not observed."""
        entities = GOOD["createEntities"] + [{"client": {"id": "other"}}]
        return {**GOOD, "createEntities": entities,
                "tests": [{"description": "d", "operations": list(operations), **more}]}

    def test_an_error_that_is_of_no_writes(self):
        for expected, why in (
                ({"errorCodeName": "badVALUE", "errorCode": 2}, None),
                ({"errorCodeName": "BadValues"}, "expected the code name"),
                ({"writeErrors": {}}, "expected an error that lists which writes have failed")):
            with self.subTest(expected):
                operation = {"name": "find", "object": "coll", "expectError": expected,
                             "arguments": {"filter": {"$guess": 1}}}
                out = self.expect(self.case(operation), 0 if why else 1, 1 if why else 0, 0)
                self.assertIn(why or "1 passed", out)

    def test_what_has_ended_a_bulk_write_is_what_it_failed_with(self):
        insert = {"insertOne": {"document": {"_id": 1}}}
        update = {"updateOne": {"filter": {}, "update": {"$set": {"x": 1}}}}
        for code, fails in (8000, 0), (11000, 1):
            with self.subTest(code):
                bulk = {"name": "bulkWrite", "object": "coll", "expectError": {"errorCode": code},
                        "arguments": {"ordered": False, "requests": [insert, update]}}
                self.expect(self.case(fail_once(["update"], errorCode=8000), bulk),
                            1 - fails, fails, 0)

    def test_a_failure_in_the_log_is_redacted_or_not(self):
        quoted = run_command(find="coll", filter={'$a "quoted" guess': 1})
        long = run_command(find="coll", filter={"$" + "long" * 200: 1})
        secret = run_command(authenticate=1, mechanism="MONGODB-X509", user="CN=me")
        retried = {key: value for key, value in FIND.items() if key != "expectResult"}
        for name, redacted, operations in (
                ("with quotes", False, [quoted]), ("long", False, [long]),
                ("of a secret", True, [secret]),
                ("of a secret, but of the network", False,
                 [fail_once(["authenticate"], closeConnection=True), secret]),
                ("that a retry has made up for", False,
                 [fail_once(["find"], errorCode=10107), retried])):
            for said, fails in (redacted, 0), (not redacted, 1):
                with self.subTest(name, said=said):
                    messages = [{"level": "debug", "component": "command",
                                 "data": {"message": "Command started"}},
                                {"level": "debug", "component": "command",
                                 "data": {"message": "Command failed"},
                                 "failureIsRedacted": said}]
                    file = self.case(*operations, expectLogMessages=[
                        {"client": "client", "messages": messages, "ignoreExtraMessages": True}])
                    out = self.expect(file, 1 - fails, fails, 0)
                    self.assertIn("expected a failure that is " if fails else "1 passed", out)

    def filled(self, topology, size, limit):
        """A file with two cases, both of which see nothing of how the pools were filled."""
        client = {"id": "client", "uriOptions": {"minPoolSize": size},
                  "observeEvents": ["poolReadyEvent", "connectionReadyEvent"],
                  "observeLogMessages": {"connection": "debug"}}
        if limit is not None:
            client["awaitMinPoolSizeMS"] = limit
        nothing = [{"client": "client", "eventType": "cmap", "events": []}]
        return {**GOOD, "schemaVersion": "1.26",
                "runOnRequirements": [{"topologies": [topology]}],
                "createEntities": [{"client": client}, *GOOD["createEntities"][1:]],
                "tests": [{"description": "idle", "operations": [], "expectEvents": nothing,
                           "expectLogMessages": [{"client": "client", "messages": []}]},
                          {"description": "busy", "expectEvents": nothing, "operations": [
                              {"name": "find", "object": "coll", "arguments": {"filter": {}}}]}]}

    def test_pools_can_be_filled_before_a_case_begins(self):
        for runtime in "sim", "net":
            for topology in "single", "replicaset", "sharded", "load-balanced":
                with self.subTest(runtime, topology=topology):
                    self.expect(self.filled(topology, 2, 10000), 2, 0, 0, "--runtime", runtime)
            with self.subTest(runtime, waits=False):
                file = self.filled("single", 2, None)
                del file["tests"][0]
                self.assertIn("events of client: expected 0, there were more",
                              self.expect(file, 0, 1, 0, "--runtime", runtime))
            with self.subTest(runtime, filled=False):
                self.assertIn("awaitMinPoolSizeMS: a pool has not its connections in time",
                              self.expect(self.filled("single", 90, 1), 0, 2, 0,
                                          "--runtime", runtime))

    def test_options_that_a_connection_string_cannot_have_fail(self):
        read = {"name": "find", "object": "coll", "arguments": {"filter": {"_id": 99}},
                "expectResult": []}
        for options, why in (
                ({"guess": 1}, "uriOptions: guess is not known"),
                ({"retryWrites": "perhaps"}, "uriOptions: retryWrites cannot be perhaps"),
                ({"heartbeatFrequencyMS": 1}, "uriOptions: heartbeatFrequencyMS cannot be 1"),
                ({"readPreference": "nearest", "readPreferenceTags": ["guess"]},
                 "uriOptions: readPreferenceTags cannot be guess"),
                ({"readPreference": "nearest", "readPreferenceTags": ["a:b"],
                  "serverSelectionTimeoutMS": 50}, "server selection timed out"),
                ({"readPreference": "nearest", "readPreferenceTags": ["a:b", ""]}, None),
                ({"wtimeout": 1000, "RETRYWRITES": True}, None)):  # with a warning
            with self.subTest(options):
                file = copy.deepcopy(self.case(read))
                file["createEntities"][0]["client"]["uriOptions"] = options
                out = self.expect(file, 0 if why else 1, 1 if why else 0, 0)
                self.assertIn(why or "1 passed", out)

    def test_an_unexpected_error_fails(self):
        operation = {key: value for key, value in TWICE.items() if key != "expectError"}
        file = {**GOOD, "tests": [{"description": "d", "operations": [operation]}]}
        self.assertIn("E11000", self.expect(file, 0, 1, 0))
        operation["ignoreResultAndError"] = True
        self.expect(file, 1, 0, 0)

    def test_extra_events_and_messages_can_be_ignored_but_only_at_the_end(self):
        for kind, which in ("expectEvents", "Events"), ("expectLogMessages", "Messages"):
            with self.subTest(kind):
                list_of = EVENTS if which == "Events" else MESSAGES
                def change(file, last="3"):
                    put(f"{kind}.0.ignoreExtra{which}", True)(file)
                    remove(f"{list_of}.{last}")(file)
                self.expect(self.planted(change), 1, 0, 0)
                self.expect(self.planted(lambda file: change(file, "0")), 0, 1, 0)

    def test_messages_of_one_kind_can_be_ignored(self):
        def change(file):
            put("expectLogMessages.0.ignoreMessages", [
                {"level": "debug", "component": "command",
                 "data": {"message": "Command started"}}])(file)
            remove(MESSAGES + ".2")(file)
            remove(MESSAGES + ".0")(file)
        self.expect(self.planted(change), 1, 0, 0)

    def test_commands_can_be_ignored(self):
        file = copy.deepcopy(GOOD)
        file["createEntities"][0]["client"]["ignoreCommandMonitoringEvents"] = ["insert"]
        self.assertIn('command.insert: expected "coll", found nothing',
                      self.expect(file, 0, 1, 0))
        del file["tests"][0]["expectEvents"][0]["events"][:2]
        self.expect(file, 1, 0, 0)

    def test_the_runner_counts_events(self):
        def count(event, number):
            return {"name": "assertEventCount", "object": "testRunner",
                    "arguments": {"client": "client", "event": event, "count": number}}
        file = {**GOOD, "tests": [{"description": "d", "operations": [INSERT]}]}
        started = {"commandStartedEvent": {"commandName": "insert"}}
        for event, number, fails in ((started, 1, 0), (started, 2, 1), (started, 0, 1),
                                     ({"commandStartedEvent": {"commandName": "find"}}, 0, 0),
                                     ({"poolReadyEvent": {}}, 0, 1)):
            with self.subTest(event=event, number=number):
                file["tests"][0]["operations"] = [INSERT, count(event, number)]
                self.expect(file, 1 - fails, fails, 0)

    def test_an_event_that_never_comes_is_not_waited_for_without_end(self):
        file = {**GOOD, "tests": [{"description": "d", "operations": [INSERT, {
            "name": "waitForEvent", "object": "testRunner", "arguments": {
                "client": "client", "event": {"commandStartedEvent": {"commandName": "find"}},
                "count": 1}}]}]}
        self.expect(file, 0, 1, 0)

    def test_what_fails_on_a_thread_fails_also_without_waitForThread(self):
        thread = {"name": "createEntities", "object": "testRunner",
                  "arguments": {"entities": [{"thread": {"id": "t"}}]}}
        def on_thread(operation):
            return {"name": "runOnThread", "object": "testRunner",
                    "arguments": {"thread": "t", "operation": operation}}
        wait = {"name": "waitForThread", "object": "testRunner", "arguments": {"thread": "t"}}
        unexpected = {key: value for key, value in TWICE.items() if key != "expectError"}
        for last in [], [wait]:
            for operation, fails in (TWICE, 0), (unexpected, 1):
                with self.subTest(fails=fails, waits=len(last)):
                    file = {**GOOD, "tests": [{"description": "d", "operations": [
                        thread, on_thread(operation), *last]}]}
                    out = self.expect(file, 1 - fails, fails, 0)
                    self.assertIn("on the thread: insertOne" if fails else "1 passed", out)

    def test_deprecated_and_listing_helpers(self):
        map_reduce = {"map": {"$code": "function() { emit(7, this.x) }"},
                      "reduce": {"$code": "function(k, v) { return Array.sum(v) }"},
                      "out": {"inline": 1}}
        for name, on, arguments, right, wrong in (
                ("count", "coll", {"filter": {}}, 1, 2),
                ("count", "coll", {"filter": {"x": 5}}, 0, 1),
                ("count", "coll", {"filter": {}, "skip": 1}, 0, 1),
                ("mapReduce", "coll", map_reduce, [{"_id": 7, "value": 11}], []),
                ("listCollectionObjects", "db", {"filter": {"name": "coll"}}, ["coll"], []),
                ("listDatabaseObjects", "client", {"filter": {"name": "db"}}, ["db"], [])):
            for expected, fails in (right, 0), (wrong, 1):
                with self.subTest(name, arguments=arguments, fails=fails):
                    file = {**GOOD, "tests": [{"description": "d", "operations": [
                        {"name": name, "object": on, "arguments": arguments,
                         "expectResult": expected}]}]}
                    self.expect(file, 1 - fails, fails, 0)

    def test_the_deprecated_count_hands_raw_data_on(self):
        count = {"name": "count", "object": "coll", "arguments": {"filter": {}, "rawData": True}}
        for sent, fails in ({"count": "coll", "rawData": True}, 0), ({"rawData": False}, 1):
            self.expect(self.case(count, expectEvents=[
                {"client": "client", "ignoreExtraEvents": True,
                 "events": [{"commandStartedEvent": {"command": sent}}]}]), 1 - fails, fails, 0)

    def test_modes_of_read_preferences_have_no_case(self):
        for mode, fails in ("Primary", 0), ("SecondaryPreferred", 0), ("guess", 1):
            file = copy.deepcopy(self.case())
            file["createEntities"][2]["collection"]["collectionOptions"] = {
                "readPreference": {"mode": mode}}
            self.expect(file, 1 - fails, fails, 0)

    def test_a_case_that_wants_its_pool_kept_runs_under_the_newer_profile(self):
        file = {**self.case(*KEPT_POOL), "runOnRequirements": [{"topologies": ["single"]}]}
        self.assertIn("exception: tests/any.json: d under upstream_2026_07",
                      self.expect(file, 1, 0, 0, "--runtime", "sim"))
        self.expect(file, 0, 1, 0, "--runtime", "sim", "--profile", "as_specified")

    def test_a_fail_point_is_gone_when_its_case_has_ended(self):
        broken = {"description": "a", "operations": [
            {"name": "failPoint", "object": "testRunner", "arguments": {
                "client": "client", "failPoint": {
                    "configureFailPoint": "failCommand", "mode": "alwaysOn",
                    "data": {"failCommands": ["insert"], "errorCode": 2}}}},
            {"name": "insertOne", "object": "coll", "arguments": {"document": {"_id": 5}},
             "expectError": {"errorCode": 2}}]}
        whole = {**GOOD["tests"][0], "description": "b"}
        self.expect({**GOOD, "tests": [broken, whole]}, 2, 0, 0)

    def test_what_no_deployment_can_meet_is_skipped_with_its_reason(self):
        for clause, reason in (({"maxServerVersion": "2.6"}, "up to 2.6.0"),
                              ({"minServerVersion": "99.0"}, "from 99.0.0"),
                              ({"serverless": "require"}, "serverless"),
                              ({"csfle": True}, "client-side encryption"),
                              ({"serverParameters": {"guess": 1}}, "parameter guess")):
            with self.subTest(clause):
                said = self.expect({**GOOD, "runOnRequirements": [clause]}, 0, 0, 1)
                self.assertIn("no deployment of the lab is what it needs: " + reason, said)
                self.expect({**GOOD, "runOnRequirements": [clause, {"topologies": ["single"]}]},
                            1, 0, 0)

    def test_one_clause_that_can_be_met_is_enough(self):
        unknown = {"auth": True, "authMechanism": "MONGODB-OIDC"}
        for clauses, runs in (([unknown], 0), ([unknown, {"topologies": ["single"]}], 1)):
            with self.subTest(runs=runs):
                in_file = {**GOOD, "runOnRequirements": clauses}
                in_case = {**GOOD, "tests": [{**GOOD["tests"][0], "runOnRequirements": clauses}]}
                for file in in_file, in_case:
                    out = self.expect(file, runs, 0, 1 - runs)
                    self.assertIn("1 passed" if runs else "not in the library yet: the login "
                                  "mechanism MONGODB-OIDC", out)
        never = [unknown, {"minServerVersion": "99.0"}]
        self.assertIn("no deployment of the lab is what it needs",
                      self.expect({**GOOD, "runOnRequirements": never}, 0, 0, 1))

    def test_a_file_can_choose_its_deployment(self):
        for topology in "single", "replicaset", "sharded", "load-balanced":
            with self.subTest(topology):
                lb = {"hasServiceId": True} if topology == "load-balanced" else {}
                file = copy.deepcopy({**GOOD, "runOnRequirements": [{"topologies": [topology]}]})
                events = file["tests"][0]["expectEvents"][0]["events"]
                events[0]["commandStartedEvent"].update(lb)
                self.expect(file, 1, 0, 0)
        self.assertIn("not for the topology that was asked for",
                      self.expect(file, 0, 0, 1, "--topology", "single"))

    def test_a_case_can_run_on_every_topology_that_it_allows(self):
        every = "--topology", "every", "--runtime", "sim"
        file = {**GOOD, "tests": [{"description": "d", "operations": [INSERT]}]}
        out = self.expect(file, 4, 0, 0, *every, "--verbose")
        for topology in "replica_set", "single", "sharded", "load_balanced":
            self.assertIn(f"any.json: d (on {topology})", out)
        two = [{"topologies": ["sharded"]}, {"topologies": ["single"], "minServerVersion": "5.0"}]
        self.expect({**file, "runOnRequirements": two}, 2, 0, 0, *every)
        old = [{"maxServerVersion": "4.2.99"}]  # which knows no load balancers
        self.expect({**file, "runOnRequirements": old}, 3, 0, 0, *every)
        hello = {"name": "runCommand", "object": "db", "expectResult": {"msg": "isdbgrid"},
                 "arguments": {"commandName": "hello", "command": {"hello": 1}}}
        file["tests"][0]["operations"] = [hello]  # as routers alone reply
        self.expect(file, 2, 2, 0, *every)
        never = [{"minServerVersion": "99.0"}]
        self.expect({**file, "runOnRequirements": never}, 0, 0, 1, *every)

    def test_skips_are_counted_by_their_reasons(self):
        case = GOOD["tests"][0]
        def skipped(reason, n):
            return {**case, "description": f"{reason} {n}", "skipReason": reason}
        file = {**GOOD, "tests": [skipped("a", 0), skipped("b", 0), skipped("b", 1), case]}
        out = self.expect(file, 1, 0, 3).splitlines()
        self.assertEqual(out[-3:-1],
                         ["2 skipped: its file says: b", "1 skipped: its file says: a"])

    def test_features_that_are_to_come_are_skipped_by_what_is_used(self):
        entity = lambda one: {**GOOD, "createEntities": GOOD["createEntities"] + [one]}
        operation = lambda one: {**GOOD, "tests": [{"description": "d", "operations": [one]}]}
        for feature, file in (
                ("GridFS", entity({"bucket": {"id": "b", "database": "db"}})),
                ("timeoutMS", entity({"client": {"id": "b", "uriOptions": {"timeoutMS": 5}}})),
                ("timeoutMS", operation({**INSERT, "arguments": {"timeoutMS": 5}})),
                ("timeoutMS", operation({"name": "createCommandCursor", "object": "db",
                                         "arguments": {"command": {"find": "coll"},
                                                       "cursorType": "tailableAwait"},
                                         "expectError": {"isTimeoutError": True}})),
                ("change streams", operation({"name": "createChangeStream", "object": "coll"})),
                ("search indexes", operation({"name": "listSearchIndexes", "object": "coll"})),
                ("transactions", operation({"name": "startTransaction", "object": "s"})),
                ("the login mechanism MONGODB-OIDC", entity({"client": {"id": "b", "uriOptions": {
                    "authMechanism": "MONGODB-OIDC"}}})),
                ("events of pending responses", {
                    **entity({"client": {"id": "b", "observeEvents": [
                        "connectionPendingResponseStarted"]}}), "schemaVersion": "1.28"}),
                ("OpenTelemetry", entity({"client": {"id": "b", "observeTracingMessages": {}}}))):
            with self.subTest(feature):
                self.assertIn("not in the library yet: " + feature, self.expect(file, 0, 0, 1))

    def test_folders_of_the_formats_own_tests_say_what_must_come_of_a_file(self):
        wrong = self.planted(put("operations.1.expectResult.0.x", 12))
        refused = {**GOOD, "guess": 1}
        self.assertIn("has a key that is not known: guess", self.expect(refused, 0, 1, 0))
        self.expect(wrong, 1, 0, 0, folder="valid-fail")
        self.expect(GOOD, 0, 1, 0, folder="valid-fail")
        self.expect(refused, 1, 0, 0, folder="invalid")
        self.expect(GOOD, 0, 1, 0, folder="invalid")
        self.expect(wrong, 0, 1, 0, folder="invalid")

    def test_a_version_of_the_format_that_is_too_new_fails(self):
        for version in "1.999", "2.0", "0.9":
            with self.subTest(version):
                self.assertIn("schema version", self.expect({**GOOD, "schemaVersion": version},
                                                            0, 1, 0))


if __name__ == "__main__":
    RUNNER = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=sys.argv[:1])
