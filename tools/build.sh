#!/bin/sh
# Builds a preset, or one target of it: build.sh PRESET JOBS [TARGET]. Configures it first if that
# was never done or the presets have changed since; all other changes the build notices by itself.
set -eu
preset=$1
jobs=$2
target=${3:-all}
stamp=build/configured/$preset
if [ ! -e "$stamp" ] || [ CMakePresets.json -nt "$stamp" ]; then
    cmake --preset "$preset"
    mkdir -p build/configured
    touch "$stamp"
fi
cmake --build --preset "$preset" -j "$jobs" --target "$target"
