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

RUNNER = None

INSERT = {"name": "insertOne", "object": "coll", "arguments": {"document": {"_id": 2, "x": 22}},
          "expectResult": {"$$unsetOrMatches": {"insertedId": {"$$unsetOrMatches": 2}}}}
FIND = {"name": "find", "object": "coll", "arguments": {"filter": {"_id": {"$gt": 0}},
                                                        "sort": {"_id": 1}},
        "expectResult": [{"_id": 1, "x": 11}, {"_id": 2, "x": {"$$type": ["int", "long"]}}]}
TWICE = {"name": "insertOne", "object": "coll", "arguments": {"document": {"_id": 1}},
         "expectError": {"isClientError": False, "errorCode": 11000, "errorContains": "e11000",
                         "errorLabelsOmit": ["RetryableWriteError"]}}
STARTED_INSERT = {"commandStartedEvent": {
    "command": {"insert": "coll", "documents": [{"_id": 2, "x": 22}], "ordered": True,
                "lsid": {"$$exists": True}},
    "commandName": "insert", "databaseName": "db", "hasServiceId": False}}
GOOD = {
    "description": "planted", "schemaVersion": "1.21",
    "createEntities": [
        {"client": {"id": "client", "observeEvents": ["commandStartedEvent",
                                                      "commandSucceededEvent"],
                    "observeLogMessages": {"command": "debug"}}},
        {"database": {"id": "db", "client": "client", "databaseName": "db"}},
        {"collection": {"id": "coll", "database": "db", "collectionName": "coll"}}],
    "initialData": [{"databaseName": "db", "collectionName": "coll",
                     "documents": [{"_id": 1, "x": 11}]}],
    "tests": [{
        "description": "a document is added and found",
        "operations": [INSERT, FIND],
        "expectEvents": [{"client": "client", "events": [
            STARTED_INSERT,
            {"commandSucceededEvent": {"reply": {"ok": 1, "n": 1}, "commandName": "insert"}},
            {"commandStartedEvent": {"command": {"find": "coll", "sort": {"_id": 1}}}},
            {"commandSucceededEvent": {"commandName": "find"}}]}],
        "expectLogMessages": [{"client": "client", "messages": [
            {"level": "debug", "component": "command", "data": {
                "message": "Command started", "commandName": "insert",
                "command": {"$$matchAsDocument": {"$$matchAsRoot": {"insert": "coll"}}},
                "requestId": {"$$type": ["int", "long"]}}},
            {"level": "debug", "component": "command", "data": {
                "message": "Command succeeded", "commandName": "insert"}},
            {"level": "debug", "component": "command", "data": {
                "message": "Command started", "commandName": "find"}},
            {"level": "debug", "component": "command", "data": {
                "message": "Command succeeded", "commandName": "find"}}]}],
        "outcome": [{"databaseName": "db", "collectionName": "coll",
                     "documents": [{"_id": 1, "x": 11}, {"_id": 2, "x": 22}]}],
    }]}


def put(place, value):
    """A change: sets what lies at a dotted place of the file's only case."""
    def change(file):
        *path, last = [int(key) if key.isdigit() else key for key in place.split(".")]
        at = file["tests"][0]
        for key in path:
            at = at[key]
        at[last] = value
    return change


def remove(place):
    def change(file):
        *path, last = [int(key) if key.isdigit() else key for key in place.split(".")]
        at = file["tests"][0]
        for key in path:
            at = at[key]
        del at[last]
    return change


def at_the_end(place, value):
    def change(file):
        at = file["tests"][0]
        for key in place.split("."):
            at = at[int(key) if key.isdigit() else key]
        at.append(value)
    return change


EVENTS, MESSAGES = "expectEvents.0.events", "expectLogMessages.0.messages"
FIRST_COMMAND = EVENTS + ".0.commandStartedEvent"

# What is made wrong, and a part of what the runner must say about it.
PLANTED = {
    "another result": (put("operations.1.expectResult.0.x", 12), "0.x: expected 12, found 11"),
    "a result of another type": (put("operations.1.expectResult.1.x", {"$$type": "string"}),
                                 '1.x: expected a value of type "string", found 22'),
    "a result less": (remove("operations.1.expectResult.1"), "expected 1 values, found 2"),
    "a result more": (at_the_end("operations.1.expectResult", {"_id": 3}),
                      "expected 3 values, found 2"),
    "a key that is not in the result": (put("operations.1.expectResult.0.y", 1),
                                        "0.y: expected 1, found nothing"),
    "a key that must not be in the result": (
        put("operations.1.expectResult.0.x", {"$$exists": False}),
        "0.x: expected nothing, found 11"),
    "a number that is too large": (put("operations.1.expectResult.0.x", {"$$lte": 10}),
                                   "0.x: expected at most 10, found 11"),
    "two expectations that exclude each other": (
        put("operations.0", {**INSERT, "expectResult": None, "expectError": {"isError": True}}),
        "must not have the key expectError together with expectResult"),
    "an event with another field": (put(FIRST_COMMAND + ".command.documents.0.x", 23),
                                    "documents.0.x: expected 23, found 22"),
    "an event with a further key inside": (put(FIRST_COMMAND + ".command.documents.0", {"_id": 2}),
                                           "documents.0.x: expected nothing, found 22"),
    "an event of another command": (put(FIRST_COMMAND + ".commandName", "update"),
                                    'commandName: expected "update", found "insert"'),
    "an event of another database": (put(FIRST_COMMAND + ".databaseName", "other"),
                                     'databaseName: expected "other", found "db"'),
    "an event of a service": (put(FIRST_COMMAND + ".hasServiceId", True),
                              "hasServiceId: expected true, found false"),
    "an event with another reply": (put(EVENTS + ".1.commandSucceededEvent.reply.n", 2),
                                    "reply.n: expected 2, found 1"),
    "an event of another kind": (put(EVENTS + ".1", {"commandFailedEvent": {}}),
                                 "expected commandFailedEvent, found commandSucceededEvent"),
    "a missing event": (at_the_end(EVENTS, {"commandStartedEvent": {"commandName": "getMore"}}),
                        "expected 5, there were only 4"),
    "an extra event": (remove(EVENTS + ".3"), "expected 3, there were more"),
    "no events at all": (put(EVENTS, []), "expected 0, there were more"),
    "events of a client that is not there": (put("expectEvents.0.client", "other"), "other"),
    "events that were not to be": (put("expectEvents.0.eventType", "cmap"),
                                   "has a key that is not known: commandStartedEvent"),
    "another log message": (put(MESSAGES + ".0.data.message", "Command ended"),
                            'message: expected "Command ended", found "Command started"'),
    "a log message of another command": (put(MESSAGES + ".2.data.commandName", "insert"),
                                         'commandName: expected "insert", found "find"'),
    "a log message with another document": (
        put(MESSAGES + ".0.data.command.$$matchAsDocument.$$matchAsRoot.insert", "x"),
        'command.insert: expected "x", found "coll"'),
    "a log message without its field": (put(MESSAGES + ".0.data.cursorId", {"$$exists": True}),
                                        "cursorId: expected any value, found nothing"),
    "a log message of another level": (put(MESSAGES + ".0.level", "info"),
                                       'expected the level "info"'),
    "a log message of another component": (put(MESSAGES + ".0.component", "topology"),
                                           "expected one of topology, found one of command"),
    "a missing log message": (at_the_end(MESSAGES, {"level": "debug", "component": "command",
                                                    "data": {"message": "Command started"}}),
                              "expected 5, there were only 4"),
    "an extra log message": (remove(MESSAGES + ".3"), "expected 3, there were more"),
    "another document in the end": (put("outcome.0.documents.1.x", 23), "the collection coll"),
    "a document less in the end": (remove("outcome.0.documents.1"), "the collection coll"),
    "a key less in the end": (remove("outcome.0.documents.1.x"), "the collection coll"),
    "a document more in the end": (at_the_end("outcome.0.documents", {"_id": 3}),
                                   "the collection coll"),
    "an operation that nobody knows": (put("operations.1.name", "guess"), "guess"),
    "an argument that nobody knows": (put("operations.1.arguments.guess", 1), "guess"),
    "an entity that is not there": (put("operations.1.object", "other"), "other"),
    "an operator that nobody knows": (put("operations.1.expectResult.0.x", {"$$guess": 1}),
                                      "does not know this operator: $$guess"),
    "an entity of a kind that nobody knows": (
        put("operations.1", {"name": "createEntities", "object": "testRunner",
                             "arguments": {"entities": [{"guess": {"id": "guess"}}]}}),
        "has a key that is not known: guess"),
    "an operation of the runner that nobody knows": (
        put("operations.1", {"name": "guess", "object": "testRunner"}), "guess"),
}

# The same for an operation that fails.
WRONG_ERRORS = {
    "another code": ({"errorCode": 11001}, "errorCode: expected the code 11001"),
    "other words": ({"errorContains": "too large"}, 'expected the words "too large"'),
    "a label": ({"errorLabelsContain": ["RetryableWriteError"]}, "expected the labels"),
    "an error of the client": ({"isClientError": True}, "expected an error of the client"),
    "a timeout": ({"isTimeoutError": True}, "expected a timeout"),
    "another name of the code": ({"errorCodeName": "NotMaster"}, "expected the code name"),
    "another answer": ({"errorResponse": {"guess": 1}}, "guess: expected 1, found nothing"),
    "an expectation that nobody knows": ({"guess": 1}, "has a key that is not known: guess"),
}

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

    def test_an_error_that_nobody_expects_fails(self):
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
        for clause, words in (({"maxServerVersion": "2.6"}, "up to 2.6.0"),
                              ({"minServerVersion": "99.0"}, "from 99.0.0"),
                              ({"serverless": "require"}, "serverless"),
                              ({"csfle": True}, "client-side encryption"),
                              ({"serverParameters": {"guess": 1}}, "parameter guess")):
            with self.subTest(clause):
                said = self.expect({**GOOD, "runOnRequirements": [clause]}, 0, 0, 1)
                self.assertIn("no deployment of the lab is what it needs: " + words, said)
                self.expect({**GOOD, "runOnRequirements": [clause, {"topologies": ["single"]}]},
                            1, 0, 0)

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

    def test_features_that_are_to_come_are_skipped_by_what_is_used(self):
        entity = lambda one: {**GOOD, "createEntities": GOOD["createEntities"] + [one]}
        operation = lambda one: {**GOOD, "tests": [{"description": "d", "operations": [one]}]}
        for word, file in (
                ("GridFS", entity({"bucket": {"id": "b", "database": "db"}})),
                ("timeoutMS", entity({"client": {"id": "b", "uriOptions": {"timeoutMS": 5}}})),
                ("timeoutMS", operation({**INSERT, "arguments": {"timeoutMS": 5}})),
                ("change streams", operation({"name": "createChangeStream", "object": "coll"})),
                ("search indexes", operation({"name": "listSearchIndexes", "object": "coll"})),
                ("transactions", operation({"name": "startTransaction", "object": "s"})),
                ("the login mechanism MONGODB-OIDC", entity({"client": {"id": "b", "uriOptions": {
                    "authMechanism": "MONGODB-OIDC"}}})),
                ("OpenTelemetry", entity({"client": {"id": "b", "observeTracingMessages": {}}}))):
            with self.subTest(word):
                self.assertIn("not in the library yet: " + word, self.expect(file, 0, 0, 1))

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
