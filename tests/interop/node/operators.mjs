// Query and update operators: one line each.
import { fresh } from './context.mjs';
import { equal, fails, test } from './harness.mjs';

const people = [
  { _id: 1, n: 5, s: 'apple', t: ['a', 'b'], o: [{ k: 1, v: 5 }, { k: 2, v: 9 }], d: { e: 1 } },
  { _id: 2, n: 10, s: 'Banana', t: ['b'], o: [{ k: 1, v: 9 }], d: { e: 2 } },
  { _id: 3, n: null, s: 'cherry', t: [] },
  { _id: 4, s: 'date', n: 7.5, t: 'b', bits: 5 },
];

const queries = [
  ['$eq', { n: { $eq: 10 } }, [2]],
  ['$ne: also where it is missing', { n: { $ne: 5 } }, [2, 3, 4]],
  ['$gt', { n: { $gt: 5 } }, [2, 4]],
  ['$gte and $lt', { n: { $gte: 5, $lt: 10 } }, [1, 4]],
  ['$lte', { n: { $lte: 5 } }, [1]],
  ['null matches missing', { d: null }, [3, 4]],
  ['$in', { s: { $in: ['apple', 'date'] } }, [1, 4]],
  ['$in with a regex', { s: { $in: [/^b/i] } }, [2]],
  ['$nin', { s: { $nin: ['apple', 'date'] } }, [2, 3]],
  ['$exists', { bits: { $exists: true } }, [4]],
  ['$exists false', { d: { $exists: false } }, [3, 4]],
  ['$type by name', { n: { $type: 'double' } }, [4]],
  ['$type of elements', { t: { $type: 'string' } }, [1, 2, 4]],
  ['$type array', { t: { $type: 'array' } }, [1, 2, 3]],
  ['$regex', { s: { $regex: '^b', $options: 'i' } }, [2]],
  ['regex literal', { s: /rr/ }, [3]],
  ['$not', { n: { $not: { $gt: 6 } } }, [1, 3]],
  ['$and', { $and: [{ n: { $gt: 1 } }, { t: 'a' }] }, [1]],
  ['$or', { $or: [{ n: 5 }, { s: 'date' }] }, [1, 4]],
  ['$nor', { $nor: [{ n: 5 }, { s: 'date' }] }, [2, 3]],
  ['$all', { t: { $all: ['a', 'b'] } }, [1]],
  ['$size', { t: { $size: 1 } }, [2]],
  ['$elemMatch of documents', { o: { $elemMatch: { k: 1, v: 9 } } }, [2]],
  ['fields over elements, without', { 'o.k': 1, 'o.v': 9 }, [1, 2]],
  ['$mod', { n: { $mod: [5, 0] } }, [1, 2]],
  ['dotted', { 'd.e': 2 }, [2]],
  ['by position', { 'o.1.k': 2 }, [1]],
  ['a whole document', { d: { e: 1 } }, [1]],
  ['a whole array', { t: ['b'] }, [2]],
  ['$bitsAllSet', { bits: { $bitsAllSet: 5 } }, [4]],
  ['$bitsAnyClear', { bits: { $bitsAnyClear: [1] } }, [4]],
  ['$expr', { $expr: { $gt: [{ $size: { $ifNull: ['$o', []] } }, 1] } }, [1]],
  ['$jsonSchema', { $jsonSchema: { required: ['bits'],
    properties: { n: { bsonType: 'double' } } } },
    [4]],
  ['$comment', { n: 5, $comment: 'no matter' }, [1]],
];

test('query operators', async () => {
  const c = await fresh(people);
  for (const [what, filter, expected] of queries)
    equal(what, expected, (await c.find(filter).sort({ _id: 1 }).toArray()).map((one) => one._id));
  const refused = [
    ['unknown operator', { n: { $what: 1 } }], ['unknown at the top', { $what: 1 }],
    ['$in needs an array', { n: { $in: 1 } }], ['$or needs one', { $or: [] }],
    ['$size of text', { t: { $size: 'x' } }], ['$mod of one', { n: { $mod: [2] } }],
  ];
  for (const [what, filter] of refused)
    await fails(what, { code: 2, codeName: 'BadValue' }, c.find(filter).toArray());
  await fails('a broken regex', 51091, c.find({ s: { $regex: '(' } }).toArray());
});

// before, update, after, options
const updates = [
  ['$set nested', { a: 1 }, { $set: { 'b.c': 2 } }, { a: 1, b: { c: 2 } }],
  ['$unset', { a: 1, b: 2 }, { $unset: { a: '' } }, { b: 2 }],
  ['$inc makes the field', { a: 1 }, { $inc: { b: 5 } }, { a: 1, b: 5 }],
  ['$mul of missing is 0', { a: 3 }, { $mul: { a: 2, b: 4 } }, { a: 6, b: 0 }],
  ['$min', { a: 5, b: 5 }, { $min: { a: 3, b: 8 } }, { a: 3, b: 5 }],
  ['$max', { a: 5, b: 5 }, { $max: { a: 3, b: 8 } }, { a: 5, b: 8 }],
  ['$rename', { a: 1, b: 2 }, { $rename: { a: 'z' } }, { b: 2, z: 1 }],
  ['$push', { l: [1] }, { $push: { l: 2 } }, { l: [1, 2] }],
  ['$push $each $sort $slice', { l: [5, 1] }, { $push: { l: { $each: [3, 9], $sort: 1,
    $slice: -3 } } },
    { l: [3, 5, 9] }],
  ['$push $position', { l: [1, 4] }, { $push: { l: { $each: [2, 3], $position: 1 } } },
    { l: [1, 2, 3, 4] }],
  ['$addToSet', { l: [1, 2] }, { $addToSet: { l: { $each: [2, 3, 3] } } }, { l: [1, 2, 3] }],
  ['$pull by value', { l: [1, 2, 1] }, { $pull: { l: 1 } }, { l: [2] }],
  ['$pull by condition', { l: [1, 5, 9] }, { $pull: { l: { $gte: 5 } } }, { l: [1] }],
  ['$pull of documents', { l: [{ k: 1, v: 2 }, { k: 2 }] }, { $pull: { l: { k: 1 } } },
    { l: [{ k: 2 }] }],
  ['$pullAll', { l: [1, 2, 3, 1] }, { $pullAll: { l: [1, 3] } }, { l: [2] }],
  ['$pop last', { l: [1, 2, 3] }, { $pop: { l: 1 } }, { l: [1, 2] }],
  ['$pop first', { l: [1, 2, 3] }, { $pop: { l: -1 } }, { l: [2, 3] }],
  ['$bit', { a: 13 }, { $bit: { a: { and: 10 } } }, { a: 8 }],
  ['all elements', { l: [1, 2] }, { $inc: { 'l.$[]': 10 } }, { l: [11, 12] }],
  ['filtered elements', { l: [{ g: 1, v: 0 }, { g: 2, v: 0 }] }, { $set: { 'l.$[e].v': 9 } },
    { l: [{ g: 1, v: 0 }, { g: 2, v: 9 }] }, { arrayFilters: [{ 'e.g': 2 }] }],
  ['an element by number', { l: [1] }, { $set: { 'l.2': 3 } }, { l: [1, null, 3] }],
  ['$setOnInsert does nothing to old ones', { a: 1 }, { $setOnInsert: { b: 1 }, $set: { a: 2 } },
    { a: 2 }],
  ['pipeline $unset', { a: 1, b: 2 }, [{ $unset: 'a' }, { $set: { b: { $multiply: ['$b', 3] } } }],
    { b: 6 }],
];

test('update operators', async () => {
  const c = await fresh();
  for (const [i, [what, before, update, after, options]] of updates.entries()) {
    await c.insertOne({ _id: i, ...before });
    await c.updateOne({ _id: i }, update, options);
    equal(what, { _id: i, ...after }, await c.findOne({ _id: i }));
  }
});

test('positional updates', async () => {
  const c = await fresh([{ _id: 1, g: [80, 85, 90] }, { _id: 2, g: [85, 95] }]);
  await c.updateMany({ g: 85 }, { $set: { 'g.$': 0 } });
  equal('the first match', [[80, 0, 90], [0, 95]],
    (await c.find().sort({ _id: 1 }).toArray()).map((one) => one.g));
  await fails('no match in the filter', 2, c.updateOne({ _id: 1 }, { $set: { 'g.$': 1 } }));
  await fails('a filter that is not used', 9,
    c.updateOne({ _id: 1 }, { $set: { x: 1 } }, { arrayFilters: [{ e: 1 }] }));
  await fails('an identifier without filter', 2, c.updateOne({ _id: 1 },
    { $set: { 'g.$[e]': 1 } }));
  const upserted = await c.findOneAndUpdate({ _id: 3 }, { $set: { a: 1 }, $setOnInsert: { b: 2 } },
    { upsert: true, returnDocument: 'after' });
  equal('$setOnInsert', { _id: 3, a: 1, b: 2 }, upserted);
  await c.updateOne({ _id: 3 }, { $currentDate: { at: true, ts: { $type: 'timestamp' } } });
  const dated = await c.findOne({ _id: 3 });
  equal('$currentDate', [true, 'Timestamp'], [dated.at instanceof Date, dated.ts._bsontype]);
  await fails('$push to a number', 2, c.updateOne({ _id: 3 }, { $push: { a: 1 } }));
  await fails('through a number', 28, c.updateOne({ _id: 3 }, { $set: { 'a.b': 1 } }));
});
