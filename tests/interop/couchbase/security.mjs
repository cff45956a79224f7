// TLS, certificates, tokens and alternate addresses.
import couchbase from 'couchbase';
import { login, withLab } from './context.mjs';
import { equal, fails, holds, test } from './harness.mjs';
import { canary } from './lab.mjs';

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

test('a new password lets new connections in, and the old one does not', () =>
  withLab([], async (lab, cluster) => {
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
    await eve.close();
  }));
