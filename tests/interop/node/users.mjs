// Logins: a set that asks for one, its users and what they may do.
import { connect, equal, fails, holds, like, test } from './harness.mjs';
import { Lab, canary } from './lab.mjs';

const rootPassword = `${canary.password}&@:`; // to be encoded in a connection string
const annsPassword = `${canary.password} päss wörd`;
let lab;
let root;
const as = (user, password,
  options = {}) => connect(`mongodb://${lab.hosts.join(',')}/?replicaSet=rs0`,
  { auth: { username: user, password }, authSource: 'shop', ...options });

async function whoami(client, database) {
  const status = await client.db(database).command({ connectionStatus: 1 });
  return status.authInfo.authenticatedUsers;
}

test('a login is needed', async () => {
  lab = await Lab.start('--members', '3', '--auth', `${canary.user}:${rootPassword}`);
  root = await connect(lab.uri);
  equal('with it', [{ user: canary.user, db: 'admin' }], await whoami(root, 'admin'));
  const stranger = await connect(`mongodb://${lab.hosts.join(',')}/?replicaSet=rs0`);
  like('ping needs none', { ok: 1 }, await stranger.db('admin').command({ ping: 1 }));
  like('nor does hello', { setName: 'rs0' }, await stranger.db('admin').command({ hello: 1 }));
  await fails('find does', { code: 13, codeName: 'Unauthorized',
    message: /requires authentication/ }, stranger.db('shop').collection('c').findOne({}));
  await fails('insert does', 13, stranger.db('shop').collection('c').insertOne({}));
  await fails('createUser does', 13, stranger.db('shop').command({ createUser: 'x',
    pwd: canary.password, roles: [] }));
  await stranger.close();
  const wrong = connect(lab.uri.replace(canary.password, canary.wrong),
    { serverSelectionTimeoutMS: 2000 });
  await fails('a wrong password', { code: 18, codeName: 'AuthenticationFailed' }, wrong);
});

test('users by both mechanisms', async () => {
  const shop = root.db('shop');
  like('createUser', { ok: 1 }, await shop.command({ createUser: 'ann', pwd: annsPassword,
    roles: ['readWrite'], customData: { a: 1 } }));
  like('only SHA-1', { ok: 1 }, await shop.command({ createUser: 'bob', pwd: canary.password,
    roles: ['read'], mechanisms: ['SCRAM-SHA-1'] }));
  await fails('twice', { code: 51003 }, shop.command({ createUser: 'ann',
    pwd: canary.password, roles: [] }));
  for (const authMechanism of ['SCRAM-SHA-1', 'SCRAM-SHA-256', 'DEFAULT']) {
    const ann = await as('ann', annsPassword, { authMechanism });
    equal(authMechanism, [{ user: 'ann', db: 'shop' }], await whoami(ann, 'shop'));
    await ann.close();
  }
  await fails('bob has no SHA-256', { name: 'MongoServerError' },
    as('bob', canary.password, { authMechanism: 'SCRAM-SHA-256',
      serverSelectionTimeoutMS: 2000 }));
  const bob = await as('bob', canary.password);
  equal('the driver asks which he has', 'bob', (await whoami(bob, 'shop'))[0].user);
  equal('he may read', null, await bob.db('shop').collection('c').findOne({}));
  await bob.close();
  await fails('an unknown user', { code: 18 }, as('absent', canary.password,
    { serverSelectionTimeoutMS: 2000 }));
  await fails('the wrong database', { code: 18 },
    as('ann', annsPassword, { authSource: 'admin', serverSelectionTimeoutMS: 2000 }));
});

test('passwords are prepared', async () => {
  await root.db('shop').command({ createUser: 'IX', pwd: `${canary.password} IX`, roles: ['read'],
    mechanisms: ['SCRAM-SHA-256'] });
  const client = await as('IX', `${canary.password} I\u00adX`);
  equal('a soft hyphen is nothing', 'IX', (await whoami(client, 'shop'))[0].user);
  await client.close();
});

test('users are listed, changed and dropped', async () => {
  const shop = root.db('shop');
  like('usersInfo', { users: [{ _id: 'shop.ann', user: 'ann', db: 'shop', customData: { a: 1 },
    roles: [{ role: 'readWrite', db: 'shop' }], mechanisms: ['SCRAM-SHA-1', 'SCRAM-SHA-256'] }] },
  await shop.command({ usersInfo: 'ann' }));
  equal('all', ['IX', 'ann', 'bob'],
    (await shop.command({ usersInfo: 1 })).users.map((one) => one.user).sort());
  await shop.command({ grantRolesToUser: 'bob', roles: ['readWrite'] });
  equal('granted', ['read', 'readWrite'], (await shop.command({ usersInfo: 'bob' })).users[0].roles
    .map((one) => one.role).sort());
  await shop.command({ revokeRolesFromUser: 'bob', roles: ['read'] });
  equal('revoked', ['readWrite'], (await shop.command({ usersInfo: 'bob' })).users[0].roles
    .map((one) => one.role));
  await shop.command({ updateUser: 'ann', pwd: canary.wrong });
  await fails('the old password', 18, as('ann', annsPassword, { serverSelectionTimeoutMS: 2000 }));
  const ann = await as('ann', canary.wrong);
  like('the new one', { acknowledged: true }, await ann.db('shop').collection('c').insertOne({}));
  await ann.close();
  equal('removeUser', true, await shop.removeUser('ann'));
  await fails('gone', 18, as('ann', canary.wrong, { serverSelectionTimeoutMS: 2000 }));
  await fails('dropped twice', { code: 11, codeName: 'UserNotFound' },
    shop.command({ dropUser: 'ann' }));
  await fails('updated too late', 11, shop.command({ updateUser: 'ann',
    pwd: canary.password }));
  like('dropAllUsersFromDatabase', { n: 2, ok: 1 },
    await shop.command({ dropAllUsersFromDatabase: 1 }));
  await fails('a role that is not there', { code: 31, codeName: 'RoleNotFound' },
    shop.command({ createUser: 'eve', pwd: canary.password, roles: ['king'] }));
});

test('users survive a stepdown', async () => {
  await root.db('shop').command({ createUser: 'max', pwd: canary.password, roles: ['readWrite'],
    writeConcern: { w: 'majority' } });
  await lab.command('stepdown 2');
  const max = await as('max', canary.password);
  holds('on the new primary too',
    (await max.db('shop').collection('c').insertOne({})).acknowledged);
  await max.close();
  await root.close();
  equal('the lab ends with status 0', 0, await lab.stop());
});
