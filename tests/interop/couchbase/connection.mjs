import couchbase from 'couchbase';
import { at, fresh, login } from './context.mjs';
import { equal, fails, holds, test } from './harness.mjs';
import { canary } from './lab.mjs';

const unknown = { username: 'unknown', password: canary.password };
const wrong = { ...login, password: canary.wrong };

test('a wrong password or an unknown user is refused at once', async () => {
  await fails('password', couchbase.AuthenticationFailureError,
    couchbase.connect(at.lab.uri, wrong), 1000);
  await fails('user', couchbase.AuthenticationFailureError,
    couchbase.connect(at.lab.uri, unknown), 1000);
});

test('ping reaches both nodes', async () => {
  const report = await at.bucket.ping({ serviceTypes: [couchbase.ServiceType.KeyValue] });
  const endpoints = Object.values(report.services).flat().filter((one) => one.state === 'ok' ||
    one.state === 0);
  holds('endpoints', endpoints.length >= 2);
});

test('diagnostics and ping of the cluster name nodes and services', async () => {
  const seen = await at.cluster.diagnostics();
  holds('connections', seen.services.kv.length >= 2);
  holds('id', seen.id.length > 0);
  const report = await at.cluster.ping({ serviceTypes: [couchbase.ServiceType.KeyValue,
    couchbase.ServiceType.Management] });
  holds('management answers', report.services.mgmt.length >= 1);
  holds('all are well', Object.values(report.services).flat()
    .every((one) => one.state === 'ok' || one.state === 0));
});

test('waiting until cluster and bucket are ready ends at once', async () => {
  const began = Date.now();
  await at.cluster.waitUntilReady(2000);
  await at.bucket.waitUntilReady(2000);
  holds('quick', Date.now() - began < 1000);
});

test('buckets are apart', async () => {
  const other = at.cluster.bucket('other').defaultCollection();
  await at.documents.upsert('same', 'here');
  await other.upsert('same', 'there');
  equal('here', 'here', (await at.documents.get('same')).content);
  equal('there', 'there', (await other.get('same')).content);
});

test('collections are apart, and a new one of an old name is empty', async () => {
  await at.lab.command('scope default s');
  await at.lab.command('collection default s c');
  const found = at.bucket.scope('s').collection('c');
  await found.upsert('k', 1);
  equal('there', 1, (await found.get('k')).content);
  await fails('not here', couchbase.DocumentNotFoundError, at.documents.get('k'));
  await at.lab.command('drop-collection default s c');
  await at.lab.command('collection default s c');
  await fails('new and empty', couchbase.DocumentNotFoundError, found.get('k'));
  await found.upsert('k', 2);
  equal('again', 2, (await found.get('k')).content);
});

test('an unknown collection is not found', async () => {
  const none = at.bucket.scope('s').collection('none');
  await fails('get', couchbase.CouchbaseError, none.get('k', { timeout: 700 }));
});

test('a bucket that is not there is refused by name', async () => {
  const none = at.cluster.bucket('nowhere').defaultCollection();
  await fails('get', couchbase.CouchbaseError, none.get('k', { timeout: 700 }), 2000);
});


test('operations end by their timeout when no node answers', async () => {
  const key = await fresh(1);
  for (const node of [0, 1]) await at.lab.command(`freeze ${node}`);
  const began = Date.now();
  await fails('get', couchbase.UnambiguousTimeoutError, at.documents.get(key, { timeout: 300 }));
  await fails('upsert', couchbase.AmbiguousTimeoutError,
    at.documents.upsert(key, 2, { timeout: 300 }));
  holds('in time', Date.now() - began < 900);
  for (const node of [0, 1]) await at.lab.command(`thaw ${node}`);
  await at.documents.upsert(key, 3);
  equal('goes on', 3, (await at.documents.get(key)).content);
});
