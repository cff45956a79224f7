// Aggregation: stages and what writes.
import { at, fresh } from './context.mjs';
import { equal, fails, holds, like, test } from './harness.mjs';

const sales = [
  { _id: 1, item: 'a', price: 10, qty: 2, tags: ['x', 'y'] },
  { _id: 2, item: 'b', price: 20, qty: 1, tags: ['y'] },
  { _id: 3, item: 'a', price: 30, qty: 5, tags: [] },
  { _id: 4, item: 'c', price: 5, qty: 10 },
];

const pipelines = [
  ['$match and $project', [{ $match: { item: 'a' } }, { $project: { total: { $multiply: ['$price',
    '$qty'] } } }], [{ _id: 1, total: 20 }, { _id: 3, total: 150 }]],
  ['$group', [{ $group: { _id: '$item', n: { $sum: 1 }, sum: { $sum: '$qty' },
    avg: { $avg: '$price' },
    lo: { $min: '$price' }, hi: { $max: '$price' } } }, { $sort: { _id: 1 } }],
  [{ _id: 'a', n: 2, sum: 7, avg: 20, lo: 10, hi: 30 }, { _id: 'b', n: 1, sum: 1, avg: 20, lo: 20,
    hi: 20 }, { _id: 'c', n: 1, sum: 10, avg: 5, lo: 5, hi: 5 }]],
  ['$push, $first, $last', [{ $sort: { _id: 1 } }, { $group: { _id: null, all: { $push: '$_id' },
    first: { $first: '$item' }, last: { $last: '$item' } } }],
  [{ _id: null, all: [1, 2, 3, 4], first: 'a', last: 'c' }]],
  ['$unwind', [{ $unwind: '$tags' }, { $project: { tags: 1 } }], [{ _id: 1, tags: 'x' },
    { _id: 1, tags: 'y' }, { _id: 2, tags: 'y' }]],
  ['$unwind keeping the empty', [{ $unwind: { path: '$tags', preserveNullAndEmptyArrays: true,
    includeArrayIndex: 'i' } }, { $match: { _id: { $gt: 2 } } }, { $project: { i: 1 } }],
  [{ _id: 3, i: null }, { _id: 4, i: null }]],
  ['$sort, $skip, $limit', [{ $sort: { price: -1 } }, { $skip: 1 }, { $limit: 2 },
    { $project: { _id: 1 } }], [{ _id: 2 }, { _id: 1 }]],
  ['$count', [{ $match: { qty: { $gt: 1 } } }, { $count: 'n' }], [{ n: 3 }]],
  ['$addFields', [{ $match: { _id: 4 } }, { $addFields: { dear: { $gt: ['$price', 7] } } }],
    [{ _id: 4, item: 'c', price: 5, qty: 10, dear: false }]],
  ['$unset', [{ $match: { _id: 4 } }, { $unset: ['price', 'qty'] }], [{ _id: 4, item: 'c' }]],
  ['$replaceRoot', [{ $match: { _id: 2 } }, { $replaceRoot: { newRoot: { was: '$item' } } }],
    [{ was: 'b' }]],
  ['$sortByCount', [{ $sortByCount: '$item' }, { $limit: 1 }], [{ _id: 'a', count: 2 }]],
  ['$bucket', [{ $bucket: { groupBy: '$price', boundaries: [0, 15, 40],
    output: { n: { $sum: 1 } } } }], [{ _id: 0, n: 2 }, { _id: 15, n: 2 }]],
  ['$facet', [{ $facet: { cheap: [{ $match: { price: { $lt: 10 } } }, { $project: { _id: 1 } }],
    n: [{ $count: 'n' }] } }], [{ cheap: [{ _id: 4 }], n: [{ n: 4 }] }]],
  ['$cond and $switch', [{ $match: { _id: 1 } }, { $project: { _id: 0, c: { $cond: ['$qty', 'yes',
    'no'] }, s: { $switch: { branches: [{ case: { $eq: ['$item', 'b'] }, then: 1 }],
    default: 2 } } } }], [{ c: 'yes', s: 2 }]],
  ['$map, $filter, $reduce', [{ $match: { _id: 1 } }, { $project: { _id: 0,
    m: { $map: { input: '$tags', in: { $toUpper: '$$this' } } },
    f: { $filter: { input: '$tags', as: 't', cond: { $eq: ['$$t', 'y'] } } },
    r: { $reduce: { input: [1, 2, 3], initialValue: 0, in: { $add: ['$$value', '$$this'] } } } } }],
  [{ m: ['X', 'Y'], f: ['y'], r: 6 }]],
  ['$literal and dates', [{ $limit: 1 }, { $project: { _id: 0, a: { $literal: '$x' },
    d: { $dateToString: { date: new Date(0), format: '%Y-%m-%d' } } } }], [{ a: '$x',
    d: '1970-01-01' }]],
];

test('stages', async () => {
  const c = await fresh(sales);
  for (const [what, pipeline, expected] of pipelines)
    equal(what, expected, await c.aggregate(pipeline).toArray());
  await fails('unknown stage', 40324, c.aggregate([{ $what: {} }]).toArray());
  await fails('two in one', 40323, c.aggregate([{ $match: {}, $limit: 1 }]).toArray());
  await fails('unknown expression', { code: 168, codeName: 'InvalidPipelineOperator' },
    c.aggregate([{ $addFields: { a: { $what: 1 } } }]).toArray());
  await fails('in a projection', { code: 31325, codeName: 'Location31325' },
    c.aggregate([{ $project: { a: { $what: 1 } } }]).toArray());
  await fails('unknown accumulator', 15952,
    c.aggregate([{ $group: { _id: 1, a: { $what: 1 } } }]).toArray());
  await fails('$limit of 0', 15958, c.aggregate([{ $limit: 0 }]).toArray());
  await fails('division by zero', 2,
    c.aggregate([{ $project: { a: { $divide: [1, 0] } } }]).toArray());
  await fails('a command without cursor', { code: 9 },
    at.db.command({ aggregate: c.collectionName, pipeline: [] }));
});

test('batches of an aggregation', async () => {
  const c = await fresh(sales);
  equal('all', 4, (await c.aggregate([], { batchSize: 1 }).toArray()).length);
  equal('a missing collection is empty', [],
    await at.db.collection('missing').aggregate([{ $match: {} }]).toArray());
  equal('$documents', [{ x: 1 }, { x: 2 }],
    await at.db.aggregate([{ $documents: [{ x: 1 }, { x: 2 }] }]).toArray());
  equal('$sample', 2, (await c.aggregate([{ $sample: { size: 2 } }]).toArray()).length);
  equal('$collStats count', 4,
    (await c.aggregate([{ $collStats: { count: {} } }]).toArray())[0].count);
  equal('$indexStats', ['_id_'], (await c.aggregate([{ $indexStats: {} }]).toArray())
    .map((one) => one.name));
});

test('$lookup and $unionWith', async () => {
  const orders = await fresh([{ _id: 1, of: 'a' }, { _id: 2, of: 'z' }]);
  const items = await fresh([{ _id: 'a', price: 1 }, { _id: 'b', price: 2, up: 'a' },
    { _id: 'c', up: 'b' }]);
  equal('by fields', [{ _id: 1, of: 'a', item: [{ _id: 'a', price: 1 }] },
    { _id: 2, of: 'z', item: [] }], await orders.aggregate([{ $lookup: { from: items.collectionName,
    localField: 'of', foreignField: '_id', as: 'item' } }]).toArray());
  equal('by pipeline', [{ _id: 1, n: [{ n: 1 }] }], await orders.aggregate([{ $match: { _id: 1 } },
    { $lookup: { from: items.collectionName, let: { of: '$of' }, as: 'n',
      pipeline: [{ $match: { $expr: { $eq: ['$_id', '$$of'] } } }, { $count: 'n' }] } },
    { $project: { n: 1 } }]).toArray());
  equal('$unionWith', 5, (await orders.aggregate([{ $unionWith: items.collectionName }]).toArray())
    .length);
});

test('$out and $merge', async () => {
  const c = await fresh(sales);
  const out = await fresh([{ _id: 'old' }]);
  equal('$out gives nothing', [], await c.aggregate([{ $match: { item: 'a' } },
    { $project: { price: 1 } }, { $out: out.collectionName }]).toArray());
  equal('and replaces all', [{ _id: 1, price: 10 }, { _id: 3, price: 30 }],
    await out.find().sort({ _id: 1 }).toArray());
  await c.aggregate([{ $match: { _id: { $in: [1, 2] } } }, { $project: { qty: 1 } },
    { $merge: { into: out.collectionName } }]).toArray();
  equal('$merge: merged, inserted, kept', [{ _id: 1, price: 10, qty: 2 }, { _id: 2, qty: 1 },
    { _id: 3, price: 30 }], await out.find().sort({ _id: 1 }).toArray());
  await c.aggregate([{ $project: { z: '1' } }, { $merge: { into: out.collectionName,
    whenMatched: 'keepExisting', whenNotMatched: 'discard' } }]).toArray();
  equal('keep and discard', 3, await out.countDocuments({ z: { $exists: false } }));
  await fails('whenMatched fail', 11000, c.aggregate([{ $merge: { into: out.collectionName,
    whenMatched: 'fail' } }]).toArray());
  await fails('$out must be last', 40601,
    c.aggregate([{ $out: 'x' }, { $match: {} }]).toArray());
});

test('explain of an aggregation', async () => {
  const c = await fresh(sales);
  const plan = await c.aggregate([{ $match: { item: 'a' } }]).explain();
  holds('there is a plan', JSON.stringify(plan).includes('winningPlan'), plan);
  like('explain as a command', { ok: 1, command: { count: c.collectionName } },
    await at.db.command({ explain: { count: c.collectionName, query: {} } }));
});
