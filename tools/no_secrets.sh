#!/bin/sh
# Fails if the passwords with which tests log in (tests/support/canary.hpp) stand in anything that a
# test has printed or reported, or a step has logged.
set -eu
secrets=$(sed -n 's/.*password = "\(.*\)";/\1/p' tests/support/canary.hpp | paste -sd '|')
[ -n "$secrets" ] || { echo "tests/support/canary.hpp names no password"; exit 1; }
# In build/interop only what the suites say; the programs that were fetched contain many texts.
reports=$(find build/interop -maxdepth 1 -type f 2>/dev/null || true)
# Not by the status of grep: that is 2 if a folder is not there, whatever stands in the others.
found=$(grep -rlE "$secrets" build/Testing build/asan/Testing build/log build/results $reports \
    2>/dev/null || true)
if [ -n "$found" ]; then
    echo "a secret has got out, into:"
    echo "$found"
    exit 1
fi
