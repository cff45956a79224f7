#!/usr/bin/env python3
"""Joins the requirements with the tests that ran and passed, and writes docs/conformance.md.

usage: trace.py [--requirements TSV] [--results DIR] [--root DIR]
                [--waiting TSV] [--no-traffic TSV]

The column `proof` of a requirement says what is demanded:
  test                     a test that names it with VERIFIES("SD-144"), ran and passed
  doc, review              an anchor <!-- SD-144 --> in docs/*.md or CHANGELOG.md, beside the
                           sentence that answers it, or such a test
  n/a, later, superseded   nothing; the word itself is the answer
A test that names it with VERIFIES_BY_TRAFFIC gives a second mark: bytes were exchanged. The seeds
in TRAFFIC demand that mark of each row with proof `test`; tools/no_traffic.tsv says for which rows
there is none, and why. A row there that has the mark is an error, too.

A failed test proves nothing, and takes back what another test proved. To name an id that does not
exist is an error, in a test as in an anchor.

What is open waits for some part of the program, and tools/waiting.tsv says for which. To be open
without waiting is an error, also if the table is empty or not there; and so is to wait once there
is nothing left to wait for.

Without the table of requirements it fails, and leaves the page as it is.
"""
import argparse
import collections
import csv
import json
import pathlib
import re
import sys

ID = re.compile(r"[A-Z]{2}-[0-9]{3}")
ANCHOR = re.compile(r"<!--\s*([A-Z]{2}-[0-9]{3})\s*-->")
EXAMPLES = "ZZ-"  # the ids that the tests of VERIFIES itself use
TRAFFIC = ("CR",)
SETTLED = ("n/a", "later", "superseded")
DEMANDS = ("test", "doc", "review", *SETTLED)
AWAITED = {
    "connection": "a connection that shakes hands, authenticates and fails, and its pool",
    "monitor": "monitors that check servers, and the topology that they keep",
    "executor": "the loop that selects, checks out, sends and tries again, and its events",
    "operations": "the commands and helpers that users call, and their options",
    "document": "a sentence in the documentation",
}

Evidence = collections.namedtuple("Evidence", "passed failed anchors traffic")


def read_requirements(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_results(folder):
    """All tests in GoogleTest's JSON files: (name, passed, per id whether by traffic)."""
    for path in sorted(folder.glob("*.json")):
        for suite in json.loads(path.read_text(encoding="utf-8"))["testsuites"]:
            for test in suite["testsuite"]:
                if test["status"] != "RUN" or test["result"] == "SKIPPED":
                    continue
                ids = {key: "traffic" in str(kind) for key, kind in test.items()
                       if ID.fullmatch(key) and not key.startswith(EXAMPLES)}
                yield f"{suite['name']}.{test['name']}", not test.get("failures"), ids


def read_anchors(root):
    """Where each id is written about, as (id, file)."""
    for path in [*sorted((root / "docs").glob("*.md")), root / "CHANGELOG.md"]:
        if path.name != "conformance.md" and path.exists():
            for found in ANCHOR.finditer(path.read_text(encoding="utf-8")):
                yield found.group(1), path.relative_to(root).as_posix()


def gather(results, anchors):
    """Per id, what speaks for it and what speaks against it."""
    evidence = collections.defaultdict(lambda: Evidence([], [], [], []))
    for name, passed, ids in results:
        for id, by_traffic in ids.items():
            (evidence[id].passed if passed else evidence[id].failed).append(name)
            if passed and by_traffic:
                evidence[id].traffic.append(name)
    for id, file in anchors:
        evidence[id].anchors.append(file)
    return evidence


def read_column(path, column):
    """Per id what a table says; nothing if there is no such table."""
    return {row["id"]: row[column] for row in read_requirements(path)} if path.exists() else {}


def outcome_of(proof, found):
    """One word for one requirement."""
    if proof in SETTLED:
        return proof
    enough = found.passed or (proof in ("doc", "review") and found.anchors)
    return "proven" if enough and not found.failed else "open"


def complaints(requirements, evidence):
    known = {row["id"] for row in requirements}
    for id, found in sorted(evidence.items()):
        if id not in known:
            names = found.passed + found.failed + found.anchors
            yield f"{id} is no requirement, but is named by {', '.join(names)}"
    for row in requirements:
        if row["proof"] not in DEMANDS:
            yield f"{row['id']} demands an unknown proof: {row['proof']!r}"


def waiting_complaints(outcomes, waiting):
    """What is wrong with the table of those that wait."""
    for id, part in waiting.items():
        if part not in AWAITED:
            yield f"{id} waits for something unknown: {part!r}"
        if id not in outcomes:
            yield f"{id} is no requirement, but waits for {part}"
        elif outcomes[id] != "open":
            yield f"{id} is {outcomes[id]} and waits for nothing: take it out of waiting.tsv"
    for id, outcome in outcomes.items():
        if outcome == "open" and id not in waiting:
            yield f"{id} is open, and waiting.tsv does not say what it waits for"


def traffic_complaints(requirements, evidence, reasons):
    """Which rows lack the mark without a reason, and which have it in spite of one."""
    demanding = {row["id"] for row in requirements
                 if row["proof"] == "test" and row["id"].startswith(TRAFFIC)}
    for id in sorted(reasons.keys() - demanding):
        yield f"{id} demands no traffic: take it out of no_traffic.tsv"
    for id in sorted(demanding):
        if id in reasons and evidence[id].traffic:
            yield f"{id} is proven by traffic: take it out of no_traffic.tsv"
        if id not in reasons and not evidence[id].traffic:
            yield f"{id} is not proven by traffic, and no_traffic.tsv does not say why"


def queues(outcomes, waiting):
    """Per awaited part, the open rows that wait for it."""
    found = {part: [] for part in AWAITED}
    for id, outcome in outcomes.items():
        if outcome == "open" and waiting.get(id) in found:
            found[waiting[id]].append(id)
    return {part: ids for part, ids in found.items() if ids}


def waiting_table(outcomes, waiting):
    lines = ["| waits for | which is | rows | which are |", "|---|---|---|---|"]
    for part, ids in queues(outcomes, waiting).items():
        lines.append(f"| {part} | {AWAITED[part]} | {len(ids)} | {', '.join(ids)} |")
    return ["", *lines] if len(lines) > 2 else []


def report(requirements, evidence, outcomes, waiting):
    columns = ["proven", "open", *SETTLED]
    lines = ["# Conformance", "",
             "Made by `make trace` from the results of the tests that ran, not by hand. What is",
             "open has no passing test, or no document, that names it yet, and waits for a part of",
             "the program that is still to come.",
             "",
             "| seed | all | " + " | ".join(columns) + " |", "|---" * (len(columns) + 2) + "|"]
    prefixes = dict.fromkeys(id[:2] for id in outcomes)
    for name in [*prefixes, "all"]:
        row = [v for id, v in outcomes.items() if name in (id[:2], "all")]
        counts = [len(row), *(row.count(outcome) for outcome in columns)]
        lines.append(f"| {name} | " + " | ".join(map(str, counts)) + " |")
    lines += waiting_table(outcomes, waiting)
    lines += ["", "`traffic`: a client and a server exchanged the bytes that the row speaks of.",
              "", "| id | level | demands | outcome | mark | by |", "|---|---|---|---|---|---|"]
    for row in requirements:
        found = evidence[row["id"]]
        # Those by traffic first: they are what a reader looks for.
        by = [*found.traffic, *(name for name in found.passed if name not in found.traffic),
              *found.anchors, *(f"FAILED {name}" for name in found.failed)]
        if outcomes[row["id"]] == "open" and row["id"] in waiting:
            by.append(f"waits for {waiting[row['id']]}")
        mark = "traffic" if found.traffic and not found.failed else "-"
        cells = (row["id"], row["level"], row["proof"], outcomes[row["id"]], mark, ", ".join(by))
        lines.append("| " + " | ".join(cells).rstrip() + " |")
    return "\n".join(lines) + "\n"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--root", type=pathlib.Path, default=pathlib.Path("."))
    options.add_argument("--requirements", type=pathlib.Path)
    options.add_argument("--results", type=pathlib.Path)
    options.add_argument("--waiting", type=pathlib.Path)
    options.add_argument("--no-traffic", type=pathlib.Path)
    given = options.parse_args()
    table = given.requirements or given.root / "../shared/requirements/requirements.tsv"
    if not table.exists():
        print(f"error: the requirements are not here ({table}): nothing to trace", file=sys.stderr)
        return 1

    requirements = read_requirements(table)
    results = read_results(given.results or given.root / "build/results")
    evidence = gather(results, read_anchors(given.root))
    waiting = read_column(given.waiting or given.root / "tools/waiting.tsv", "waits_for")
    silent = read_column(given.no_traffic or given.root / "tools/no_traffic.tsv", "reason")
    outcomes = {row["id"]: outcome_of(row["proof"], evidence[row["id"]]) for row in requirements}
    wrong = [*complaints(requirements, evidence), *waiting_complaints(outcomes, waiting),
             *traffic_complaints(requirements, evidence, silent)]
    page = given.root / "docs/conformance.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text(report(requirements, evidence, outcomes, waiting), encoding="utf-8")
    counts = collections.Counter(outcomes.values())
    marked = sum(bool(evidence[id].traffic) for id in outcomes)
    print(", ".join(f"{n} {outcome}" for outcome, n in counts.most_common())
          + f", {marked} by traffic: {page}")
    for part, ids in queues(outcomes, waiting).items():
        print(f"  {len(ids)} wait for {part}: {' '.join(ids)}")
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
