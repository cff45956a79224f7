#!/usr/bin/env python3
"""The same seeds give the same histories in every process.

determinism_test.py PROGRAM [OPTION...]
"""
import os
import re
import subprocess
import sys


def histories(padding):
    # Another environment moves the stack; the rest is moved by address randomisation.
    done = subprocess.run([sys.argv[1], "sim", *sys.argv[2:], "--seeds", "1..4", "--verbose"],
                          stdout=subprocess.PIPE, text=True, timeout=500,
                          env={**os.environ, "PADDING": "x" * padding})
    return re.findall(r"history ([0-9a-f]{16})", done.stdout)


first = histories(0)
second = histories(5000)
print(first)
if len(first) != 4 or first != second:
    sys.exit(f"the histories differ: {second}")
