#!/usr/bin/env python3
"""Runs every fuzz target for at least --seconds and at least --runs, two at a time.

A target is a program build/fuzz/bin/fuzz_NAME. Its name says which seeds it gets out of the
official files: fuzz_bson* the byte strings, fuzz_extjson* the texts, and so on. What it learns is
kept in build/fuzz/corpus and is the start of the next run. A finding ends the command with status 1
and stays in build/fuzz/findings.
"""
import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import re
import struct
import subprocess
import sys
import time

FUZZ = pathlib.Path("build/fuzz")
BSON = {"canonical_bson", "degenerate_bson", "converted_bson", "bson"}


def op_msg(hexadecimal):
    """A document as the only section of a message."""
    body = bytes.fromhex(hexadecimal)
    return struct.pack("<iiiiIB", 21 + len(body), 1, 0, 2013, 0, 0) + body


SEEDS = {  # which keys of the official files hold seeds for which kind of target
    "bson": (BSON, bytes.fromhex),
    "hello": (BSON, bytes.fromhex),
    "wire": (BSON, op_msg),
    "extjson": ({"canonical_extjson", "relaxed_extjson", "degenerate_extjson",
                 "converted_extjson", "string"}, str.encode),
    "decimal128": ({"string"}, str.encode),
    "uri": ({"uri"}, str.encode),
}

OWN_SEEDS = {  # one small example of each shape, for targets that no official file is about
    "couchbase_config": [
        '{"rev":1,"revEpoch":1,"nodesExt":[{"services":{"kv":1,"mgmtSSL":2},"thisNode":true,'
        '"hostname":"[::1]","serverGroup":"east","nodeUUID":"u","alternateAddresses":'
        '{"external":{"hostname":"e","ports":{"kv":5}}}}],"clusterCapabilities":{"n1ql":["a"]}}',
        '{"rev":1,"name":"b","uuid":"u","nodeLocator":"vbucket","collectionsManifestUid":"1f",'
        '"bucketCapabilities":["c"],"nodes":[{"hostname":"$HOST:8091","ports":{"direct":1}}],'
        '"vBucketServerMap":{"hashAlgorithm":"CRC","numReplicas":1,"serverList":["$HOST:1"],'
        '"vBucketMap":[[0,-1],[-1,0]],"vBucketMapForward":[[0,-1],[]]},"revEpoch":2}',
    ],
    "couchbase_connection_string": [
        "couchbase://a:7=kv,b=mcd,[::1]/bucket?kv_timeout=2.5s&network=external&colour=red",
        "couchbases://cb.example?tls_verify=none&max_in_flight=64&ip_protocol=force_ipv4",
    ],
    "json": [
        '{"parts":[{"name":"a\\u00e9\\ud83d\\ude00\\n","count":18446744073709551615}],'
        '"rate":-1.5e-300,"places":{"x":-2147483648},"is_open":true}',
        '[null,"a",{},[],0,-0,1e400,[[["\\\\"]]]]',
    ],
    "couchbase_reply": [
        "\0\0\4\2\0\0\6" '{"name":"KLM","fleet":110,"rates":[1.5]}',  # of get
        "\3\0\0" "\0\0\0\0\0\1" "7" "\0\0\0\0\0\3" '"x"' "\0\xc0\0\0\0\0"
        "\0\0\0\0\0\1" "2",  # of lookup_in
    ],
    "couchbase_rows": [
        '\5{"requestID":"r","signature":{"*":"*"},"results":[{"a":[1,{}]},-1.5e3,"x\\"",null],'
        '"errors":[{"code":1080,"msg":"m"}],"metrics":{"elapsedTime":"9ms"}}',
        '\100{ "results" : [ ] , "status" : "success" }\n',
    ],
    "http_response": [
        "\xffHTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 2\r\n\r\nok"
        "HTTP/1.0 404 \r\n\r\nx",
        "\1HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        '3;a=b;c="d"\r\nabc\r\n0;z\r\nX: y\r\n\r\n',
        "\2HTTP/1.1 302 F\r\nLocation: /x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    ],
    "lab_couchbase": [
        "\x40\x00\x08" "\0\0\0\0\0\0\0\0" '{"a":1}',
        "\x40\x16\x00" "\xc5\0\0\4" "a[1]" "\xc6\4\0\5" "_sync",  # a lookup
        "\x40\x18\x00" "\xc8\1\0\3\0\0\0\1" "a.b" "1"
        "\xcf\0\0\1\0\0\0\2" "n" "-3",  # a mutation
        "\x40\x0a\x00" "n,,n=ada,r=fyko",
    ],
    "lab_couchbase_commands": [
        "bucket b 1", "scope travel s", "collection travel s c", "failover 1", "freeze 0",
        "push all twice", "refusals 0 garbage", "damage all short_rows", "config-lag 0 20",
        "service 0 kv 11", 'fault f {"operations":["get"],"status":134,"times":2}', "hits f",
        'error-map 0 {"version":2,"revision":1,"errors":{}}', "status", "clear", "add-node",
    ],
    "lab_couchbase_n1ql": [
        "SELECT DISTINCT t.name AS n, META().id FROM default:`travel` t WHERE n > 0 AND s LIKE '_%'"
        " ORDER BY n DESC LIMIT 2 OFFSET 1",
        "SELECT COUNT(*), SUM(n) FROM travel USE KEYS ['a', 'b'] WHERE l[0] IN [1, $1] OR o.p",
        "SELECT RAW i FROM ARRAY_RANGE(0, 10, 3) AS i", "SELECT * FROM system:indexes",
        "INSERT INTO travel (KEY, VALUE) VALUES ('c', {'n': $x}) RETURNING *",
        "UPDATE travel t SET t.o.p = NOT o.p, META(t).expiration = 5 UNSET s"
        " WHERE n BETWEEN 1 AND 3 RETURNING META(t).cas",
        "DELETE FROM travel WHERE l IS NOT MISSING RETURNING RAW s || 'x'",
        'CREATE INDEX i ON travel(n, `o`.p) WHERE n > 1 USING GSI WITH {"defer_build":true}',
        "BUILD INDEX ON travel (i)", "DROP PRIMARY INDEX IF EXISTS ON travel",
        "PREPARE p FROM SELECT 1", "EXPLAIN SELECT 1", "EXECUTE p USING [1]",
        '{"statement":"SELECT 1","args":[1],"$x":2,"timeout":"1m2s","scan_consistency":"at_plus",'
        '"scan_vectors":{"travel":{"7":[3,"9"]}},"query_context":"default:`a`.`b`"}',
        "statement=SELECT+1&args=%5B1%5D&readonly=true&$x=2", "1h2.5m3ms",
        "CREATE DATASET IF NOT EXISTS a.b ON travel", "ALTER COLLECTION a.b.c ENABLE ANALYTICS",
    ],
    "lab_couchbase_http": [
        "GET /pools/default?x=1 HTTP/1.1\r\nHost: h\r\nAuthorization: Basic YTpi\r\n\r\n",
        "PUT /a%20b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "POST /c HTTP/1.1\r\nContent-Length: 3\r\nConnection: close\r\n\r\nxyz",
        "name=b&ramQuotaMB=100&roles=data_reader%5Bb%5D",
        '{"name":"f","nodes":[1],"operations":["get"],"times":2,"probability":0.5,"status":134}',
    ],
}


def strings(node, keys):
    """Every string in a JSON tree that stands under one of the keys."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in keys and isinstance(value, str):
                yield value
            else:
                yield from strings(value, keys)
    elif isinstance(node, list):
        for value in node:
            yield from strings(value, keys)


def plant_seeds(name, spec_tests, corpus):
    """Writes the seeds of one target as files named by their hash, and says how many there are."""
    # One byte for each character: some shapes are not texts.
    seeds = {text.encode("latin-1") for text in OWN_SEEDS.get(name, [])}
    kind = next((k for k in SEEDS if name.startswith(k)), None)
    keys, decode = SEEDS.get(kind, (set(), None))
    for path in sorted(spec_tests.glob("**/*.json")) if keys else []:
        for text in strings(json.loads(path.read_text(encoding="utf-8")), keys):
            try:
                seeds.add(decode(text))
            except ValueError:
                pass  # not hexadecimal: the case is about something else
    for seed in seeds:
        (corpus / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
    return len(seeds)


def run_target(program, options):
    """Runs one target in rounds until it has had both its time and its runs."""
    name = program.name.removeprefix("fuzz_")
    corpus, findings = FUZZ / "corpus" / name, FUZZ / "findings" / name
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(parents=True, exist_ok=True)
    print(f"{program.name}: {plant_seeds(name, options.spec_tests, corpus)} seeds", flush=True)

    began, runs = time.monotonic(), 0
    while (spent := time.monotonic() - began) < options.seconds or runs < options.runs:
        if spent > options.max_seconds:
            return f"{program.name}: only {runs:,} runs in {spent:.0f} s"
        round_seconds = max(10, min(30, int(options.seconds - spent)))
        done = subprocess.run(
            [program, corpus, f"-artifact_prefix={findings}/", f"-max_total_time={round_seconds}",
             "-max_len=4096", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if done.returncode:
            return f"{done.stdout[-8000:]}\n{program.name}: a finding; its input is in {findings}/"
        runs += int(re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stdout).group(1))
        print(f"{program.name}: {runs:,} runs in {time.monotonic() - began:.0f} s", flush=True)
    return None


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--spec-tests", type=pathlib.Path, default="../shared/spec-tests")
    options.add_argument("--seconds", type=int, default=60)
    options.add_argument("--runs", type=int, default=1_000_000)
    options.add_argument("--max-seconds", type=int, default=1800)
    options.add_argument("--only", default="", help="part of the names of the targets to run")
    options = options.parse_args()
    programs = [p for p in sorted((FUZZ / "bin").glob("fuzz_*")) if options.only in p.name]
    if not programs:
        print("there is no fuzz target")
        return 1
    if not options.spec_tests.is_dir():
        print(f"{options.spec_tests} is not here: the corpora start empty")

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        outcomes = pool.map(lambda program: run_target(program, options), programs)
        failures = [outcome for outcome in outcomes if outcome]
    print("\n".join(failures) if failures else f"{len(programs)} targets, no finding")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
