#!/bin/sh
# Runs one step of a command: step.sh [--show PATTERN] NAME COMMAND...
# Success is one line: the name, the time it took, and the last line of output that matches PATTERN.
# Failure is everything the command said. While it runs, a person sees the newest line of its log.
set -u
show=''
if [ "$1" = --show ]; then
    show=$2
    shift 2
fi
name=$1
shift

log=build/log/$(echo "$name" | tr ' ' '-').log
mkdir -p build/log
began=$(date +%s)
"$@" >"$log" 2>&1 </dev/null &
command=$!
trap 'kill $command 2>/dev/null' INT TERM

if [ -t 1 ]; then
    while kill -0 $command 2>/dev/null; do
        newest=$(tail -n 1 "$log" | tr -d '\r\t' | cut -c 1-70)
        printf '\r\033[K%-28s%s' "$name" "$newest"
        sleep 0.2
    done
    printf '\r\033[K'
fi
wait $command
status=$?

if [ $status -ne 0 ]; then
    cat "$log"
    echo "FAILED: $name (status $status); the log is $log"
    exit 1
fi
shown=''
[ -z "$show" ] || shown="  $(grep -E "$show" "$log" | tail -n 1)"
printf '%-28s%4s s%s\n' "$name" $(($(date +%s) - began)) "$shown"
