// Retryable writes and reads of the driver, through faults, stepdowns and crashes.
import { at, failPoint, fresh } from './context.mjs';
import { commandsOf, connect, equal, fails, holds, like, sleep, test } from './harness.mjs';

// what happens on the way, and how often the driver then sends the command
const faults = [
  ['the connection is closed', { closeConnection: true }],
  ['ShutdownInProgress', { errorCode: 91 }],
  ['NotWritablePrimary', { errorCode: 10107 }],
  ['PrimarySteppedDown', { errorCode: 189 }],
  ['HostUnreachable', { errorCode: 6 }],
  ['InterruptedDueToReplStateChange', { errorCode: 11602 }],
];

test('a fault on the way to an insert', async () => {
  const c = await fresh([{ _id: 'first' }]);
  // A fault is no change of the set, so a driver that has stopped trusting its primary waits for
  // the next heartbeat.
  const client = await connect(at.lab.uri, { heartbeatFrequencyMS: 500 });
  const mine = client.db('interop').collection(c.collectionName);
  for (const [i, [what, fault]] of faults.entries()) {
    await failPoint('failCommand', { times: 1 }, { failCommands: ['insert'], ...fault });
    await mine.findOne({});
    commandsOf(client);
    like(what, { acknowledged: true, insertedId: i }, await mine.insertOne({ _id: i }));
    equal(`${what}: sent twice`, ['insert', 'insert'], commandsOf(client));
  }
  equal('each is there once', faults.length,
    await mine.countDocuments({ _id: { $type: 'number' } }));
  await failPoint('failCommand', { times: 2 }, { failCommands: ['insert'], errorCode: 91 });
  const error = await fails('twice is too much', 91, mine.insertOne({ _id: 'x' }));
  equal('the label', true, error.hasErrorLabel('RetryableWriteError'));
  await failPoint('failCommand', { times: 1 }, { failCommands: ['insert'], errorCode: 8000 });
  commandsOf(client);
  await fails('other codes are not retried', 8000, mine.insertOne({ _id: 'x' }));
  equal('sent once', ['insert'], commandsOf(client));
  await client.close();
  const never = await connect(at.lab.uri, { retryWrites: false });
  await failPoint('failCommand', { times: 1 }, { failCommands: ['insert'], errorCode: 91 });
  const plain = await fails('without retryWrites', 91,
    never.db('interop').collection('x').insertOne({}));
  equal('no label then', false, plain.hasErrorLabel('RetryableWriteError'));
  await never.close();
});

test('a reply that is lost', async () => {
  const c = await fresh([{ _id: 1, n: 0 }]);
  const lost = () => failPoint('onPrimaryTransactionalWrite', { times: 1 });
  await lost();
  commandsOf(at.client);
  like('updateOne', { matchedCount: 1, modifiedCount: 1 },
    await c.updateOne({ _id: 1 }, { $inc: { n: 1 } }));
  equal('sent twice', ['update', 'update'], commandsOf(at.client));
  equal('done once', 1, (await c.findOne({ _id: 1 })).n);
  await lost();
  equal('findOneAndUpdate', { _id: 1, n: 2 }, await c.findOneAndUpdate({ _id: 1 },
    { $inc: { n: 1 } },
    { returnDocument: 'after' }));
  await lost();
  like('upsert', { upsertedId: 2 }, await c.updateOne({ _id: 2 }, { $inc: { n: 1 } },
    { upsert: true }));
  await lost();
  equal('deleteOne', 1, (await c.deleteOne({ _id: 2 })).deletedCount);
  await lost();
  equal('insertMany', 3, (await c.insertMany([{ _id: 3 }, { _id: 4 }, { _id: 5 }])).insertedCount);
  equal('all once', [1, 3, 4, 5],
    (await c.find().sort({ _id: 1 }).toArray()).map((one) => one._id));
  await lost();
  like('bulkWrite', { insertedCount: 1, modifiedCount: 1 }, await c.bulkWrite([
    { insertOne: { document: { _id: 6 } } }, { updateOne: { filter: { _id: 1 },
      update: { $inc: { n: 1 } } } }]));
  equal('once there too', 3, (await c.findOne({ _id: 1 })).n);
  await lost();
  like('client.bulkWrite', { modifiedCount: 1 }, await at.client.bulkWrite([{ name: 'updateOne',
    namespace: c.namespace, filter: { _id: 1 }, update: { $inc: { n: 1 } } }]));
  equal('and there', 4, (await c.findOne({ _id: 1 })).n);
  await failPoint('onPrimaryTransactionalWrite', { times: 1 },
    { closeConnection: false, failBeforeCommitExceptionCode: 91 });
  like('failed before the commit', { modifiedCount: 1 },
    await c.updateOne({ _id: 1 }, { $inc: { n: 1 } }));
  equal('done once by the retry', 5, (await c.findOne({ _id: 1 })).n);
  await failPoint('onPrimaryTransactionalWrite', 'off');
});

test('retryable reads', async () => {
  const c = await fresh([{ _id: 1 }]);
  for (const [command, run] of [
    ['find', () => c.find().toArray()], ['aggregate', () => c.aggregate([]).toArray()],
    ['distinct', () => c.distinct('_id')], ['count', () => c.estimatedDocumentCount()],
    ['listCollections', () => at.db.listCollections({ name: c.collectionName }).toArray()],
    ['listIndexes', () => c.indexes()],
    ['listDatabases', () => at.admin.admin().listDatabases()]]) {
    await failPoint('failCommand', { times: 1 }, { failCommands: [command],
      closeConnection: true });
    commandsOf(at.client);
    await run();
    equal(command, [command, command], commandsOf(at.client));
  }
});

test('writes through a stepdown', async () => {
  const c = await fresh([{ _id: 1, n: 0 }]);
  const before = await at.lab.primary();
  let acknowledged = 0;
  let going = true;
  const writing = (async () => {
    while (going) {
      await c.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { writeConcern: { w: 'majority' } });
      acknowledged += 1;
    }
  })();
  await at.lab.command('stepdown 3');
  const after = await at.lab.primary();
  await c.findOne({});
  going = false;
  await writing;
  holds('another one leads', after !== before, { before, after });
  equal('no write was lost or done twice', acknowledged, (await c.findOne({ _id: 1 })).n);
  const connection = at.client.seen.at(-1).address;
  equal('the driver talks to the new primary', at.lab.hosts[after], connection);
});

test('writes through a crash', async () => {
  const c = await fresh([{ _id: 1, n: 0 }]);
  const primary = await at.lab.primary();
  await at.lab.command(`crash ${primary}`);
  await sleep(20); // the driver does not retry a write to a socket whose end it is just learning of
  like('at once', { modifiedCount: 1 },
    await c.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { writeConcern: { w: 'majority' } }));
  await at.lab.command(`restart ${primary}`);
  like('all three again', { modifiedCount: 1 }, await c.updateOne({ _id: 1 }, { $inc: { n: 1 } },
    { writeConcern: { w: 3, wtimeoutMS: 10000 } }));
  const back = await connect(at.lab.direct(primary));
  equal('the one that crashed has all', { _id: 1, n: 2 }, await back.db('interop')
    .collection(c.collectionName).findOne({}, { readPreference: 'secondaryPreferred' }));
  await back.close();
});

test('stepping down by command', async () => {
  const primary = await at.lab.primary();
  const error = await at.admin.command({ replSetStepDown: 1, force: true }).then(() => null,
    (e) => e);
  equal('it answers', null, error);
  const after = await at.lab.primary();
  const old = await connect(at.lab.direct(primary), { heartbeatFrequencyMS: 500 });
  const admin = old.db('admin');
  like('a secondary can be frozen', { ok: 1 }, await admin.command({ replSetFreeze: 1 }));
  like('and thawed', { ok: 1, info: 'unfreezing' }, await admin.command({ replSetFreeze: 0 }));
  like('maintenance', { ok: 1 }, await admin.command({ replSetMaintenance: true }));
  like('shows as recovering', { isWritablePrimary: false, secondary: false },
    await admin.command({ hello: 1 }));
  like('and ends', { ok: 1 }, await admin.command({ replSetMaintenance: false }));
  await fails('only a primary steps down', { code: 10107 }, admin.command({ replSetStepDown: 1 }));
  holds('replSetStepUp', await (async () => {
    for (let i = 0; i < 50; i += 1) {
      const done = await admin.command({ replSetStepUp: 1 }).then(() => true, () => false);
      if (done && await at.lab.primary() === primary) return true;
      await new Promise((next) => setTimeout(next, 100));
    }
    return false;
  })(), { primary, after });
  await old.close();
});
