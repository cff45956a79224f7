// Sessions: causal and snapshot reads, and the server's side of retryable writes.
import { Long } from 'mongodb';
import { at, fresh } from './context.mjs';
import { connect, equal, eventually, fails, holds, like, test } from './harness.mjs';

test('implicit and explicit sessions', async () => {
  const client = await connect(at.lab.uri);
  const c = client.db('interop').collection('s1');
  await c.insertOne({ _id: 1 });
  const lsid = client.seen.at(-1).command.lsid;
  equal('every command has one', 'UUID', lsid.id.constructor.name.replace('Binary', 'UUID'));
  const session = client.startSession();
  await c.findOne({}, { session });
  await c.findOne({}, { session });
  const [first, second] = client.seen.slice(-2).map((one) => one.command.lsid.id.toString('hex'));
  equal('an explicit one is kept', first, second);
  await session.endSession();
  client.seen.length = 0;
  await client.close();
  equal('all are ended at the end', 'endSessions', client.seen.at(-1)?.commandName);
});

test('causal consistency', async () => {
  const c = await fresh([{ _id: 0 }]);
  const session = at.client.startSession({ causalConsistency: true });
  let missed = 0;
  for (let i = 1; i <= 50; i += 1) {
    await c.insertOne({ _id: i }, { session });
    const found = await c.findOne({ _id: i }, { session, readPreference: 'secondary' });
    if (found === null) missed += 1;
  }
  equal('own writes are read from secondaries', 0, missed);
  const read = at.client.seen.at(-1).command;
  holds('by afterClusterTime', read.readConcern?.afterClusterTime, read.readConcern);
  holds('operationTime is in the reply', session.operationTime, session.operationTime);
  await session.endSession();
});

test('snapshot reads', async () => {
  const c = await fresh([{ _id: 1, n: 1 }]);
  await c.updateOne({ _id: 1 }, { $set: { n: 2 } }, { writeConcern: { w: 'majority' } });
  const session = at.client.startSession({ snapshot: true });
  equal('first', { _id: 1, n: 2 }, await c.findOne({}, { session }));
  await c.updateOne({ _id: 1 }, { $set: { n: 3 } }, { writeConcern: { w: 'majority' } });
  await c.insertOne({ _id: 2 }, { writeConcern: { w: 'majority' } });
  equal('the same again', { _id: 1, n: 2 }, await c.findOne({}, { session }));
  equal('in aggregations', [{ n: 1 }],
    await c.aggregate([{ $count: 'n' }], { session }).toArray());
  equal('in distinct', [2], await c.distinct('n', {}, { session }));
  await session.endSession();
  equal('outside it goes on', 2, await c.countDocuments());
  const level = await at.db.command({ find: c.collectionName, readConcern: { level: 'snapshot' } });
  holds('atClusterTime is in the reply', level.cursor.atClusterTime, level.cursor);
});

test('read concerns', async () => {
  const c = await fresh([{ _id: 1 }]);
  for (const level of ['local', 'available', 'majority', 'linearizable'])
    equal(level, { _id: 1 }, await c.findOne({}, { readConcern: { level } }));
  await fails('unknown', { code: 2, codeName: 'BadValue' },
    at.db.command({ find: 'x', readConcern: { level: 'nope' } }));
  const primary = await at.lab.primary();
  const other = await connect(at.lab.direct((primary + 1) % 3));
  await fails('linearizable on a secondary', { code: 10107 }, other.db('interop').command(
    { find: 'x', readConcern: { level: 'linearizable' } }, { readPreference: 'secondary' }));
  await other.close();
});

test('a write with a number is done once', async () => {
  const c = await fresh([{ _id: 'n', n: 0 }]);
  const client = await connect(at.lab.uri); // whose sessions are not used afterwards
  const session = client.startSession();
  const numbered = (command, txnNumber) => client.db('interop').command(
    { ...command, txnNumber: Long.fromNumber(txnNumber) }, { session });
  const insert = { insert: c.collectionName, documents: [{ _id: 1 }] };
  like('first', { n: 1, ok: 1 }, await numbered(insert, 5));
  like('again: the recorded result', { n: 1, ok: 1, retriedStmtIds: [0] }, await numbered(insert,
    5));
  const inc = { update: c.collectionName, updates: [{ q: { _id: 'n' }, u: { $inc: { n: 1 } } }] };
  for (let i = 0; i < 3; i += 1)
    like(`increment ${i}`, { n: 1, nModified: 1 }, await numbered(inc, 6));
  equal('once', 1, (await c.findOne({ _id: 'n' })).n);
  const modify = { findAndModify: c.collectionName, query: { _id: 'n' }, update: { $inc: { n: 1 } },
    new: true };
  equal('findAndModify', [2, 2], [(await numbered(modify, 7)).value.n,
    (await numbered(modify, 7)).value.n]);
  const remove = { delete: c.collectionName, deletes: [{ q: { _id: 1 }, limit: 1 }] };
  equal('delete', [1, 1], [(await numbered(remove, 8)).n, (await numbered(remove, 8)).n]);
  await fails('an old number', { code: 225, codeName: 'TransactionTooOld' }, numbered(insert, 4));
  const grown = { insert: c.collectionName, documents: [{ _id: 21 }, { _id: 22 }] };
  await numbered({ ...grown, documents: grown.documents.slice(0, 1) }, 9);
  like('only what is missing is done', { n: 2 }, await numbered(grown, 9));
  equal('both are there', 2, await c.countDocuments({ _id: { $gt: 20, $lt: 30 } }));
  await at.lab.command('stepdown 1');
  const elsewhere = (command, txnNumber) => eventually(() => numbered(command, txnNumber));
  like('the new primary remembers', { n: 1, retriedStmtIds: [0] }, await elsewhere(
    { ...grown, documents: grown.documents.slice(0, 1) }, 9));
  equal('and goes on', [3, 3], [(await numbered(modify, 10)).value.n,
    (await numbered(modify, 10)).value.n]);
  await at.lab.command('stepdown 1');
  like('so does the next', { value: { n: 3 } }, await elsewhere(modify, 10));
  like('updates of many are not retryable', { n: 0, writeErrors: [{ index: 0, code: 72 }] },
    await numbered({ update: c.collectionName,
      updates: [{ q: {}, u: { $inc: { n: 1 } }, multi: true }] }, 11));
  await client.close();
});

test('transactions are refused clearly', async () => {
  const c = await fresh([{ _id: 1 }]);
  const session = at.client.startSession();
  session.startTransaction();
  await fails('the first operation', { name: 'MongoServerError' }, c.insertOne({ _id: 2 },
    { session }));
  await session.abortTransaction().catch(() => {});
  await session.endSession();
  equal('and nothing was written', null, await c.findOne({ _id: 2 }));
});
