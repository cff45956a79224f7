import couchbase from 'couchbase';
import { at, fresh } from './context.mjs';
import { equal, fails, holds, sleep, test } from './harness.mjs';

test('upsert and get give back documents of all JSON types', async () => {
  const all = [{ a: 1, b: [true, null, 'ü'] }, [1, 2.5], 'text', 42, true, null, {}];
  for (const content of all) {
    const key = await fresh(content);
    const read = await at.documents.get(key);
    equal('content', content, read.content);
    holds('cas', read.cas.toString() !== '0');
  }
});

test('binary content keeps its bytes', async () => {
  const bytes = Buffer.from([0, 1, 255, 10, 13]);
  const key = await fresh(bytes);
  holds('bytes', bytes.equals((await at.documents.get(key)).content));
});

test('keys are spread over both nodes', async () => {
  const keys = await Promise.all(Array.from({ length: 64 }, (_, n) => fresh({ n })));
  const read = await Promise.all(keys.map((key) => at.documents.get(key)));
  equal('contents', Array.from({ length: 64 }, (_, n) => n), read.map((one) => one.content.n));
  const counts = (await at.lab.command('status')).slice(0, 2)
    .map((line) => Number(line.split(' ')[4]));
  holds('both nodes have documents', counts[0] > 0 && counts[1] > 0);
});

test('get of a missing document fails', async () => {
  await fails('get', couchbase.DocumentNotFoundError, at.documents.get('missing'));
  await fails('replace', couchbase.DocumentNotFoundError, at.documents.replace('missing', 1));
  await fails('remove', couchbase.DocumentNotFoundError, at.documents.remove('missing'));
  await fails('touch', couchbase.DocumentNotFoundError, at.documents.touch('missing', 10));
  await fails('lock', couchbase.DocumentNotFoundError, at.documents.getAndLock('missing', 5));
});

test('insert refuses what exists, replace takes the right CAS only', async () => {
  const key = await fresh();
  const first = await at.documents.insert(key, { n: 1 });
  holds('token', first.token !== undefined && first.token !== null);
  await fails('insert', couchbase.DocumentExistsError, at.documents.insert(key, { n: 2 }));
  const second = await at.documents.replace(key, { n: 2 }, { cas: first.cas });
  holds('cas changes', second.cas.toString() !== first.cas.toString());
  await fails('replace', couchbase.CasMismatchError,
    at.documents.replace(key, { n: 3 }, { cas: first.cas }));
  await fails('remove', couchbase.CasMismatchError, at.documents.remove(key, { cas: first.cas }));
  equal('content', { n: 2 }, (await at.documents.get(key)).content);
});

test('remove ends a document and exists says so', async () => {
  const key = await fresh({});
  equal('before', true, (await at.documents.exists(key)).exists);
  await at.documents.remove(key, { cas: (await at.documents.get(key)).cas });
  equal('after', false, (await at.documents.exists(key)).exists);
  await fails('get', couchbase.DocumentNotFoundError, at.documents.get(key));
  await at.documents.insert(key, { again: true });
  equal('inserted again', true, (await at.documents.exists(key)).exists);
});

test('documents expire, and touch changes when', async () => {
  const key = await fresh();
  await at.documents.upsert(key, { short: true }, { expiry: 1 });
  const kept = await fresh();
  await at.documents.upsert(kept, { short: true }, { expiry: 1 });
  await at.documents.touch(kept, 100);
  equal('getAndTouch', { short: true }, (await at.documents.getAndTouch(kept, 200)).content);
  const read = await at.documents.get(kept, { withExpiry: true });
  const left = read.expiryTime - Date.now() / 1000;
  holds('expiry', left > 190 && left <= 201);
  await sleep(2100);
  await fails('expired', couchbase.DocumentNotFoundError, at.documents.get(key));
  equal('touched', { short: true }, (await at.documents.get(kept)).content);
});

test('preserveExpiry keeps the expiry that upsert otherwise ends', async () => {
  const key = await fresh();
  const expiry = async () => (await at.documents.get(key, { withExpiry: true })).expiryTime ?? 0;
  await at.documents.upsert(key, 1, { expiry: 500 });
  await at.documents.upsert(key, 2, { preserveExpiry: true });
  holds('kept', await expiry() > 0);
  await at.documents.upsert(key, 3);
  equal('ended', 0, await expiry());
});

test('a locked document refuses others and obeys its holder', async () => {
  const key = await fresh({ n: 1 });
  const held = await at.documents.getAndLock(key, 10);
  equal('content', { n: 1 }, held.content);
  equal('can be read', { n: 1 }, (await at.documents.get(key)).content);
  await fails('upsert', couchbase.TimeoutError, at.documents.upsert(key, 2, { timeout: 300 }));
  await fails('lock', couchbase.TimeoutError, at.documents.getAndLock(key, 5, { timeout: 300 }));
  await fails('unlock with another CAS', couchbase.CasMismatchError,
    at.documents.unlock(key, (await at.documents.upsert(await fresh(), 1)).cas));
  await at.documents.unlock(key, held.cas);
  await at.documents.upsert(key, { n: 2 });
  const again = await at.documents.getAndLock(key, 10);
  await at.documents.replace(key, { n: 3 }, { cas: again.cas });
  equal('the holder has changed it', { n: 3 }, (await at.documents.get(key)).content);
  await at.documents.upsert(key, { n: 4 });
  await fails('unlock of what is not locked', couchbase.CouchbaseError,
    at.documents.unlock(key, again.cas));
});

test('append and prepend extend bytes', async () => {
  const key = await fresh(Buffer.from('b'));
  await at.documents.binary().append(key, Buffer.from('c'));
  await at.documents.binary().prepend(key, Buffer.from('a'));
  equal('bytes', 'abc', (await at.documents.get(key)).content.toString());
  await fails('append', couchbase.DocumentNotFoundError,
    at.documents.binary().append('missing', Buffer.from('x')));
});

test('counters begin, count up and down, and stop at zero', async () => {
  const key = await fresh();
  const binary = at.documents.binary();
  await fails('missing', couchbase.DocumentNotFoundError, binary.increment(key, 1));
  equal('initial', 10, (await binary.increment(key, 5, { initial: 10 })).value);
  equal('up', 15, (await binary.increment(key, 5)).value);
  equal('down', 12, (await binary.decrement(key, 3)).value);
  equal('zero', 0, (await binary.decrement(key, 100)).value);
  const text = await fresh({});
  await fails('no number', couchbase.CouchbaseError, binary.increment(text, 1));
});

test('values are limited to 20 MiB and keys to 250 bytes', async () => {
  const large = Buffer.alloc(20 * 1024 * 1024, 'x');
  const key = await fresh(large);
  equal('size', large.length, (await at.documents.get(key)).content.length);
  await at.documents.remove(key);
  await at.documents.upsert('k'.repeat(250), 1);
  await fails('key', couchbase.CouchbaseError, at.documents.upsert('k'.repeat(251), 1));
});

test('a durable write of a bucket without replicas succeeds', async () => {
  const key = await fresh();
  await at.documents.upsert(key, 1, { durabilityLevel: couchbase.DurabilityLevel.Majority });
  equal('content', 1, (await at.documents.get(key)).content);
});

test('many operations at once are all answered', async () => {
  const keys = Array.from({ length: 500 }, (_, n) => `many-${n}`);
  await Promise.all(keys.map((key, n) => at.documents.upsert(key, { n })));
  const read = await Promise.all(keys.map((key) => at.documents.get(key)));
  equal('sum', (499 * 500) / 2, read.reduce((sum, one) => sum + one.content.n, 0));
});
