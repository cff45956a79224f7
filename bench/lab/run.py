#!/usr/bin/env python3
"""What one operation costs a lab server in CPU time, as a ratio to a stub that stores nothing.

Ready-made requests come from a generator that has no code of the client. Lab and stub take turns in
the same run; the middle one of five ratios counts, so that the machine's mood cancels out. A member
that is alone in its process is what the goals are about, as a standalone and as a set of one; three
members in one process are shown beside. What must be reached stands in goals.json beside this file.
"""
import argparse
import contextlib
import json
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from stub import compiled, free_port  # noqa: E402

ROOT = HERE.parent.parent
PEER = ROOT.parent / 'shared/peer-bench'
TURNS = 5
IDLE_SECONDS = 10


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--program', type=pathlib.Path, default=ROOT / 'build/bin/holdfast')
    parser.add_argument('--generator', type=pathlib.Path, default=ROOT / 'build/bin/bench_lab')
    parser.add_argument('--peer-bench', type=pathlib.Path, default=PEER)
    parser.add_argument('--out', type=pathlib.Path, default=ROOT / 'build/bench')
    parser.add_argument('--count', type=int, default=40000, help='operations of one turn')
    parser.add_argument('--connections', type=int, default=16)
    parser.add_argument('--no-idle', action='store_true', help='leave out the idle set')
    return parser.parse_args()


def cpu_ms(process):
    """User and system time of all threads: exact where the kernel counts nanoseconds."""
    tasks = pathlib.Path(f'/proc/{process}/task')
    with contextlib.suppress(OSError):
        return sum(int((task / 'schedstat').read_text().split()[0])
                   for task in tasks.iterdir()) / 1e6
    fields = pathlib.Path(f'/proc/{process}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 10


def resident_mb(process):
    status = pathlib.Path(f'/proc/{process}/status').read_text()
    return int(re.search(r'VmRSS:\s+(\d+)', status).group(1)) / 1024


class Server:
    """A process that listens."""

    def __init__(self, name, process, port, in_set):
        self.name, self.process, self.port, self.in_set = name, process, port, in_set
        self.documents = 0

    def cost(self, options, operation):
        """Microseconds of CPU time per operation."""
        command = [options.generator, operation, '--port', self.port, '--count', options.count,
                   '--connections', options.connections, '--first', self.documents]
        if self.in_set:
            command.append('--set')
        self.documents += options.count
        before = cpu_ms(self.process.pid)
        run = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f'{self.name}: {run.stderr}')
        return (cpu_ms(self.process.pid) - before) * 1000 / options.count


@contextlib.contextmanager
def stub_server(stub, in_set):
    port = free_port()
    mode = 'rs' if in_set else 'standalone'
    process = subprocess.Popen([stub, '--port', str(port), '--mode', mode],
                               stderr=subprocess.DEVNULL)
    try:
        for _ in range(500):
            with contextlib.suppress(OSError), socket.create_connection(('127.0.0.1', port), 1):
                break
            time.sleep(0.01)
        else:
            sys.exit('the stub server did not start')
        yield Server('stub', process, port, in_set)
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def lab_server(program, name, *options):
    process = subprocess.Popen([program, 'lab', *options], stdin=subprocess.PIPE, bufsize=1,
                               stdout=subprocess.PIPE, text=True)
    try:
        ports = re.findall(r':(\d+)', process.stdout.readline())
        if not ports:
            sys.exit(f'the lab did not start: {name}')
        leader = 0
        in_set = '--standalone' not in options
        if in_set:
            process.stdin.write('primary\n')
            leader = int(process.stdout.readline().split()[1])
        yield Server(name, process, int(ports[leader]), in_set)
    finally:
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        process.wait()


def idle(program):
    """CPU milliseconds in ten seconds and resident megabytes of three members without clients."""
    with lab_server(program, 'idle', '--members', '3') as server:
        time.sleep(1)
        before = cpu_ms(server.process.pid)
        time.sleep(IDLE_SECONDS)
        return cpu_ms(server.process.pid) - before, resident_mb(server.process.pid)


def spread(values):
    return f'{statistics.median(values):6.2f} [{min(values):.2f}-{max(values):.2f}]'


def compare(options, stub, goals):
    """Rows of server, operation, cost and ratio; the number of goals that were missed."""
    rows, missed = [], 0
    with contextlib.ExitStack() as all_of:
        stubs = {in_set: all_of.enter_context(stub_server(stub, in_set))
                 for in_set in (False, True)}
        labs = [all_of.enter_context(lab_server(options.program, name, *given))
                for name, given in (('standalone', ['--standalone']),
                                  ('set of one', ['--members', '1']),
                                  ('set of three', ['--members', '3']))]
        print(f'{"server":13} {"operation":9} {"CPU us":>20} {"of the stub":>20} '
              f'{"times the stub":>20} {"goal":>5}')
        for operation in ('ping', 'insert'):
            for lab in labs:
                pairs = [(lab.cost(options, operation), stubs[lab.in_set].cost(options, operation))
                         for _ in range(TURNS)]
                ours, floor = zip(*pairs)
                ratios = [one / other for one, other in pairs]
                alone = lab.name != 'set of three'
                met = statistics.median(ratios) <= goals[operation]
                missed += alone and not met
                outcome = ('met' if met else 'MISSED') if alone else '(three members)'
                print(f'{lab.name:13} {operation:9} {spread(ours):>20} {spread(floor):>20} '
                      f'{spread(ratios):>20} {goals[operation]:5}  {outcome}', flush=True)
                rows.append({'server': lab.name, 'operation': operation, 'us': ours,
                             'stub us': floor, 'ratios': ratios})
    return rows, missed


def main():
    options = arguments()
    if not options.peer_bench.is_dir():
        print(f'{options.peer_bench} is not there: the lab was not measured')
        return
    for program in (options.program, options.generator):
        if not program.exists():
            sys.exit(f'MISSING: {program}; "make bench" makes it')
    stub = compiled(options.peer_bench / 'stub/stub.cpp', options.out / 'stub')
    goals = json.loads((HERE / 'goals.json').read_text())
    rows, missed = compare(options, stub, goals)
    if not options.no_idle:
        used, resident = idle(options.program)
        for name, value in (('idle CPU ms', used), ('idle MB', resident)):
            met = value <= goals[name]
            missed += not met
            print(f'{name:23} {value:13.1f} {goals[name]:49}  {"met" if met else "MISSED"}')
            rows.append({name: value})
    (options.out / 'lab.json').write_text(json.dumps(rows, indent=2) + '\n')
    print('all goals met' if not missed else f'{missed} goals MISSED')
    sys.exit(bool(missed))


if __name__ == '__main__':
    main()
