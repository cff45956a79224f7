#!/usr/bin/env python3
"""Runs build/bin/bench_core and prints what one piece of the core's work costs.

Instructions are counted by callgrind as the difference of two runs of different length, allocations
by memcheck in the same way; neither depends on the machine's mood. What must be reached stands in
goals.json beside this file.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LENGTHS = (10, 110)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--rows', help='only these, separated by commas')
    parser.add_argument('--program', type=pathlib.Path, default=ROOT / 'build/bin/bench_core')
    parser.add_argument('--out', type=pathlib.Path, default=ROOT / 'build/bench')
    return parser.parse_args()


def total(program, tool, row, length):
    with tempfile.TemporaryDirectory() as scratch:
        command = ['valgrind', f'--tool={tool}']
        if tool == 'callgrind':
            command.append(f'--callgrind-out-file={scratch}/out')
        else:
            command += ['--leak-check=no', '--undef-value-errors=no']
        done = subprocess.run([*command, str(program), row, str(length)],
                              capture_output=True, text=True)
    pattern = (r'Collected : (\d+)' if tool == 'callgrind'
               else r'total heap usage: ([\d,]+) allocs')
    found = re.search(pattern, done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f'failed: {" ".join(command)} {program} {row} {length}\n{done.stderr}')
    return int(found.group(1).replace(',', ''))


def cost(program, tool, row):
    short, long = (total(program, tool, row, length) for length in LENGTHS)
    return (long - short) / (LENGTHS[1] - LENGTHS[0])


def main():
    options = arguments()
    if not options.program.exists():
        sys.exit(f'MISSING: {options.program}; "make bench" makes it')
    if not shutil.which('valgrind'):
        sys.exit('MISSING: valgrind, so nothing was measured')
    goals = json.loads((HERE / 'goals.json').read_text())
    rows = subprocess.run([options.program, 'rows'], capture_output=True, text=True,
                          check=True).stdout.split()
    unknown = set(goals['instructions']) - set(rows)
    if unknown:
        sys.exit(f'goals.json names rows that are not there: {", ".join(sorted(unknown))}')
    report, missed = [], 0
    print(f'{"row":20} {"instructions":>12} {"goal":>8} {"allocations":>12} {"goal":>5}')
    for row in rows:
        if options.rows and row not in options.rows.split(','):
            continue
        entry = {'row': row, 'instructions': cost(options.program, 'callgrind', row),
                 'allocations': cost(options.program, 'memcheck', row)}
        report.append(entry)
        limits = [goals[kind].get(row) for kind in ('instructions', 'allocations')]
        found = (entry['instructions'], entry['allocations'])
        met = all(limit is None or value <= limit for value, limit in zip(found, limits))
        missed += not met
        shown = ['-' if limit is None else f'{limit:,}' for limit in limits]
        print(f'{row:20} {found[0]:12,.1f} {shown[0]:>8} {found[1]:12,.2f} {shown[1]:>5}  '
              f'{"met" if met else "MISSED"}')
    options.out.mkdir(parents=True, exist_ok=True)
    target = options.out / 'core.json'
    target.write_text(json.dumps(report, indent=4) + '\n')
    print(f'{len(report) - missed} rows met, {missed} missed; all numbers: {target}')
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
