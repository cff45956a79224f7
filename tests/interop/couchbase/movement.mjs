// Writes while the cluster changes under them.
import couchbase from 'couchbase';
import { withLab } from './context.mjs';
import { equal, holds, sleep, test } from './harness.mjs';

const three = ['--nodes', '3', '--replicas', '1'];

/// Upserts in four loops until `over` says so and there were 200; gives errors by name.
async function upsertUntil(documents, over) {
  const errors = {};
  let done = 0;
  const loop = async (name) => {
    for (let n = 0; done < 200 || !over(); n += 1) {
      await documents.upsert(`${name}-${n % 200}`, { n }).catch((error) => {
        errors[error.name] = (errors[error.name] ?? 0) + 1;
      });
      done += 1;
      if (done >= 200) await sleep(1);
    }
  };
  await Promise.all(['a', 'b', 'c', 'd'].map(loop));
  return { errors, done };
}

/// The same, while a command of the lab is carried out and for a moment after it.
async function upsertDuring(documents, change) {
  let over = false;
  const changed = change().then(() => sleep(300)).finally(() => { over = true; });
  const outcome = await upsertUntil(documents, () => over);
  await changed;
  return outcome;
}

test('upserts through a rebalance in and out are all without an error', () =>
  withLab(['--nodes', '2', '--replicas', '1'], async (lab, cluster, documents) => {
    await documents.upsert('first', 1);
    const grown = await upsertDuring(documents, async () => {
      await lab.command('add-node');
      await lab.command('rebalance');
    });
    equal('in', {}, grown.errors);
    holds('at least 200', grown.done >= 200);
    const shrunk = await upsertDuring(documents, () => lab.command('rebalance 0'));
    equal('out', {}, shrunk.errors);
    equal('kept', 1, (await documents.get('first')).content);
  }));

test('upserts through a failover whose node keeps answering are all without an error', () =>
  withLab(three, async (lab, cluster, documents) => {
    await documents.upsert('first', 1);
    await sleep(100);
    const hard = await upsertDuring(documents, () => lab.command('failover 1'));
    equal('hard', {}, hard.errors);
    await lab.command('rebalance');
    const graceful = await upsertDuring(documents, () => lab.command('graceful-failover 2'));
    equal('graceful', {}, graceful.errors);
    equal('kept', 1, (await documents.get('first')).content);
  }));

/// Upserts in the background while a node is lost and failed over by itself; gives the errors, and
/// how long it took until all keys could be written again. `replace` gives the cluster another.
async function lose(lab, documents, command, replace = async () => {}) {
  const keys = Array.from({ length: 64 }, (_, n) => `key-${n}`);
  for (const key of keys) await documents.upsert(key, 0);
  await lab.command('auto-failover 200');
  let over = false;
  const load = upsertUntil(documents, () => over);
  await sleep(50);
  const began = Date.now();
  await lab.command(command);
  const write = async (key) => {
    for (;;) {
      const done = await documents.upsert(key, 1, { timeout: 100 }).catch(() => null);
      if (done || Date.now() - began > 5000) return;
    }
  };
  await Promise.all(keys.map(write));
  const took = Date.now() - began;
  const state = (await lab.command('status'))[1].split(' ').pop();
  await replace();
  over = true;
  const { errors, done } = await load;
  equal('kept', 1, (await documents.get(keys[0])).content);
  holds('at least 200', done >= 200);
  return { errors: Object.keys(errors), took, state };
}

const uncertain = ['RequestCanceledError', 'AmbiguousTimeoutError'];

test('a silent node is failed over, and all can be written again within a second', () =>
  withLab(three, async (lab, cluster, documents) => {
    const { errors, took, state } = await lose(lab, documents, 'freeze 1');
    equal('errors of other kinds', [], errors.filter((one) => !uncertain.includes(one)));
    holds(`all keys are written within 1000 ms (${took} ms)`, took <= 1000);
    equal('state', 'failed-over', state);
  }));

// What this SDK is given for a node while it cannot connect to it, it keeps aside until it has made
// a connection to any node of the bucket (bucket::defer_command, drain_deferred_queue), although
// the next configuration has already other nodes for it. So a new node takes the place of the lost
// one before those run out of time; how long service is away is measured before.
test('a crashed node is failed over, and all can be written again within a second', () =>
  withLab(three, async (lab, cluster, documents) => {
    const { errors, took, state } = await lose(lab, documents, 'crash 1', async () => {
      await lab.command('add-node');
      await lab.command('rebalance');
    });
    equal('errors of other kinds', [], errors.filter((one) => !uncertain.includes(one)));
    holds(`all keys are written within 1000 ms (${took} ms)`, took <= 1000);
    equal('state', 'gone', state);
    await documents.upsert('after', 1);
  }));

// Without that, the only other errors are timeouts of what was never sent to any node.
test('what was never sent to a crashed node ends as an unambiguous timeout', () =>
  withLab(three, async (lab, cluster, documents) => {
    const sent = [];
    const upsert = documents.upsert.bind(documents);
    documents.upsert = (...given) => upsert(...given).catch((error) => {
      if (error instanceof couchbase.UnambiguousTimeoutError && error.context.last_dispatched_to)
        sent.push(error.context.last_dispatched_to);
      throw error;
    });
    const { errors, took } = await lose(lab, documents, 'crash 1');
    equal('errors of other kinds', [], errors.filter((one) => !uncertain.includes(one) &&
      one !== 'UnambiguousTimeoutError'));
    equal('those that were sent', [], sent);
    holds(`all keys are written within 1000 ms (${took} ms)`, took <= 1000);
    await lab.command('restart 1');
    await lab.command('rebalance');
    await documents.upsert('after', 1);
  }));

test('a crash and a restart lose nothing that was there', () =>
  withLab(['--nodes', '2'], async (lab, cluster, documents) => {
    for (let n = 0; n < 32; n += 1) await documents.upsert(`k${n}`, n);
    await lab.command('crash 1');
    await lab.command('restart 1');
    for (let n = 0; n < 32; n += 1)
      equal(`k${n}`, n, (await documents.get(`k${n}`, { timeout: 5000 })).content);
  }));
