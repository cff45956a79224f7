#!/usr/bin/env python3
"""Counts what one operation costs against a stub server in another process.

Instructions (callgrind) and system calls (strace) are the difference of two runs of different
length, so that connecting cancels out; neither depends on the machine's mood. Time is given as a
ratio to the floor of the same run: the same bytes through bare Asio coroutines, and through bare
blocking calls. What must be reached stands in goals.json beside this file.
"""
import argparse
import json
import pathlib
import shutil
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from kv import measure_kv  # noqa: E402
from measure import (calls_per_operation, per_operation, run, run_and_parse,  # noqa: E402
                     stub_server)
from peers import ROWS, Data, compare, libmongoc_program, ours  # noqa: E402
from stub import compiled  # noqa: E402

ROOT = HERE.parent.parent
SHARED = ROOT.parent / 'shared'
LENGTHS = (500, 2500)
TIMED = 20000
IN_FLIGHT = 40000
FASTER = 2.5  # than libmongoc with a pool of 8 threads, with 64 operations in flight
FLOORS = {'ping': 'acoro', 'ping --sync': 'blocking'}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--program', type=pathlib.Path, default=ROOT / 'build/bin/bench_op')
    parser.add_argument('--peer-bench', type=pathlib.Path, default=SHARED / 'peer-bench')
    parser.add_argument('--bench-data', type=pathlib.Path,
                        help='single_and_multi_document.tgz of the specifications')
    parser.add_argument('--node-packages', type=pathlib.Path,
                        default=ROOT / 'build/interop/node/node_modules')
    parser.add_argument('--out', type=pathlib.Path, default=ROOT / 'build/bench')
    parser.add_argument('--no-time', action='store_true', help='count only')
    parser.add_argument('--only', choices=('mongo', 'kv'), help='one half of it')
    options = parser.parse_args()
    options.bench_data = options.bench_data or (
        options.peer_bench.parent / 'bench-data/single_and_multi_document.tgz')
    return options


def seconds(command):
    began = time.monotonic()
    run(command)
    return time.monotonic() - began


def time_ratio(ours, floor):
    """Ours to the floor's, taking turns; the middle one of five, and the extremes."""
    ratios = sorted(seconds(ours) / seconds(floor) for _ in range(5))
    return f'{statistics.median(ratios):.2f} [{ratios[0]:.2f}-{ratios[-1]:.2f}]'


def recorded_ping(program, stub, folder):
    """The bytes of our own ping, for the floor to send again."""
    folder.mkdir(parents=True, exist_ok=True)
    with stub_server(stub, '--dump', folder) as port:
        run([program, 'ping', '--uri', f'mongodb://127.0.0.1:{port}/', '--count', '1'])
    return folder / 'ping.bin'


def throughput_ratio(options, stub, peer):
    """Operations a second of ours, 64 at a time on one thread, to libmongoc's pool of 8 threads,
    taking turns. Both say themselves how long it took from the first operation, connecting
    included, to the last."""
    document = options.out / 'small.json'
    document.write_text('{"text": "seal"}')
    ratios = []
    with stub_server(stub) as port:
        uri = f'mongodb://127.0.0.1:{port}/?replicaSet=rs0&maxPoolSize=64'
        for _ in range(5):
            rates = []
            for command in ([options.program, 'run_insert', '--uri', uri, '--count', IN_FLIGHT,
                             '--concurrency', 64], [peer, uri, 'insert', IN_FLIGHT, 8, document]):
                reported = run_and_parse(command)
                rates.append(reported['n'] / reported['wall'])
            ratios.append(rates[0] / rates[1])
    ratios.sort()
    return ratios


def count_row(row, goal, options, stub, data):
    """Counts what one operation costs us, and prints it beside its goal."""
    name, *mode = row.split()
    known = ROWS.get(name)
    lengths = known.lengths if known else LENGTHS
    # Latency: a reply is never there before the client waits for it, as on a network.
    with stub_server(stub, '--latency', 1, *(data.stub_options(known) if known else [])) as port:
        uri = f'mongodb://127.0.0.1:{port}/?replicaSet=rs0'
        if known:
            make = ours(options.program, known, uri, data)
            command = lambda count: make(count, *mode)
        else:
            command = lambda count: [options.program, *row.split(), '--uri', uri, '--count', count]
        calls = calls_per_operation(command, lengths)
        entry = {'row': row, 'instructions': per_operation(command, lengths),
                 'system calls': sum(calls.values()), 'calls': calls, 'goal': goal}
    entry['met'] = all(entry[what] <= limit for what, limit in goal.items())
    print(f'{row:22} {entry["instructions"]:12,.0f} {goal.get("instructions", 0) or "":>9} '
          f'{entry["system calls"]:13.2f} {goal.get("system calls", ""):>5}  '
          f'{"met" if entry["met"] else "MISSED"}  {calls}', flush=True)
    return entry


def compare_floors(options, stub):
    floor = compiled(options.peer_bench / 'harness/floor.cpp', options.out / 'floor')
    request = recorded_ping(options.program, stub, options.out / 'requests')
    with stub_server(stub) as port:
        for row, mode in FLOORS.items():
            command = [options.program, *row.split(), '--uri', f'mongodb://127.0.0.1:{port}/',
                       '--count', TIMED]
            ratio = time_ratio(command, [floor, port, mode, request, TIMED])
            print(f'{row:14} takes {ratio} times as long as its floor ({mode})')


def compare_throughput(options, stub):
    """Whether the goal was met."""
    peer = libmongoc_program(options.peer_bench / 'harness', options.out / 'mongoc_bench')
    ratios = throughput_ratio(options, stub, peer)
    middle = statistics.median(ratios)
    print(f'64 inserts in flight on one thread: {middle:.2f} [{ratios[0]:.2f}-{ratios[-1]:.2f}]'
          f' times the throughput of libmongoc with 8 threads (goal {FASTER})  '
          f'{"met" if middle >= FASTER else "MISSED"}')
    return middle >= FASTER


def measure_mongo(goals, options):
    """Gives the rows, what came of the comparison, and how many goals were missed."""
    if not options.peer_bench.is_dir():
        sys.exit(f'NOT MEASURED: {options.peer_bench}, with its stub server, is not there')
    if not options.bench_data.exists():
        sys.exit(f'MISSING: {options.bench_data}, so nothing was measured')
    stub = compiled(options.peer_bench / 'stub/stub.cpp', options.out / 'stub')
    data = Data(options.bench_data, options.out / 'data')
    rows = [count_row(row, goal, options, stub, data) for row, goal in goals.items()]
    missed = sum(not row['met'] for row in rows)
    counted = {row['row']: row['instructions'] for row in rows}
    beside, worse = compare(options, stub, data, counted)
    missed += worse
    if not options.no_time:
        compare_floors(options, stub)
        missed += not compare_throughput(options, stub)
    return rows, beside, missed


def main():
    options = arguments()
    for tool in ('valgrind', 'strace'):
        if not shutil.which(tool):
            sys.exit(f'MISSING: {tool}, so nothing was measured; "make setup" installs it')
    if not options.program.exists():
        sys.exit(f'MISSING: {options.program}; "make bench" makes it')
    goals = json.loads((HERE / 'goals.json').read_text())
    of_kv = {row: goal for row, goal in goals.items() if row.startswith('kv_')}
    of_mongo = {row: goal for row, goal in goals.items() if row not in of_kv}
    print(f'{"operation":22} {"instructions":>12} {"goal":>9} {"system calls":>13} {"goal":>5}')
    rows, beside, missed = [], [], 0
    if options.only != 'kv':
        rows, beside, missed = measure_mongo(of_mongo, options)
    if options.only != 'mongo':
        kv_rows, kv_missed = measure_kv(of_kv, options)
        rows, missed = rows + kv_rows, missed + kv_missed
    report = {'operations': rows, 'peers': beside}
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / 'op.json').write_text(json.dumps(report, indent=2) + '\n')
    print('all goals met' if not missed else f'{missed} goals MISSED')
    sys.exit(bool(missed))


if __name__ == '__main__':
    main()
