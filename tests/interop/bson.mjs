// Random documents by js-bson, through our converter and back: bson.mjs CONVERTER [COUNT] [SEED]
//
// js-bson's bytes -> our Extended JSON -> js-bson's parser must give the same bytes, and js-bson's
// Extended JSON -> our parser must give js-bson's bytes. Relaxed text does not say how wide a
// number was, and js-bson prints 1.0 as 1, so there values are compared as JavaScript sees them.
import { spawnSync } from 'node:child_process';
import {
  Binary, BSON, BSONRegExp, BSONSymbol, Code, DBRef, Decimal128, Double, EJSON, Int32, Long, MaxKey,
  MinKey, ObjectId, Timestamp, UUID,
} from 'bson';

const [converter, countText = '5000', seedText = String(Date.now() % 2 ** 31)] =
  process.argv.slice(2);
const count = Number(countText);
const seed = Number(seedText);

// mulberry32: node's own generator takes no seed, and a failure must be repeatable.
let state = seed;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
const below = (n) => Math.floor(random() * n);
const pick = (list) => list[below(list.length)];
const bytes = (n) => Uint8Array.from({ length: n }, () => below(256));
const long = () => Long.fromBits(below(2 ** 32) | 0, below(2 ** 32) | 0);

function text() {
  const pieces = ['a', 'Z', '0', ' ', '"', '\\', '/', '\n', '\t', '\u0001', '\u007f', '\u00e9',
    '\u20ac', '\u2028', '\ud7ff', '\ufffd', '\u{1f41a}', '\u{10ffff}', 'x'.repeat(below(50))];
  return Array.from({ length: below(8) }, () => pick(pieces)).join('');
}

function double() {
  if (random() < 0.5)
    return new Double(pick([0, -0, 1, -1.5, 0.1, 1e-7, 1e21, 1e22, 5e-324, Number.MAX_VALUE, NaN,
      Infinity, -Infinity, 9007199254740993]));
  const value = new DataView(bytes(8).buffer).getFloat64(0);
  return new Double(Number.isNaN(value) ? 2.5 : value); // JavaScript may change a NaN's payload
}

function decimal() {
  const digits = Array.from({ length: 1 + below(34) }, () => below(10)).join('');
  const exponent = pick([0, 1, -1, -6, -7, 6111, -6176, below(6000), -below(6000)]);
  return Decimal128.fromString(pick([`${digits}`, `-${digits}`, `${digits}E${exponent}`,
    `-${digits}E${exponent}`, 'Infinity', '-Infinity', 'NaN', '0', '-0', '0.00']));
}

function scalar() {
  switch (below(20)) {
    case 0: return null;
    case 1: return random() < 0.5;
    case 2: case 3: return text();
    case 4: case 5: return double();
    case 6: return new Int32(pick([0, 1, -1, 2147483647, -2147483648, below(2 ** 31)]));
    case 7:
      return pick([Long.ZERO, Long.MAX_VALUE, Long.MIN_VALUE, Long.fromNumber(2 ** 31), long()]);
    case 8: return new Date(pick([0, -1, 1, 253402300799999, 253402300800000, below(2 ** 41)]));
    case 9: return new ObjectId(bytes(12));
    case 10: return new Binary(bytes(below(40)), pick([0, 1, 3, 5, 6, 7, 8, 0x80, 0xff]));
    case 11: return new UUID(bytes(16));
    case 12: return decimal();
    case 13: return new Timestamp({ t: below(2 ** 32), i: below(2 ** 32) });
    case 14: return new MinKey();
    case 15: return new MaxKey();
    case 16: return new BSONRegExp(text(), pick(['', 'i', 'im', 'imsx']));
    case 17: return new BSONSymbol(text());
    case 18: return new Code(text());
    default: return new Code(text(), document(3));
  }
}

function value(depth) {
  if (depth < 4 && random() < 0.15)
    return document(depth + 1);
  if (depth < 4 && random() < 0.15)
    return Array.from({ length: below(12) }, () => value(depth + 1));
  if (random() < 0.02)
    return new DBRef('things', new ObjectId(bytes(12)), random() < 0.5 ? 'db' : undefined);
  return scalar();
}

function document(depth) {
  const made = {};
  for (let left = below(8); left > 0; --left) {
    // JavaScript moves keys that look like numbers to the front; a key cannot hold a zero byte.
    const key = random() < 0.7 ? pick(['a', 'b', '', '_id', 'a.b', 'key']) : `k${text()}`;
    made[key] = value(depth);
  }
  return made;
}

function convert(lines) {
  const run = spawnSync(converter, { input: lines.join('\n') + '\n', maxBuffer: 2 ** 30 });
  if (run.status !== 0)
    throw new Error(`${converter} failed: ${run.error ?? run.stderr}`);
  return run.stdout.toString().split('\n').slice(0, lines.length);
}

const hex = (bson) => Buffer.from(bson).toString('hex');
const write = (made) => BSON.serialize(made, { ignoreUndefined: false });
const parse = (json) => write(EJSON.parse(json, { relaxed: false }));
const natural = (json) => JSON.stringify(EJSON.parse(json, { relaxed: true }));

const samples = Array.from({ length: count }, () => {
  const made = document(0);
  return {
    hex: hex(write(made)),
    canonical: EJSON.stringify(made, { relaxed: false }),
    relaxed: EJSON.stringify(made, { relaxed: true }),
  };
});
const printed = convert(samples.map((s) => s.hex)).map((line) => line.split('\t'));
const fromCanonical = convert(samples.map((s) => s.canonical));
const fromRelaxed = convert(samples.map((s) => s.relaxed));
const printedAgain = convert(fromRelaxed).map((line) => line.split('\t'));

let passed = 0;
let failed = 0;
function check(what, sample, found, expected) {
  if (found === expected) {
    ++passed;
  } else if (++failed <= 5) {
    console.log(`${what} (seed ${seed})\n  document ${sample.hex}\n  expected ${expected}`);
    console.log(`  found    ${found}`);
  }
}
function attempt(f) {
  try {
    return f();
  } catch (e) {
    return `error: ${e.message}`;
  }
}

samples.forEach((s, i) => {
  const [canonical, relaxed] = printed[i];
  check('our canonical text, read by js-bson', s, attempt(() => hex(parse(canonical))), s.hex);
  check("js-bson's canonical text, read by us", s, fromCanonical[i], s.hex);
  check('our relaxed text, read by js-bson', s, attempt(() => natural(relaxed)),
    natural(s.relaxed));
  check("js-bson's relaxed text, read and printed by us", s,
    attempt(() => natural(printedAgain[i][1])), natural(s.relaxed));
});
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
