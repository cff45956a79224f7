#!/usr/bin/env python3
"""The program that measures for an hour, in minutes of a second and a half: it holds, and what
leaks is reported.

endure_test.py PROGRAM
"""
import re
import subprocess
import sys


def endure(*options):
    done = subprocess.run([sys.argv[1], "endure", "--couchbase", "--minutes", "8", "--minute-ms",
                           "1500", *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=200)
    print(done.stdout, end="")
    return done


sound = endure()
if sound.returncode != 0 or not sound.stdout.endswith("it has held\n"):
    sys.exit(f"status {sound.returncode}: it should have held")
if len(re.findall(r"^minute [0-9]+ .* kB resident, ", sound.stdout, re.M)) != 8:
    sys.exit("a minute is missing")

leaking = endure("--leaks")
for complaint in ("resident memory has grown by ", "descriptors leak: ",
                  " descriptors after the client was closed, "):
    if complaint not in leaking.stdout:
        sys.exit(f"not reported: {complaint}")
if leaking.returncode != 1:
    sys.exit(f"status {leaking.returncode} although it leaks")
