#!/usr/bin/env python3
"""A planted defect must be reported, as what it is.

planted_test.py PROGRAM DEFECT
"""
import re
import subprocess
import sys

program, defect = sys.argv[1:]
# What each of them does to writes.
harm = {"forgetful": "applied twice", "renumber": "applied twice", "early": "lost"}[defect]

done = subprocess.run([program, "sim", "--seeds", "1..30", "--defect", defect],
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=500)
print(done.stdout, end="")
reported = re.search(rf"^the planted defect was reported: .*\b[1-9][0-9]* {harm}\b", done.stdout,
                     re.M)
if done.returncode != 0 or not reported:
    sys.exit(f"status {done.returncode}: the planted defect was not reported as {harm}")
