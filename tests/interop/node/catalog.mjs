// Collections and databases.
import { Long } from 'mongodb';
import { at, fresh } from './context.mjs';
import { equal, fails, holds, like, test } from './harness.mjs';

const names = async (filter) =>
  (await at.db.listCollections(filter).toArray()).map((one) => one.name).sort();

test('create, list and drop a collection', async () => {
  await at.db.createCollection('plain');
  like('listed', [{ name: 'plain', type: 'collection', info: { readOnly: false },
    idIndex: { v: 2, key: { _id: 1 }, name: '_id_' } }],
  await at.db.listCollections({ name: 'plain' }).toArray());
  equal('names only', [{ name: 'plain', type: 'collection' }],
    await at.db.listCollections({ name: 'plain' }, { nameOnly: true }).toArray());
  await fails('twice, with other options', { code: 48, codeName: 'NamespaceExists' },
    at.db.createCollection('plain', { capped: true, size: 4096 }));
  equal('dropped', true, await at.db.dropCollection('plain'));
  equal('gone', [], await names({ name: 'plain' }));
  like('since 7.0 a drop of nothing is fine', { ok: 1 }, await at.db.command({ drop: 'plain' }));
  await fails('an empty name', 73, at.db.command({ create: '' }));
  await fails('an unknown option', { code: 40415 }, at.db.command({ create: 'x', what: 1 }));
});

test('capped collections', async () => {
  const c = await at.db.createCollection('capped', { capped: true, size: 8192, max: 2 });
  await c.insertMany([{ _id: 1 }, { _id: 2 }, { _id: 3 }]);
  equal('the last two', [{ _id: 2 }, { _id: 3 }], await c.find().toArray());
  holds('isCapped', await c.isCapped());
  like('options', { options: { capped: true, size: 8192, max: 2 } },
    (await at.db.listCollections({ name: 'capped' }).toArray())[0]);
  await fails('capped without size', 72, at.db.command({ create: 'c9', capped: true }));
});

test('rename', async () => {
  const c = await fresh([{ _id: 1 }]);
  const other = await fresh([{ _id: 2 }]);
  const old = c.collectionName;
  await c.createIndex({ a: 1 });
  const renamed = await c.rename('renamed');
  equal('documents went along', [{ _id: 1 }], await renamed.find().toArray());
  equal('indexes too', 2, (await renamed.indexes()).length);
  await fails('the source is gone', { code: 26, codeName: 'NamespaceNotFound' },
    at.admin.command({ renameCollection: `interop.${old}`, to: 'interop.x' }));
  await fails('the target exists', 48, renamed.rename(other.collectionName));
  await renamed.rename(other.collectionName, { dropTarget: true });
  equal('unless it is dropped', [{ _id: 1 }], await other.find().toArray());
  equal('admin says what version the data is for', { _id: 'featureCompatibilityVersion',
    version: '8.2' }, await at.admin.collection('system.version').findOne());
  await fails('only in admin', 13,
    at.db.command({ renameCollection: 'interop.a', to: 'interop.b' }));
});

test('validators', async () => {
  const c = await at.db.createCollection('valid', { validator: { $jsonSchema: {
    bsonType: 'object', required: ['n'], properties: { n: { bsonType: 'int', minimum: 1 } } } } });
  const error = await fails('refused', 121, c.insertOne({ _id: 1, n: 0 }));
  holds('why', error.errInfo?.failingDocumentId === 1 && error.errInfo?.details, error.errInfo);
  like('accepted', { insertedId: 2 }, await c.insertOne({ _id: 2, n: 5 }));
  await fails('updates too', 121, c.updateOne({ _id: 2 }, { $set: { n: 'x' } }));
  like('bypassed', { modifiedCount: 1 },
    await c.updateOne({ _id: 2 }, { $set: { n: 'x' } }, { bypassDocumentValidation: true }));
  like('collMod', { ok: 1 }, await at.db.command({ collMod: 'valid', validator: { z: 1 },
    validationAction: 'warn' }));
  like('only a warning', { insertedId: 3 }, await c.insertOne({ _id: 3 }));
  like('listed', { options: { validator: { z: 1 }, validationAction: 'warn' } },
    (await at.db.listCollections({ name: 'valid' }).toArray())[0]);
  await fails('collMod of nothing', 26, at.db.command({ collMod: 'missing', validator: {} }));
});

test('databases', async () => {
  const other = at.client.db('other');
  await other.collection('c').insertOne({ _id: 1 });
  const listed = await at.admin.admin().listDatabases();
  holds('listed', ['admin', 'interop', 'local', 'other'].every((name) =>
    listed.databases.some((one) => one.name === name)), listed);
  equal('names only', ['other'], (await at.admin.admin().listDatabases({ nameOnly: true,
    filter: { name: 'other' } })).databases.map((one) => one.name));
  equal('dropped', true, await other.dropDatabase());
  equal('gone', [], (await at.admin.admin().listDatabases({ nameOnly: true,
    filter: { name: 'other' } })).databases);
  like('a drop of nothing', { ok: 1 }, await other.command({ dropDatabase: 1 }));
  await fails('only in admin', 13, other.command({ listDatabases: 1 }));
});

test('statistics', async () => {
  const c = await fresh([{ _id: 1, a: 'x' }, { _id: 2, a: 'y' }]);
  like('collStats', { ns: c.namespace, count: 2, nindexes: 1, capped: false, ok: 1 },
    await at.db.command({ collStats: c.collectionName }));
  like('collstats', { count: 2 }, await at.db.command({ collstats: c.collectionName }));
  const stats = await at.client.db('interop').stats();
  holds('dbStats', stats.db === 'interop' && stats.collections > 0 && stats.objects > 0, stats);
  like('dbstats', { db: 'empty', collections: 0, objects: 0 },
    await at.client.db('empty').command({ dbstats: 1 }));
  like('validate', { ns: c.namespace, valid: true, nrecords: 2, nIndexes: 1, ok: 1 },
    await at.db.command({ validate: c.collectionName }));
  await fails('validate of nothing', 26, at.db.command({ validate: 'missing' }));
});

test('options that are kept or refused', async () => {
  await at.db.command({ create: 'clustered', clusteredIndex: { key: { _id: 1 }, unique: true } });
  like('clusteredIndex', { options: { clusteredIndex: { key: { _id: 1 }, unique: true } } },
    (await at.db.listCollections({ name: 'clustered' }).toArray())[0]);
  await fails('a view on nothing', { code: 2, codeName: 'BadValue' },
    at.db.createCollection('selfish', { viewOn: '', pipeline: [] }));
  await fails('names with $', 73, at.db.collection('a').insertOne({}).then(() =>
    at.db.command({ create: 'a$b' })));
  await fails('reads of a negative limit', { code: 51024 },
    at.db.command({ find: 'x', limit: Long.fromNumber(-1) }));
});
