"""What the suites share: named assertions that are counted, and which commands they were about."""
import json
import os
import subprocess
import time
import traceback

import pymongo
from bson import json_util
from pymongo import monitoring

# Who logs in to all deployments that want it.
CANARY_USER = os.environ['CANARY_USER']
CANARY = os.environ['CANARY_PASSWORD']
WRONG = os.environ['CANARY_WRONG_PASSWORD']


class State:
    tests = []
    ran = 0
    failed = 0
    sent = {}  # command -> the first test that sent it and asserted something
    current = None


def test(body):
    State.tests.append(body)
    return body


def show(value):
    try:
        return json_util.dumps(value, json_options=json_util.RELAXED_JSON_OPTIONS)[:1500]
    except TypeError:
        return repr(value)[:1500]


def record(what, fine, expected, got):
    State.ran += 1
    State.current['asserted'] = True
    if fine:
        return
    State.failed += 1
    State.current['failed'] = True
    print(f'FAILED {State.current["name"]}: {what}\n  expected: {show(expected)}\n'
          f'  got:      {show(got)}', flush=True)


def equal(what, expected, got):
    record(what, expected == got, expected, got)


def contains(part, whole):
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and contains(value, whole[key]) for key, value in part.items())
    if isinstance(part, list):
        return (isinstance(whole, list) and len(part) == len(whole)
                and all(map(contains, part, whole)))
    return part == whole


def like(what, part, got):
    """All fields of `part` are in `got`, which may have more."""
    record(what, contains(part, got), part, got)


def holds(what, condition, got=None):
    record(what, bool(condition), True, condition if got is None else got)


def fails(what, code, call, kind=pymongo.errors.PyMongoError):
    """The call fails with a server's error of that code; gives the error."""
    try:
        got = call()
    except kind as error:
        found = getattr(error, 'code', None)
        if found is None and isinstance(getattr(error, 'details', None), dict):
            found = error.details.get('code')
        record(what, code is None or found == code, code, [found, str(error)])
        return error
    except pymongo.errors.PyMongoError as error:
        record(what, False, kind.__name__, repr(error))
        return error
    record(what, False, code, {'succeeded': str(got)})
    return None


def eventually(condition, timeout=10):
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        try:
            value = condition()
            if value:
                return value
        except pymongo.errors.PyMongoError:
            pass
        time.sleep(0.02)
    return False


class Seen(monitoring.CommandListener):
    """The commands of one client, which count for the test that is running."""

    def __init__(self):
        self.events = []

    def started(self, event):
        self.events.append(event)
        if State.current:
            State.current['commands'].add(event.command_name)

    def succeeded(self, event):
        pass

    def failed(self, event):
        pass

    def names(self):
        """Those since the last call."""
        names = [event.command_name for event in self.events]
        self.events.clear()
        return names


def connect(uri, **options):
    seen = Seen()
    options.setdefault('serverSelectionTimeoutMS', 15000)
    client = pymongo.MongoClient(uri, event_listeners=[seen], **options)
    return client, seen


class Lab:
    """A deployment of `holdfast lab`."""
    running = []

    def __init__(self, *options):
        self.process = subprocess.Popen([os.environ['HOLDFAST'], 'lab', *options],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        Lab.running.append(self)
        self.uri = self.line()
        self.routers = self.line().replace('routers: ', '') if '--routers' in options else None

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f'the lab has ended with status {self.process.wait()}')
        return line.strip()

    def command(self, order):
        self.process.stdin.write(order + '\n')
        self.process.stdin.flush()
        while True:
            line = self.line()
            if line.startswith('error'):
                raise RuntimeError(f'lab: {order}: {line}')
            if line.startswith('ok'):
                return line

    def primary(self):
        return int(self.command('primary').split()[1])

    @property
    def hosts(self):
        return self.uri.split('://')[1].split('@')[-1].split('/')[0].split('?')[0].split(',')

    def stop(self):
        Lab.running.remove(self)
        self.process.terminate()
        return self.process.wait(20)


def run_all(report, only):
    for body in State.tests:
        name = body.__name__.replace('_', ' ')
        if only and only not in name:
            continue
        State.current = {'name': name, 'commands': set(), 'asserted': False, 'failed': False}
        began = time.monotonic()
        try:
            body()
        except Exception:  # pylint: disable=broad-except
            record('runs to its end', False, 'no error', traceback.format_exc()[-800:])
        if os.environ.get('TIMES'):
            print(f'{(time.monotonic() - began) * 1000:6.0f} ms  {name}', flush=True)
        if State.current['asserted'] and not State.current['failed']:
            for command in State.current['commands']:
                State.sent.setdefault(command, name)
    with open(report, 'w', encoding='utf-8') as out:
        json.dump({'ran': State.ran, 'failed': State.failed, 'sent': list(State.sent.items())}, out)
    return State.failed == 0
