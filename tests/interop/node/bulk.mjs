// bulkWrite of a collection, and that of a client.
import { at, fresh } from './context.mjs';
import { equal, fails, like, test } from './harness.mjs';

test('bulkWrite, ordered', async () => {
  const c = await fresh([{ _id: 1, n: 0 }]);
  const result = await c.bulkWrite([
    { insertOne: { document: { _id: 2, n: 0 } } },
    { updateMany: { filter: {}, update: { $inc: { n: 1 } } } },
    { updateOne: { filter: { _id: 3 }, update: { $set: { n: 9 } }, upsert: true } },
    { replaceOne: { filter: { _id: 1 }, replacement: { r: 1 } } },
    { deleteOne: { filter: { _id: 2 } } },
  ]);
  like('counts', { insertedCount: 1, matchedCount: 3, modifiedCount: 3, deletedCount: 1,
    upsertedCount: 1, upsertedIds: { 2: 3 } }, result);
  equal('documents', [{ _id: 1, r: 1 }, { _id: 3, n: 9 }],
    await c.find().sort({ _id: 1 }).toArray());
});

test('bulkWrite with errors', async () => {
  const c = await fresh([{ _id: 1 }]);
  const ops = () => [
    { insertOne: { document: { _id: 2 } } }, { insertOne: { document: { _id: 1 } } },
    { insertOne: { document: { _id: 3 } } }, { insertOne: { document: { _id: 2 } } }];
  const ordered = await fails('ordered', { code: 11000, name: 'MongoBulkWriteError' },
    c.bulkWrite(ops()));
  equal('where it stopped', [1], ordered.writeErrors.map((one) => one.index));
  equal('inserted until then', 1, ordered.result.insertedCount);
  const unordered = await fails('unordered', 11000, c.bulkWrite(ops().slice(1),
    { ordered: false }));
  equal('all errors', [0, 2], unordered.writeErrors.map((one) => one.index));
  equal('inserted', 1, unordered.result.insertedCount);
  equal('the op is in the error', { _id: 2 }, unordered.writeErrors[1].err.op);
});

test('ordered bulk builder', async () => {
  const c = await fresh([{ _id: 1, a: 1 }]);
  const bulk = c.initializeOrderedBulkOp();
  bulk.insert({ _id: 2, a: 1 });
  bulk.find({ a: 1 }).update({ $set: { b: 1 } });
  bulk.find({ _id: 2 }).delete();
  like('counts', { insertedCount: 1, modifiedCount: 2, deletedCount: 1 }, await bulk.execute());
});

test('client.bulkWrite', async () => {
  const a = await fresh([{ _id: 1, n: 1 }]);
  const b = await fresh();
  const result = await at.client.bulkWrite([
    { namespace: b.namespace, name: 'insertOne', document: { _id: 5 } },
    { namespace: a.namespace, name: 'updateOne', filter: { _id: 1 }, update: { $inc: { n: 1 } } },
    { namespace: b.namespace, name: 'updateOne', filter: { _id: 6 }, update: { $set: { x: 1 } },
      upsert: true },
    { namespace: a.namespace, name: 'deleteMany', filter: { n: 2 } },
  ], { verboseResults: true });
  like('counts over two collections', { insertedCount: 1, matchedCount: 1, modifiedCount: 1,
    upsertedCount: 1, deletedCount: 1 }, result);
  equal('verbose results', [{ insertedId: 5 }], [...result.insertResults.values()]
    .map(({ insertedId }) => ({ insertedId })));
  const error = await fails('errors by index', { name: 'MongoClientBulkWriteError' },
    at.client.bulkWrite([
      { namespace: b.namespace, name: 'insertOne', document: { _id: 7 } },
      { namespace: b.namespace, name: 'insertOne', document: { _id: 5 } },
      { namespace: b.namespace, name: 'insertOne', document: { _id: 8 } },
    ]));
  equal('11000 at 1', [[1, 11000]], [...error.writeErrors].map(([i, one]) => [i, one.code]));
  equal('ordered: 8 is not there', null, await b.findOne({ _id: 8 }));
  const rest = await fails('unordered', { name: 'MongoClientBulkWriteError' },
    at.client.bulkWrite([
      { namespace: b.namespace, name: 'insertOne', document: { _id: 5 } },
      { namespace: b.namespace, name: 'insertOne', document: { _id: 8 } },
    ], { ordered: false }));
  equal('8 is there now', [1, { _id: 8 }],
    [rest.partialResult.insertedCount, await b.findOne({ _id: 8 })]);
});

test('a large bulk is split', async () => {
  const c = await fresh();
  const documents = Array.from({ length: 2500 }, (_, i) => ({ _id: i, pad: 'x'.repeat(1000) }));
  equal('all in', 2500, (await c.insertMany(documents)).insertedCount);
  equal('all there', 2500, await c.countDocuments());
});
