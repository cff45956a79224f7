#!/usr/bin/env python3
"""Checks which lines a compiler refuses: awaited_temporary.py SOURCE COMPILER [OPTION...].

The source must compile as it is. With -D REFUSED each line between "#ifdef REFUSED" and "#endif"
must be refused, with the sentence that says what to do, and no other line.
"""
import pathlib
import re
import subprocess
import sys

SENTENCE = 'g++ 12 destroys this temporary twice'


def compile_it(command, *more):
    return subprocess.run([*command, *more], capture_output=True, text=True, check=False,
                          env={'LC_ALL': 'C', 'PATH': '/usr/local/bin:/usr/bin:/bin'})


def lines_to_refuse(text):
    lines = text.splitlines()
    first = lines.index('#ifdef REFUSED')
    return set(range(first + 2, lines.index('#endif', first) + 1))


def refused_lines(source, messages):
    """Lines from which a failed assertion with the sentence was reached. The compiler names the
    chain of instantiations before each error; it ends at the line of the source."""
    refused, last = set(), None
    for message in messages.splitlines():
        if here := re.match(rf'{re.escape(str(source))}:(\d+):\d+:\s+required from here', message):
            last = int(here[1])
        elif SENTENCE in message and ' error: ' in message:
            refused.add(last)
    return refused


def main():
    source = pathlib.Path(sys.argv[1])
    command = [*sys.argv[2:], '-fmax-errors=0', str(source)]
    safe = compile_it(command)
    if safe.returncode != 0:
        sys.exit(f'the forms that are safe do not compile:\n{safe.stderr}')
    expected = lines_to_refuse(source.read_text())
    refused = refused_lines(source, compile_it(command, '-D', 'REFUSED').stderr)
    if refused != expected:
        sys.exit(f'{source}: lines {sorted(expected)} must be refused, but these were: '
                 f'{sorted(refused, key=str)}')
    print(f'{len(expected)} forms are refused, by name')


main()
