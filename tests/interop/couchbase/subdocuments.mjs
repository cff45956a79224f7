import couchbase from 'couchbase';
import { at, fresh } from './context.mjs';
import { equal, fails, holds, test } from './harness.mjs';

const { LookupInSpec: look, MutateInSpec: change, LookupInMacro, MutateInMacro } = couchbase;
const values = (result) => result.content.map((one) => one.value);

test('lookupIn reads paths, counts and whole documents', async () => {
  const key = await fresh({ a: { b: [1, 2, { c: 'x' }] }, 'd.e': 5, n: null });
  const found = await at.documents.lookupIn(key, [
    look.get('a.b[2].c'), look.get('a.b[-1]'), look.get('`d.e`'), look.get('n'),
    look.exists('a'), look.exists('z'), look.count('a.b'), look.count('')]);
  equal('values', ['x', { c: 'x' }, 5, null, true, false, 3, 3], values(found));
  const whole = await at.documents.lookupIn(key, [look.get('')]);
  equal('whole', 5, whole.content[0].value['d.e']);
});

test('lookupIn reports an error for each path', async () => {
  const key = await fresh({ a: 1 });
  const found = await at.documents.lookupIn(key, [look.get('z'), look.get('a.b'), look.get('a[')]);
  const kinds = [couchbase.PathNotFoundError, couchbase.PathMismatchError,
    couchbase.PathInvalidError];
  found.content.forEach((one, n) => holds(kinds[n].name, one.error instanceof kinds[n]));
  await fails('missing', couchbase.DocumentNotFoundError,
    at.documents.lookupIn('missing', [look.get('a')]));
});

test('projections read some fields of a document', async () => {
  const key = await fresh({ a: 1, b: { c: 2, d: 3 }, e: 4 });
  const read = await at.documents.get(key, { project: ['a', 'b.d'] });
  equal('content', { a: 1, b: { d: 3 } }, read.content);
});

test('mutateIn changes members', async () => {
  const key = await fresh({ a: 1, gone: true });
  await at.documents.mutateIn(key, [change.insert('b', 2), change.upsert('a', [0]),
    change.replace('a[0]', 9), change.remove('gone'),
    change.upsert('x.y.z', 'deep', { createPath: true })]);
  equal('content', { a: [9], b: 2, x: { y: { z: 'deep' } } },
    (await at.documents.get(key)).content);
});

test('mutateIn changes arrays', async () => {
  const key = await fresh({ list: [2] });
  await at.documents.mutateIn(key, [change.arrayAppend('list', 5),
    change.arrayPrepend('list', 1), change.arrayInsert('list[2]', 3),
    change.arrayAddUnique('list', 7), change.arrayAppend('list', [8, 9], { multi: true })]);
  equal('content', [1, 2, 3, 5, 7, 8, 9], (await at.documents.get(key)).content.list);
  await fails('not unique', couchbase.PathExistsError,
    at.documents.mutateIn(key, [change.arrayAddUnique('list', 7)]));
});

test('mutateIn counts and gives the sums', async () => {
  const key = await fresh({ n: 40 });
  const done = await at.documents.mutateIn(key, [change.increment('n', 2),
    change.decrement('m', 3)]);
  equal('sums', [42, -3], values(done));
});

test('mutateIn changes all or nothing', async () => {
  const key = await fresh({ a: 1 });
  await fails('exists', couchbase.PathExistsError,
    at.documents.mutateIn(key, [change.upsert('b', 2), change.insert('a', 2)]));
  await fails('no parent', couchbase.PathNotFoundError,
    at.documents.mutateIn(key, [change.upsert('b', 2), change.upsert('x.y', 2)]));
  await fails('mismatch', couchbase.PathMismatchError,
    at.documents.mutateIn(key, [change.upsert('b', 2), change.upsert('a.b', 2)]));
  equal('content', { a: 1 }, (await at.documents.get(key)).content);
});

test('mutateIn obeys store semantics and CAS', async () => {
  const key = await fresh();
  await fails('missing', couchbase.DocumentNotFoundError,
    at.documents.mutateIn(key, [change.upsert('a', 1)]));
  await at.documents.mutateIn(key, [change.upsert('a', 1)],
    { storeSemantics: couchbase.StoreSemantics.Insert });
  await fails('insert', couchbase.DocumentExistsError, at.documents.mutateIn(key,
    [change.upsert('a', 2)], { storeSemantics: couchbase.StoreSemantics.Insert }));
  const { cas } = await at.documents.mutateIn(key, [change.upsert('b', 2)],
    { upsertDocument: true });
  await at.documents.mutateIn(key, [change.upsert('c', 3)], { cas });
  await fails('cas', couchbase.CasMismatchError,
    at.documents.mutateIn(key, [change.upsert('d', 4)], { cas }));
  equal('content', { a: 1, b: 2, c: 3 }, (await at.documents.get(key)).content);
});

test('extended attributes are kept beside the document', async () => {
  const key = await fresh({ body: true });
  await at.documents.mutateIn(key, [
    change.upsert('meta.by', 'me', { xattr: true, createPath: true }),
    change.upsert('meta.cas', MutateInMacro.Cas, { xattr: true }),
    change.upsert('meta.seqno', MutateInMacro.SeqNo, { xattr: true }),
    change.upsert('more', 1)]);
  const read = await at.documents.lookupIn(key, [look.get('meta', { xattr: true }),
    look.get(LookupInMacro.Cas), look.get('more')]);
  const [meta, cas, more] = values(read);
  equal('by', 'me', meta.by);
  holds('macro CAS', /^0x[0-9a-f]{16}$/.test(meta.cas));
  holds('macro seqno', /^0x[0-9a-f]{16}$/.test(meta.seqno));
  equal('virtual CAS', BigInt(read.cas.toString()), BigInt(cas));
  equal('more', 1, more);
  equal('body', { body: true, more: 1 }, (await at.documents.get(key)).content);
});

test('macros give what the server knows of a document', async () => {
  const key = await fresh();
  const { cas, token } = await at.documents.upsert(key, { n: 1 }, { expiry: 500 });
  const found = values(await at.documents.lookupIn(key, [look.get(LookupInMacro.Document),
    look.get(LookupInMacro.Cas), look.get(LookupInMacro.Expiry), look.get(LookupInMacro.SeqNo),
    look.get(LookupInMacro.LastModified), look.get(LookupInMacro.IsDeleted),
    look.get(LookupInMacro.ValueSizeBytes), look.get(LookupInMacro.RevId)]));
  const [all, casText, expiry, seqno, modified, deleted, size, revision] = found;
  equal('CAS', BigInt(cas.toString()), BigInt(casText));
  holds('expiry', Math.abs(expiry - Date.now() / 1000 - 500) < 10);
  equal('seqno', BigInt(token.toJSON().sequence_number), BigInt(seqno));
  holds('modified', Math.abs(Number(modified) - Date.now() / 1000) < 10);
  equal('deleted, size', [false, 7], [deleted, size]);
  holds('revision', Number(revision) >= 1);
  equal('all', [casText, expiry, seqno], [all.CAS, all.exptime, all.seqno]);
});

test('mutateIn fills in macros for the CAS, the sequence number and the checksum', async () => {
  const key = await fresh({ n: 1 });
  const { cas } = await at.documents.mutateIn(key, [
    change.upsert('own.cas', MutateInMacro.Cas, { createPath: true }),
    change.upsert('own.seqno', MutateInMacro.SeqNo),
    change.upsert('own.crc', MutateInMacro.ValueCrc32c)]);
  const [own, crc] = values(await at.documents.lookupIn(key, [look.get('own', { xattr: true }),
    look.get('$document.value_crc32c', { xattr: true })]));
  const bytes = BigInt(cas.toString()).toString(16).padStart(16, '0').match(/../g);
  equal('CAS, its bytes reversed', `0x${bytes.reverse().join('')}`, own.cas);
  equal('checksum', crc, own.crc);
  equal('body', { n: 1 }, (await at.documents.get(key)).content);
});

test('mutateIn sets or keeps the expiry', async () => {
  const key = await fresh({ n: 1 });
  const expiry = async () => (await at.documents.get(key, { withExpiry: true })).expiryTime ?? 0;
  await at.documents.mutateIn(key, [change.upsert('n', 2)], { expiry: 500 });
  const set = await expiry();
  holds('set', set > Date.now() / 1000 + 400);
  await at.documents.mutateIn(key, [change.upsert('n', 3)], { preserveExpiry: true });
  equal('kept', set, await expiry());
});

test('more paths than a request may have are refused', async () => {
  const key = await fresh({ n: 1 });
  const many = Array.from({ length: 17 }, () => look.get('n'));
  await fails('lookupIn', couchbase.CouchbaseError, at.documents.lookupIn(key, many));
  const whole = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`f${n}`, n]));
  const wide = await fresh(whole);
  const read = await at.documents.get(wide, { project: Object.keys(whole) });
  equal('a projection of 20 paths reads the whole document', whole, read.content);
});
