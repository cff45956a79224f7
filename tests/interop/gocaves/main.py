"""Our client on gocaves, a mock cluster of Couchbase's own: main.py REPORT [PART OF A TEST'S NAME]

GOCAVES is its program, GOCAVES_CLIENT is ours. It is started with a control port, at which it calls
us: JSON objects, each ended by a zero byte. Its replies do not say whether a check has passed: what
counts is what our client was answered.
"""
import base64
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path

TIMEOUT = 60  # seconds, of everything that is waited for
USER, PASSWORD = 'Administrator', 'password'  # which its clusters have from the beginning
ERROR_MAP_CHECKS = ('Linear', 'Constant', 'Exponential')
AUTHENTICATION_FAILURE, GENERIC_FAILURE = 6, 1000


class Control:
    """gocaves, and the conversation with it."""

    def __init__(self, program, log):
        with socket.create_server(('127.0.0.1', 0)) as listener:
            listener.settimeout(TIMEOUT)
            port = listener.getsockname()[1]
            self.process = subprocess.Popen([program, f'-control-port={port}'], stdout=log,
                                            stderr=log, stdin=subprocess.DEVNULL)
            self.connection = listener.accept()[0]
        self.connection.settimeout(TIMEOUT)
        self.received = b''
        self.expect('hello')

    def expect(self, kind):
        while b'\0' not in self.received:
            more = self.connection.recv(65536)
            if not more:
                raise RuntimeError('gocaves has closed its control connection')
            self.received += more
        packet, self.received = self.received.split(b'\0', 1)
        answer = json.loads(packet)
        if answer.get('type') != kind:
            raise RuntimeError(f'gocaves has answered {answer} instead of {kind}')
        return answer

    def ask(self, kind, reply, **members):
        self.connection.sendall(json.dumps({'type': kind, **members}).encode() + b'\0')
        return self.expect(reply)

    def close(self):
        self.connection.close()
        self.process.terminate()
        self.process.wait(TIMEOUT)


class Cluster:
    """One of its clusters, by HTTP."""

    def __init__(self, answer):
        self.plain = answer['connstr']
        self.management = answer['mgmt_addrs'][0]

    def ask(self, path, form=None):
        login = base64.b64encode(f'{USER}:{PASSWORD}'.encode()).decode()
        body = urllib.parse.urlencode(form).encode() if form else None
        request = urllib.request.Request(self.management + path, data=body,
                                         headers={'Authorization': f'Basic {login}'})
        with urllib.request.urlopen(request, timeout=TIMEOUT) as reply:
            return reply.read()

    def make_collection(self, scope, name):
        path = '/pools/default/buckets/default/scopes'
        if name == 'items':
            self.ask(path, {'name': scope})
        self.ask(f'{path}/{scope}/collections', {'name': name})

    def secure(self):
        """Its connection string for TLS: ports are in the configuration only. None without TLS."""
        nodes = json.loads(self.ask('/pools/default/nodeServices'))['nodesExt']
        hosts = [f"127.0.0.1:{one['services']['kvSSL']}" for one in nodes]
        if not has_certificate(hosts[0]):
            return None
        return 'couchbases://' + ','.join(hosts)


def has_certificate(address):
    """Built by Go 1.17 or later, it cannot read its own: the lines of it are indented."""
    host, port = address.split(':')
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with socket.create_connection((host, int(port)), TIMEOUT) as plain:
            with context.wrap_socket(plain):
                return True
    except ssl.SSLError:
        return False


class Run:
    def __init__(self, only):
        self.only = only
        self.ran = 0
        self.failed = 0

    def wants(self, name):
        return not self.only or self.only in name

    def client(self, name, *arguments, password=PASSWORD):
        """Runs ours, and counts the lines that it writes."""
        if not self.wants(name):
            return
        print(f'      - {name}', flush=True)
        done = subprocess.run([os.environ['GOCAVES_CLIENT'], *map(str, arguments)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT,
                              env={**os.environ, 'GOCAVES_USER': USER,
                                   'GOCAVES_PASSWORD': password})
        print(done.stdout, end='', flush=True)
        self.ran += len(re.findall('^(ok|FAILED) ', done.stdout, re.M))
        failed = len(re.findall('^FAILED ', done.stdout, re.M))
        self.failed += max(failed, 1 if done.returncode != 0 else 0)


def documents(run, control):
    """All there is for documents, plain and by TLS, and what is refused.

    It answers for a missing bucket as nodes without data do, and takes any password by TLS.
    """
    cluster = Cluster(control.ask('createcluster', 'createdcluster', id='documents'))
    cluster.make_collection('things', 'items')
    run.client('documents', 'documents', cluster.plain)
    cluster.make_collection('things', 'later')
    run.client('a collection made since', 'collection', cluster.plain)
    run.client('a refused login', 'refused', cluster.plain, 'default', AUTHENTICATION_FAILURE,
               'SCRAM', password='babbage')
    secure = cluster.secure()
    if not secure:
        print('      - SKIPPED: by TLS: gocaves has not read its own certificate', flush=True)
        return
    # That names no host, and was good until 2018.
    unchecked = secure + '?tls_verify=none'
    run.client('documents by TLS', 'documents', unchecked)
    run.client('a rejected certificate', 'refused', secure, 'default', GENERIC_FAILURE,
               'certificate')


def error_maps(run, control):
    """A status that only the error map knows, three times."""
    control.ask('starttesting', 'startedtesting', run='holdfast', client='holdfast')
    for name in ERROR_MAP_CHECKS:
        check = f'kv/errmap/ErrMap{name}Retry'
        if not run.wants(check):
            continue
        started = control.ask('starttest', 'startedtest', run='holdfast', test=check)
        run.client(check, 'retry', started['connstr'])
        control.ask('endtest', 'endedtest', run='holdfast', Result={})


def main():
    report = Path(sys.argv[1])
    run = Run(sys.argv[2] if len(sys.argv) > 2 else None)
    with report.with_suffix('.server').open('w') as log:
        control = Control(os.environ['GOCAVES'], log)
        try:
            documents(run, control)
            error_maps(run, control)
        finally:
            control.close()
    report.write_text(json.dumps({'ran': run.ran, 'failed': run.failed}))
    sys.exit(1 if run.failed else 0)


if __name__ == '__main__':
    main()
