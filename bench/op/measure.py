"""Runs programs against the stub server, and counts what they cost."""
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

from stub import free_port


@contextlib.contextmanager
def stub_server(program, *options):
    port = free_port()
    server = subprocess.Popen([program, '--port', str(port), '--mode', 'rs',
                               *map(str, options)], stderr=subprocess.DEVNULL)
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


def run(command, **environment):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f'failed: {" ".join(map(str, command))}\n{done.stdout}{done.stderr}')
    return done


def run_and_parse(command, **environment):
    """The lines of JSON that a program prints, joined."""
    joined = {}
    for line in run(command, **environment).stdout.splitlines():
        if line.startswith('{'):
            joined.update(json.loads(line))
    return joined


def instructions(command):
    """memcpy is kept from using "rep movsb" for large blocks: that takes as long as a loop, but
    valgrind counts an instruction for each byte. The same for all programs."""
    done = run(['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', *command],
               GLIBC_TUNABLES='glibc.cpu.x86_rep_movsb_threshold=1000000000')
    return int(re.search(r'Collected : (\d+)', done.stderr).group(1))


def system_calls(command):
    with tempfile.NamedTemporaryFile('r') as table:
        run(['strace', '-f', '-c', '-U', 'name,calls', '-o', table.name, *command])
        rows = [line.split() for line in table]
    return {row[0]: int(row[1]) for row in rows
            if len(row) == 2 and row[1].isdigit() and row[0] != 'total'}


def per_operation(command, lengths):
    """`command(count)` is what does so many operations."""
    short, long = (instructions(command(length)) for length in lengths)
    return (long - short) / (lengths[1] - lengths[0])


def calls_per_operation(command, lengths):
    short, long = (system_calls(command(length)) for length in lengths)
    spread = lengths[1] - lengths[0]
    each = {name: (long[name] - short.get(name, 0)) / spread for name in long}
    return {name: round(value, 3) for name, value in each.items() if abs(value) >= 0.005}
