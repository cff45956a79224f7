// The driver's helpers for reading and writing.
import { Decimal128, Long, ObjectId } from 'mongodb';
import { at, fresh } from './context.mjs';
import { equal, fails, holds, like, test } from './harness.mjs';

test('insertOne', async () => {
  const c = await fresh();
  like('explicit id', { acknowledged: true, insertedId: 7 }, await c.insertOne({ _id: 7, a: 1 }));
  const made = await c.insertOne({ a: 2 });
  holds('an ObjectId is made', made.insertedId instanceof ObjectId);
  equal('found again', { _id: 7, a: 1 }, await c.findOne({ _id: 7 }));
  const error = await fails('same id', 11000,
    c.insertOne({ _id: 7 }));
  holds('E11000 is in the text', /^E11000 duplicate key error collection: interop\./
    .test(error.message), error.message);
  equal('keyPattern and keyValue', { p: { _id: 1 }, v: { _id: 7 } },
    { p: error.keyPattern, v: error.keyValue });
  like('an array is no id', { ok: 1, n: 0, writeErrors: [{ index: 0, code: 53,
    errmsg: "The '_id' value cannot be of type array" }] },
  await at.db.command({ insert: c.collectionName, documents: [{ _id: [1] }] }));
  await fails('a regex is no id', 53, c.insertOne({ _id: /x/ }));
});

test('insertMany', async () => {
  const c = await fresh();
  like('all in', { insertedCount: 3, insertedIds: { 0: 1, 1: 2, 2: 3 } },
    await c.insertMany([{ _id: 1 }, { _id: 2 }, { _id: 3 }]));
  const stopped = await fails('ordered', 11000, c.insertMany([{ _id: 4 }, { _id: 1 }, { _id: 5 }]));
  equal('stops at the error', 1, stopped.insertedCount ?? stopped.result.insertedCount);
  equal('and 5 is not there', null, await c.findOne({ _id: 5 }));
  const went = await fails('unordered', 11000,
    c.insertMany([{ _id: 1 }, { _id: 6 }, { _id: 2 }, { _id: 7 }], { ordered: false }));
  equal('goes on after errors', [0, 2], went.writeErrors.map((one) => one.index));
  equal('6 and 7 are there', 2, await c.countDocuments({ _id: { $in: [6, 7] } }));
});

test('values survive', async () => {
  const c = await fresh();
  const values = {
    _id: 1, long: Long.fromString('9007199254740993'), decimal: Decimal128.fromString('1.10'),
    date: new Date(1e12), nothing: null, list: [1, [2, { x: 3 }]], text: 'ünï\u0000code', yes: true,
    real: 0.1,
  };
  await c.insertOne(values);
  const back = await c.findOne({ _id: 1 }, { promoteLongs: false });
  equal('long', '9007199254740993', back.long.toString());
  equal('decimal', '1.10', back.decimal.toString());
  equal('date', new Date(1e12), back.date);
  equal('text with NUL', 'ünï\u0000code', back.text);
  equal('order of fields', Object.keys(values), Object.keys(back));
  await c.insertOne({ a: 1, _id: 2 });
  equal('_id comes first in a stored document', ['_id', 'a'],
    Object.keys(await c.findOne({ _id: 2 })));
});

test('updateOne and updateMany', async () => {
  const c = await fresh([{ _id: 1, x: 1 }, { _id: 2, x: 1 }, { _id: 3, x: 2 }]);
  like('one', { matchedCount: 1, modifiedCount: 1, upsertedCount: 0, upsertedId: null },
    await c.updateOne({ x: 1 }, { $inc: { x: 10 } }));
  like('nothing changes', { matchedCount: 1, modifiedCount: 0 },
    await c.updateOne({ _id: 3 }, { $set: { x: 2 } }));
  like('many', { matchedCount: 3, modifiedCount: 3 },
    await c.updateMany({}, { $set: { y: 1 } }));
  like('upsert', { matchedCount: 0, upsertedCount: 1, upsertedId: 9 },
    await c.updateOne({ _id: 9, z: { $eq: 5 } }, { $set: { x: 4 } }, { upsert: true }));
  equal('equalities of the filter are in it', { _id: 9, z: 5, x: 4 }, await c.findOne({ _id: 9 }));
  await fails('_id is immutable', 66, c.updateOne({ _id: 1 }, { $set: { _id: 5 } }));
  await fails('unknown operator', 9, c.updateOne({ _id: 1 }, { $what: { a: 1 } }));
  await fails('$inc of text', 14, (async () => {
    await c.updateOne({ _id: 1 }, { $set: { t: 'a' } });
    await c.updateOne({ _id: 1 }, { $inc: { t: 1 } });
  })());
  await fails('two operators for one path', 40,
    c.updateOne({ _id: 1 }, { $set: { q: 1 }, $inc: { q: 1 } }));
  like('pipeline', { modifiedCount: 1 },
    await c.updateOne({ _id: 3 }, [{ $set: { sum: { $add: ['$x', 40] } } }]));
  equal('computed', 42, (await c.findOne({ _id: 3 })).sum);
});

test('replaceOne', async () => {
  const c = await fresh([{ _id: 1, x: 1, y: 2 }]);
  like('replaced', { matchedCount: 1, modifiedCount: 1 }, await c.replaceOne({ x: 1 }, { z: 3 }));
  equal('keeps only its id', { _id: 1, z: 3 }, await c.findOne({}));
  like('upsert', { upsertedCount: 1, upsertedId: 2 },
    await c.replaceOne({ _id: 2 }, { z: 4 }, { upsert: true }));
  await fails('another id', 66, c.replaceOne({ _id: 1 }, { _id: 3 }));
});

test('deleteOne and deleteMany', async () => {
  const c = await fresh([1, 2, 3, 4].map((_id) => ({ _id, even: _id % 2 === 0 })));
  equal('one', 1, (await c.deleteOne({ even: true })).deletedCount);
  equal('many', 2, (await c.deleteMany({ even: false })).deletedCount);
  equal('none', 0, (await c.deleteMany({ _id: 99 })).deletedCount);
  equal('rest', [{ _id: 4, even: true }], await c.find().toArray());
});

test('findOneAndUpdate and its sisters', async () => {
  const c = await fresh([{ _id: 1, n: 1, g: 'a' }, { _id: 2, n: 2, g: 'a' }]);
  equal('before', { _id: 1, n: 1, g: 'a' },
    await c.findOneAndUpdate({ _id: 1 }, { $inc: { n: 10 } }));
  equal('after, by sort, with projection', { n: 12 }, await c.findOneAndUpdate({ g: 'a' },
    { $inc: { n: 1 } }, { sort: { n: -1 }, returnDocument: 'after', projection: { n: 1,
    _id: 0 } }));
  equal('no match', null, await c.findOneAndUpdate({ _id: 9 }, { $set: { n: 1 } }));
  like('with metadata', { lastErrorObject: { updatedExisting: false, n: 1, upserted: 5 }, ok: 1 },
    await c.findOneAndUpdate({ _id: 5 }, { $set: { n: 5 } },
      { upsert: true, includeResultMetadata: true }));
  equal('replace', { _id: 5, m: 1 },
    await c.findOneAndReplace({ _id: 5 }, { m: 1 }, { returnDocument: 'after' }));
  equal('delete', { _id: 5, m: 1 }, await c.findOneAndDelete({ _id: 5 }));
  equal('it is gone', null, await c.findOneAndDelete({ _id: 5 }));
  await fails('remove and update at once', 9,
    at.db.command({ findAndModify: c.collectionName, remove: true, update: { a: 1 } }));
});

test('counts and distinct', async () => {
  const c = await fresh([{ a: 1, b: [1, 2] }, { a: 1, b: [2, 3] }, { a: 2, b: 4 }]);
  equal('countDocuments', 2, await c.countDocuments({ a: 1 }));
  equal('estimated', 3, await c.estimatedDocumentCount());
  equal('skip and limit', 1, await c.countDocuments({}, { skip: 1, limit: 1 }));
  equal('distinct', [1, 2], await c.distinct('a'));
  equal('of arrays', [1, 2, 3, 4], (await c.distinct('b')).sort());
  equal('with filter', [4], await c.distinct('b', { a: 2 }));
  like('count command', { n: 2, ok: 1 },
    await at.db.command({ count: c.collectionName, query: { a: 1 } }));
});

test('projections', async () => {
  const c = await fresh([{ _id: 1, a: 1, b: { c: 2, d: 3 }, l: [1, 2, 3, 4],
    o: [{ k: 1, v: 'x' }, { k: 2, v: 'y' }] }]);
  const cases = [
    ['inclusion', { a: 1 }, { _id: 1, a: 1 }],
    ['without _id', { a: 1, _id: 0 }, { a: 1 }],
    ['exclusion', { a: 0, l: 0, o: 0 }, { _id: 1, b: { c: 2, d: 3 } }],
    ['nested', { 'b.c': 1, _id: 0 }, { b: { c: 2 } }],
    ['$slice', { l: { $slice: -2 }, a: 1, _id: 0 }, { a: 1, l: [3, 4] }],
    ['$slice with skip', { l: { $slice: [1, 2] }, a: 1, _id: 0 }, { a: 1, l: [2, 3] }],
    ['$elemMatch', { o: { $elemMatch: { k: 2 } }, _id: 0 }, { o: [{ k: 2, v: 'y' }] }],
    ['expression', { s: { $add: ['$a', 1] }, _id: 0 }, { s: 2 }],
  ];
  for (const [what, projection, expected] of cases)
    equal(what, expected, await c.findOne({}, { projection }));
  equal('positional', [{ k: 2, v: 'y' }],
    (await c.findOne({ 'o.k': 2 }, { projection: { 'o.$': 1 } })).o);
  await fails('mixed', 31254, c.findOne({}, { projection: { a: 1, b: 0 } }));
});
