// Routers, a load balancer and a standalone.
import { connect, equal, eventually, fails, holds, like, test } from './harness.mjs';
import { Lab } from './lab.mjs';

async function described(uri, options) {
  let description;
  const client = await connect(uri, { ...options, minPoolSize: 0 });
  client.on('topologyDescriptionChanged', (event) => { description = event.newDescription; });
  await eventually(() => description ?? client.topology?.description, 3000);
  return [client, () => description ?? client.topology.description];
}

test('two routers', async () => {
  const lab = await Lab.start('--members', '3', '--routers', '2');
  const [client, description] = await described(lab.routers, { localThresholdMS: 5000 });
  const c = client.db('interop').collection('c');
  equal('hosts', 2, description().servers.size);
  like('hello', { msg: 'isdbgrid', isWritablePrimary: true }, await client.db('admin')
    .command({ hello: 1 }));
  equal('no set name', undefined, (await client.db('admin').command({ hello: 1 })).setName);
  await eventually(() => [...description().servers.values()].every((one) => one.type === 'Mongos'));
  equal('kind', 'Sharded', description().type);
  for (let i = 0; i < 40; i += 1) await c.insertOne({ _id: i, g: i % 4 });
  equal('all written', 40, await c.countDocuments());
  equal('both were used', 2, new Set(client.seen.map((one) => one.address)).size);
  equal('cursors stay where they are', 40, (await c.find({}, { batchSize: 3 }).toArray()).length);
  equal('aggregation', [{ _id: 0, n: 10 }, { _id: 1, n: 10 }, { _id: 2, n: 10 }, { _id: 3, n: 10 }],
    await c.aggregate([{ $group: { _id: '$g', n: { $sum: 1 } } },
      { $sort: { _id: 1 } }]).toArray());
  await fails('errors pass', 11000, c.insertOne({ _id: 1 }));
  await lab.command('stepdown 2');
  like('writes after a stepdown', { modifiedCount: 1 },
    await c.updateOne({ _id: 1 }, { $set: { x: 1 } }, { writeConcern: { w: 'majority' } }));
  equal('reads from secondaries', { _id: 2, g: 2 },
    await c.findOne({ _id: 2 }, { readPreference: 'secondary' }));
  const status = await client.db('admin').command({ buildInfo: 1 });
  holds('buildInfo', status.version.startsWith('8.2'), status.version);
  await client.close();
  await lab.stop();
});

test('a load balancer', async () => {
  const lab = await Lab.start('--members', '3', '--routers', '2', '--load-balancer');
  holds('the connection string', lab.balancer.includes('loadBalanced=true'), lab.balancer);
  const [client, description] = await described(lab.balancer);
  equal('kind', 'LoadBalanced', description().type);
  const ready = new Set();
  client.on('connectionReady', () => {});
  client.on('connectionCheckedOut',
  (event) => { if (event.serviceId) ready.add(event.serviceId); });
  const c = client.db('interop').collection('c');
  await c.insertMany(Array.from({ length: 30 }, (_, i) => ({ _id: i })));
  equal('cursors are pinned', 30, (await c.find({}, { batchSize: 4 }).toArray()).length);
  const cursors = Array.from({ length: 6 }, () => c.find({}, { batchSize: 2 }));
  const firsts = await Promise.all(cursors.map((one) => one.next()));
  equal('many at a time', [0, 0, 0, 0, 0, 0], firsts.map((one) => one._id));
  const all = await Promise.all(cursors.map((one) => one.toArray()));
  equal('each to its end', [29, 29, 29, 29, 29, 29], all.map((one) => one.length));
  like('retries', { insertedId: 'r' }, await (async () => {
    await lab.command('stepdown 2');
    return c.insertOne({ _id: 'r' });
  })());
  await client.close();
  await fails('a client must know of it', { name: 'MongoServerSelectionError',
    message: /load balanc/ }, connect(lab.balancer.replace('loadBalanced=true', ''),
    { serverSelectionTimeoutMS: 1500 }));
  await lab.stop();
});

test('a standalone', async () => {
  const lab = await Lab.start('--standalone');
  const [client, description] = await described(lab.uri);
  equal('kind', 'Single', description().type);
  const hello = await client.db('admin').command({ hello: 1 });
  equal('no set', [true, undefined, undefined], [hello.isWritablePrimary, hello.setName,
    hello.msg]);
  await fails('numbered writes need a set', { code: 20, codeName: 'IllegalOperation' },
    client.withSession((session) => client.db('interop').command(
      { insert: 'c', documents: [{}], txnNumber: 1n }, { session })));
  await client.close();
  const plain = await connect(lab.uri, { retryWrites: false });
  await plain.db('interop').collection('c').insertOne({ _id: 1 });
  equal('it stores', { _id: 1 }, await plain.db('interop').collection('c').findOne({}));
  await fails('it is no set', { code: 76, codeName: 'NoReplicationEnabled' },
    plain.db('admin').command({ replSetGetStatus: 1 }));
  await plain.close();
  await lab.stop();
});

test('older versions', async () => {
  for (const [version, wire] of [['4.4', 9], ['6.0', 17], ['7.0', 21], ['8.0', 25]]) {
    const lab = await Lab.start('--members', '1', '--version', version);
    const client = await connect(lab.uri);
    equal(version, wire, (await client.db('admin').command({ hello: 1 })).maxWireVersion);
    like(`${version} stores`, { acknowledged: true },
      await client.db('interop').collection('c').insertOne({}));
    await client.close();
    await lab.stop();
  }
});

test('rate limiters', async () => {
  const lab = await Lab.start('--members', '1');
  const client = await connect(lab.uri, { retryWrites: false, retryReads: false });
  const admin = client.db('admin');
  await admin.command({ setParameter: 1, ingressRequestAdmissionRatePerSec: 5 });
  await admin.command({ setParameter: 1, ingressRequestAdmissionBurstCapacitySecs: 1.0 });
  await admin.command({ setParameter: 1, ingressRequestRateLimiterEnabled: true });
  const results = await Promise.allSettled(Array.from({ length: 40 }, () =>
    client.db('interop').collection('c').findOne({})));
  const refused = results.filter((one) => one.status === 'rejected').map((one) => one.reason);
  holds('some are refused', refused.length > 0 && refused.length < 40, refused.length);
  equal('code and name', [462, 'IngressRequestRateLimitExceeded'],
    [refused[0]?.code, refused[0]?.codeName]);
  equal('labels', ['RetryableError', 'SystemOverloadedError'],
    [...(refused[0]?.errorLabels ?? [])].sort());
  like('hello is never refused', { ok: 1 }, await admin.command({ hello: 1 }));
  holds('it can be switched off again', await eventually(async () => {
    await admin.command({ setParameter: 1, ingressRequestRateLimiterEnabled: false });
    return true;
  }));
  const after = await Promise.allSettled(Array.from({ length: 40 },
    () => admin.command({ ping: 1 })));
  equal('then nothing is', 0, after.filter((one) => one.status === 'rejected').length);
  await client.close();
  await lab.stop();
});
