#!/usr/bin/env python3
"""Runs build/bin/bench_bson and prints what a document costs, ours beside libbson.

Instructions are counted by callgrind as the difference of two runs of different length, allocations
by memcheck in the same way; neither depends on the machine's mood. Times are processor time, as
medians of repetitions in which the sides take turns, and their ratio is the median of the ratios
within one repetition. What must be reached stands in goals.json.

Ours reuses one buffer for all documents, as a connection does; libbson begins each document with
bson_init and ends it with bson_destroy, as its manual shows.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile

BENCH = pathlib.Path(__file__).resolve().parent
ROOT = BENCH.parent

# Where each document comes from: archive, member.
DOCUMENTS = {
    'flat': ('extended_bson.tgz', 'extended_bson/flat_bson.json'),
    'deep': ('extended_bson.tgz', 'extended_bson/deep_bson.json'),
    'full': ('extended_bson.tgz', 'extended_bson/full_bson.json'),
    'small_doc': ('single_and_multi_document.tgz', 'single_and_multi_document/small_doc.json'),
    'large_doc': ('single_and_multi_document.tgz', 'single_and_multi_document/large_doc.json'),
}
MADE_HERE = 'order'  # by the program itself; measured as a struct only, checked in every row
ALLOCATION_ROWS = ('traverse', 'lookup', 'validate')


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--quick', action='store_true', help='3 repetitions instead of 15')
    parser.add_argument('--check', action='store_true', help='only compare checksums and outcomes')
    parser.add_argument('--rows', help='only these, separated by commas')
    parser.add_argument('--docs', help='only these, separated by commas')
    parser.add_argument('--shared', type=pathlib.Path,
                        default=pathlib.Path(os.environ.get('SHARED', ROOT.parent / 'shared')))
    parser.add_argument('--program', type=pathlib.Path, default=ROOT / 'build/bin/bench_bson')
    parser.add_argument('--out', type=pathlib.Path, default=ROOT / 'build/bench')
    parser.add_argument('--jobs', type=int, default=os.cpu_count(), help='valgrinds at once')
    return parser.parse_args()


def output_of(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f'failed: {" ".join(map(str, command))}\n{done.stdout}{done.stderr}')
    return done.stdout


def extract(options):
    """Puts the documents into a folder under the build folder; says which are not to be had."""
    folder = options.out / 'data'
    folder.mkdir(parents=True, exist_ok=True)
    missing = []
    for name, (archive, member) in DOCUMENTS.items():
        source = options.shared / 'bench-data' / archive
        target = folder / f'{name}.json'
        if not source.exists():
            missing.append(name)
            for suffix in ('.json', '.bson'):
                target.with_suffix(suffix).unlink(missing_ok=True)
        elif not target.exists():
            with tarfile.open(source) as files:
                target.write_bytes(files.extractfile(member).read())
    if missing:
        print(f'MISSING: {options.shared}/bench-data, so nothing on {", ".join(missing)}')
    output_of([options.program, 'prepare', folder])
    return folder, missing


def cells(options, missing):
    """The rows and documents to measure, each with its sides in the program's order."""
    found = {}
    for line in output_of([options.program, 'rows']).splitlines():
        row, document, side = line.split()
        wanted = ((not options.rows or row in options.rows.split(','))
                  and (not options.docs or document in options.docs.split(',')))
        measured = document != MADE_HERE or row.startswith('struct')
        if wanted and measured and document not in missing:
            found.setdefault((row, document), []).append(side)
    return found


def compare(options, folder, wanted):
    """Lets the sides do every row once; gives the remarks, or ends if they do not agree."""
    if options.check:
        done = subprocess.run([options.program, 'check', folder], capture_output=True, text=True)
        print(done.stdout + done.stderr, end='')
        sys.exit(done.returncode)
    remarks, differences = {}, []
    for row, document in wanted:
        done = subprocess.run([options.program, 'check', folder, row, document],
                              capture_output=True, text=True)
        for line in done.stdout.splitlines():
            if line.startswith('remark '):
                remarks[row, document] = line.split(' ', 3)[3]
        if done.returncode != 0:
            differences.append(done.stdout + done.stderr)
    if differences:
        sys.exit('The sides do not do the same work; nothing is reported.\n' + ''.join(differences))
    return remarks


def lengths(document, tool):
    """Two lengths of a run. Even the shorter one has warmed up all buffers."""
    if document == 'large_doc':
        return 1, 2
    return (5, 25) if tool == 'callgrind' else (2, 12)


def count(options, folder, tool, row, document, side):
    """What one document costs according to a tool of valgrind."""
    totals = []
    for length in lengths(document, tool):
        with tempfile.TemporaryDirectory() as scratch:
            command = ['valgrind', f'--tool={tool}']
            if tool == 'callgrind':
                command.append(f'--callgrind-out-file={scratch}/out')
            else:
                command += ['--leak-check=no', '--undef-value-errors=no']
            command += [options.program, 'run', folder, row, document, side, length]
            done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        pattern = (r'Collected : (\d+)' if tool == 'callgrind'
                   else r'total heap usage: ([\d,]+) allocs')
        total = re.search(pattern, done.stderr)
        if done.returncode != 0 or not total:
            sys.exit(f'failed: {" ".join(map(str, command))}\n{done.stderr}')
        totals.append(int(total.group(1).replace(',', '')))
    short, long = lengths(document, tool)
    return (totals[1] - totals[0]) / (long - short)


def count_all(options, folder, wanted):
    jobs = [('callgrind', row, document, side)
            for (row, document), sides in wanted.items() for side in sides]
    jobs += [('memcheck', row, document, 'ours')
             for row, document in wanted if row in ALLOCATION_ROWS]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda job: count(options, folder, *job), jobs)
        counted = {}
        for number, (job, value) in enumerate(zip(jobs, results), 1):
            counted[job] = value
            progress(f'counting {number} of {len(jobs)}')
    progress('')
    return counted


def progress(text):
    if sys.stderr.isatty():
        print(f'\r\033[K{text}', end='', file=sys.stderr, flush=True)


def medians(options, folder, row, document, sides):
    """The time of each side for one document, and ours divided by libbson's."""
    repetitions = 3 if options.quick else 15
    lines = output_of([options.program, 'time', folder, row, document, repetitions]).splitlines()
    turns = [dict(zip(sides, map(float, line.split()))) for line in lines]
    times = {side: statistics.median(turn[side] for turn in turns) for side in sides}
    return times, statistics.median(turn['ours'] / turn['libbson'] for turn in turns)


def decide(goals, cell):
    """Adds the goals of a cell and whether they are met."""
    row, document = cell['row'], cell['document']
    ours = cell['instructions'].get('ours')
    cell['goals'] = []

    def goal(text, met):
        cell['goals'].append({'goal': text, 'met': met})

    limit = goals['instructions'].get(row, {}).get(document)
    if limit and ours is not None:
        goal(f'{limit:,}', ours <= limit)
    times = goals['times_by_hand'].get(row)
    if times and ours is not None:
        by_hand = cell['instructions']['by_hand']
        goal(f'{times} x by hand = {times * by_hand:,.0f}', ours <= times * by_hand)
    if row in goals['allocations'] and 'allocations' in cell:
        limit = goals['allocations'][row]
        goal(f'{limit} allocations, {cell["allocations"]:g} made', cell['allocations'] <= limit)
    # A peer that does not do the work cannot be beaten; its numbers are shown with the remark.
    if ours is not None and 'remark' not in cell:
        if ours > cell['instructions']['libbson']:
            goal('no worse than libbson', False)


def measure(options, folder, wanted, remarks):
    have_valgrind = shutil.which('valgrind') is not None
    if not have_valgrind:
        print('MISSING: valgrind, so neither instructions nor allocations')
    times = {}
    for number, ((row, document), sides) in enumerate(wanted.items(), 1):
        progress(f'timing {number} of {len(wanted)}: {row} {document}')
        times[row, document] = medians(options, folder, row, document, sides)
    counted = count_all(options, folder, wanted) if have_valgrind else {}
    goals = json.loads((BENCH / 'goals.json').read_text())
    report = []
    for (row, document), sides in wanted.items():
        nanoseconds, ratio = times[row, document]
        cell = {'row': row, 'document': document, 'nanoseconds': nanoseconds, 'time_ratio': ratio,
                'instructions': {side: counted['callgrind', row, document, side]
                                 for side in sides if have_valgrind}}
        if ('memcheck', row, document, 'ours') in counted:
            cell['allocations'] = counted['memcheck', row, document, 'ours']
        if (row, document) in remarks:
            cell['remark'] = remarks[row, document]
        decide(goals, cell)
        report.append(cell)
    return report


def table(report):
    header = ('row', 'document', 'ours ns', 'libbson ns', 'time', 'ours instr', 'libbson instr',
              'instr', 'goals')
    lines = [header]
    for cell in report:
        times, counts = cell['nanoseconds'], cell['instructions']
        mark = '*' if 'remark' in cell else ''
        outcomes = [f'{"met" if g["met"] else "MISSED"}: {g["goal"]}' for g in cell['goals']]
        lines.append((
            cell['row'], cell['document'], f'{times["ours"]:,.0f}',
            f'{times["libbson"]:,.0f}{mark}', f'{cell["time_ratio"]:.2f}{mark}',
            f'{counts["ours"]:,.0f}' if counts else '-',
            f'{counts["libbson"]:,.0f}{mark}' if counts else '-',
            f'{counts["ours"] / counts["libbson"]:.2f}{mark}' if counts else '-',
            '; '.join(outcomes)))
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    for line in lines:
        fixed = [cell.ljust(width) if i < 2 else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(line[:-1], widths))]
        print('  '.join(fixed + [line[-1]]).rstrip())
    print('time, instr: ours divided by libbson')
    for cell in report:
        if 'remark' in cell:
            print(f'* {cell["row"]} {cell["document"]}: {cell["remark"]}')


def main():
    options = arguments()
    if not options.program.exists():
        sys.exit(f'MISSING: {options.program}; "make bench" makes it if libbson is installed')
    folder, missing = extract(options)
    wanted = cells(options, missing)
    remarks = compare(options, folder, wanted)
    report = measure(options, folder, wanted, remarks)
    table(report)
    target = options.out / 'bson.json'
    target.write_text(json.dumps(report, indent=4) + '\n')
    missed = [f'{cell["row"]} {cell["document"]}: {goal["goal"]}'
              for cell in report for goal in cell['goals'] if not goal['met']]
    met = sum(goal['met'] for cell in report for goal in cell['goals'])
    print(f'{met} goals met, {len(missed)} missed; all numbers: {target}')
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
