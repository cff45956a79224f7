#!/bin/sh
# Installs the Debian 12 packages that are missing, and those given as arguments. Says nothing when
# all are there.
set -eu

# Compilers and tools. Sanitizers and fuzzers need clang: g++'s thread sanitizer rejects Asio.
packages='g++ cmake ninja-build ccache pkg-config python3
          clang-19 libclang-rt-19-dev llvm-19 clang-format-19 valgrind strace openssl'
# What the library is made of. Debian's libboost-dev is 1.74, hence the number.
packages="$packages libboost1.81-dev libspdlog-dev libssl-dev libidn-dev libc-ares-dev
          zlib1g-dev libzstd-dev libsnappy-dev"
# What the program and its lab need besides: $regex means PCRE2's patterns.
packages="$packages libcli11-dev libpcre2-dev"
# What only tests and benchmarks use; libbson and libmongoc are there to be compared with.
packages="$packages libgtest-dev librapidcheck-dev libbenchmark-dev libbson-dev libmongoc-dev
          python3-pymongo"

missing=''
for package in $packages "$@"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
    as_root='env'
elif command -v sudo >/dev/null; then
    as_root='sudo env'
else
    echo "These packages are missing, and installing them needs root or sudo:$missing" >&2
    exit 1
fi
echo "installing:$missing"
log=$(mktemp)
for step in 'update' "install -y --no-install-recommends $missing"; do
    if ! $as_root DEBIAN_FRONTEND=noninteractive apt-get -q $step >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        echo "apt-get $step failed" >&2
        exit 1
    fi
done
rm -f "$log"
