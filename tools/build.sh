#!/bin/sh
# Builds a preset, or some targets of it: build.sh PRESET JOBS [TARGET...]. Configures it first if
# that was never done or the presets have changed since; all other changes the build notices itself.
set -eu
preset=$1
jobs=$2
shift 2
# The program is part of a release build in the same folder: once that is configured, it stays.
[ "$preset" = program ] && [ -e build/configured/release ] && preset=release
stamp=build/configured/$preset
if [ ! -e "$stamp" ] || [ CMakePresets.json -nt "$stamp" ]; then
    cmake --preset "$preset"
    mkdir -p build/configured
    touch "$stamp"
fi
cmake --build --preset "$preset" -j "$jobs" --target "${@:-all}"
