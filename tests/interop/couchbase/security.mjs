// TLS, certificates, tokens and alternate addresses.
import couchbase from 'couchbase';
import { login, withLab } from './context.mjs';
import { equal, fails, holds, test } from './harness.mjs';
import { canary } from './lab.mjs';
import { Relay } from './relay.mjs';

const certificates = process.env.CERTIFICATES;
const tls = ['--host', 'localhost', '--tls', `${certificates}/server.pem`];
const trusting = (lab) => `${lab.tls}?trust_certificate=${certificates}/ca.pem`;

test('TLS works with a certificate that the client trusts, for documents and management', () =>
  withLab(tls, async (lab, cluster, documents) => {
    holds('uri', lab.tls.startsWith('couchbases://'));
    await documents.upsert('k', { secure: true });
    equal('content', { secure: true }, (await documents.get('k')).content);
    holds('buckets', (await cluster.buckets().getAllBuckets()).length === 1);
  }, login, trusting));

test('a certificate that is not trusted, or a handshake that fails, ends the connection', () =>
  withLab(tls, async (lab) => {
    const connect = () => couchbase.connect(
      `${trusting(lab)}&bootstrap_timeout=1500&kv_connect_timeout=500`, login);
    for (const wrong of [`tls all ${certificates}/untrusted.pem`,
      `tls all ${certificates}/expired.pem`, 'tls-fault all cut']) {
      await lab.command(wrong);
      await fails(wrong.split('/').pop(), couchbase.CouchbaseError, connect(), 4000);
    }
    await lab.command('tls-fault all none');
    await lab.command(`tls all ${certificates}/server.pem`);
    await (await connect()).close();
    holds('works again', true);
  }));

test('a client certificate is a login', () =>
  withLab(tls, async (lab) => {
    await lab.command(`tls all ${certificates}/server.pem ${certificates}/ca.pem ${canary.user}`);
    const authenticator = new couchbase.CertificateAuthenticator(`${certificates}/client.pem`,
      `${certificates}/client.pem`);
    const cluster = await couchbase.connect(trusting(lab), { authenticator });
    const documents = cluster.bucket('default').defaultCollection();
    await documents.upsert('k', 1);
    equal('content', 1, (await documents.get('k')).content);
    await cluster.close();
  }));

test('a token is a login, and an unknown one is refused', () =>
  withLab(tls, async (lab) => {
    await lab.command(`token good ${canary.user}`);
    const bearing = (token) => couchbase.connect(`${trusting(lab)}&bootstrap_timeout=1500`,
      { authenticator: new couchbase.JwtAuthenticator(token) });
    const cluster = await bearing('good');
    await cluster.bucket('default').defaultCollection().upsert('k', 1);
    await cluster.close();
    await fails('unknown', couchbase.AuthenticationFailureError, bearing('bad'), 1000);
  }));

test('alternate addresses are used where the others cannot be reached', () =>
  withLab(['--nodes', '2', '--host', 'inside.invalid', '--external', '127.0.0.1'],
    async (lab, cluster, documents) => {
      for (let n = 0; n < 32; n += 1) await documents.upsert(`k${n}`, n);
      equal('content', 31, (await documents.get('k31')).content);
      holds('management', (await cluster.buckets().getAllBuckets()).length === 1);
    }, login, (lab) => `${lab.external}?network=external`));

/// Client and lab, with a relay between them at an address that is announced as an alternate one.
const through = (options, use) => withLab(['--nodes', '2', '--external', '127.0.0.2'],
  async (lab) => {
    const relay = await Relay.start('127.0.0.2', lab.external);
    const cluster = await couchbase.connect(`${lab.external}?network=external${options}`, login);
    try {
      await use(relay, cluster.bucket('default').defaultCollection());
    } finally {
      await cluster.close();
      await relay.stop();
    }
  });

const upsertOpcode = 1;
const getOpcode = 0;

test('all connections of a client outside are to alternate addresses', () =>
  through('', async (relay, documents) => {
    for (let n = 0; n < 32; n += 1) await documents.upsert(`k${n}`, n);
    equal('all pass the relay', 32, relay.requests.get(upsertOpcode).all);
    holds('connections to both nodes', relay.connections >= 2);
  }));

test('compressible documents travel compressed both ways', () =>
  through('', async (relay, documents) => {
    const content = { text: 'compress me '.repeat(1000) };
    await documents.upsert('k', content);
    equal('content', content, (await documents.get('k')).content);
    equal('short', 'short', (await documents.upsert('s', 'short'),
      await documents.get('s')).content);
    const [sent, answered] = [relay.requests.get(upsertOpcode), relay.replies.get(getOpcode)];
    equal('requests', [2, 1], [sent.all, sent.compressed]);
    equal('replies', [2, 1], [answered.all, answered.compressed]);
    holds('bytes', sent.bytes < 2000 && answered.bytes < 2000);
  }));

test('a client that does not compress gets whole documents', () =>
  through('&enable_compression=false', async (relay, documents) => {
    const content = { text: 'compress me '.repeat(1000) };
    await documents.upsert('k', content);
    equal('content', content, (await documents.get('k')).content);
    equal('requests', 0, relay.requests.get(upsertOpcode).compressed);
    equal('replies', 0, relay.replies.get(getOpcode).compressed);
  }));

test('a new password lets new connections in, and the old one does not', () =>
  withLab(['--bucket', 'default', '--bucket', 'other'], async (lab, cluster) => {
    const first = { username: 'eve', password: `${canary.password}-first` };
    const second = { username: 'eve', password: `${canary.password}-second` };
    await cluster.users().upsertUser({ ...first, roles: ['admin'] });
    const eve = await couchbase.connect(lab.uri, first);
    const documents = eve.bucket('default').defaultCollection();
    await documents.upsert('k', 1);
    await eve.users().changePassword(second.password);
    await documents.upsert('k', 2);
    await fails('old', couchbase.AuthenticationFailureError,
      couchbase.connect(lab.uri, first), 1000);
    const again = await couchbase.connect(lab.uri, second);
    await again.close();
    eve.updateCredentials(new couchbase.PasswordAuthenticator(second.username, second.password));
    const elsewhere = eve.bucket('other').defaultCollection();
    await elsewhere.upsert('k', 3);
    equal('new connections have the new one', 3, (await elsewhere.get('k')).content);
    await eve.close();
  }));
