// Durable writes and reads from replicas.
import couchbase from 'couchbase';
import { at, fresh } from './context.mjs';
import { equal, fails, holds, sleep, test } from './harness.mjs';

const levels = [couchbase.DurabilityLevel.Majority,
  couchbase.DurabilityLevel.MajorityAndPersistOnMaster,
  couchbase.DurabilityLevel.PersistToMajority];

test('durable writes of all levels and kinds succeed', async () => {
  for (const durabilityLevel of levels) {
    const key = await fresh();
    await at.documents.insert(key, { n: 1 }, { durabilityLevel });
    await at.documents.upsert(key, { n: 2 }, { durabilityLevel });
    await at.documents.replace(key, { n: 3 }, { durabilityLevel });
    await at.documents.mutateIn(key, [couchbase.MutateInSpec.upsert('m', 4)], { durabilityLevel });
    equal('content', { n: 3, m: 4 }, (await at.documents.get(key)).content);
    await at.documents.remove(key, { durabilityLevel });
    equal('removed', false, (await at.documents.exists(key)).exists);
  }
});

test('durable changes of bytes and counters succeed', async () => {
  const binary = at.documents.binary();
  for (const durabilityLevel of levels) {
    const key = await fresh(Buffer.from('b'));
    await binary.append(key, Buffer.from('c'), { durabilityLevel });
    await binary.prepend(key, Buffer.from('a'), { durabilityLevel });
    equal('bytes', 'abc', (await at.documents.get(key)).content.toString());
    const counter = await fresh();
    equal('initial', 5, (await binary.increment(counter, 1, { initial: 5, durabilityLevel })).value);
    equal('up', 8, (await binary.increment(counter, 3, { durabilityLevel })).value);
    equal('down', 6, (await binary.decrement(counter, 2, { durabilityLevel })).value);
  }
});

test('a durable write that has too few copies is impossible', async () => {
  await at.lab.command('bucket many 3');
  const documents = at.cluster.bucket('many').defaultCollection();
  await documents.upsert('k', 1);
  await fails('majority', couchbase.DurabilityImpossibleError,
    documents.upsert('k', 2, { durabilityLevel: couchbase.DurabilityLevel.Majority }));
  await at.lab.command('drop-bucket many');
});

test('a durable write that is not acknowledged in time is ambiguous', async () => {
  const key = await fresh();
  for (const node of [0, 1]) await at.lab.command(`hold-replication ${node} on`);
  await fails('ambiguous', couchbase.CouchbaseError, at.documents.upsert(key, 1,
    { durabilityLevel: couchbase.DurabilityLevel.Majority, timeout: 1600 }), 3000);
  for (const node of [0, 1]) await at.lab.command(`hold-replication ${node} off`);
});

test('replicas are read', async () => {
  const key = await fresh();
  await at.documents.upsert(key, { n: 1 }, { durabilityLevel: levels[0] });
  await sleep(50);
  equal('any', { n: 1 }, (await at.documents.getAnyReplica(key)).content);
  const all = await at.documents.getAllReplicas(key);
  equal('copies', 2, all.length);
  equal('active ones', 1, all.filter((one) => !one.isReplica).length);
  const path = [couchbase.LookupInSpec.get('n')];
  equal('path of any', 1, (await at.documents.lookupInAnyReplica(key, path)).content[0].value);
  const paths = await at.documents.lookupInAllReplicas(key, path);
  equal('path of all', [1, 1], paths.map((one) => one.content[0].value));
});

test('a replica is read while the active node is silent', async () => {
  const key = await fresh();
  await at.documents.upsert(key, 1, { durabilityLevel: levels[0] });
  await sleep(50);
  for (const node of [0, 1]) {
    await at.lab.command(`freeze ${node}`);
    equal(`without node ${node}`, 1, (await at.documents.getAnyReplica(key)).content);
    await at.lab.command(`thaw ${node}`);
  }
});

test('a missing document has no replica', async () => {
  await fails('any', couchbase.DocumentUnretrievableError, at.documents.getAnyReplica('missing'));
  holds('all', (await at.documents.getAllReplicas('missing').catch(() => [])).length === 0);
});

test('data structures are kept in documents', async () => {
  const list = at.documents.list(await fresh());
  await list.push(1);
  await list.push(2);
  await list.unshift(0);
  equal('list', [0, 1, 2], await list.getAll());
  const map = at.documents.map(await fresh());
  await map.set('a', 1);
  equal('map', 1, await map.get('a'));
  const set = at.documents.set(await fresh());
  await set.add('x');
  equal('set', true, await set.contains('x'));
  const queue = at.documents.queue(await fresh());
  await queue.push('q');
  equal('queue', 'q', await queue.pop());
});
