"""PyMongo's suites: main.py REPORT [PART OF A TEST'S NAME]"""
import sys

import data  # noqa: F401  pylint: disable=unused-import
import server  # noqa: F401  pylint: disable=unused-import
from context import at, start
from harness import Lab, run_all

fine = False
try:
    start()
    fine = run_all(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
    at.client.close()
finally:
    for lab in list(Lab.running):
        lab.stop()
sys.exit(0 if fine else 1)
