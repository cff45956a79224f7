// Named assertions that are counted.
import { writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

const tests = [];
let current = null;
let ran = 0;
let failures = 0;

export const test = (name, body) => tests.push({ name, body });
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

const show = (value) => {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
};

function record(what, fine, expected, got) {
  ran += 1;
  if (fine) return;
  failures += 1;
  console.log(`FAILED ${current}: ${what}\n  expected: ${show(expected)}\n  got:      ${show(got)}`);
}

export function equal(what, expected, got) {
  record(what, isDeepStrictEqual(expected, got), expected, got);
}

export function holds(what, condition) {
  record(what, Boolean(condition), true, condition);
}

/// The promise fails with an error of this class, within a time; gives the error.
export async function fails(what, kind, promise, withinMS = 5000) {
  const began = Date.now();
  try {
    const value = await promise;
    record(what, false, kind.name, { succeeded: value });
    return {};
  } catch (error) {
    const fine = error instanceof kind && Date.now() - began <= withinMS;
    record(what, fine, kind.name, `${error.name}: ${error.message} (${Date.now() - began} ms)`);
    return error;
  }
}

export async function runAll(only) {
  for (const one of tests) {
    if (only && !one.name.includes(only)) continue;
    current = one.name;
    const began = Date.now();
    try {
      await one.body();
    } catch (error) {
      record('runs to its end', false, 'no error', `${error.name}: ${error.message} ${error.stack ?? ''}`.slice(0, 900));
    }
    if (process.env.TIMES) console.log(`${String(Date.now() - began).padStart(6)} ms  ${one.name}`);
  }
  return failures === 0;
}

const counted = new Map();

/// Has all calls of the classes that reach a server counted, by name.
export function countCalls(sdk) {
  const classes = ['Cluster', 'Bucket', 'Collection', 'BinaryCollection', 'BucketManager',
    'CollectionManager', 'UserManager'];
  const local = ['constructor', 'bucket', 'scope', 'collection', 'binary', 'collections', 'buckets',
    'users', 'defaultScope', 'defaultCollection', 'list', 'map', 'set', 'queue'];
  for (const name of classes) {
    const methods = sdk[name]?.prototype ?? {};
    for (const method of Object.getOwnPropertyNames(methods)) {
      const { value, writable } = Object.getOwnPropertyDescriptor(methods, method);
      if (typeof value !== 'function' || !writable || method.startsWith('_') ||
          local.includes(method))
        continue;
      methods[method] = function counts(...given) {
        const call = `${name}.${method}`;
        counted.set(call, (counted.get(call) ?? 0) + 1);
        return value.apply(this, given);
      };
    }
  }
}

export function printCalls() {
  const all = [...counted].sort(([a], [b]) => (a < b ? -1 : 1));
  const sum = all.reduce((total, [, count]) => total + count, 0);
  console.log(`couchbase calls: ${sum} of ${all.length} kinds: ${
    all.map(([name, count]) => `${name} ${count}`).join(', ')}`);
}

export const writeReport = (file) => writeFileSync(file,
  JSON.stringify({ ran, failed: failures, calls: Object.fromEntries(counted) }));
