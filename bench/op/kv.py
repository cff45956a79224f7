"""Key-value operations of Couchbase, against the stub beside this file.

The stub answers at once, in a thread of its own process: as in the figures that the goals are from,
a reply mostly is there when the client looks for it. Whether that takes one look or two is up to
the machine, so system calls are those of strace's slow motion, which always finds it.
"""
import contextlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time

from measure import calls_per_operation, per_operation, run, run_and_parse
from stub import free_port

LENGTHS = (500, 2500)
LENGTHS_IN_FLIGHT = (64 * 40, 64 * 140)
TIMED = 200_000
TURNS = 5
IN_FLIGHT = 64
OF_FLOOR = 0.35  # of the operations per second of bare sockets
FASTER = 3       # than libcouchbase as it comes
EQUAL = 0.02     # rows that must cost the same may differ so much: longer ids, early replies
LOGIN = ['--user', 'u', '--password', 'p']  # that of the peer's program


@contextlib.contextmanager
def server(command):
    """Runs until its port is open, and to the end of the block."""
    port = free_port()
    process = subprocess.Popen([str(part) for part in command(port)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(500):
            with contextlib.suppress(OSError), socket.create_connection(('127.0.0.1', port), 1):
                break
            time.sleep(0.01)
        else:
            sys.exit(f'{command(port)[0]} did not start')
        yield port
    finally:
        process.kill()
        process.wait()


def stub(options, *more):
    program = options.program.parent / 'kv_stub'
    return server(lambda port: [program, '--port', port, *more])


def split(row):
    """What of a row is the operation's, and what is the stub's."""
    of_client, of_stub = row.split(), []
    if '--nodes' in of_client:
        at = of_client.index('--nodes')
        of_stub += of_client[at:at + 2]
        del of_client[at:at + 2]
    if '--collections' in of_client:
        at = of_client.index('--collections')
        of_stub += of_client[at:at + 2]
    return of_client, of_stub


def count_kv_row(row, goal, options, counted):
    """Counts what one operation costs us, and prints it beside its goal. `counted`: by row."""
    of_client, of_stub = split(row)
    lengths = LENGTHS_IN_FLIGHT if '--concurrency' in of_client else LENGTHS
    with stub(options, *of_stub) as port:
        command = lambda count: [options.program, *of_client, '--uri',
                                 f'couchbase://127.0.0.1:{port}', '--count', count]
        calls = calls_per_operation(command, lengths)
        entry = {'row': row, 'instructions': per_operation(command, lengths),
                 'system calls': sum(calls.values()), 'calls': calls, 'goal': goal}
    limits = {what: limit for what, limit in goal.items() if what != 'equal to'}
    entry['met'] = all(entry[what] <= limit for what, limit in limits.items())
    shown = limits.get('instructions', '')
    if 'equal to' in goal:
        base = counted[goal['equal to']]
        entry['met'] &= abs(entry['instructions'] - base) <= EQUAL * base
        shown = f'={base:,.0f}'
    print(f'{row:26} {entry["instructions"]:8,.0f} {shown:>9} '
          f'{entry["system calls"]:13.3f} {limits.get("system calls", ""):>5}  '
          f'{"met" if entry["met"] else "MISSED"}  {calls}', flush=True)
    return entry


def rate(said):
    return said['n'] / said['wall']


def libcouchbase_program(options):
    """The peer's program, if its library is installed; Debian 12 has none."""
    flags = subprocess.run(['pkg-config', '--cflags', '--libs', 'libcouchbase'],
                           capture_output=True, text=True)
    source = options.peer_bench / 'kv/lcb_bench.c'
    if flags.returncode != 0 or not source.exists():
        return None
    target = options.out / 'lcb_bench'
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(['gcc', '-O2', '-o', target, source, *flags.stdout.split()], check=True)
    return target


def peer_rate(peer, port, operation):
    said = run([peer, f'couchbase://127.0.0.1:{port}=mcd/default', operation.removeprefix('kv_'),
                TIMED // 4, IN_FLIGHT]).stdout
    return float(re.match(r'(\d+) ops/s', said).group(1))


def compare_kv(options):
    """Operations a second, 64 in flight, to those of bare sockets and of libcouchbase, all on the
    same stub and taking turns. Gives how many goals were missed."""
    peer = libcouchbase_program(options)
    floor = options.program.parent / 'kv_floor'
    missed = 0
    for operation in ('kv_get', 'kv_upsert'):
        of_floor, of_peer = [], []
        with stub(options, *LOGIN) as port:
            what = [operation, '--concurrency', IN_FLIGHT, *LOGIN, '--count']
            for _ in range(TURNS):
                ours = rate(run_and_parse([options.program, *what, TIMED, '--uri',
                                           f'couchbase://127.0.0.1:{port}']))
                of_floor.append(ours / rate(run_and_parse([floor, *what, 4 * TIMED, '--port',
                                                           port])))
                if peer:
                    of_peer.append(ours / peer_rate(peer, port, operation))
        for name, ratios, goal in (('bare sockets', of_floor, OF_FLOOR),
                                   ('libcouchbase', of_peer, FASTER)):
            if not ratios:
                print(f'{operation}: NOT COMPARED with libcouchbase, which is not installed')
                continue
            ratios.sort()
            middle = statistics.median(ratios)
            missed += middle < goal
            print(f'{operation}, 64 in flight: {middle:.2f} [{ratios[0]:.2f}-{ratios[-1]:.2f}] '
                  f'times the operations of {name} (goal {goal})  '
                  f'{"met" if middle >= goal else "MISSED"}', flush=True)
    return missed


def refused(options, command, name):
    """Whether a server that proves nothing is refused by name. `command(port)` starts it."""
    with server(command) as port:
        done = subprocess.run([options.program, 'kv_get', '--count', '1', '--uri',
                               f'couchbase://127.0.0.1:{port}'], capture_output=True, text=True)
    good = done.returncode == 1 and 'authentication failed' in done.stderr
    why = done.stderr.partition('\n')[0]
    print(f'{name} is {"refused" if good else "NOT REFUSED"}: {why}')
    return good


def check_refusals(options):
    """Gives how many servers were not refused."""
    own = options.program.parent / 'kv_stub'
    missed = not refused(options, lambda port: [own, '--port', port, '--proves-nothing'],
                         'a server without a proof')
    source = options.peer_bench / 'kv/kvstub.c'
    if not source.exists() or not shutil.which('gcc'):
        return missed
    program = options.out / 'kvstub'
    program.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(['gcc', '-O2', '-w', '-o', program, source], check=True)
    return missed + (not refused(options, lambda port: [program, port], "the peers' stub"))


def measure_kv(goals, options):
    """Gives the rows, and how many goals were missed."""
    rows, counted = [], {}
    for row, goal in goals.items():
        rows.append(count_kv_row(row, goal, options, counted))
        counted[row] = rows[-1]['instructions']
    missed = sum(not row['met'] for row in rows) + check_refusals(options)
    if not options.no_time:
        missed += compare_kv(options)
    return rows, missed
