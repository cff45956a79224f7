// Write concerns and read preferences.
import { at, fresh } from './context.mjs';
import { connect, equal, eventually, fails, holds, like, test } from './harness.mjs';

test('write concerns', async () => {
  const c = await fresh([{ _id: 0 }]);
  const insert = (writeConcern) => c.insertOne({}, { writeConcern });
  for (const wanted of [{ w: 1 }, { w: 2 }, { w: 3 }, { w: 'majority' }, { w: 1, j: true }])
    like(JSON.stringify(wanted), { acknowledged: true }, await insert(wanted));
  like('w: 0', { acknowledged: false }, await insert({ w: 0 }));
  const many = await fails('more members than there are', { code: 100,
    codeName: 'UnsatisfiableWriteConcern' }, insert({ w: 4 }));
  equal('is a write concern error', 'MongoWriteConcernError', many.name);
  await fails('a mode that is not there', { code: 79, codeName: 'UnknownReplWriteConcern' },
    insert({ w: 'nope' }));
  await fails('a field that is not there', { code: 40415 },
    at.db.command({ insert: 'wc', documents: [{}], writeConcern: { x: 1 } }));
  const primary = await at.lab.primary();
  const slow = (primary + 1) % 3;
  await at.lab.command(`freeze ${slow}`);
  const late = await fails('wtimeout', { code: 64, codeName: 'WriteConcernTimeout' },
    c.insertOne({ _id: 'late' }, { writeConcern: { w: 3, wtimeoutMS: 200 } }));
  equal('errInfo', true, late.result?.writeConcernError?.errInfo?.wtimeout);
  equal('it is written all the same', { _id: 'late' }, await c.findOne({ _id: 'late' }));
  like('a majority is enough', { acknowledged: true }, await insert({ w: 'majority',
    wtimeoutMS: 5000 }));
  await at.lab.command(`thaw ${slow}`);
  like('all three again', { acknowledged: true }, await insert({ w: 3, wtimeoutMS: 10000 }));
  like('of commands too', { ok: 1 },
    await at.db.command({ create: 'wc', writeConcern: { w: 'majority' } }));
});

test('modes by tags', async () => {
  const { config } = await at.admin.command({ replSetGetConfig: 1 });
  config.version += 1;
  config.settings.getLastErrorModes = { twoPlaces: { dc: 2 } };
  config.members.forEach((one, i) => { one.tags = { dc: `d${i}` }; });
  like('a mode of our own', { ok: 1 }, await at.admin.command({ replSetReconfig: config }));
  const c = await fresh();
  like('is understood', { acknowledged: true },
    await c.insertOne({}, { writeConcern: { w: 'twoPlaces', wtimeoutMS: 5000 } }));
});

test('read preferences', async () => {
  const c = await fresh([{ _id: 1 }]);
  await c.insertOne({ _id: 2 }, { writeConcern: { w: 3 } });
  const primary = at.lab.hosts[await at.lab.primary()];
  const read = async (readPreference) => {
    const found = await c.countDocuments({}, { readPreference });
    return [found, at.client.seen.at(-1).address === primary];
  };
  equal('primary', [2, true], await read('primary'));
  equal('primaryPreferred', [2, true], await read('primaryPreferred'));
  equal('secondary', [2, false], await read('secondary'));
  equal('secondaryPreferred', [2, false], await read('secondaryPreferred'));
  equal('nearest', 2, (await read('nearest'))[0]);
  await fails('no member with such tags', { name: 'MongoServerSelectionError' }, connect(
    `${at.lab.uri}&readPreference=secondary&readPreferenceTags=dc:none`,
    { serverSelectionTimeoutMS: 700 }));
  const index = at.lab.hosts.findIndex((one) => one !== primary);
  const chosen = await connect(
    `${at.lab.uri}&readPreference=secondary&readPreferenceTags=dc:d${index}`);
  await eventually(() => chosen.db('interop').collection(c.collectionName).findOne({}));
  equal('the member with the tag', at.lab.hosts[index], chosen.seen.at(-1).address);
  await chosen.close();
  holds('$out runs on the primary', await c.aggregate([{ $out: 'rp' }],
    { readPreference: 'primary' }).toArray());
});
