// Queries, prepared and not, their indexes, and analytics.
import couchbase from 'couchbase';
import { at, withLab } from './context.mjs';
import { equal, fails, holds, test } from './harness.mjs';

const { QueryScanConsistency, MutationState } = couchbase;
const rows = async (statement, options) => (await at.cluster.query(statement, options)).rows;
const values = async (statement, options) =>
  (await at.cluster.analyticsQuery(statement, options)).rows;

/// Ten documents in a collection of their own, which is made when it is first needed.
let seeded = null;
function seed() {
  seeded ??= (async () => {
    const manager = at.bucket.collections();
    await manager.createScope('queries');
    await manager.createCollection('numbers', 'queries');
    const numbers = at.bucket.scope('queries').collection('numbers');
    const made = await Promise.all([...Array(10).keys()].map((n) =>
      numbers.upsert(`n${n}`, { n, even: n % 2 === 0, text: 'é€' })));
    return { numbers, state: new MutationState(...made.map((one) => one.token)) };
  })();
  return seeded;
}
const path = '`default`.`queries`.`numbers`';

test('queries give rows, with parameters and metadata', async () => {
  await seed();
  equal('constant', [{ a: 1 }], await rows('SELECT 1 AS a'));
  equal('by place', [{ n: 8 }, { n: 9 }],
    await rows(`SELECT n FROM ${path} WHERE n > $1 ORDER BY n`, { parameters: [7] }));
  equal('by name', [9, 8], await rows(`SELECT RAW n FROM ${path} WHERE n > $least ORDER BY n DESC`,
    { parameters: { least: 7 } }));
  equal('counted', [5], await rows(`SELECT RAW COUNT(*) FROM ${path} WHERE even`));
  equal('by key', [{ numbers: { n: 3, even: false, text: 'é€' } }],
    await rows(`SELECT * FROM ${path} USE KEYS 'n3'`));
  equal('metadata', ['n1'], await rows(`SELECT RAW META().id FROM ${path} WHERE n = 1`));
  const shown = await at.cluster.query('SELECT 1', { clientContextId: 'mine', metrics: true,
    profile: couchbase.QueryProfileMode.Timings });
  equal('context', 'mine', shown.meta.clientContextId);
  equal('status', 'success', shown.meta.status);
  equal('results', 1, shown.meta.metrics.resultCount);
  holds('signature and profile', shown.meta.signature.$1 === 'number' && shown.meta.profile);
  const large = await rows('SELECT i, REPEAT("x", 100) AS s FROM ARRAY_RANGE(0, 20000) AS i');
  equal('many rows', 19999, large.at(-1).i + large.length - 20000);
});

test('queries in a scope mean its collections', async () => {
  await seed();
  const scope = at.bucket.scope('queries');
  equal('rows', [1], (await scope.query('SELECT RAW n FROM numbers WHERE n = 1')).rows);
  equal('prepared', [[2], [2]], await Promise.all([0, 1].map(async () =>
    (await scope.query('SELECT RAW n FROM numbers WHERE n = 2', { adhoc: false })).rows)));
  equal('analytics', [3],
    (await scope.analyticsQuery('SELECT VALUE n FROM numbers WHERE n = 3')).rows);
  await fails('elsewhere', couchbase.CouchbaseError,
    at.bucket.scope('nothing').query('SELECT * FROM numbers'));
});

test('prepared queries run on all nodes', async () => {
  for (let n = 0; n < 10; n += 1)
    equal(`run ${n}`, [n], await rows('SELECT RAW $1', { parameters: [n], adhoc: false }));
  const { meta } = await at.cluster.query('SELECT RAW 1', { adhoc: false });
  equal('status', 'success', meta.status);
});

test('queries change documents', async () => {
  await seed();
  const insert = `INSERT INTO ${path} (KEY, VALUE) VALUES ('new', {'n': 100})`;
  equal('inserted', [{ id: 'new', n: 100 }], await rows(`${insert} RETURNING META().id, n`));
  // The SDK does not see the reason, which lies deeper in the reply than it reads.
  await fails('it exists', couchbase.CouchbaseError, at.cluster.query(insert));
  const { numbers } = await seed();
  equal('stored', { n: 100 }, (await numbers.get('new')).content);
  const updated = await at.cluster.query(`UPDATE ${path} USE KEYS 'new' SET n = n + 1`,
    { metrics: true });
  equal('mutations', 1, updated.meta.metrics.mutationCount);
  equal('updated', { n: 101 }, (await numbers.get('new')).content);
  await fails('readonly', couchbase.CouchbaseError,
    at.cluster.query(`DELETE FROM ${path}`, { readOnly: true }));
  equal('removed', [101], await rows(`DELETE FROM ${path} WHERE n > 100 RETURNING RAW n`));
  await fails('gone', couchbase.DocumentNotFoundError, numbers.get('new'));
});

test('wrong queries fail with what is wrong', async () => {
  await fails('syntax', couchbase.ParsingFailureError, at.cluster.query('SLECT 1'));
  await fails('keyspace', couchbase.BucketNotFoundError, at.cluster.query('SELECT * FROM nothing'));
});

test('queries wait for what was written', async () => {
  const { numbers, state } = await seed();
  const count = `SELECT RAW COUNT(*) FROM ${path} WHERE n < 50`;
  equal('consistent', [10], await rows(count, { consistentWith: state }));
  await at.lab.command('index-lag all 300');
  try {
    const began = Date.now();
    const late = await numbers.upsert('late', { n: 49 });
    equal('not bounded', [10], await rows(count));
    equal('at plus', [11], await rows(count, { consistentWith: new MutationState(late.token) }));
    holds('it waited', Date.now() - began >= 290);
    await numbers.remove('late');
    equal('request plus', [10],
      await rows(count, { scanConsistency: QueryScanConsistency.RequestPlus }));
    await at.lab.command('hold-index all on');
    await numbers.upsert('held', { n: 49 });
    await fails('held', couchbase.TimeoutError, at.cluster.query(count,
      { timeout: 500, scanConsistency: QueryScanConsistency.RequestPlus }));
    await numbers.remove('held');
  } finally {
    await at.lab.command('hold-index all off');
    await at.lab.command('index-lag all 0');
  }
});

test('query indexes are created, built, watched and dropped', async () => {
  await seed();
  const indexes = at.cluster.queryIndexes();
  await indexes.createPrimaryIndex('default', { deferred: true });
  await fails('it exists', couchbase.IndexExistsError, indexes.createPrimaryIndex('default'));
  await indexes.createPrimaryIndex('default', { ignoreIfExists: true });
  await indexes.createIndex('default', 'by_n', ['n', 'even'], { deferred: true });
  const [primary, other] = await indexes.getAllIndexes('default');
  equal('primary', [true, '#primary', 'deferred'], [primary.isPrimary, primary.name, primary.state]);
  equal('keys', ['`n`', '`even`'], other.indexKey);
  await indexes.buildDeferredIndexes('default');
  await indexes.watchIndexes('default', ['#primary', 'by_n'], 5000);
  await indexes.dropIndex('default', 'by_n');
  await fails('gone', couchbase.IndexNotFoundError, indexes.dropIndex('default', 'by_n'));
  await indexes.dropPrimaryIndex('default');
  const own = (await seed()).numbers.queryIndexes();
  await own.createPrimaryIndex({ name: 'all' });
  const [listed] = await own.getAllIndexes();
  equal('of a collection', ['all', 'queries', 'numbers', 'online'],
    [listed.name, listed.scopeName, listed.collectionName, listed.state]);
  await own.dropPrimaryIndex({ name: 'all' });
  equal('none', [], await own.getAllIndexes());
});

test('analytics queries run over datasets', async () => {
  const manager = at.cluster.analyticsIndexes();
  await manager.createDataverse('verse');
  await fails('it exists', couchbase.DataverseExistsError, manager.createDataverse('verse'));
  await manager.createDataset('default', 'set', { dataverseName: 'verse' });
  await fails('it exists', couchbase.DatasetExistsError,
    manager.createDataset('default', 'set', { dataverseName: 'verse' }));
  await manager.connectLink({ dataverseName: 'verse' });
  holds('listed', (await manager.getAllDatasets()).some((one) => one.name === 'set'));
  await at.documents.upsert('analyzed', { kind: 'analyzed', n: 5 });
  equal('rows', [5], await values('SELECT VALUE n FROM verse.`set` WHERE kind = $1',
    { parameters: ['analyzed'] }));
  await manager.createIndex('set', 'by_n', { n: 'bigint' }, { dataverseName: 'verse' });
  holds('index', (await manager.getAllIndexes()).some((one) => one.name === 'by_n'));
  await manager.dropIndex('set', 'by_n', { dataverseName: 'verse' });
  equal('pending', {}, (await manager.getPendingMutations()).stats);
  const all = await at.cluster.analyticsQuery('SELECT VALUE $x', { parameters: { x: 3 },
    readOnly: true, priority: true, clientContextId: 'mine' });
  equal('by name', [3], all.rows);
  equal('metadata', ['success', 'mine', 1],
    [all.meta.status, all.meta.clientContextId, all.meta.metrics.resultCount]);
  await manager.dropDataset('set', { dataverseName: 'verse' });
  await fails('gone', couchbase.DatasetNotFoundError, values('SELECT * FROM verse.`set`'));
  await manager.dropDataverse('verse');
  await fails('syntax', couchbase.CompilationFailureError, values('SLECT 1'));
});

test('replies in pieces are read as a whole', async () => {
  await seed();
  const statement = `SELECT RAW text FROM ${path} WHERE n < 3`;
  const expected = ['é€', 'é€', 'é€'];
  for (const fault of [{ chunk_size: 1 }, { split: 'utf8' }]) {
    await at.lab.command(`fault pieces ${JSON.stringify({ service: 'query', ...fault })}`);
    equal(JSON.stringify(fault), expected, await rows(statement));
  }
  for (const fault of [{ error_code: 5000, after_rows: 2 }, { cut_after_rows: 2 }]) {
    await at.lab.command(`fault pieces ${JSON.stringify({ service: 'query', ...fault })}`);
    await fails(JSON.stringify(fault), couchbase.CouchbaseError, at.cluster.query(statement));
  }
  await at.lab.command('clear pieces');
  equal('then', expected, await rows(statement));
});

test('query goes on when its node is lost', () =>
  withLab(['--nodes', '3', '--replicas', '1'], async (lab, cluster, documents) => {
    for (let n = 0; n < 20; n += 1) await documents.upsert(`k${n}`, { n });
    const count = async () => (await cluster.query('SELECT RAW COUNT(*) FROM `default`',
      { readOnly: true, timeout: 5000 })).rows[0];
    equal('before', 20, await count());
    await lab.command('failover 2');
    for (let n = 0; n < 5; n += 1) equal(`after ${n}`, 20, await count());
  }));
