#!/bin/sh
# Tests ours with programs that we did not write: run.sh [--all] [COUNT [SEED]]
#
# One line for each of them, "ran N" or "SKIPPED: why"; with STRICT=1 a skip is a failure. --all
# also asks mongosh, which is large. COUNT and SEED are for bson.mjs. What npm fetches goes into
# build/interop, and nothing else is needed from outside.
set -eu
exec /usr/bin/python3 "$(dirname "$0")/run.py" "$@"
