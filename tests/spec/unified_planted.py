"""A right file of the unified test format, and what can be made wrong in it: see
unified_selftest.py.
"""

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


def fail_once(commands, **options):
    """An operation of the runner, by a client that the case does not look at."""
    return {"name": "failPoint", "object": "testRunner", "arguments": {
        "client": "other", "failPoint": {"configureFailPoint": "failCommand", "mode": {"times": 1},
                                         "data": {"failCommands": commands, **options}}}}


def run_command(**command):
    return {"name": "runCommand", "object": "db", "expectError": {"isError": True},
            "arguments": {"commandName": next(iter(command)), "command": command}}


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
    "a result that is saved under a name that is taken": (
        put("operations.1.saveResultAsEntity", "coll"),
        "there is an entity of this name already: coll"),
    "a cursor that is saved under a name that is taken": (
        put("operations.1", {"name": "createFindCursor", "object": "coll",
                             "arguments": {"filter": {}}, "saveResultAsEntity": "coll"}),
        "there is an entity of this name already: coll"),
    "an unknown operation": (put("operations.1.name", "guess"), "guess"),
    "an unknown argument": (put("operations.1.arguments.guess", 1), "guess"),
    "an entity that is not there": (put("operations.1.object", "other"), "other"),
    "an unknown operator": (put("operations.1.expectResult.0.x", {"$$guess": 1}),
                                      "does not know this operator: $$guess"),
    "an entity of an unknown kind": (
        put("operations.1", {"name": "createEntities", "object": "testRunner",
                             "arguments": {"entities": [{"guess": {"id": "guess"}}]}}),
        "has a key that is not known: guess"),
    "an unknown operation of the runner": (
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
    "a failed write without a number": ({"writeErrors": {"0x": {"code": 11000}}},
                                        "a key is no number of a write: 0x"),
    "another failed write": ({"writeErrors": {"1": {"code": 11000}}},
                             "expected a write error of the write 1"),
    "no failed write": ({"writeErrors": {}}, "expected 0 write errors, found 1"),
    "an unknown expectation": ({"guess": 1}, "has a key that is not known: guess"),
}


def about_filled(name, event, count):
    return {"name": name, "object": "testRunner",
            "arguments": {"client": "filled", "event": {event: {}}, "count": count}}


# Connections that fill a pool break in their handshake, and the pool must not be cleared.
KEPT_POOL = [
    {"name": "failPoint", "object": "testRunner", "arguments": {"client": "other", "failPoint": {
        "configureFailPoint": "failCommand", "mode": {"skip": 1},
        "data": {"failCommands": ["hello", "isMaster"], "appName": "filled",
                 "closeConnection": True}}}},
    {"name": "createEntities", "object": "testRunner", "arguments": {"entities": [{"client": {
        "id": "filled", "observeEvents": ["poolClearedEvent", "connectionClosedEvent"],
        "uriOptions": {"appname": "filled", "minPoolSize": 2, "maxConnecting": 1,
                       "serverMonitoringMode": "poll", "heartbeatFrequencyMS": 1000000}}}]}},
    about_filled("waitForEvent", "connectionClosedEvent", 1),
    about_filled("assertEventCount", "poolClearedEvent", 0)]
