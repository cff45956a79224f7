#!/usr/bin/env python3
"""What makes no sense to `holdfast` is refused with status 2 and one line that says what to do."""
import subprocess
import sys

PROGRAM = sys.argv[1]
UNUSED = 'couchbase://127.0.0.1:1/b'
LOGIN = ['--user', 'ada', '--password', 'lovelace']
CASES = [  # the command, and what its line must say
    (['lab', '--couchbase', '--nodes', '0'], '1 to 50 nodes'),
    (['lab', '--couchbase', '--nodes', 'two'], '--nodes'),
    (['lab', '--couchbase', '--replicas', '4'], '3 replicas at most'),
    (['lab', '--couchbase', '--members', '3'], '--members'),
    (['lab', '--couchbase', '--routers', '2'], '--routers'),
    (['lab', '--couchbase', '--standalone'], '--standalone'),
    (['lab', '--couchbase', '--auth', 'ada'], 'USER:PASSWORD'),
    (['lab', '--couchbase', '--tls', '/no/such/file'], '/no/such/file'),
    (['lab', '--couchbase', '--port', '80000'], '0 to 65535'),
    (['lab', '--couchbase', '--tls-port', '80000'], '0 to 65535'),
    (['lab', '--couchbase', '--port', '65535', '--nodes', '2'], 'not that many ports'),
    (['lab', '--couchbase', '--host', ''], 'must not be empty'),
    (['lab', '--couchbase', '--bucket', 'a b'], "'a b' cannot name a bucket"),
    (['lab', '--couchbase', '--bucket', 'a', '--bucket', 'a'], "'a' exists"),
    (['lab', '--couchbase', '--nonsense'], '--nonsense'),
    (['lab', '--nodes', '3'], '--couchbase'),
    (['lab', '--bucket', 'b'], '--couchbase'),
    (['ping'], 'uri'),
    (['ping', 'http://localhost'], 'couchbases://'),
    (['ping', UNUSED], '--user'),
    (['ping', 'mongodb://localhost', '--user', 'u'], 'MongoDB URI'),
    (['ping', 'couchbase://', *LOGIN], 'there is no host'),
    (['ping', 'couchbase://h:8091', *LOGIN], '11210'),
    (['ping', UNUSED, *LOGIN, '-n', '0'], '--count'),
    (['drill', '--couchbase', '--scenarios', 'stepdown'], 'there is no scenario "stepdown"'),
    (['drill', '--couchbase', '--scenarios', ''], 'there is no scenario ""'),
    (['drill', '--couchbase', '--members', '2'], '3 to 50'),
    (['drill', '--couchbase', '--no-retryable-writes'], "MongoDB's"),
    (['drill', '--couchbase', '--uri', 'mongodb://localhost', *LOGIN], 'couchbase://'),
    (['drill', '--couchbase', '--uri', UNUSED], '--user'),
    (['drill', '--couchbase', '--uri', UNUSED, *LOGIN, '--scenarios', 'crash'], 'there is: steady'),
    (['drill', '--uri', UNUSED], 'add --couchbase'),
    (['drill', '--couchbase', '--json', '/no/such/file', '--seconds', '1'], '/no/such/file'),
]

failed = 0
for arguments, expected in CASES:
    try:
        done = subprocess.run([PROGRAM, *arguments], text=True, timeout=10, capture_output=True,
                              stdin=subprocess.DEVNULL)
        lines = done.stderr.splitlines()
        fine = done.returncode == 2 and len(lines) == 1 and expected in lines[0] and not done.stdout
        said = f'status {done.returncode}: {done.stdout}{done.stderr}'
    except subprocess.TimeoutExpired:
        fine, said = False, 'it runs'
    if not fine:
        failed += 1
        print(f'{" ".join(arguments)}: wanted "{expected}" and status 2, not: {said}')
print(f'{len(CASES) - failed} passed, {failed} failed')
sys.exit(bool(failed))
