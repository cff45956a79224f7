// Compression and TLS.
import { connect as dial, createServer } from 'node:net';
import { at } from './context.mjs';
import { connect, equal, fails, holds, like, test } from './harness.mjs';
import { Lab } from './lab.mjs';

/// Stands between a client and a member, and counts what passes.
async function meter(host) {
  const [name, port] = host.split(':');
  const counted = { up: 0, down: 0, opcodes: new Set() };
  const open = new Set();
  const server = createServer((client) => {
    const member = dial(Number(port), name);
    open.add(client).add(member);
    client.on('data', (bytes) => {
      counted.up += bytes.length;
      if (bytes.length >= 16) counted.opcodes.add(bytes.readInt32LE(12));
      member.write(bytes);
    });
    member.on('data', (bytes) => {
      counted.down += bytes.length;
      client.write(bytes);
    });
    for (const [one, other] of [[client, member], [member, client]]) {
      one.on('error', () => {});
      one.on('close', () => other.destroy());
    }
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  counted.uri = `mongodb://127.0.0.1:${server.address().port}/?directConnection=true`;
  counted.close = () => {
    server.close();
    for (const socket of open) socket.destroy();
  };
  return counted;
}

for (const compressor of ['none', 'zlib', 'snappy']) {
  test(`compression by ${compressor}`, async () => {
    const passed = await meter(at.lab.hosts[await at.lab.primary()]);
    const client = await connect(passed.uri,
      compressor === 'none' ? {} : { compressors: compressor });
    const c = client.db('interop').collection(`compressed_${compressor}`);
    const text = 'all work and no play '.repeat(20000);
    await c.insertOne({ _id: 1, text });
    equal('it comes back', text, (await c.findOne({ _id: 1 })).text);
    if (compressor === 'none') {
      holds('400 kB up and down', passed.up > text.length && passed.down > text.length, passed);
      equal('OP_MSG, after OP_QUERY at most', false, passed.opcodes.has(2012));
    } else {
      holds('OP_COMPRESSED was sent', passed.opcodes.has(2012), [...passed.opcodes]);
      holds('few bytes up', passed.up < 60000, passed.up);
      holds('few bytes down', passed.down < 60000, passed.down);
    }
    await client.close();
    passed.close();
  });
}

test('TLS', async () => {
  const folder = process.env.CERTIFICATES;
  const lab = await Lab.start('--members', '3', '--tls', `${folder}/server.pem`);
  const hosts = `mongodb://${lab.hosts.join(',')}/?replicaSet=rs0`;
  const ca = { tls: true, tlsCAFile: `${folder}/ca.pem` };
  const client = await connect(hosts, ca);
  const c = client.db('interop').collection('c');
  await c.insertOne({ _id: 1, text: 'x'.repeat(100000) });
  equal('a large document', 100000, (await c.findOne({ _id: 1 })).text.length);
  await lab.command('stepdown 2');
  like('and after a stepdown', { matchedCount: 1 }, await c.updateOne({ _id: 1 },
    { $set: { a: 1 } }));
  await client.close();
  const quick = { serverSelectionTimeoutMS: 1500 };
  await fails('without TLS', { name: 'MongoServerSelectionError' }, connect(hosts, quick));
  await fails('another CA', { name: 'MongoServerSelectionError' },
    connect(hosts, { tls: true, tlsCAFile: `${folder}/other_ca.pem`, ...quick }));
  holds('the connection string says so', /[?&]tls=true/.test(lab.uri), lab.uri);
  await lab.stop();
});
