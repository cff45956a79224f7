// The cluster of two nodes that most suites share.
import couchbase from 'couchbase';
import { Lab, canary } from './lab.mjs';

export const at = { lab: null, cluster: null, bucket: null, documents: null };
let made = 0;

export const login = { username: canary.user, password: canary.password };

export async function start() {
  at.lab = await Lab.start('--couchbase', '--nodes', '2', '--replicas', '1', '--bucket', 'default',
    '--bucket', 'other', '--auth', `${canary.user}:${canary.password}`);
  at.cluster = await couchbase.connect(at.lab.uri, login);
  at.bucket = at.cluster.bucket('default');
  at.documents = at.bucket.defaultCollection();
  // The SDK connects to the nodes of a bucket when they are first needed.
  for (let n = 0; n < 8; n += 1) await at.documents.upsert(`ready-${n}`, n);
}

/// A cluster of its own, with a client; `use` gets both.
export async function withLab(options, use, credentials = login, uriOf = (lab) => lab.uri) {
  const lab = await Lab.start('--couchbase', '--auth', `${canary.user}:${canary.password}`,
    ...options);
  const cluster = await couchbase.connect(uriOf(lab), credentials);
  try {
    return await use(lab, cluster, cluster.bucket('default').defaultCollection());
  } finally {
    await cluster.close();
    await lab.stop();
  }
}

/// A key of its own, with this document if there is one.
export async function fresh(content) {
  made += 1;
  const key = `key-${made}`;
  if (content !== undefined) await at.documents.upsert(key, content);
  return key;
}
