"""Runs the clients' suites against `holdfast lab` and joins what they say; see run.sh.

Environment: HOLDFAST (the program), BSON_CONVERT, GOCAVES_CLIENT, INTEROP_DIR, STRICT, TIMES=1 (how
long each test takes), ONLY (part of a test's name; then the table of commands is not checked),
HOLDFAST_GOCAVES (the program gocaves, a server for our Couchbase client; skipped without it).
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = Path(os.environ.get('INTEROP_DIR', ROOT / 'build/interop'))
HOLDFAST = Path(os.environ.get('HOLDFAST', ROOT / 'build/bin/holdfast'))
CONVERT = Path(os.environ.get('BSON_CONVERT', ROOT / 'build/bin/bson_convert'))
GOCAVES_CLIENT = Path(os.environ.get('GOCAVES_CLIENT', ROOT / 'build/bin/gocaves_client'))
CERTIFICATES = WORK / 'certificates'
NPM_TIMEOUT = 240  # seconds
SUITE_TIMEOUT = 300
CANARY = ROOT / 'tests/support/canary.hpp'  # who logs in
DEBIAN_PYTHON = '/usr/bin/python3'  # the one that python3-pymongo is installed for
ONLY = os.environ.get('ONLY')
FETCHED = {}


class Skipped(Exception):
    pass


class Failed(Exception):
    pass


def fetch(name):
    """Installs what a lock file names into WORK/name, trying only once; gives the folder."""
    if name not in FETCHED:
        try:
            FETCHED[name] = install(name)
        except Skipped as why:
            FETCHED[name] = why
    if isinstance(FETCHED[name], Skipped):
        raise FETCHED[name]
    return FETCHED[name]


def install(name):
    for tool in ('node', 'npm'):
        if shutil.which(tool) is None:
            raise Skipped(f'{tool} is not installed; on Debian: apt-get install nodejs npm')
    folder = WORK / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in (HERE / name).iterdir():
        shutil.copy(file, folder / file.name)
    lock = hashlib.sha256((folder / 'package-lock.json').read_bytes()).hexdigest()
    stamp = folder / 'installed'
    if stamp.exists() and stamp.read_text() == lock:
        return folder
    stamp.unlink(missing_ok=True)
    command = ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error',
               '--fetch-retries=1', '--fetch-retry-mintimeout=1000']
    try:
        done = subprocess.run(command, cwd=folder, timeout=NPM_TIMEOUT, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except subprocess.TimeoutExpired:
        raise Skipped(f'npm ci took more than {NPM_TIMEOUT} s') from None
    if done.returncode != 0:
        if 'EINTEGRITY' in done.stdout or 'EUSAGE' in done.stdout:
            raise Failed(f'npm ci does not accept {name}/package-lock.json:\n{done.stdout}')
        lines = [line for line in done.stdout.splitlines() if 'code E' in line or 'network' in line]
        raise Skipped('npm ci failed: ' + (lines or ['see ' + str(folder)])[0].strip())
    stamp.write_text(lock)
    return folder


def certificates():
    if not (CERTIFICATES / 'server.pem').exists():
        CERTIFICATES.mkdir(parents=True, exist_ok=True)
        subprocess.run([ROOT / 'tests/support/make_certificates.sh', CERTIFICATES], check=True)


def canary():
    """CANARY_USER, CANARY_PASSWORD and CANARY_WRONG_PASSWORD, for suites that log in."""
    texts = re.findall(r'(\w+) = "(.*)";', CANARY.read_text())
    return {f'CANARY_{name.upper()}': value for name, value in texts}


def suite(command, report, cwd):
    """Runs one; gives its report. What it prints is also kept beside it."""
    report.unlink(missing_ok=True)
    environment = {**os.environ, **canary(), 'HOLDFAST': str(HOLDFAST),
                   'CERTIFICATES': str(CERTIFICATES), 'PYTHONDONTWRITEBYTECODE': '1'}
    arguments = [*command, str(report)] + ([ONLY] if ONLY else [])
    # PyMongo's own threads print what they meet in a crash, although nothing is wrong.
    complaints = report.with_suffix('.stderr')
    output = report.with_suffix('.stdout')
    try:
        with complaints.open('w') as errors, output.open('w') as out:
            status = subprocess.run(arguments, cwd=cwd, env=environment, timeout=SUITE_TIMEOUT,
                                    stdin=subprocess.DEVNULL, stdout=out, stderr=errors).returncode
    except subprocess.TimeoutExpired:
        raise Failed(f'took more than {SUITE_TIMEOUT} s') from None
    finally:
        print(output.read_text(), end='', flush=True)
    if not report.exists():
        raise Failed(f'ended with status {status} and without a report:\n{complaints.read_text()}')
    counts = json.loads(report.read_text())
    if status != 0 or counts['failed']:
        raise Failed(f"{counts['failed']} of {counts['ran']} assertions failed")
    return counts


def bson(arguments):
    folder = fetch('node')
    if not CONVERT.exists():
        raise Failed(f'{CONVERT} is not built: make build')
    shutil.copy(HERE / 'bson.mjs', folder / 'bson.mjs')
    done = subprocess.run(['node', 'bson.mjs', str(CONVERT), *arguments], cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise Failed(done.stdout)
    return {'ran': int(done.stdout.split(' passed')[0].split()[-1])}


def pymongo():
    found = subprocess.run([DEBIAN_PYTHON, '-c', 'import pymongo'], capture_output=True)
    if found.returncode != 0:
        raise Skipped('PyMongo is not installed; on Debian: apt-get install python3-pymongo')
    return suite([DEBIAN_PYTHON, 'main.py'], WORK / 'pymongo.json', HERE / 'pymongo')


def node():
    return suite(['node', 'main.mjs'], WORK / 'node.json', fetch('node'))


def truth():
    return suite(['node', 'truth.mjs'], WORK / 'truth.json', fetch('node'))


def couchbase():
    folder = fetch('couchbase')
    shutil.copy(HERE / 'node/lab.mjs', folder / 'lab.mjs')
    return suite(['node', 'main.mjs'], WORK / 'couchbase.json', folder)


def gocaves():
    named = os.environ.get('HOLDFAST_GOCAVES')
    if not named:
        raise Skipped('HOLDFAST_GOCAVES does not name the program gocaves; build it from '
                      'github.com/couchbaselabs/gocaves, outside of this tree: go build -o gocaves')
    found = shutil.which(named)
    if not found:
        raise Failed(f'HOLDFAST_GOCAVES is {named}, which is no program')
    program = str(Path(found).resolve())  # the suite runs in a folder of its own
    if not GOCAVES_CLIENT.exists():
        raise Failed(f'{GOCAVES_CLIENT} is not built: make build')
    os.environ.update(GOCAVES=program, GOCAVES_CLIENT=str(GOCAVES_CLIENT))
    return suite([sys.executable, 'main.py'], WORK / 'gocaves.json', HERE / 'gocaves')


def mongosh():
    return suite(['node', 'main.mjs'], WORK / 'mongosh.json', fetch('mongosh'))


def table(reports):
    """Every command that the lab lists must have been asserted by a client."""
    listed = reports.get('node', {}).get('listed')
    if not listed:
        raise Skipped('the Node driver did not run to its end')
    by_client = {name: dict(one.get('sent', [])) for name, one in reports.items()}
    lines, missing = [], []
    for command in sorted(listed):
        seen = [f'{client}: {sent[command]}' for client, sent in by_client.items()
                if command in sent]
        lines.append(f"{command:28}{'; '.join(seen) or 'NO CLIENT'}\n")
        if not seen:
            missing.append(command)
    (WORK / 'commands.txt').write_text(''.join(lines))
    if missing:
        raise Failed('no client has asserted anything about: ' + ', '.join(missing))
    return {'ran': len(listed)}


def main():
    arguments = sys.argv[1:]
    wants_all = '--all' in arguments
    numbers = [one for one in arguments if one != '--all']
    if not HOLDFAST.exists():
        sys.exit(f'interop: {HOLDFAST} is not built: make build')
    WORK.mkdir(parents=True, exist_ok=True)
    certificates()
    reports = {}
    steps = [('bson', lambda: bson(numbers)), ('pymongo', pymongo), ('node', node),
             ('truth', truth), ('couchbase', couchbase), ('gocaves', gocaves)]
    if wants_all:
        steps.append(('mongosh', mongosh))
    if not ONLY:
        steps.append(('commands', lambda: table(reports)))
    failed = []
    for name, step in steps:
        began = time.monotonic()
        try:
            reports[name] = step()
            line = f"ran {reports[name]['ran']}"
        except Skipped as why:
            line = f'SKIPPED: {why}'
            if os.environ.get('STRICT') == '1':
                failed.append(name)
        except Failed as why:
            line = f'FAILED: {why}'
            failed.append(name)
        print(f'{name}: {line}  ({time.monotonic() - began:.0f} s)', flush=True)
    foreign = ('pymongo', 'node', 'couchbase', 'mongosh')
    total = sum(reports.get(name, {}).get('ran', 0) for name in foreign)
    print(f'interop: {total} assertions by foreign clients, failed: {" ".join(failed) or "none"}')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
