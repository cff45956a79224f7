// What people type into MongoDB's shell, and what it must say. Runs inside mongosh.
const { isDeepStrictEqual } = require('node:util');
const { writeFileSync } = require('node:fs');

let ran = 0;
let failed = 0;
const plain = (value) => EJSON.parse(EJSON.stringify(value ?? null));

function equal(what, expected, got) {
  ran += 1;
  if (isDeepStrictEqual(plain(expected), plain(got))) return;
  failed += 1;
  print(`FAILED mongosh: ${what}\n  expected: ${EJSON.stringify(expected)}\n` +
    `  got:      ${EJSON.stringify(got)}`);
}

function fails(what, code, call) {
  let got = 'success';
  try {
    call();
  } catch (error) {
    got = error.code ?? error.message;
  }
  equal(what, code, got);
}

const shop = db.getSiblingDB('shop');
equal('insertOne', { acknowledged: true, insertedId: 1 }, shop.c.insertOne({ _id: 1, n: 1 }));
equal('insertMany', { 0: 2, 1: 3 }, shop.c.insertMany([{ _id: 2, n: 2 }, { _id: 3,
  n: 3 }]).insertedIds);
equal('find', [{ _id: 1, n: 1 }, { _id: 2, n: 2 }, { _id: 3, n: 3 }],
  shop.c.find().sort({ _id: 1 }).toArray());
equal('findOne', { _id: 2, n: 2 }, shop.c.findOne({ n: 2 }));
equal('updateOne', 1, shop.c.updateOne({ _id: 1 }, { $inc: { n: 10 } }).modifiedCount);
equal('findAndModify', { _id: 1, n: 12 },
  shop.c.findAndModify({ query: { _id: 1 }, update: { $inc: { n: 1 } }, new: true }));
equal('countDocuments', 3, shop.c.countDocuments());
equal('distinct', [2, 3, 12], shop.c.distinct('n').sort((a, b) => a - b));
equal('aggregate', [{ _id: null, sum: 17 }],
  shop.c.aggregate([{ $group: { _id: null, sum: { $sum: '$n' } } }]).toArray());
equal('createIndex', 'n_1', shop.c.createIndex({ n: 1 }, { unique: true }));
equal('getIndexes', ['_id_', 'n_1'], shop.c.getIndexes().map((one) => one.name));
fails('unique', 11000, () => shop.c.insertOne({ n: 12 }));
equal('explain', 'IXSCAN',
  shop.c.find({ n: 2 }).explain().queryPlanner.winningPlan.inputStage?.stage);
equal('getCollectionNames', ['c'], shop.getCollectionNames());
equal('stats', 3, shop.stats().objects);
equal('c.stats', 3, shop.c.stats().count);
equal('show dbs', true,
  db.adminCommand({ listDatabases: 1 }).databases.some((one) => one.name === 'shop'));
equal('version', '8.2', db.version().split('.').slice(0, 2).join('.'));
equal('hello', [true, 'rs0'], [db.hello().isWritablePrimary, db.hello().setName]);
equal('rs.status', ['PRIMARY', 'SECONDARY', 'SECONDARY'],
  rs.status().members.map((one) => one.stateStr).sort());
equal('rs.conf', 3, rs.conf().members.length);
equal('serverStatus', 1, db.serverStatus().ok);
equal('currentOp', 1, db.currentOp().ok);
fails('runCommand', 59, () => db.runCommand({ nonsense: 1 }));
equal('createUser', 1, shop.createUser({ user: 'ann', pwd: process.env.CANARY_PASSWORD,
  roles: ['read'] }).ok);
equal('getUsers', ['ann'], shop.getUsers().users.map((one) => one.user));
equal('dropUser', 1, shop.dropUser('ann').ok);
equal('bulk', 2, shop.c.bulkWrite([{ insertOne: { document: { n: 50 } } },
  { insertOne: { document: { n: 51 } } }]).insertedCount);
const session = db.getMongo().startSession({ snapshot: true });
equal('snapshot', 5, session.getDatabase('shop').c.countDocuments());
session.endSession();
rs.stepDown(1, 0);
equal('after rs.stepDown', true, shop.c.insertOne({ n: 60 }).acknowledged);
equal('deleteMany', 6, shop.c.deleteMany({}).deletedCount);
equal('drop', true, shop.c.drop());
equal('dropDatabase', 1, shop.dropDatabase().ok);

writeFileSync(process.env.REPORT, JSON.stringify({ ran, failed, sent: [] }));
quit(failed === 0 ? 0 : 1);
