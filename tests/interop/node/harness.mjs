// What the suites share: named assertions that are counted, and which commands they were about.
import { writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { BSON, MongoClient } from 'mongodb';

const { EJSON } = BSON;
const tests = [];
let failures = 0;
const sent = new Map(); // command -> name of the first test that sent it and asserted something
let current = null;
let ran = 0;

export const test = (name, body) => tests.push({ name, body });
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// Maps with numbers as keys, which results have, are no BSON.
const plain = (value) => {
  if (value === undefined || value === null || typeof value !== 'object') return value;
  const shown = value instanceof Map ? Object.fromEntries(value) : value;
  const flat = Object.values(shown).some((one) => one instanceof Map)
    ? Object.fromEntries(Object.entries(shown).map(([key, one]) => [key, plain(one)])) : shown;
  return EJSON.parse(EJSON.stringify(flat, { relaxed: true }), { relaxed: true });
};
const show = (value) => {
  try {
    return JSON.stringify(plain(value)) ?? String(value);
  } catch {
    return String(value);
  }
};

function record(what, fine, expected, got) {
  ran += 1;
  current.asserted = true;
  if (fine) return;
  current.failed = true;
  failures += 1;
  console.log(`FAILED ${current.name}: ${what}\n  expected: ${show(expected)}\n` +
    `  got:      ${show(got)}`);
}

/// Numbers are equal however wide they are; the order of fields counts.
export function equal(what, expected, got) {
  const a = plain(expected);
  const b = plain(got);
  record(what, isDeepStrictEqual(a, b) && show(a) === show(b), expected, got);
}

const contains = (part, whole) => {
  if (part === null || typeof part !== 'object') return isDeepStrictEqual(part, whole);
  if (whole === null || typeof whole !== 'object') return false;
  if (Array.isArray(part) !== Array.isArray(whole)) return false;
  if (Array.isArray(part) && part.length !== whole.length) return false;
  return Object.keys(part).every((key) => contains(part[key], whole[key]));
};

/// All fields of `part` are in `got`, which may have more.
export function like(what, part, got) {
  record(what, contains(plain(part), plain(got)), part, got);
}

export function holds(what, condition, got) {
  record(what, Boolean(condition), 'true', got === undefined ? condition : got);
}

const facts = (error) => {
  const made = { message: error.message, code: error.code, codeName: error.codeName };
  if (error.name) made.name = error.name;
  made.labels = [...(error.errorLabels ?? [])];
  return made;
};

/// The promise fails, with a server's error of that code (or anything that has these fields).
export async function fails(what, wanted, promise) {
  const want = typeof wanted === 'number' ? { code: wanted } : wanted;
  try {
    const value = await promise;
    record(what, false, want, { succeeded: value });
    return {};
  } catch (error) {
    const fine = Object.entries(want).every(([key, value]) =>
      value instanceof RegExp ? value.test(error[key]) : contains(value, plain(error[key])));
    record(what, fine, want, facts(error));
    return error;
  }
}

/// A client whose commands count for the test that is running.
export async function connect(uri, options = {}) {
  const client = new MongoClient(uri, {
    monitorCommands: true, serverSelectionTimeoutMS: 15000, ...options,
  });
  client.seen = [];
  client.on('commandStarted', (event) => {
    client.seen.push(event);
    current?.commands.add(event.commandName);
  });
  return client.connect().catch(async (error) => {
    await client.close();
    throw error;
  });
}

/// Names of the commands that the client has sent since the last call.
export function commandsOf(client) {
  return client.seen.splice(0).map((event) => event.commandName);
}

/// For commands that no driver shows, like those of its monitors.
export const alsoSent = (command) => current.commands.add(command);

export async function eventually(condition, timeoutMS = 10000) {
  const until = Date.now() + timeoutMS;
  while (Date.now() < until) {
    try {
      const value = await condition();
      if (value) return value;
    } catch {
      // again
    }
    await sleep(20);
  }
  return false;
}

export async function runAll(only) {
  for (const one of tests) {
    if (only && !one.name.includes(only)) continue;
    current = { name: one.name, commands: new Set(), asserted: false, failed: false };
    const began = Date.now();
    try {
      await one.body();
    } catch (error) {
      record('runs to its end', false, 'no error', String(error.stack).slice(0, 600));
    }
    if (process.env.TIMES) console.log(`${String(Date.now() - began).padStart(6)} ms  ${one.name}`);
    for (const name of current.asserted && !current.failed ? current.commands : [])
      if (!sent.has(name)) sent.set(name, one.name);
  }
  return failures === 0;
}

export const writeReport = (file, more) =>
  writeFileSync(file, JSON.stringify({ ran, failed: failures, sent: [...sent], ...more }));
