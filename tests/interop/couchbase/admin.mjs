// Administration: buckets, scopes and collections, users and groups.
import couchbase from 'couchbase';
import { at } from './context.mjs';
import { equal, fails, holds, test } from './harness.mjs';
import { canary } from './lab.mjs';

test('buckets are created, listed, changed, flushed and dropped', async () => {
  const buckets = at.cluster.buckets();
  await buckets.createBucket({ name: 'made', ramQuotaMB: 128, numReplicas: 0, flushEnabled: true,
    bucketType: couchbase.BucketType.Couchbase, maxExpiry: 0 });
  await fails('again', couchbase.BucketExistsError,
    buckets.createBucket({ name: 'made', ramQuotaMB: 128 }));
  const made = await buckets.getBucket('made');
  equal('quota', 128, made.ramQuotaMB);
  equal('flush', true, made.flushEnabled);
  equal('replicas', 0, made.numReplicas);
  holds('listed', (await buckets.getAllBuckets()).some((one) => one.name === 'made'));
  const documents = at.cluster.bucket('made').defaultCollection();
  await documents.upsert('k', 1);
  await buckets.flushBucket('made');
  await fails('flushed', couchbase.DocumentNotFoundError, documents.get('k'));
  await buckets.updateBucket({ ...made, flushEnabled: false, ramQuotaMB: 256 });
  equal('changed', 256, (await buckets.getBucket('made')).ramQuotaMB);
  await fails('no flush', couchbase.BucketNotFlushableError, buckets.flushBucket('made'));
  await buckets.dropBucket('made');
  for (const call of [buckets.getBucket('made'), buckets.dropBucket('made'),
    buckets.flushBucket('made')])
    await fails('dropped', couchbase.BucketNotFoundError, call);
  await fails('quota', couchbase.InvalidArgumentError,
    buckets.createBucket({ name: 'small', ramQuotaMB: 1 }));
});

test('scopes and collections are created, listed, changed and dropped', async () => {
  const collections = at.bucket.collections();
  await collections.createScope('shop');
  await fails('scope again', couchbase.ScopeExistsError, collections.createScope('shop'));
  await collections.createCollection('items', 'shop', { maxExpiry: 3600 });
  await fails('collection again', couchbase.CollectionExistsError,
    collections.createCollection('items', 'shop'));
  await fails('no scope', couchbase.ScopeNotFoundError,
    collections.createCollection('items', 'nowhere'));
  const shop = (await collections.getAllScopes()).find((one) => one.name === 'shop');
  equal('collections', ['items'], shop.collections.map((one) => one.name));
  equal('expiry', 3600, shop.collections[0].maxExpiry);
  const items = at.bucket.scope('shop').collection('items');
  await items.upsert('k', { price: 1 });
  const read = await items.get('k', { withExpiry: true });
  const left = read.expiryTime - Date.now() / 1000;
  holds('documents expire', left > 3500 && left <= 3601);
  await collections.updateCollection('items', 'shop', { maxExpiry: 60 });
  const changed = (await collections.getAllScopes()).find((one) => one.name === 'shop');
  equal('changed', 60, changed.collections[0].maxExpiry);
  await collections.dropCollection('items', 'shop');
  await fails('collection dropped', couchbase.CollectionNotFoundError,
    collections.dropCollection('items', 'shop'));
  await collections.createCollection('items', 'shop');
  await fails('new and empty', couchbase.DocumentNotFoundError, items.get('k'));
  await collections.dropScope('shop');
  await fails('scope dropped', couchbase.ScopeNotFoundError, collections.dropScope('shop'));
});

test('users have roles and rights, and are dropped', async () => {
  const users = at.cluster.users();
  await users.upsertUser({ username: 'bob', password: canary.password, displayName: 'Bob',
    roles: [{ name: 'bucket_full_access', bucket: 'other' }] });
  const bob = await users.getUser('bob');
  equal('name', 'Bob', bob.displayName);
  equal('role', 'bucket_full_access', bob.effectiveRoles[0].name);
  equal('bucket', 'other', bob.effectiveRoles[0].bucket);
  holds('listed', (await users.getAllUsers()).some((one) => one.username === 'bob'));
  const own = await couchbase.connect(at.lab.uri, { username: 'bob', password: canary.password });
  await own.bucket('other').defaultCollection().upsert('k', 1);
  await fails('other bucket', couchbase.CouchbaseError,
    own.bucket('default').defaultCollection().get('k', { timeout: 700 }));
  await fails('administration', couchbase.CouchbaseError, own.buckets().dropBucket('other'));
  await own.close();
  holds('roles', (await users.getRoles()).some((one) => one.name === 'data_reader'));
  await fails('unknown role', couchbase.InvalidArgumentError,
    users.upsertUser({ username: 'x', password: canary.password, roles: ['nonsense'] }));
  await users.dropUser('bob');
  await fails('dropped', couchbase.UserNotFoundError, users.getUser('bob'));
});

test('groups give their roles to users', async () => {
  const users = at.cluster.users();
  await users.upsertGroup({ name: 'readers', description: 'read all',
    roles: [{ name: 'data_reader', bucket: '*' }] });
  equal('description', 'read all', (await users.getGroup('readers')).description);
  equal('listed', ['readers'], (await users.getAllGroups()).map((one) => one.name));
  await users.upsertUser({ username: 'ann', password: canary.password, groups: ['readers'],
    roles: [] });
  equal('role', ['data_reader'], (await users.getUser('ann')).effectiveRoles
    .map((one) => one.name));
  await users.dropUser('ann');
  await users.dropGroup('readers');
  await fails('dropped', couchbase.GroupNotFoundError, users.getGroup('readers'));
});

test('faults are set and counted by HTTP', async () => {
  const authorization = `Basic ${Buffer.from(`${canary.user}:${canary.password}`)
    .toString('base64')}`;
  const ask = (method, path, body) => fetch(at.lab.management + path,
    { method, body, headers: { authorization } });
  const fault = { name: 'busy', operations: ['get'], key_prefix: 'busy', status: 0x86, times: 3 };
  equal('set', 200, (await ask('POST', '/lab/faults', JSON.stringify(fault))).status);
  await at.documents.upsert('busy', 1);
  equal('retried', 1, (await at.documents.get('busy')).content);
  equal('hits', { busy: { hits: 3 } }, await (await ask('GET', '/lab/faults')).json());
  equal('cleared', 200, (await ask('DELETE', '/lab/faults')).status);
  equal('without login', 401, (await fetch(`${at.lab.management}/lab/faults`)).status);
  const lines = await (await ask('POST', '/lab/commands', 'status')).json();
  equal('nodes', 2, lines.lines.length);
});
