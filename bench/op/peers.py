"""The same operations by Holdfast, Debian's libmongoc and the Node driver, in one table.

Instructions are counted where that means something: not of Node, which compiles while it runs. Time
is what each program says of itself, the middle one of several turns, as a ratio. What was found is
summed up by all of them, and the sums must be equal.
"""
import io
import json
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import sys
import tarfile

from measure import per_operation, stub_server, run_and_parse

HERE = pathlib.Path(__file__).resolve().parent
TURNS = 5
FOUND = 10000
SMALL_FOUND = {'n': 7}


class Row:
    """An operation, what it is called elsewhere, and how often it is done."""

    def __init__(self, name, peers, lengths, timed, found=None):
        self.name, self.peers, self.lengths, self.timed = name, peers, lengths, timed
        self.found = found

    @property
    def operation(self):
        return self.name.removesuffix('_tweet')


ROWS = {row.name: row for row in (
    Row('insert_one', 'insert', (500, 2500), 10000),
    Row('find_one', 'findone', (500, 2500), 10000),
    Row('insert_many', 'insertmany', (5, 25), 300),
    Row('find_many', 'findmany', (3, 13), 60, found='small'),
    Row('find_many_tweet', 'findmany', (3, 8), 30, found='tweet'))}


def bson(value):
    """A document of the benchmark's data, which has few types."""
    out = b''
    for key, one in (enumerate(value) if isinstance(value, list) else value.items()):
        if isinstance(one, bool):
            kind, payload = 8, bytes([one])
        elif isinstance(one, int):
            kind, payload = (16, struct.pack('<i', one)) if -2**31 <= one < 2**31 else \
                (18, struct.pack('<q', one))
        elif isinstance(one, str):
            text = one.encode() + b'\0'
            kind, payload = 2, struct.pack('<i', len(text)) + text
        elif one is None:
            kind, payload = 10, b''
        else:
            kind, payload = (4 if isinstance(one, list) else 3), bson(one)
        out += bytes([kind]) + str(key).encode() + b'\0' + payload
    return struct.pack('<i', len(out) + 5) + out + b'\0'


class Data:
    """The documents that are sent and found, as files."""

    def __init__(self, archive, folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive) as files:
            read = lambda name: files.extractfile(f'single_and_multi_document/{name}').read()
            self.small = folder / 'small_doc.json'
            self.small.write_bytes(read('small_doc.json'))
            tweet = json.load(io.BytesIO(read('tweet.json')))
        self.found = {}
        for name, document in (('small', SMALL_FOUND), ('tweet', tweet)):
            self.found[name] = folder / f'{name}.bson'
            self.found[name].write_bytes(bson(document))

    def stub_options(self, row):
        return ['--doc-file', self.found[row.found]] if row.found else []


def ours(program, row, uri, data):
    """Gives the command for so many operations; `mode` is --sync or nothing."""
    return lambda count, *mode: [program, row.operation, *mode, '--uri', uri, '--count', count,
                                '--document', data.small]


def libmongoc_program(harness, target):
    """The peer's own benchmark, with Debian's libmongoc, which reads what it finds as ours does."""
    flags = subprocess.run(['pkg-config', '--cflags', '--libs', 'libmongoc-1.0'],
                           capture_output=True, text=True)
    if flags.returncode != 0:
        sys.exit('MISSING: libmongoc-dev, so nothing was compared; "make setup" installs it')
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(['gcc', '-O2', '-include', HERE / 'peer_read.h', '-o', target,
                    harness / 'mongoc_bench.c', *flags.stdout.split(), '-lpthread'], check=True)
    return target


class Node:
    """The driver that the tests of interoperability fetch, if they have."""

    def __init__(self, harness, packages):
        self.harness, self.packages, self.missing = harness, packages, None
        if shutil.which('node') is None:
            self.missing = 'node is not installed'
        elif not (packages / 'mongodb').is_dir():
            self.missing = f'{packages}/mongodb is not there; "make interop" fetches it'

    def name(self):
        return 'Node ' + json.loads((self.packages / 'mongodb/package.json').read_text())['version']

    def run_and_parse(self, row, uri, count, data):
        program = HERE / 'peer_find.js' if row.found else self.harness / 'node_bench.js'
        return run_and_parse(['node', program, uri, row.peers, count, 0, data.small],
                    NODE_PATH=str(self.packages))


def seconds(said, row):
    """Of one operation. Who finds other documents than we do has done other work."""
    if row.found:
        row.sums.add((said['docs'] / said['n'], said['checksum'] / said['n']))
    return said['wall'] / said['n']


def ratio(some):
    some = sorted(some)
    return {'middle': round(statistics.median(some), 3), 'least': round(some[0], 3),
            'most': round(some[-1], 3)}


def timed(row, uri, program, peer, node, data):
    """Seconds of ours, and of ours with blocking calls, to those of the others, taking turns."""
    ratios = {'libmongoc': [], 'libmongoc --sync': [], 'Node': []}
    make = ours(program, row, uri, data)
    row.sums = set()
    for turn in range(TURNS):
        own = seconds(run_and_parse(make(row.timed)), row)
        blocking = seconds(run_and_parse(make(row.timed, '--sync')), row)
        theirs = seconds(run_and_parse([peer, uri, row.peers, row.timed, 0, data.small]), row)
        ratios['libmongoc'].append(own / theirs)
        ratios['libmongoc --sync'].append(blocking / theirs)
        if node.missing is None and turn < 3:
            theirs = seconds(node.run_and_parse(row, uri, max(row.timed // 10, 3), data), row)
            ratios['Node'].append(own / theirs)
    if len(row.sums) > 1:
        sys.exit(f'{row.name}: not all have found the same: {sorted(row.sums)}')
    entry = {name: ratio(some) for name, some in ratios.items() if some}
    if row.found:
        (entry['documents'], entry['checksum']), = row.sums
    return entry


def as_text(times, name):
    if name not in times:
        return '-'
    one = times[name]
    return f'{one["middle"]:.2f} [{one["least"]:.2f}-{one["most"]:.2f}]'


def compare(options, stub, data, counted):
    """Prints the table; gives its rows and how many of them are worse than libmongoc's.
    `counted` are our own instructions by row."""
    harness = options.peer_bench / 'harness'
    peer = libmongoc_program(harness, options.out / 'mongoc_bench')
    node = Node(harness, options.node_packages)
    report, worse = [], 0
    version = subprocess.run(['pkg-config', '--modversion', 'libmongoc-1.0'], capture_output=True,
                             text=True).stdout.strip()
    other = node.name() if node.missing is None else f'Node: {node.missing}'
    print(f'\nBeside libmongoc {version} and {other}.\n'
          'Instructions of an operation, and the time of ours as a part of theirs:')
    print(f'{"operation":16} {"ours":>10} {"--sync":>10} {"libmongoc":>12} {"a part":>7}  '
          f'{"time to libmongoc":18} {"--sync":18} {"to Node":20}')
    for row in ROWS.values():
        with stub_server(stub, '--latency', 1, *data.stub_options(row)) as port:
            uri = f'mongodb://127.0.0.1:{port}/?replicaSet=rs0'
            theirs = per_operation(lambda count: [peer, uri, row.peers, count, 0, data.small],
                                   row.lengths)
        times = {}
        if not options.no_time:
            with stub_server(stub, *data.stub_options(row)) as port:
                uri = f'mongodb://127.0.0.1:{port}/?replicaSet=rs0'
                times = timed(row, uri, options.program, peer, node, data)
        own, blocking = counted[row.name], counted[f'{row.name} --sync']
        bad = max(own, blocking) > theirs or any(
            times.get(name, {'middle': 0})['middle'] > 1
            for name in ('libmongoc', 'libmongoc --sync', 'Node'))
        worse += bad
        report.append({'row': row.name, 'ours': own, 'ours --sync': blocking,
                       'libmongoc': theirs, 'time': times})
        print(f'{row.name:16} {own:10,.0f} {blocking:10,.0f} {theirs:12,.0f} '
              f'{own / theirs:7.3f}  {as_text(times, "libmongoc"):18} '
              f'{as_text(times, "libmongoc --sync"):18} {as_text(times, "Node"):20}'
              f'{"  WORSE" if bad else ""}')
        if 'checksum' in times:
            print(f'{"":16} each found {times["documents"]:,.0f} documents, '
                  f'whose ids add up to {times["checksum"]:,.0f}')
    return report, worse
