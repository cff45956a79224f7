// Indexes: made, listed, obeyed and dropped.
import { at, fresh } from './context.mjs';
import { equal, fails, holds, like, test } from './harness.mjs';

test('create and list', async () => {
  const c = await fresh([{ a: 1 }]);
  equal('the name', 'a_1_b_-1', await c.createIndex({ a: 1, b: -1 }));
  equal('a name of one\'s own', 'mine', await c.createIndex({ c: 1 }, { name: 'mine',
    sparse: true }));
  like('listed', [{ v: 2, key: { _id: 1 }, name: '_id_' }, { v: 2, key: { a: 1, b: -1 },
    name: 'a_1_b_-1' }, { v: 2, key: { c: 1 }, name: 'mine', sparse: true }], await c.indexes());
  like('made again', { numIndexesBefore: 3, numIndexesAfter: 3, ok: 1,
    note: 'all indexes already exist' }, await at.db.command({ createIndexes: c.collectionName,
    indexes: [{ key: { a: 1, b: -1 }, name: 'a_1_b_-1' }] }));
  await fails('same name, other keys', { code: 86, codeName: 'IndexKeySpecsConflict' },
    c.createIndex({ d: 1 }, { name: 'mine' }));
  await fails('same keys, other options', { code: 85, codeName: 'IndexOptionsConflict' },
    c.createIndex({ c: 1 }, { name: 'other', sparse: true }));
  await fails('a direction of zero', 67, c.createIndex({ z: 0 }));
  await fails('of a missing collection', { code: 26, codeName: 'NamespaceNotFound' },
    at.db.collection('missing').indexes());
  holds('indexExists', await c.indexExists('mine'));
});

test('unique', async () => {
  const c = await fresh([{ _id: 1, u: 1, v: 1 }, { _id: 2, u: 2, v: 1 }]);
  await c.createIndex({ u: 1 }, { unique: true });
  const error = await fails('insert', 11000, c.insertOne({ u: 1 }));
  equal('what collided', { p: { u: 1 }, v: { u: 1 } }, { p: error.keyPattern, v: error.keyValue });
  holds('the index is named', /index: u_1 dup key: \{ u: 1 \}/.test(error.message), error.message);
  const update = await fails('update', 11000, c.updateOne({ _id: 2 }, { $set: { u: 1 } }));
  equal('keyPattern', { u: 1 }, update.keyPattern);
  const modify = await fails('findAndModify', { code: 11000, codeName: 'DuplicateKey' },
    c.findOneAndUpdate({ _id: 2 }, { $set: { u: 1 } }));
  equal('keyPattern there', { u: 1 }, modify.keyPattern);
  await c.insertOne({ _id: 3 });
  await fails('missing counts as null', 11000, c.insertOne({ u: null }));
  await fails('over existing duplicates', 11000, c.createIndex({ v: 1 }, { unique: true }));
  await c.deleteOne({ _id: 1 });
  like('free again', { acknowledged: true }, await c.insertOne({ _id: 4, u: 1 }));
});

test('sparse, partial and multikey', async () => {
  const c = await fresh();
  await c.createIndex({ s: 1 }, { unique: true, sparse: true });
  await c.insertMany([{ _id: 1 }, { _id: 2 }]);
  equal('sparse: missing may repeat', 2, await c.countDocuments());
  await c.createIndex({ p: 1 }, { unique: true, partialFilterExpression: { on: true } });
  await c.insertMany([{ p: 1 }, { p: 1 }, { p: 1, on: true }]);
  await fails('partial: within the filter', 11000, c.insertOne({ p: 1, on: true }));
  await c.deleteMany({});
  await c.createIndex({ m: 1 }, { unique: true });
  await c.insertOne({ m: [1, 2] });
  await fails('each element counts', 11000, c.insertOne({ m: 2 }));
  await c.createIndex({ 'x.y': 1, z: 1 });
  await fails('parallel arrays', { code: 171 }, c.insertOne({ m: 9, x: [{ y: 1 }], z: [1, 2] }));
});

test('drop', async () => {
  const c = await fresh([{ a: 1 }]);
  await c.createIndexes([{ key: { a: 1 } }, { key: { b: 1 } }, { key: { d: 1 } }]);
  like('by name', { nIndexesWas: 4, ok: 1 }, await c.dropIndex('a_1'));
  like('by keys', { nIndexesWas: 3 },
    await at.db.command({ dropIndexes: c.collectionName, index: { b: 1 } }));
  await fails('_id', 72, c.dropIndex('_id_'));
  await fails('unknown', { code: 27, codeName: 'IndexNotFound' }, c.dropIndex('nope'));
  await c.dropIndexes();
  equal('all but _id', ['_id_'], (await c.indexes()).map((one) => one.name));
  await fails('deleteIndexes, the old name', 27,
    at.db.command({ deleteIndexes: c.collectionName, index: 'nope' }));
});

test('ttl, hidden and collMod', async () => {
  const c = await fresh([{ a: new Date() }]);
  await c.createIndex({ a: 1 }, { expireAfterSeconds: 3600 });
  like('changed', { expireAfterSeconds_old: 3600, expireAfterSeconds_new: 60, ok: 1 },
    await at.db.command({ collMod: c.collectionName,
      index: { keyPattern: { a: 1 }, expireAfterSeconds: 60 } }));
  equal('listed', 60, (await c.indexes())[1].expireAfterSeconds);
  like('hidden', { hidden_old: false, hidden_new: true }, await at.db.command({
    collMod: c.collectionName, index: { name: 'a_1', hidden: true } }));
  await fails('a hidden index is no hint', 2, c.find({}, { hint: 'a_1' }).toArray());
  await fails('_id does not expire', 67, c.createIndex({ _id: 1 }, { expireAfterSeconds: 5 }));
});

test('collation', async () => {
  const c = await fresh([{ _id: 'a' }, { _id: 'B' }, { _id: 'c' }]);
  const collation = { locale: 'en', strength: 2 };
  equal('match without case', ['B'],
    (await c.find({ _id: 'b' }, { collation }).toArray()).map((one) => one._id));
  equal('binary order', ['B', 'a', 'c'],
    (await c.find().sort({ _id: 1 }).toArray()).map((one) => one._id));
  equal('order of the language', ['a', 'B', 'c'],
    (await c.find({}, { collation }).sort({ _id: 1 }).toArray()).map((one) => one._id));
  await c.deleteMany({});
  await c.createIndex({ n: 1 }, { unique: true, collation });
  await c.insertOne({ n: 'x' });
  await fails('unique without case', 11000, c.insertOne({ n: 'X' }));
});

test('explain', async () => {
  const c = await fresh([{ a: 1 }, { a: 2 }]);
  const plan = await c.find({ a: 1 }).explain('executionStats');
  equal('namespace', c.namespace, plan.queryPlanner.namespace);
  equal('nReturned', 1, plan.executionStats.nReturned);
  await c.createIndex({ a: 1 });
  const { queryPlanner } = await c.find({ a: 1 }).explain('queryPlanner');
  const text = JSON.stringify(queryPlanner.winningPlan);
  holds('the index is used', text.includes('IXSCAN') && text.includes('a_1'), text);
});
