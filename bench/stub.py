"""What the benchmarks that need the stub server have in common."""
import socket
import subprocess


def compiled(source, target):
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(['g++', '-std=c++20', '-O2', '-o', target, source, '-lpthread'], check=True)
    return target


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]
