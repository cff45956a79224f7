// Commands that no helper sends: their replies and the codes of refusals.
import { Binary, Long } from 'mongodb';
import { at, failPoint } from './context.mjs';
import { connect, equal, fails, holds, like, test } from './harness.mjs';

test('hello', async () => {
  const hello = await at.admin.command({ hello: 1 });
  const primary = await at.lab.primary();
  like('of a primary', { isWritablePrimary: true, secondary: false, setName: 'rs0', ok: 1,
    hosts: at.lab.hosts, me: at.lab.hosts[primary], primary: at.lab.hosts[primary],
    minWireVersion: 0, maxWireVersion: 27, readOnly: false, maxBsonObjectSize: 16777216,
    maxMessageSizeBytes: 48000000, maxWriteBatchSize: 100000, logicalSessionTimeoutMinutes: 30,
  }, hello);
  equal('types', ['ObjectId', 'Timestamp', true, 'object'], [hello.electionId?._bsontype,
    hello.operationTime?._bsontype, hello.localTime instanceof Date, typeof hello.topologyVersion]);
  holds('lastWrite', hello.lastWrite?.opTime?.ts && hello.lastWrite?.majorityOpTime?.ts, hello);
  holds('$clusterTime', hello.$clusterTime?.clusterTime && hello.$clusterTime?.signature, hello);
  like('isMaster', { ismaster: true, setName: 'rs0' }, await at.admin.command({ isMaster: 1 }));
  like('ismaster', { ismaster: true, setName: 'rs0' }, await at.admin.command({ ismaster: 1 }));
  const secondary = await connect(at.lab.direct((primary + 1) % 3));
  like('of a secondary', { isWritablePrimary: false, secondary: true,
    primary: at.lab.hosts[primary] }, await secondary.db('admin').command({ hello: 1 }));
  await fails('no writes there', { code: 10107, codeName: 'NotWritablePrimary' },
    secondary.db('interop').collection('x').insertOne({}));
  await secondary.close();
});

const unknown = { code: 59, codeName: 'CommandNotFound', message: /no such command: 'nonsense'/ };
const replies = [
  ['ping', { ping: 1 }, { ok: 1 }],
  ['buildInfo', { buildInfo: 1 }, { versionArray: [8, 2, 0, 0], maxBsonObjectSize: 16777216 }],
  ['buildinfo', { buildinfo: 1 }, { ok: 1, bits: 64 }],
  ['getCmdLineOpts', { getCmdLineOpts: 1 }, { ok: 1 }],
  ['getParameter', { getParameter: 1, logLevel: 1 }, { logLevel: 0 }],
  ['featureCompatibilityVersion', { getParameter: 1, featureCompatibilityVersion: 1 },
    { featureCompatibilityVersion: { version: '8.2' } }],
  ['setParameter', { setParameter: 1, logLevel: 1 }, { was: 0, ok: 1 }],
  ['setParameter back', { setParameter: 1, logLevel: 0 }, { was: 1, ok: 1 }],
  ['getLog', { getLog: '*' }, { names: ['global', 'startupWarnings'] }],
  ['fsync', { fsync: 1 }, { ok: 1 }],
  ['currentOp', { currentOp: 1 }, { ok: 1 }],
  ['killOp', { killOp: 1, op: 123456 }, { info: 'attempting to kill op' }],
  ['logRotate', { logRotate: 1 }, { ok: 1 }],
  ['profile', { profile: -1 }, { was: 0, slowms: 100, sampleRate: 1 }],
  ['top', { top: 1 }, { ok: 1 }],
  ['features', { features: 1 }, { ok: 1 }],
  ['connPoolStats', { connPoolStats: 1 }, { ok: 1 }],
  ['connectionStatus', { connectionStatus: 1 }, { authInfo: { authenticatedUsers: [],
    authenticatedUserRoles: [] } }],
  ['logout', { logout: 1 }, { ok: 1 }],
  ['rolesInfo', { rolesInfo: 'readWrite' }, { roles: [{ role: 'readWrite', isBuiltin: true }] }],
];
const refusals = [
  ['unknown command', { nonsense: 1 }, unknown],
  ['unknown field', { ping: 1, what: 1 }, { code: 40415 }],
  ['wrong type', { find: 1 }, { code: 73, codeName: 'InvalidNamespace' }],
  ['filter is no document', { find: 'x', filter: 1 }, { code: 14, codeName: 'TypeMismatch' }],
  ['missing field', { insert: 'x' }, { code: 40414 }],
  ['unknown parameter', { getParameter: 1, nope: 1 }, { code: 72, codeName: 'InvalidOptions' }],
  ['unknown log', { getLog: 'nope' }, { code: 96, codeName: 'OperationFailed' }],
  ['unknown fail point', { configureFailPoint: 'nope', mode: 'off' }, { code: 266,
    codeName: 'FailPointSetFailed' }],
  ['unknown api version', { ping: 1, apiVersion: '2' }, { code: 322,
    codeName: 'APIVersionError' }],
  ['not in the strict api', { top: 1, apiVersion: '1', apiStrict: true }, { code: 323,
    codeName: 'APIStrictError' }],
  ['deprecated in the api', { testDeprecation: 1, apiVersion: '1', apiDeprecationErrors: true },
    { code: 324, codeName: 'APIDeprecationError' }],
  ['mapReduce without JavaScript', { mapReduce: 'c', map: 'x', reduce: 'y', out: { inline: 1 } },
    { ok: 0 }],
  ['mapreduce', { mapreduce: 'c', map: 'x', reduce: 'y', out: { inline: 1 } }, { ok: 0 }],
  ['createSearchIndexes', { createSearchIndexes: 'c', indexes: [] }, { code: 31082 }],
  ['updateSearchIndex', { updateSearchIndex: 'c', name: 'n', definition: {} }, { code: 31082 }],
  ['dropSearchIndex', { dropSearchIndex: 'c', name: 'n' }, { code: 31082 }],
  ['listSearchIndexes', { listSearchIndexes: 'c' }, { code: 31082 }],
  ['getnonce, which is gone since 6.2', { getnonce: 1 },
    { code: 59, codeName: 'CommandNotFound' }],
  ['authenticate by certificate without TLS', { authenticate: 1, mechanism: 'MONGODB-X509' },
    { ok: 0 }],
  ['saslContinue out of the blue', { saslContinue: 1, conversationId: 1,
    payload: new Binary(Buffer.alloc(0)) }, { code: 17, codeName: 'ProtocolError' }],
  ['a mechanism that is not there', { saslStart: 1, mechanism: 'NOPE',
    payload: new Binary(Buffer.alloc(0)) }, { code: 334, codeName: 'MechanismUnavailable' }],
];

test('plain commands', async () => {
  for (const [what, command, expected] of replies)
    like(what, expected, await at.admin.command(command));
});

test('refusals', async () => {
  for (const [what, command, expected] of refusals)
    await fails(what, expected, at.admin.command(command));
});

test('server information', async () => {
  const status = await at.admin.command({ serverStatus: 1 });
  holds('serverStatus', status.version?.startsWith('8.2') && status.connections?.current > 0 &&
    status.repl?.setName === 'rs0' && status.uptime >= 0 && status.opcounters, status);
  const host = await at.admin.command({ hostInfo: 1 });
  holds('hostInfo', host.system?.numCores > 0 && host.os, host);
  const { you } = await at.admin.command({ whatsmyuri: 1 });
  holds('whatsmyuri', /^127\.0\.0\.1:\d+$/.test(you), you);
  const { commands } = await at.admin.command({ listCommands: 1 });
  holds('listCommands', commands.find && typeof commands.find.help === 'string' &&
    'requiresAuth' in commands.find && 'secondaryOk' in commands.find, commands.find);
  like('testVersion2 is for tests of the api', { ok: 1 },
    await at.admin.command({ testVersion2: 1 }));
  like('replies carry times', { ok: 1 }, await at.db.command({ ping: 1 }));
});

test('sessions by command', async () => {
  const started = await at.admin.command({ startSession: 1 });
  equal('startSession', ['Binary', 4, 30],
    [started.id.id._bsontype, started.id.id.sub_type, started.timeoutMinutes]);
  for (const name of ['refreshSessions', 'killSessions', 'endSessions'])
    like(name, { ok: 1 }, await at.admin.command({ [name]: [started.id] }));
  like('killAllSessions', { ok: 1 }, await at.admin.command({ killAllSessions: [] }));
  like('killAllSessionsByPattern', { ok: 1 },
    await at.admin.command({ killAllSessionsByPattern: [{ lsid: started.id }] }));
  const txn = { lsid: { id: new Binary(Buffer.alloc(16, 7), 4) }, txnNumber: Long.fromNumber(1),
    autocommit: false };
  for (const name of ['commitTransaction', 'abortTransaction'])
    await fails(`${name} of none`, { name: 'MongoServerError', message: /transaction/i },
      at.admin.command({ [name]: 1, ...txn }));
});

test('the set', async () => {
  const { config } = await at.admin.command({ replSetGetConfig: 1 });
  like('replSetGetConfig', { _id: 'rs0', members: at.lab.hosts.map((host, _id) => ({ _id, host,
    arbiterOnly: false, hidden: false, priority: 1, votes: 1 })) }, config);
  const status = await at.admin.command({ replSetGetStatus: 1 });
  equal('replSetGetStatus', ['PRIMARY', 'SECONDARY', 'SECONDARY'],
    status.members.map((one) => one.stateStr).sort());
  await fails('replSetInitiate', { code: 23, codeName: 'AlreadyInitialized' },
    at.admin.command({ replSetInitiate: {} }));
  await fails('a primary cannot be frozen', { code: 95, codeName: 'NotSecondary' },
    at.admin.command({ replSetFreeze: 5 }));
  await fails('nor be in maintenance', { code: 95, codeName: 'NotSecondary' },
    at.admin.command({ replSetMaintenance: true }));
  const next = { ...config, version: config.version + 1 };
  await fails('a config with no members', { code: 103,
    codeName: 'NewReplicaSetConfigurationIncompatible' },
  at.admin.command({ replSetReconfig: { ...next, members: [] } }));
  await fails('a config of something else', { code: 93, codeName: 'InvalidReplicaSetConfig' },
    at.admin.command({ replSetReconfig: { ...next, nonsense: 1 } }));
  const settings = { ...next };
  settings.members = config.members.map((one, i) => ({ ...one, tags: { dc: `d${i}` } }));
  like('a new config', { ok: 1 }, await at.admin.command({ replSetReconfig: settings }));
  like('is the config now', { version: next.version },
    (await at.admin.command({ replSetGetConfig: 1 })).config);
  // With or without logins: what members send each other, they accept from each other only.
  for (const name of ['replSetHeartbeat', 'replSetRequestVotes', 'replSetUpdatePosition',
    '_labSnapshot'])
    await fails(`${name} is for members`, { code: 13, codeName: 'Unauthorized' },
      at.admin.command({ [name]: 1 }));
});

test('fail points', async () => {
  const c = at.db.collection('fp');
  await failPoint('failCommand', { times: 1 }, { failCommands: ['insert'],
    errorCode: 8000, errorLabels: ['Mine'] });
  const error = await fails('errorCode', 8000, c.insertOne({}));
  equal('labels', ['Mine'], [...error.errorLabels]);
  like('once only', { acknowledged: true }, await c.insertOne({}));
  await failPoint('failCommand', { times: 1 }, { failCommands: ['insert'],
    writeConcernError: { code: 100, errmsg: 'not enough data-bearing nodes' } });
  await fails('writeConcernError', { code: 100, name: 'MongoWriteConcernError' },
    c.insertOne({ _id: 'wce' }));
  equal('but it is written', { _id: 'wce' }, await c.findOne({ _id: 'wce' }));
  await failPoint('failCommand', { times: 1 }, { failCommands: ['ping'], blockConnection: true,
    blockTimeMS: 300 });
  const began = Date.now();
  await at.admin.command({ ping: 1 });
  holds('blockTimeMS', Date.now() - began >= 290, Date.now() - began);
  await failPoint('failCommand', 'alwaysOn', { failCommands: ['find'], errorCode: 96,
    appName: 'another client' });
  equal('by appName', null, await c.findOne({ _id: 'absent' }));
  await failPoint('failCommand', 'off');
  await failPoint('failCommand', { skip: 1 }, { failCommands: ['find'], errorCode: 96 });
  equal('skip: the first is spared', null, await c.findOne({ _id: 'absent' }));
  await fails('the second is not', 96, c.findOne({ _id: 'absent' }));
  await failPoint('failCommand', 'off');
  await c.insertMany([1, 2, 3].map((n) => ({ n })));
  await failPoint('failGetMoreAfterCursorCheckout', { times: 1 }, { errorCode: 96 });
  await fails('failGetMoreAfterCursorCheckout', 96, c.find({}, { batchSize: 1 }).toArray());
  await failPoint('failGetMoreAfterCursorCheckout', 'off');
});
