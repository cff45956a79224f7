#!/usr/bin/env python3
"""One seed, one history: in two processes, and in two builds.

usage: run.py PROGRAM [OTHER_PROGRAM] [--seeds 50]

Runs PROGRAM (sim_determinism) twice, and OTHER_PROGRAM, perhaps of a sanitizer build, once. All
must print the same lines; the first that differs is shown. Status 1 then, or if a program fails.
"""
import argparse
import itertools
import pathlib
import subprocess
import sys


def lines_of(program, seeds):
    done = subprocess.run([program, "--seeds", f"1..{seeds}"], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{program} failed with status {done.returncode}:\n{done.stdout[-2000:]}")
    return done.stdout.splitlines()


def difference(one, other):
    for first, second in itertools.zip_longest(one, other, fillvalue="nothing"):
        if first != second:
            return f"{first!r} became {second!r}"
    return None


def check_randomisation():
    """Without it two processes have the same addresses, and an order by address goes unnoticed."""
    setting = pathlib.Path("/proc/sys/kernel/randomize_va_space")
    if setting.exists() and setting.read_text().strip() == "0":
        sys.exit("address randomisation is off: turn it on, or this test proves too little")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("other", nargs="?")
    parser.add_argument("--seeds", type=int, default=50)
    asked = parser.parse_args()

    check_randomisation()
    expected = lines_of(asked.program, asked.seeds)
    if len(expected) != asked.seeds:
        sys.exit(f"{asked.seeds} lines were expected, {len(expected)} came:\n" + expected[0])
    hashes = {line.split()[1] for line in expected}
    if len(hashes) != asked.seeds:
        sys.exit("different seeds have the same history")
    for program in filter(None, [asked.program, asked.other]):
        differs = difference(expected, lines_of(program, asked.seeds))
        if differs:
            sys.exit(f"{program} has another history than {asked.program} before: {differs}")
    events = sum(int(line.split()[2]) for line in expected)
    print(f"{asked.seeds} seeds, {events} events: all the same")


if __name__ == "__main__":
    main()
