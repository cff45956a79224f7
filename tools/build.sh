#!/bin/sh
# Builds a preset: build.sh PRESET JOBS. Configures it first if that was never done or the presets
# have changed since; every other change is noticed by the build itself.
set -eu
preset=$1
jobs=$2
stamp=build/configured/$preset
if [ ! -e "$stamp" ] || [ CMakePresets.json -nt "$stamp" ]; then
    cmake --preset "$preset"
    mkdir -p build/configured
    touch "$stamp"
fi
cmake --build --preset "$preset" -j "$jobs"
