#!/bin/sh
# Lets programs that we did not write check ours. Needs node and npm, and what npm fetches goes into
# build/interop. Ends with "N passed, N failed".
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
convert=${BSON_CONVERT:-$root/build/bin/bson_convert}
work=${INTEROP_DIR:-$root/build/interop}
bson_version=7.3.4  # an oracle that changes by itself would make failures that nobody caused

for tool in node npm; do
    if ! command -v $tool >/dev/null; then
        echo "interop: $tool is not installed; on Debian: apt-get install nodejs npm" >&2
        exit 1
    fi
done
if [ ! -x "$convert" ]; then
    echo "interop: $convert is not built: make build" >&2
    exit 1
fi

mkdir -p "$work"
installed=$(sed -n 's/.*"version": "\(.*\)".*/\1/p' "$work/node_modules/bson/package.json" \
    2>/dev/null || true)
if [ "$installed" != "$bson_version" ]; then
    npm install --prefix "$work" --no-save --no-audit --no-fund --loglevel=error \
        "bson@$bson_version"
fi
cp "$here/bson.mjs" "$work/bson.mjs"  # where node finds the package beside it
exec node "$work/bson.mjs" "$convert" "$@"
