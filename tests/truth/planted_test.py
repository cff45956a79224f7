#!/usr/bin/env python3
"""A planted defect must be reported, as what it is.

planted_test.py PROGRAM DEFECT [--couchbase]
"""
import re
import subprocess
import sys

program, defect = sys.argv[1:3]
more = sys.argv[3:]
# What each of them does to writes; those of Couchbase are reported by a rule of their own, whose
# sentence the program knows.
harm = {"forgetful": "applied twice", "renumber": "applied twice", "early": "lost",
        "repeated_write": "applied twice"}.get(defect)

done = subprocess.run([program, "sim", *more, "--seeds", "1..60", "--defect", defect],
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=500)
print(done.stdout, end="")
pattern = r"^the planted defect was reported: "
if harm:
    pattern += rf".*\b[1-9][0-9]* {harm}\b"
if done.returncode != 0 or not re.search(pattern, done.stdout, re.M):
    sys.exit(f"status {done.returncode}: the planted defect was not reported as what it is")
