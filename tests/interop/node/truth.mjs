// The truth test: truth.mjs REPORT
//
// Increments with unique ids are written while the primary steps down and crashes. Each adds one to
// a counter of its document and its id to a list there, so that a write that was done twice is seen
// twice. In the end there must be exactly what was acknowledged. Then the same with a lab that
// forgets what it has written, and replies that get lost: this must be noticed.
import { writeFileSync } from 'node:fs';
import { MongoClient } from 'mongodb';
import { Lab, stopAll } from './lab.mjs';

const writes = 5000;
const counters = 10;

/// Runs the writes; `disturb` breaks things until they are over.
async function run(lab, { count, writers, disturb }) {
  const client = await new MongoClient(lab.uri, { retryWrites: true, w: 'majority',
    serverSelectionTimeoutMS: 20000, monitorCommands: true }).connect();
  const counts = { acknowledged: 0, givenUp: 0, lost: 0, doubled: 0, foreign: 0, retried: 0 };
  const numbers = new Set();
  client.on('commandStarted', ({ commandName, command }) => {
    if (commandName !== 'update') return;
    const number = `${command.lsid.id.toString('hex')} ${command.txnNumber}`;
    if (numbers.has(number)) counts.retried += 1;
    numbers.add(number);
  });
  const c = client.db('truth').collection('counters');
  await c.insertMany(Array.from({ length: counters }, (_, _id) => ({ _id, n: 0, ids: [] })));
  let next = 0;
  const write = async () => {
    while (next < count) {
      const id = next;
      next += 1;
      const change = { $inc: { n: 1 }, $push: { ids: id } };
      // The driver retries once, and not at all if its pool was cleared meanwhile. Then it is not
      // known whether the write was done, and its id shows it.
      for (let filter = { _id: id % counters }; ; filter = { ...filter, ids: { $ne: id } }) {
        const done = await c.updateOne(filter, change).catch(() => null);
        if (done === null) counts.givenUp += 1;
        else break;
      }
      counts.acknowledged += 1;
    }
  };
  let going = true;
  const disturbing = disturb(client, () => going);
  await Promise.all(Array.from({ length: writers }, write));
  going = false;
  Object.assign(counts, await disturbing);
  await lab.command('primary');
  for (const one of await c.find({}, { readConcern: { level: 'majority' } }).toArray()) {
    const seen = new Set(one.ids);
    counts.doubled += one.n - seen.size;
    if (one.n !== one.ids.length) counts.foreign += 1;
    for (const id of seen) if (id % counters !== one._id || id >= count) counts.foreign += 1;
    for (let id = one._id; id < count; id += counters) if (!seen.has(id)) counts.lost += 1;
  }
  await client.close();
  return counts;
}

/// Stepdowns and crashes by turns.
const storm = (lab) => async (client, going) => {
  const events = { stepdowns: 0, crashes: 0 };
  const happened = () => events.stepdowns + events.crashes;
  while (happened() < 4 || (going() && happened() < 12)) {
    const primary = await lab.primary();
    if (events.crashes < events.stepdowns) {
      await lab.command(`crash ${primary}`);
      events.crashes += 1;
      await lab.primary();
      await new Promise((done) => setTimeout(done, 200));
      await lab.command(`restart ${primary}`);
    } else {
      await lab.command('stepdown 1');
      events.stepdowns += 1;
    }
    await new Promise((done) => setTimeout(done, 300));
  }
  return events;
};

/// Every now and then a reply is lost after the write was done.
const losses = async (client) => {
  await client.db('admin').command({ configureFailPoint: 'onPrimaryTransactionalWrite',
    mode: { activationProbability: 0.2 }, data: { closeConnection: true } });
  return {};
};

const [report] = process.argv.slice(2);
let fine = false;
try {
  const honest = await Lab.start('--members', '3');
  const truth = await run(honest, { count: writes, writers: 16, disturb: storm(honest) });
  console.log(`truth: ${JSON.stringify(truth)}`);
  await honest.stop();

  const forgetful = await Lab.start('--members', '3', '--forget-retryable-writes');
  const defect = await run(forgetful, { count: 300, writers: 1, disturb: losses });
  console.log(`truth, with a lab that forgets: ${JSON.stringify(defect)}`);
  await forgetful.stop();

  const checks = [
    ['every write is acknowledged', truth.acknowledged === writes],
    ['none is lost', truth.lost === 0],
    ['none is done twice', truth.doubled === 0],
    ['nothing else is there', truth.foreign === 0],
    ['the primary stepped down and crashed', truth.stepdowns >= 2 && truth.crashes >= 2],
    ['writes were retried', truth.retried > 0],
    ['a lab that forgets is found out', defect.doubled > 10],
    ['and for nothing else', defect.lost === 0 && defect.foreign === 0],
  ];
  for (const [what, held] of checks) if (!held) console.log(`FAILED truth: ${what}`);
  fine = checks.every(([, held]) => held);
  writeFileSync(report, JSON.stringify({ ran: checks.length, failed: fine ? 0 : 1, sent: [] }));
} finally {
  await stopAll();
}
process.exit(fine ? 0 : 1);
