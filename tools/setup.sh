#!/bin/sh
# Installs the Debian 12 packages that are missing: setup.sh build|test [PACKAGE...]
#
#   build  what the library and the program are built with
#   test   the same, and what tests, sanitizers and benchmarks need besides
#
# Prints nothing when all are there. Never removes a package: where Boost 1.81 conflicts with a
# Boost that is installed, its headers are unpacked under build/boost instead.
set -eu
cd "$(dirname "$0")/.."

case "${1:-}" in
build | test) list=$1 ;;
*)
    echo "usage: setup.sh build|test [PACKAGE...]" >&2
    exit 2
    ;;
esac
shift

# Compiler and tools, then what the library is made of.
packages='g++ cmake ninja-build ccache pkg-config
          libspdlog-dev libssl-dev libidn-dev libc-ares-dev zlib1g-dev libzstd-dev libsnappy-dev'
# What the program and its lab need besides: $regex means PCRE2's patterns.
packages="$packages libcli11-dev libpcre2-dev"
# Debian's libboost-dev is 1.74, hence the number.
boost=libboost1.81-dev
if [ "$list" = test ]; then
    # Sanitizers and fuzzers need clang: g++'s thread sanitizer rejects Asio.
    packages="$packages python3 clang-19 libclang-rt-19-dev llvm-19 clang-format-19
              valgrind strace openssl"
    # libbson and libmongoc are there to be compared with.
    packages="$packages libgtest-dev librapidcheck-dev libbson-dev libmongoc-dev python3-pymongo"
fi

is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true)" = installed ]
}

missing=''
for package in $packages "$@"; do
    is_installed "$package" || missing="$missing $package"
done
needs_boost=''
is_installed $boost || [ -e build/boost/usr/include/boost/version.hpp ] || needs_boost=yes
[ -n "$missing$needs_boost" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
    as_root='env'
elif command -v sudo >/dev/null; then
    as_root='sudo env'
else
    as_root=''
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
    $as_root DEBIAN_FRONTEND=noninteractive apt-get -q "$@" >"$log" 2>&1 </dev/null
}
fail() {
    cat "$log" >&2
    echo "$1" >&2
    exit 1
}

if [ -n "$missing" ] && [ -z "$as_root" ]; then
    echo "Missing packages; installing them needs root or sudo:$missing" >&2
    exit 1
fi
[ -z "$as_root" ] || apt update || fail "apt-get update failed: is the network reachable?"

if [ -n "$missing" ]; then
    echo "installing:$missing"
    apt install -y --no-remove --no-install-recommends $missing ||
        fail "apt-get could not install:$missing (packages that conflict are never removed)"
fi
[ -n "$needs_boost" ] || exit 0

# An installed Boost of another version conflicts with this one. Packages can be unpacked by
# anybody.
if [ -n "$as_root" ] && apt install -y --no-remove --no-install-recommends $boost; then
    echo "installing: $boost"
    exit 0
fi
echo "unpacking the headers of $boost under build/boost: it cannot be installed beside what is here"
mkdir -p build/boost
(cd build/boost && apt-get -q download $boost) >"$log" 2>&1 || fail "apt-get download $boost failed"
dpkg-deb -x build/boost/libboost1.81-dev_*.deb build/boost
rm build/boost/*.deb
