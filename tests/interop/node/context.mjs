// The three-member set that most suites share.
import { connect } from './harness.mjs';
import { Lab } from './lab.mjs';

export const at = { lab: null, client: null, db: null, admin: null };
let made = 0;

export async function start() {
  at.lab = await Lab.start('--members', '3');
  at.client = await connect(at.lab.uri);
  at.db = at.client.db('interop');
  at.admin = at.client.db('admin');
}

/// A collection of its own, with these documents.
export async function fresh(documents = []) {
  made += 1;
  const collection = at.db.collection(`c${made}`);
  if (documents.length > 0) await collection.insertMany(documents);
  return collection;
}

export const failPoint = (name, mode, data, on = at.admin) =>
  on.command({ configureFailPoint: name, mode, ...(data ? { data } : {}) });
