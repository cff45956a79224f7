#!/bin/sh
# Fails if the passwords with which tests log in (tests/support/canary.hpp) stand in anything that a
# test has printed or a step has logged.
set -eu
words=$(sed -n 's/.*password = "\(.*\)";/\1/p' tests/support/canary.hpp | paste -sd '|')
if found=$(grep -rlE "$words" build/Testing build/log build/results 2>/dev/null); then
    echo "a secret has got out, into:"
    echo "$found"
    exit 1
fi
