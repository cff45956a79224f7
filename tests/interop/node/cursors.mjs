// Batches, limits, sorts, and the life of cursors.
import { Long } from 'mongodb';
import { at, failPoint, fresh } from './context.mjs';
import { commandsOf, equal, fails, holds, like, sleep, test } from './harness.mjs';

const numbers = (n) => Array.from({ length: n }, (_, i) => ({ _id: i }));
const ids = (documents) => documents.map((one) => one._id);

test('batches', async () => {
  const c = await fresh(numbers(10));
  commandsOf(at.client);
  equal('all', 10, (await c.find({}, { batchSize: 3 }).toArray()).length);
  equal('one find, three getMores', ['find', 'getMore', 'getMore', 'getMore'],
    commandsOf(at.client));
  await c.find({}, { limit: 5 }).toArray();
  equal('a limit within the first batch needs no getMore', ['find'], commandsOf(at.client));
  equal('limit over batches', 7, (await c.find({}, { batchSize: 3, limit: 7 }).toArray()).length);
  const first = await at.db.command({ find: c.collectionName, batchSize: 0 });
  equal('batchSize 0: an empty first batch', 0, first.cursor.firstBatch.length);
  holds('and an open cursor', !Long.fromValue(first.cursor.id).isZero());
  const next = await at.db.command({ getMore: Long.fromValue(first.cursor.id),
    collection: c.collectionName, batchSize: 4 });
  equal('getMore by hand', { ns: c.namespace, n: 4 },
    { ns: next.cursor.ns, n: next.cursor.nextBatch.length });
  like('killCursors', { cursorsKilled: [first.cursor.id], cursorsNotFound: [], cursorsAlive: [] },
    await at.db.command({ killCursors: c.collectionName,
      cursors: [Long.fromValue(first.cursor.id)] }));
  await fails('it is dead', { code: 43, codeName: 'CursorNotFound' }, at.db.command({
    getMore: Long.fromValue(first.cursor.id), collection: c.collectionName }));
  like('kill it again', { cursorsKilled: [], cursorsNotFound: [first.cursor.id] },
    await at.db.command({ killCursors: c.collectionName,
      cursors: [Long.fromValue(first.cursor.id)] }));
  like('singleBatch', { cursor: { id: 0 } },
    await at.db.command({ find: c.collectionName, batchSize: 2, singleBatch: true }));
});

test('sort, skip and limit', async () => {
  const c = await fresh([{ _id: 1, a: 2, b: 1 }, { _id: 2, a: 1, b: 1 }, { _id: 3, a: 2, b: 0 },
    { _id: 4 }, { _id: 5, a: 'x' }, { _id: 6, a: [0, 9] }]);
  equal('types are ordered', [4, 6, 2, 3, 1, 5], ids(await c.find().sort({ a: 1,
    b: 1 }).toArray()));
  equal('an array counts by its largest, descending', [5, 6],
    ids(await c.find().sort({ a: -1 }).limit(2).toArray()));
  equal('skip', [5, 6], ids(await c.find().sort({ _id: 1 }).skip(4).toArray()));
  equal('skip and limit', [2, 3], ids(await c.find().sort({ _id: 1 }).skip(1).limit(2).toArray()));
  await fails('a sort of zero', 15975, c.find().sort({ a: 1 }).toArray().then(() =>
    at.db.command({ find: c.collectionName, sort: { a: 0 } })));
  equal('natural, backwards', [6, 5],
    ids(await c.find().sort({ $natural: -1 }).limit(2).toArray()));
});

test('a cursor that is closed early', async () => {
  const c = await fresh(numbers(50));
  const cursor = c.find({}, { batchSize: 5 });
  equal('first', { _id: 0 }, await cursor.next());
  commandsOf(at.client);
  await cursor.close();
  equal('the server gets killCursors', ['killCursors'], commandsOf(at.client));
});

test('tailable cursors', async () => {
  const c = await at.db.createCollection('tail', { capped: true, size: 4096, max: 3 });
  await c.insertMany(numbers(5));
  equal('a capped collection forgets', [2, 3, 4], ids(await c.find().toArray()));
  const cursor = c.find({}, { tailable: true, awaitData: true, maxAwaitTimeMS: 5000 });
  equal('what is there', [2, 3, 4], [(await cursor.next())._id, (await cursor.next())._id,
    (await cursor.next())._id]);
  const began = Date.now();
  const coming = cursor.next();
  await sleep(100);
  await c.insertOne({ _id: 'new' });
  equal('what comes', { _id: 'new' }, await coming);
  holds('at once', Date.now() - began < 3000, Date.now() - began);
  await cursor.close();
  const open = await at.db.command({ find: 'tail', tailable: true, awaitData: true });
  const waited = Date.now();
  const none = await at.db.command({ getMore: Long.fromValue(open.cursor.id), collection: 'tail',
    maxTimeMS: 200 });
  equal('nothing comes: an empty batch', [], none.cursor.nextBatch);
  holds('after maxTimeMS', Math.abs(Date.now() - waited - 250) < 150, Date.now() - waited);
  holds('and the cursor lives', !Long.fromValue(none.cursor.id).isZero());
  await at.db.command({ killCursors: 'tail', cursors: [Long.fromValue(none.cursor.id)] });
  const plain = await fresh([{ _id: 1 }]);
  await fails('only of capped collections', 2, plain.find({}, { tailable: true }).toArray());
});

test('views', async () => {
  const c = await fresh([{ _id: 1, a: 1 }, { _id: 2, a: 2 }]);
  const view = await at.db.createCollection('v1',
    { viewOn: c.collectionName, pipeline: [{ $match: { a: 2 } }] });
  equal('find', [{ _id: 2, a: 2 }], await view.find().toArray());
  equal('count', 1, await view.countDocuments());
  await fails('no writes', 166, view.insertOne({ a: 1 }));
});

test('getMore that fails on the way', async () => {
  const c = await fresh(numbers(10));
  await failPoint('failCommand', { times: 1 }, { failCommands: ['getMore'], errorCode: 43 });
  await fails('getMore is not retried', 43, c.find({}, { batchSize: 2 }).toArray());
});

test('time limits and comments', async () => {
  const c = await fresh(numbers(3));
  await failPoint('failCommand', { times: 1 }, { failCommands: ['find'], errorCode: 50 });
  await fails('MaxTimeMSExpired', { code: 50, codeName: 'MaxTimeMSExpired' },
    c.find({}, { maxTimeMS: 1000 }).toArray());
  equal('comment and hint', [{ _id: 1 }],
    await c.find({ _id: 1 }, { comment: 'why', hint: { _id: 1 } }).toArray());
  await fails('a hint without an index', 2, c.find({}, { hint: { nope: 1 } }).toArray());
  equal('min and max', [1], ids(await c.find({}, { min: { _id: 1 }, max: { _id: 2 },
    hint: { _id: 1 } }).toArray()));
  equal('returnKey', [{ _id: 0 }], await c.find({ _id: 0 }, { returnKey: true,
    hint: { _id: 1 } }).toArray());
});
