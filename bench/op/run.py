#!/usr/bin/env python3
"""Counts what one operation costs against a stub server in another process.

Instructions (callgrind) and system calls (strace) are the difference of two runs of different
length, so that connecting cancels out; neither depends on the machine's mood. Time is given as a
ratio to the floor of the same run: the same bytes through bare Asio coroutines, and through bare
blocking calls. What must be reached stands in goals.json beside this file.
"""
import argparse
import contextlib
import json
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from stub import compiled, free_port  # noqa: E402

ROOT = HERE.parent.parent
PEER = ROOT.parent / 'shared/peer-bench'
LENGTHS = (500, 2500)
TIMED = 20000
IN_FLIGHT = 40000
FASTER = 2.5  # than libmongoc with a pool of 8 threads, with 64 operations in flight
FLOORS = {'ping': 'acoro', 'ping --sync': 'blocking'}
# Measured once with the same stub; not measured again here.
LIBMONGOC = {'instructions': 26900, 'system calls': 5}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--program', type=pathlib.Path, default=ROOT / 'build/bin/bench_op')
    parser.add_argument('--peer-bench', type=pathlib.Path, default=PEER)
    parser.add_argument('--out', type=pathlib.Path, default=ROOT / 'build/bench')
    parser.add_argument('--no-time', action='store_true', help='count only')
    return parser.parse_args()


@contextlib.contextmanager
def stub_server(program, *options):
    port = free_port()
    server = subprocess.Popen([program, '--port', str(port), '--mode', 'rs', *options],
                              stderr=subprocess.DEVNULL)
    try:
        for _ in range(500):
            with contextlib.suppress(OSError), socket.create_connection(('127.0.0.1', port), 1):
                break
            time.sleep(0.01)
        else:
            sys.exit('the stub server did not start')
        yield port
    finally:
        server.kill()
        server.wait()


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f'failed: {" ".join(map(str, command))}\n{done.stdout}{done.stderr}')
    return done


def instructions(command):
    done = run(['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', *command])
    return int(re.search(r'Collected : (\d+)', done.stderr).group(1))


def system_calls(command):
    with tempfile.NamedTemporaryFile('r') as table:
        run(['strace', '-f', '-c', '-U', 'name,calls', '-o', table.name, *command])
        rows = [line.split() for line in table]
    return {row[0]: int(row[1]) for row in rows
            if len(row) == 2 and row[1].isdigit() and row[0] != 'total'}


def per_operation(measure, command):
    short, long = (measure(command(length)) for length in LENGTHS)
    return (long - short) / (LENGTHS[1] - LENGTHS[0])


def calls_per_operation(command):
    short, long = (system_calls(command(length)) for length in LENGTHS)
    spread = LENGTHS[1] - LENGTHS[0]
    each = {name: (long[name] - short.get(name, 0)) / spread for name in long}
    return {name: round(value, 3) for name, value in each.items() if abs(value) >= 0.005}


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


def libmongoc_program(source, target):
    """The peer's own benchmark, with Debian's libmongoc."""
    flags = subprocess.run(['pkg-config', '--cflags', '--libs', 'libmongoc-1.0'],
                           capture_output=True, text=True)
    if flags.returncode != 0:
        sys.exit('MISSING: libmongoc-dev, so nothing was compared; "make setup" installs it')
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(['gcc', '-O2', '-o', target, source, *flags.stdout.split(), '-lpthread'],
                   check=True)
    return target


def throughput_ratio(options, stub, peer):
    """Operations a second of ours, 64 at a time on one thread, to libmongoc's pool of 8 threads,
    taking turns. Both say themselves how long it took from the first operation, connecting
    included, to the last."""
    document = options.out / 'small.json'
    document.write_text('{"text": "kelp"}')
    ratios = []
    with stub_server(stub) as port:
        uri = f'mongodb://127.0.0.1:{port}/?replicaSet=rs0&maxPoolSize=64'
        for _ in range(5):
            rates = []
            for command in ([options.program, 'run_insert', '--uri', uri, '--count', IN_FLIGHT,
                             '--concurrency', 64], [peer, uri, 'insert', IN_FLIGHT, 8, document]):
                told = json.loads(run(command).stdout.splitlines()[0])
                rates.append(told['n'] / told['wall'])
            ratios.append(rates[0] / rates[1])
    ratios.sort()
    return ratios


def main():
    options = arguments()
    for tool in ('valgrind', 'strace'):
        if not shutil.which(tool):
            sys.exit(f'MISSING: {tool}, so nothing was measured; "make setup" installs it')
    if not options.peer_bench.is_dir():
        print(f'{options.peer_bench} is not there: operations were not measured')
        return
    if not options.program.exists():
        sys.exit(f'MISSING: {options.program}; "make build" makes it')
    stub = compiled(options.peer_bench / 'stub/stub.cpp', options.out / 'stub')
    goals = json.loads((HERE / 'goals.json').read_text())
    report, missed = [], 0
    # Latency: a reply is never there before the client waits for it, as on a network.
    with stub_server(stub, '--latency', '1') as port:
        uri = f'mongodb://127.0.0.1:{port}/?replicaSet=rs0'
        print(f'{"operation":14} {"instructions":>12} {"goal":>7} {"system calls":>13} {"goal":>5}')
        for row, goal in goals.items():
            command = lambda count: [options.program, *row.split(), '--uri', uri,
                                     '--count', count]
            calls = calls_per_operation(command)
            entry = {'row': row, 'instructions': per_operation(instructions, command),
                     'system calls': sum(calls.values()), 'calls': calls}
            report.append(entry)
            met = all(entry[what] <= limit for what, limit in goal.items())
            missed += not met
            print(f'{row:14} {entry["instructions"]:12,.0f} {goal["instructions"]:7,} '
                  f'{entry["system calls"]:13.2f} {goal["system calls"]:5}  '
                  f'{"met" if met else "MISSED"}  {calls}')
    print(f'{"libmongoc 2.5":14} {LIBMONGOC["instructions"]:12,} {"":7} '
          f'{LIBMONGOC["system calls"]:13.2f}        (measured before, for comparison)')
    if not options.no_time:
        floor = compiled(options.peer_bench / 'harness/floor.cpp', options.out / 'floor')
        request = recorded_ping(options.program, stub, options.out / 'requests')
        with stub_server(stub) as port:
            for row, mode in FLOORS.items():
                ours = [options.program, *row.split(), '--uri', f'mongodb://127.0.0.1:{port}/',
                        '--count', TIMED]
                ratio = time_ratio(ours, [floor, port, mode, request, TIMED])
                print(f'{row:14} takes {ratio} times as long as its floor ({mode})')
        peer = libmongoc_program(options.peer_bench / 'harness/mongoc_bench.c',
                                 options.out / 'mongoc_bench')
        ratios = throughput_ratio(options, stub, peer)
        middle = statistics.median(ratios)
        missed += middle < FASTER
        print(f'64 inserts in flight on one thread: {middle:.2f} [{ratios[0]:.2f}-{ratios[-1]:.2f}]'
              f' times the throughput of libmongoc with 8 threads (goal {FASTER})  '
              f'{"met" if middle >= FASTER else "MISSED"}')
    (options.out / 'op.json').write_text(json.dumps(report, indent=2) + '\n')
    print('all goals met' if not missed else f'{missed} goals MISSED')
    sys.exit(bool(missed))


if __name__ == '__main__':
    main()
